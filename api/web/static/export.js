// The picture as a file.
function save(blob, name) {
  const anchor = document.createElement("a");
  anchor.href = URL.createObjectURL(blob);
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 10_000);
}

// A copy that stands alone: computed styles become attributes, and the picture is cut to its content.
function standalone(svg) {
  const copy = svg.cloneNode(true);
  const from = svg.querySelectorAll("*"), to = copy.querySelectorAll("*");
  const kept = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "font-size", "text-anchor", "dominant-baseline", "opacity", "paint-order"];
  from.forEach((node, index) => {
    const style = getComputedStyle(node);
    for (const name of kept) to[index].setAttribute(name, style.getPropertyValue(name));
    for (const name of ["class", "tabindex", "role"]) to[index].removeAttribute(name);
  });
  const world = copy.querySelector("g");
  world.removeAttribute("transform");
  const box = svg.querySelector("g").getBBox();
  copy.setAttribute("viewBox", `${box.x - 20} ${box.y - 20} ${box.width + 40} ${box.height + 40}`);
  copy.setAttribute("width", Math.ceil(box.width + 40));
  copy.setAttribute("height", Math.ceil(box.height + 40));
  copy.setAttribute("font-family", "system-ui, sans-serif");
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of Object.entries({x: box.x - 20, y: box.y - 20, width: box.width + 40, height: box.height + 40, fill: getComputedStyle(svg.parentElement).backgroundColor})) ground.setAttribute(name, value);
  copy.prepend(ground);
  return {text: new XMLSerializer().serializeToString(copy), width: box.width + 40, height: box.height + 40};
}

export function exportSvg(svg) {
  save(new Blob([standalone(svg).text], {type: "image/svg+xml"}), "nexus-map.svg");
}

export function exportPng(svg) {
  const {text, width, height} = standalone(svg);
  const image = new Image();
  image.onload = () => {
    const scale = Math.min(2, 8000 / Math.max(width, height));
    const canvas = document.createElement("canvas");
    canvas.width = width * scale;
    canvas.height = height * scale;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => blob && save(blob, "nexus-map.png"));
  };
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
}

const MERMAID_SHAPES = {service: ["[", "]"], database: ["[(", ")]"], topic: ["{{", "}}"], external: ["([", "])"], namespace: ["[[", "]]"]};

export function mermaid(nodes, edges) {
  const ids = new Map(nodes.map((node, index) => [node.id, `n${index}`]));
  // Mermaid reads HTML entities in quoted labels; nothing else of a name has a meaning there.
  const safe = (text) => text.replace(/[^\p{L}\p{N} ._\-/:@()]/gu, (letter) => `#${letter.codePointAt(0)};`);
  const lines = nodes.map((node) => { const [open, close] = MERMAID_SHAPES[node.kind] ?? MERMAID_SHAPES.service; return `  ${ids.get(node.id)}${open}"${safe(node.name)}"${close}`; });
  for (const edge of edges) lines.push(`  ${ids.get(edge.source)} ${edge.observed ? "-->" : "-.->"}|${edge.relation.toLowerCase()}| ${ids.get(edge.target)}`);
  return ["flowchart LR", ...lines, ""].join("\n");
}

export function exportMermaid(nodes, edges) {
  save(new Blob([mermaid(nodes, edges)], {type: "text/plain"}), "nexus-map.mmd");
}
