// Nodes by kind, and the legend.
import {h, s} from "/static/dom.js";
import {t} from "/static/i18n.js";

export const NODE_HALF_WIDTH = 88;
const HALF_HEIGHT = 19;
const MAX_LETTERS = 22;

const OUTLINES = {
  service: () => s("rect", {class: "shape", x: -NODE_HALF_WIDTH, y: -HALF_HEIGHT, width: 2 * NODE_HALF_WIDTH, height: 2 * HALF_HEIGHT, rx: 8}),
  namespace: () => s("rect", {class: "shape", x: -NODE_HALF_WIDTH, y: -HALF_HEIGHT, width: 2 * NODE_HALF_WIDTH, height: 2 * HALF_HEIGHT, rx: 2}),
  database: () => s("path", {class: "shape", d: `M${-NODE_HALF_WIDTH} -16c0 -8 ${2 * NODE_HALF_WIDTH} -8 ${2 * NODE_HALF_WIDTH} 0v34c0 8 ${-2 * NODE_HALF_WIDTH} 8 ${-2 * NODE_HALF_WIDTH} 0z`}),
  topic: () => s("path", {class: "shape", d: `M${-NODE_HALF_WIDTH + 14} ${-HALF_HEIGHT}h${2 * NODE_HALF_WIDTH - 28}l14 ${HALF_HEIGHT}l-14 ${HALF_HEIGHT}h${-(2 * NODE_HALF_WIDTH - 28)}l-14 ${-HALF_HEIGHT}z`}),
  external: () => s("rect", {class: "shape", x: -NODE_HALF_WIDTH, y: -HALF_HEIGHT, width: 2 * NODE_HALF_WIDTH, height: 2 * HALF_HEIGHT, rx: HALF_HEIGHT}),
};

// Hangul and other wide letters take the place of two.
function shortened(name) {
  let width = 0;
  const letters = [...name], wide = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\u{1f000}-\u{1faff}]/u;
  const until = letters.findIndex((letter) => (width += wide.test(letter) ? 1.9 : 1) > MAX_LETTERS);
  return until < 0 ? name : letters.slice(0, until - 1).join("") + "…";
}

export function drawNode(node, open, chosen) {
  const label = shortened(node.name);
  const said = `${node.name}, ${t("kind_" + node.kind)}` + (node.environment ? `, ${node.environment}` : "");
  return s("g", {class: `node ${node.kind}${chosen ? " chosen" : ""}`, "data-id": node.id, transform: `translate(${node.x} ${node.y})`, tabindex: 0, role: "button", "aria-label": said,
    onclick: open, onkeydown: (event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), open())},
  s("title", {}, said), (OUTLINES[node.kind] ?? OUTLINES.service)(), node.kind === "database" && s("path", {class: "lid", d: `M${-NODE_HALF_WIDTH} -16c0 8 ${2 * NODE_HALF_WIDTH} 8 ${2 * NODE_HALF_WIDTH} 0`}),
  s("text", {y: node.kind === "service" ? 0 : node.kind === "database" ? 1 : -4}, label), node.kind !== "service" && s("text", {class: "kind", y: node.kind === "database" ? 15 : 10}, t("kind_" + node.kind)));
}

export function legend() {
  const line = (verdict) => h("span", {}, s("svg", {width: 46, height: 10, "aria-hidden": "true"}, s("g", {class: `edge ${verdict}`}, s("path", {class: "line", d: "M0 5H44", "stroke-width": 3}))), " ", t("verdict_" + verdict));
  return h("div", {class: "legend"}, ["confirmed", "doc_only", "observed_only", "conflict", "undecided"].map(line));
}
