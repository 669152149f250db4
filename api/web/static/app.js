// The shell: address behind # -> page; language, theme and environment.
import {announce, byId, h, select} from "/static/dom.js";
import {get} from "/static/api.js";
import {language, setLanguage, t} from "/static/i18n.js";

const PAGES = ["map", "drift", "ask", "documents", "entities", "status"];
let cleanup = null;
let turn = 0;

export function address() {
  const [path, search] = location.hash.replace(/^#\//, "").split("?");
  const [page, ...rest] = path.split("/").map(decodeURIComponent);
  return {page: PAGES.includes(page) ? page : "map", rest, parameters: Object.fromEntries(new URLSearchParams(search ?? ""))};
}

// Change the address without a new entry of the history for each tick of a control.
export function go(page, parameters, replace = false) {
  const kept = Object.entries(parameters).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const hash = `#/${page}` + (kept.length ? "?" + new URLSearchParams(kept) : "");
  if (replace) {
    history.replaceState(null, "", hash);
    return show();
  }
  location.hash = hash;
}

// How a system gets something to show.
export const START = "nexus up --docs ./docs\nnexus replay traces.json";

export const environment = () => localStorage.getItem("environment") ?? "";

export function panel(title, ...children) {
  const node = byId("panel");
  const before = document.activeElement;
  const close = h("button", {"aria-label": t("close"), onclick: () => { closePanel(); before?.focus?.(); }}, "✕");
  node.replaceChildren(h("header", {}, h("h2", {id: "panel-title"}, title), close), ...children.flat().filter(Boolean));
  node.hidden = false;
  close.focus();
}

export function closePanel() {
  byId("panel").hidden = true;
}

export const busy = () => h("p", {class: "muted busy", role: "status"}, t("loading"));

export function failure(error, again) {
  return h("div", {class: "notice error", role: "alert"}, h("strong", {}, t("failed")), h("p", {}, error.message), again && h("button", {onclick: again}, t("again")));
}

async function show() {
  const mine = ++turn;
  const {page, rest, parameters} = address();
  document.documentElement.lang = language();
  document.title = `Nexus · ${t(page)}`;
  byId("skip").textContent = t("skip");
  byId("nav").replaceChildren(...PAGES.map((name) => h("a", {href: `#/${name}`, "aria-current": name === page ? "page" : null}, t(name))));
  // On a narrow screen the row of pages is wider than what is seen of it.
  document.querySelector("#nav [aria-current]")?.scrollIntoView({block: "nearest", inline: "nearest"});
  cleanup?.();
  cleanup = null;
  closePanel();
  const root = byId("main");
  root.replaceChildren(h("h1", {class: "visually-hidden"}, t(page)), busy());
  try {
    const module = await import(`/static/${page}.js`);
    if (mine !== turn) return;
    const done = await module.render(root, {parameters, rest});
    if (mine !== turn) return done?.();
    cleanup = done ?? null;
    announce(t(page));
  } catch (error) {
    if (mine === turn) root.replaceChildren(h("h1", {}, t(page)), failure(error, show));
  }
}

function applyTheme() {
  const chosen = localStorage.getItem("theme") ?? "auto";
  const dark = chosen === "dark" || (chosen === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}

async function tools() {
  const names = await get("/services").then((body) => [...new Set(body.services.map((service) => service.environment).filter(Boolean))].sort(), () => []);
  const chosen = environment();
  if (chosen && !names.includes(chosen)) names.push(chosen);
  const scope = select([["", t("all_environments")], ...names.map((name) => [name, name])], chosen, (value) => { localStorage.setItem("environment", value); show(); });
  scope.setAttribute("aria-label", t("environment"));
  const theme = select([["auto", t("theme_auto")], ["light", t("theme_light")], ["dark", t("theme_dark")]], localStorage.getItem("theme") ?? "auto", (value) => { localStorage.setItem("theme", value); applyTheme(); });
  theme.setAttribute("aria-label", t("theme"));
  const other = h("button", {lang: language() === "ko" ? "en" : "ko", onclick: () => { setLanguage(language() === "ko" ? "en" : "ko"); tools(); show(); }}, language() === "ko" ? "English" : "한국어");
  byId("tools").replaceChildren(...(names.length > 1 || chosen ? [scope] : []), theme, other);
}

applyTheme();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", applyTheme);
addEventListener("hashchange", show);
addEventListener("keydown", (event) => event.key === "Escape" && closePanel());
byId("skip").addEventListener("click", (event) => { event.preventDefault(); byId("main").focus(); });
tools();
show();
