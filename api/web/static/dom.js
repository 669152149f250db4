// Elements from values. Text becomes text nodes and attributes are set, never parsed: nothing that a document, a span or a
// model says can become markup.
const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value") node.value = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : String(child));
  }
  return node;
}

export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
// Replace all children; what is absent is left out.
export function mount(root, ...children) {
  root.replaceChildren();
  return fill(root, null, children);
}

export const byId = (id) => document.getElementById(id);

// Only web addresses become links: a document may say javascript:.
export function link(url, text) {
  const safe = /^https?:\/\//i.test(url ?? "");
  return safe ? h("a", {href: url, rel: "noreferrer noopener", target: "_blank"}, text) : h("span", {}, text);
}

// What may be wider than the page scrolls by itself, by keyboard too.
export const scrolled = (wide) => h("div", {class: "scroll", tabindex: "0"}, wide);

export function announce(text) {
  byId("live").textContent = text;
}

export function facts(pairs) {
  return h("dl", {class: "facts"}, pairs.filter(([, value]) => value !== null && value !== undefined && value !== "").map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}

export function field(text, control) {
  return h("label", {class: "field"}, text, control);
}

export function select(options, value, onchange) {
  const node = h("select", {onchange: (event) => onchange(event.target.value)}, options.map(([key, text]) => h("option", {value: key}, text)));
  node.value = value;
  return node;
}

export function check(text, value, onchange) {
  const box = h("input", {type: "checkbox", onchange: (event) => onchange(event.target.checked)});
  box.checked = value;
  return h("label", {class: "check"}, box, text);
}
