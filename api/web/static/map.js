// The map: both layers, drift told apart by line and colour.
import {announce, check, field, h, mount, s, scrolled, select} from "/static/dom.js";
import {get} from "/static/api.js";
import {t} from "/static/i18n.js";
import {environment, go, START} from "/static/app.js";
import {edgePanel, nodePanel} from "/static/edge.js";
import {exportMermaid, exportPng, exportSvg} from "/static/export.js";
import {drawNode, legend, NODE_HALF_WIDTH} from "/static/shapes.js";
import {many, percent, since, volume} from "/static/format.js";

// More nodes than this cannot be told apart on a screen.
const READABLE = 300;

export async function render(root, {parameters}) {
  const change = (name, value) => go("map", {...parameters, [name]: value});
  const data = await get("/map", {
    environment: environment(), from: since(parameters.range), infrastructure: parameters.infrastructure, focus: parameters.focus,
    hops: parameters.focus ? parameters.hops || 1 : "", group: parameters.group,
  });
  const controls = h("div", {class: "row"},
    search(data, parameters, change),
    field(t("range"), select([["", t("range_all")], ["1h", t("range_1h")], ["24h", t("range_24h")], ["7d", t("range_7d")], ["28d", t("range_28d")]], parameters.range ?? "", (v) => change("range", v))),
    field(t("show"), select([["", t("layers_both")], ["drift", t("layers_drift")], ["observed", t("layers_observed")], ["designed", t("layers_designed")]], parameters.layer ?? "", (v) => change("layer", v))),
    parameters.focus && field(t("hops"), select([["1", "1"], ["2", "2"]], parameters.hops ?? "1", (v) => change("hops", v))),
    field(t("groups"), select([["", t("group_auto")], ["none", t("group_none")], ["namespace", t("group_namespace")]], parameters.group ?? "", (v) => change("group", v))),
    check(t("infrastructure"), parameters.infrastructure === "include", (on) => change("infrastructure", on ? "include" : "")),
  );
  if (!data.nodes.length) {
    mount(root, h("h1", {class: "visually-hidden"}, t("map")), controls, h("div", {class: "card"}, h("h2", {}, t("map_empty")), h("p", {}, t("map_empty_do")), h("pre", {}, h("code", {}, START))));
    return null;
  }
  const edges = data.edges.filter((edge) => visible(edge, parameters.layer));
  const picture = draw(data.nodes, edges, parameters);
  const canvas = h("div", {class: "canvas"}, picture.svg, h("div", {class: "zoom"},
    h("button", {"aria-label": t("zoom_in"), onclick: () => picture.zoom(1.3)}, "+"), h("button", {"aria-label": t("zoom_out"), onclick: () => picture.zoom(1 / 1.3)}, "−"), h("button", {"aria-label": t("zoom_fit"), onclick: picture.fit}, "⤢")));
  const footer = h("div", {class: "row"}, legend(), h("span", {class: "muted"}, `${many(data.nodes.length, "node", "nodes")}, ${many(edges.length, "edge", "edges")}` + (data.nodes.length < data.total_nodes ? ` (${t("grouped_from")} ${data.total_nodes})` : "") + (data.nodes.length > READABLE ? `. ${t("map_crowded")}` : "")),
    h("button", {onclick: () => exportSvg(picture.svg)}, "SVG"), h("button", {onclick: () => exportPng(picture.svg)}, "PNG"), h("button", {onclick: () => exportMermaid(data.nodes, edges)}, "Mermaid"));
  mount(root, h("div", {class: "map"}, h("div", {}, h("h1", {class: "visually-hidden"}, t("map")), controls), canvas, h("div", {}, footer, asTable(data.nodes, edges))));
  picture.fit();
  if (parameters.edge) {
    const chosen = edges.find((edge) => edge.id === parameters.edge);
    if (chosen) edgePanel(chosen, data.nodes);
  }
  return null;
}

function visible(edge, layer) {
  if (layer === "observed") return edge.observed;
  if (layer === "designed") return edge.designed;
  if (layer === "drift") return edge.verdict && edge.verdict !== "confirmed";
  return true;
}

function search(data, parameters, change) {
  const input = h("input", {list: "node-names", placeholder: t("search_node"), value: parameters.focus ?? "", onchange: (event) => {
    const found = data.nodes.find((node) => node.name.toLowerCase() === event.target.value.trim().toLowerCase());
    if (!event.target.value.trim()) change("focus", "");
    else if (found || parameters.focus) change("focus", found?.name ?? event.target.value.trim());
    else announce(t("no_such_node"));
  }});
  return field(t("focus"), h("span", {}, input, h("datalist", {id: "node-names"}, data.nodes.map((node) => h("option", {value: node.name}))),
    parameters.focus && h("button", {onclick: () => change("focus", "")}, t("show_all"))));
}

function draw(nodes, edges, parameters) {
  const places = new Map(nodes.map((node) => [node.id, node]));
  const marker = s("marker", {id: "arrow", viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto"}, s("path", {d: "M0 0L10 5L0 10z", fill: "context-stroke"}));
  const lines = s("g", {}), shapes = s("g", {});
  const world = s("g", {}, lines, shapes);
  const svg = s("svg", {role: "group", "aria-label": t("map")}, s("defs", {}, marker), world);
  const largest = Math.max(1, ...edges.map((edge) => edge.volume));
  const near = new Map(nodes.map((node) => [node.id, new Set([node.id])]));
  for (const edge of edges) {
    near.get(edge.source)?.add(edge.target);
    near.get(edge.target)?.add(edge.source);
    lines.append(drawEdge(edge, places, largest, () => edgePanel(edge, nodes)));
  }
  const light = (id) => {
    const lit = id && near.get(id);
    for (const shape of shapes.children) shape.classList.toggle("dim", Boolean(lit && !lit.has(shape.dataset.id)));
    for (const line of lines.children) line.classList.toggle("dim", Boolean(lit && line.dataset.source !== id && line.dataset.target !== id));
  };
  for (const node of nodes) {
    const shape = drawNode(node, () => nodePanel(node, nodes, edges), node.name === parameters.focus);
    shape.addEventListener("mouseenter", () => light(node.id));
    shape.addEventListener("mouseleave", () => light(null));
    shapes.append(shape);
  }
  return {svg, ...camera(svg, world, nodes)};
}

function drawEdge(edge, places, largest, open) {
  const a = places.get(edge.source), b = places.get(edge.target);
  const path = curve(a, b, edge.points ?? [], edge.source === edge.target);
  const width = edge.volume ? 1.4 + 3.6 * Math.log1p(edge.volume) / Math.log1p(largest) : 1.6;
  const verdict = edge.verdict ?? (edge.observed ? "observed" : "designed");
  const said = `${a.name} ${t("rel_" + edge.relation)} ${b.name}, ${t("verdict_" + verdict)}` + (edge.volume ? `, ${volume(edge.volume)}, ${t("errors")} ${percent(edge.errors, edge.volume)}` : "");
  const stop = edge.points?.[Math.floor((edge.points.length - 1) / 2)];
  const middle = stop ? {x: stop.x, y: stop.y - 6} : {x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 - 6};
  const rate = edge.volume ? edge.errors / edge.volume : 0;
  const node = s("g", {class: `edge ${verdict}`, "data-source": edge.source, "data-target": edge.target, tabindex: 0, role: "button", "aria-label": said,
    onclick: open, onkeydown: (event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), open())},
  s("title", {}, said), s("path", {class: "hit", d: path}), s("path", {class: "line", d: path, "stroke-width": width.toFixed(1), "marker-end": "url(#arrow)"}),
  verdict === "conflict" && s("text", {x: middle.x, y: middle.y}, "⚠"), rate >= 0.01 && s("text", {x: middle.x, y: middle.y + 16}, percent(edge.errors, edge.volume)));
  return node;
}

// From side to side, through the gaps that the layout left between nodes.
function curve(a, b, points, loop) {
  if (loop) return `M${a.x + NODE_HALF_WIDTH} ${a.y - 6}c40 -30 40 42 0 12`;
  const right = b.x >= a.x + 10, same = Math.abs(b.x - a.x) < 10;
  if (points.length) {
    const stops = [{x: a.x + Math.sign(points[0].x - a.x) * NODE_HALF_WIDTH, y: a.y}, ...points, {x: b.x - Math.sign(b.x - points.at(-1).x) * NODE_HALF_WIDTH, y: b.y}];
    return stops.map((stop, index) => {
      if (!index) return `M${stop.x} ${stop.y}`;
      const before = stops[index - 1], bend = (stop.x - before.x) / 2;
      return `C${before.x + bend} ${before.y} ${stop.x - bend} ${stop.y} ${stop.x} ${stop.y}`;
    }).join("");
  }
  const x1 = a.x + (right || same ? NODE_HALF_WIDTH : -NODE_HALF_WIDTH), x2 = b.x + (right ? -NODE_HALF_WIDTH : NODE_HALF_WIDTH);
  const bend = same ? 60 : (x2 - x1) / 2;
  return `M${x1} ${a.y}C${x1 + bend} ${a.y} ${same ? x2 + bend : x2 - bend} ${b.y} ${x2} ${b.y}`;
}

// Pan with a drag or the arrow keys, zoom with the wheel, buttons or two fingers.
function camera(svg, world, nodes) {
  let scale = 1, x = 0, y = 0;
  const apply = () => world.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
  const zoom = (factor, cx = svg.clientWidth / 2, cy = svg.clientHeight / 2) => {
    const next = Math.min(4, Math.max(0.05, scale * factor));
    x = cx - (cx - x) * next / scale;
    y = cy - (cy - y) * next / scale;
    scale = next;
    apply();
  };
  const fit = () => {
    const xs = nodes.map((node) => node.x), ys = nodes.map((node) => node.y);
    const left = Math.min(...xs) - 110, top = Math.min(...ys) - 50;
    const width = Math.max(...xs) + 110 - left, height = Math.max(...ys) + 50 - top;
    scale = Math.min(svg.clientWidth / width, svg.clientHeight / height, 1.4);
    x = (svg.clientWidth - width * scale) / 2 - left * scale;
    y = (svg.clientHeight - height * scale) / 2 - top * scale;
    apply();
  };
  const pointers = new Map();
  svg.addEventListener("pointerdown", (event) => pointers.set(event.pointerId, event));
  svg.addEventListener("pointermove", (event) => {
    const last = pointers.get(event.pointerId);
    if (!last) return;
    const others = [...pointers.values()].filter((other) => other.pointerId !== event.pointerId);
    if (others.length) {
      const gap = (p) => Math.hypot(p.clientX - others[0].clientX, p.clientY - others[0].clientY);
      const box = svg.getBoundingClientRect();
      zoom(gap(event) / Math.max(1, gap(last)), (event.clientX + others[0].clientX) / 2 - box.left, (event.clientY + others[0].clientY) / 2 - box.top);
    } else {
      x += event.clientX - last.clientX;
      y += event.clientY - last.clientY;
      apply();
    }
    pointers.set(event.pointerId, event);
  });
  for (const name of ["pointerup", "pointercancel", "pointerleave"]) svg.addEventListener(name, (event) => pointers.delete(event.pointerId));
  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = svg.getBoundingClientRect();
    zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15, event.clientX - box.left, event.clientY - box.top);
  }, {passive: false});
  svg.addEventListener("keydown", (event) => {
    const step = {ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60]}[event.key];
    if (step) { event.preventDefault(); x += step[0]; y += step[1]; apply(); }
    else if (event.key === "+") zoom(1.3);
    else if (event.key === "-") zoom(1 / 1.3);
  });
  return {zoom, fit};
}

// The same facts for those who cannot use a picture.
function asTable(nodes, edges) {
  const names = new Map(nodes.map((node) => [node.id, node.name]));
  const body = h("tbody");
  const details = h("details", {ontoggle: () => {
    if (!details.open || body.children.length) return;
    body.append(...edges.map((edge) => h("tr", {}, h("td", {}, names.get(edge.source)), h("td", {}, t("rel_" + edge.relation)), h("td", {}, names.get(edge.target)),
      h("td", {}, t("verdict_" + (edge.verdict ?? (edge.observed ? "observed" : "designed")))), h("td", {class: "number"}, volume(edge.volume)), h("td", {class: "number"}, percent(edge.errors, edge.volume)),
      h("td", {}, h("button", {onclick: () => edgePanel(edge, nodes)}, t("details"))))));
  }}, h("summary", {}, t("as_table")), scrolled(h("table", {}, h("thead", {}, h("tr", {}, ["source", "relation", "target", "verdict"].map((key) => h("th", {scope: "col"}, t(key))), h("th", {scope: "col", class: "number"}, t("calls")), h("th", {scope: "col", class: "number"}, t("errors")), h("th", {scope: "col"}, t("details")))), body)));
  return details;
}

