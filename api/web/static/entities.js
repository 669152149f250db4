// Entities: proposals and ambiguous spellings that wait for a person, and the registry.
import {announce, field, h, mount, scrolled, select} from "/static/dom.js";
import {get, post} from "/static/api.js";
import {t} from "/static/i18n.js";
import {failure, go, panel} from "/static/app.js";
import {rights} from "/static/rights.js";

export async function render(root, {parameters}) {
  const [may, body, waiting, indexed] = await Promise.all([rights(), get("/entities", {q: parameters.q, kind: parameters.kind}), get("/entities/suggest"), get("/documents", {limit: 1000}).catch(() => ({documents: []}))]);
  const titles = new Map(indexed.documents.map((one) => [one.rid, one.title || one.path]));
  const change = (name, value) => go("entities", {...parameters, [name]: value});
  const known = body.entities.filter((entity) => entity.state !== "proposed");
  mount(root, h("h1", {}, t("entities")), proposals(waiting, titles, may), h("div", {class: "row"}, field(t("filter"), h("input", {type: "search", value: parameters.q ?? "", onchange: (event) => change("q", event.target.value.trim())})),
    field(t("kind"), select([["", t("all")], ...["service", "database", "topic", "external", "api"].map((kind) => [kind, t("kind_" + kind)])], parameters.kind ?? "", (value) => change("kind", value)))),
  known.length ? table(known, may) : h("div", {class: "card"}, h("h2", {}, t("entities_empty")), h("p", {}, t("entities_empty_do"))));
}

function proposals({proposed, ambiguous}, titles, may) {
  const named = (rid) => titles.get(rid) ?? (rid === "traces" ? t("traces") : rid);
  // The same title may stand over several documents.
  const seen = (evidence) => [...new Set(evidence.map(named))];
  if (!proposed.length && !ambiguous.length) return null;
  return h("section", {class: "card"}, h("h2", {}, `${t("proposals")} (${proposed.length + ambiguous.length})`), h("p", {class: "muted"}, t("proposals_means")),
    proposed.length > 0 && grid(["name", "kind", "aliases", "seen_in", ...(may.manage ? ["decide"] : [])], proposed.map((entity) => {
      const places = seen(entity.evidence);
      return [h("button", {onclick: () => detail(entity, may)}, entity.name), t("kind_" + entity.kind), entity.aliases.join(", "),
        h("span", {class: "muted", title: places.join("\n")}, places.slice(0, 3).join(", "), places.length > 3 && ` +${places.length - 3}`), ...(may.manage ? [h("span", {class: "together"}, quick(entity, "accept"), " ", quick(entity, "reject"))] : [])];
    })),
    ambiguous.length > 0 && [h("h3", {}, t("ambiguous")), h("ul", {}, ambiguous.map((one) => h("li", {}, h("code", {}, one.name), ` → ${one.candidates.join(", ")}`)))]);
}

// Accepting and rejecting straight from the list: the reason is where it was done.
function quick(entity, action) {
  return h("button", {"aria-label": `${t(action)}: ${entity.name}`, onclick: (event) => decide(action, {name: entity.name, kind: entity.kind, why: t("decided_on_page")}, event.target)}, t(action));
}

async function decide(action, body, near) {
  try {
    await post(`/entities/${action}`, body);
    announce(t("done"));
    go("entities", {}, true);
  } catch (error) {
    near.after(failure(error));
  }
}

function table(entities, may) {
  return grid(["name", "kind", "aliases", "owner", "state"], entities.map((entity) =>
    [h("button", {onclick: () => detail(entity, may)}, entity.name), t("kind_" + entity.kind), entity.aliases.join(", "), entity.owner, t("entity_" + entity.state)]));
}

function grid(columns, rows) {
  return scrolled(h("table", {}, h("thead", {}, h("tr", {}, columns.map((key) => h("th", {scope: "col"}, t(key))))), h("tbody", {}, rows.map((cells) => h("tr", {}, cells.map((cell) => h("td", {}, cell)))))));
}

async function detail(entity, may) {
  const decisions = may.manage ? await get("/entities/decisions", {name: entity.name}).catch(() => ({decisions: []})) : {decisions: []};
  const why = h("input", {required: true, "aria-label": t("reason")}), other = h("input", {"aria-label": t("other_name")});
  const message = h("div", {role: "alert"});
  const act = (action, needsOther) => h("button", {type: "button", onclick: () => {
    other.required = needsOther;
    if (why.reportValidity() && other.reportValidity()) decide(action, {name: entity.name, kind: entity.kind, why: why.value, other: other.value.trim()}, message);
  }}, t(action));
  panel(entity.name, h("p", {class: "muted"}, [t("kind_" + entity.kind), t("entity_" + entity.state), entity.namespace, entity.owner].filter(Boolean).join(" · ")),
    entity.aliases.length > 0 && [h("h3", {}, t("aliases")), h("ul", {}, entity.aliases.map((alias) => h("li", {}, alias)))],
    may.manage && [h("h3", {}, t("decide")), h("div", {class: "row"}, field(t("reason"), why), field(t("other_name"), other)),
      h("div", {class: "row"}, entity.state === "proposed" && act("accept", false), act("reject", false), act("alias", true), act("unalias", true), act("merge", true), act("split", true)), message],
    decisions.decisions.length > 0 && [h("h3", {}, t("history")), h("ul", {}, decisions.decisions.map((one) => h("li", {class: "muted"}, `${one.at ?? ""} ${one.action} ${one.other} ${one.who}: ${one.why}`)))]);
}
