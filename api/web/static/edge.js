// One edge or node in the panel: numbers, history, causes, quotes, traces.
import {facts, h, link, s, scrolled} from "/static/dom.js";
import {get} from "/static/api.js";
import {t} from "/static/i18n.js";
import {busy, failure, go, panel} from "/static/app.js";
import {latency, ms, number, percent, time} from "/static/format.js";

export async function edgePanel(edge, nodes) {
  const name = (id) => nodes.find((node) => node.id === id)?.name ?? id;
  const title = `${name(edge.source)} → ${name(edge.target)}`;
  panel(title, busy());
  try {
    const [observed, designed] = await Promise.all([
      edge.observed ? get(`/edges/${encodeURIComponent(edge.observed)}`, {step: "1d"}) : null,
      edge.designed ? get(`/edges/${encodeURIComponent(edge.designed)}`) : null,
    ]);
    panel(title, h("p", {}, h("span", {class: `tag ${edge.verdict ?? ""}`}, t("verdict_" + (edge.verdict ?? (edge.observed ? "observed" : "designed")))), edge.status && ` ${edge.status}`, " ",
      edge.fingerprint && h("button", {onclick: () => go("drift", {finding: edge.fingerprint})}, t("open_finding"))), observedSide(observed), designedSide(designed),
    h("p", {}, h("button", {onclick: () => go("ask", {q: `${t("why_question")}`.replace("{a}", name(edge.source)).replace("{b}", name(edge.target))})}, t("ask_why"))));
  } catch (error) {
    panel(title, failure(error, () => edgePanel(edge, nodes)));
  }
}

export function nodePanel(node, nodes, edges) {
  const name = (id) => nodes.find((other) => other.id === id)?.name ?? id;
  const list = (title, found, other) => found.length > 0 && [h("h3", {}, title), h("ul", {}, found.map((edge) => h("li", {}, h("button", {onclick: () => edgePanel(edge, nodes)}, `${t("rel_" + edge.relation)} ${name(other(edge))}`), " ",
    h("span", {class: edge.verdict ?? "muted"}, t("verdict_" + (edge.verdict ?? (edge.observed ? "observed" : "designed"))))))) ];
  panel(node.name, facts([[t("kind"), t("kind_" + node.kind)], [t("environment"), node.environment], [t("namespace"), node.namespace], [t("owner"), node.owner]]),
    h("div", {class: "row"}, node.kind === "namespace" ? h("button", {onclick: () => go("map", {group: "none"})}, t("ungroup")) : h("button", {onclick: () => go("map", {focus: node.name})}, t("focus_here")),
      h("button", {onclick: () => go("drift", {entity: node.name})}, t("its_drift"))),
    list(t("depends_on"), edges.filter((edge) => edge.source === node.id), (edge) => edge.target), list(t("used_by"), edges.filter((edge) => edge.target === node.id), (edge) => edge.source));
}

export function observedSide(edge) {
  if (!edge) return h("section", {}, h("h3", {}, t("observed")), h("p", {class: "muted"}, t("never_observed")));
  const units = edge.calls || edge.messages;
  return h("section", {}, h("h3", {}, t("observed")),
    facts([
      [edge.calls ? t("calls") : t("messages"), number(units)], [t("errors"), `${number(edge.errors)} (${percent(edge.errors, edge.handled && !edge.calls ? edge.handled : units)})`],
      [t("protocols"), Object.keys(edge.protocols ?? {}).join(", ")], [t("via"), Object.keys(edge.via ?? {}).join(", ")],
      [t("operations"), Object.entries(edge.operations ?? {}).map(([name, n]) => `${name} ${number(n)}`).join(", ")], [t("consumer_groups"), Object.keys(edge.consumer_groups ?? {}).join(", ")],
      [t("client_latency"), latency(edge.client_latency_ms)], [t("server_latency"), latency(edge.server_latency_ms)], [t("queue"), latency(edge.queue_ms)],
      [t("first_seen"), time(edge.first_seen)], [t("last_seen"), time(edge.last_seen)], [t("active_days"), edge.active_days],
      [t("basis"), Object.entries(edge.basis ?? {}).filter(([, n]) => n).map(([key, n]) => `${key} ${number(n)}`).join(", ")], [t("versions"), [...(edge.source_versions ?? []), "→", ...(edge.target_versions ?? [])].join(" ")],
    ]),
    edge.series?.length > 1 && sparkline(edge.series),
    edge.causes?.length > 0 && [h("h3", {}, t("causes")), scrolled(h("table", {}, h("thead", {}, h("tr", {}, h("th", {scope: "col"}, t("caller_operation")), h("th", {scope: "col"}, t("callee_operation")), h("th", {scope: "col", class: "number"}, t("calls")))),
      h("tbody", {}, edge.causes.map((cause) => h("tr", {}, h("td", {}, cause.caller_operation), h("td", {}, cause.callee_operation), h("td", {class: "number"}, number(cause.calls)))))))],
    edge.exemplars?.length > 0 && [h("h3", {}, t("exemplars")), h("ul", {}, edge.exemplars.map((one) => h("li", {}, `${t("outcome_" + one.outcome)} `, h("code", {}, one.trace_id), one.duration_ms ? ` ${ms(one.duration_ms)}` : "")))],
    edge.trace_query && [h("h3", {}, t("trace_query")), h("p", {}, h("code", {}, edge.trace_query.query)), edge.trace_query.url && h("p", {}, link(edge.trace_query.url, t("open_traces")))]);
}

export function designedSide(edge) {
  if (!edge?.claims?.length) return h("section", {}, h("h3", {}, t("designed")), h("p", {class: "muted"}, t("never_documented")));
  return h("section", {}, h("h3", {}, t("designed")), edge.claims.map(claimView));
}

export function claimView(claim) {
  const [first, last] = claim.lines ?? [];
  return h("div", {}, h("blockquote", {}, claim.quote), h("p", {class: "muted"}, `${claim.document?.title ?? ""} · `, h("code", {}, `${claim.document?.uri ?? ""}:${first}${last !== first ? "-" + last : ""}`), ` · ${claim.format} · ${t("modality_" + claim.modality)} · ${t("confidence")} ${percent(claim.confidence, 1)}`));
}

export function sparkline(series) {
  const values = series.map((point) => point.calls || point.messages || 0), errors = series.map((point) => point.errors || 0);
  const top = Math.max(1, ...values);
  const path = (numbers) => numbers.map((value, index) => `${index ? "L" : "M"}${(index / (numbers.length - 1) * 300).toFixed(1)} ${(56 - value / top * 52).toFixed(1)}`).join("");
  const said = `${t("history")}: ${t("from")} ${time(series[0].start)}, ${t("most")} ${number(top)}, ${t("errors")} ${number(errors.reduce((a, b) => a + b, 0))}`;
  return h("figure", {}, s("svg", {class: "spark", viewBox: "0 0 300 60", preserveAspectRatio: "none", role: "img", "aria-label": said}, s("path", {d: path(values)}), s("path", {class: "second", d: path(errors)})), h("figcaption", {class: "muted"}, said));
}
