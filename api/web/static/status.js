// Status: sources with their gaps, data quality with what to fix, parts of the service.
import {facts, h, mount, scrolled} from "/static/dom.js";
import {get} from "/static/api.js";
import {language, t} from "/static/i18n.js";
import {environment} from "/static/app.js";
import {number, percent, time} from "/static/format.js";

export async function render(root) {
  const [status, body] = await Promise.all([get("/status", {language: language()}), get("/services", {environment: environment(), language: language()}).catch(() => ({services: []}))]);
  mount(root, h("h1", {}, t("status")), h("p", {class: "muted"}, `Nexus ${status.version} · PostgreSQL ${status.database?.server_version ?? "–"} · ${time(status.now)}`, status.drift.last_run && ` · ${t("last_run")} ${time(status.drift.last_run.generated_at)}`),
    tiles(status), (status.observed.findings ?? []).map((sentence) => h("div", {class: "notice warn"}, sentence)), sources(status.sources), quality(body.services), everything(status));
}

// What an operator looks at first.
function tiles({observed, documents}) {
  const tile = (key, value) => h("div", {class: "counter"}, h("b", {}, value), h("span", {}, t(key)));
  return h("div", {class: "counters"}, tile("services", number(observed.services ?? 0)), tile("edges_all", number(observed.edges ?? 0)), tile("lag_bytes", number(observed.lag_bytes ?? 0)), tile("late", number(observed.late_spans ?? 0)),
    tile("documents", number(Object.values(documents.documents ?? {}).reduce((sum, n) => sum + n, 0))), tile("vectors_pending", number(documents.vectors_pending ?? 0)));
}

function sources(rows) {
  return h("section", {class: "card"}, h("h2", {}, t("sources")), rows.length === 0 && h("p", {class: "muted"}, t("no_gaps")), rows.map((source) => h("div", {},
    h("h3", {}, `${source.name} `, h("span", {class: `tag ${source.state === "ok" ? "confirmed" : source.state === "failing" ? "conflict" : "doc_only"}`}, source.state)),
    source.reason && h("div", {class: "notice warn"}, source.reason), facts([[t("to"), time(source.read_to)], [t("spans"), number(source.spans ?? 0)]]),
    h("h3", {}, t("gaps")), source.gaps?.length ? h("ul", {}, source.gaps.map((gap) => h("li", {}, `${time(gap.from)} – ${time(gap.to)} · ${gap.state} · ${gap.reason}`))) : h("p", {class: "muted"}, t("no_gaps")))));
}

function quality(services) {
  const shares = ["paired", "resolved", "unpaired", "orphaned", "late", "duplicate", "clock_suspect", "unnamed"];
  if (!services.length) return h("section", {class: "card"}, h("h2", {}, t("quality")), h("p", {}, t("services_empty")));
  return h("section", {class: "card"}, h("h2", {}, t("quality")), scrolled(h("table", {}, h("thead", {}, h("tr", {}, h("th", {scope: "col"}, t("services")), h("th", {scope: "col"}, t("what_to_fix")), ["spans", ...shares].map((key) => h("th", {scope: "col", class: "number"}, t(key))), h("th", {scope: "col"}, t("versions")))),
    h("tbody", {}, services.toSorted(byUrgency).map((service) => {
      const part = (value) => (value == null ? "–" : percent(value, 1));
      return h("tr", {}, h("th", {scope: "row"}, service.name, service.environment && h("span", {class: "muted"}, ` ${service.environment}`)), h("td", {}, service.findings.map((sentence) => h("div", {}, sentence))),
        h("td", {class: "number"}, number(service.spans)), shares.map((key) => h("td", {class: "number"}, part(service.shares[key]))), h("td", {}, service.versions.join(", ")));
    })))));
}

// Those with most spans to fix first.
function byUrgency(one, other) {
  const affected = ({spans, shares, rejected, findings}) => findings.length && 1 + rejected + spans * Math.max(...["unpaired", "orphaned", "late", "duplicate", "clock_suspect", "unnamed"].map((key) => shares[key] ?? 0));
  return affected(other) - affected(one) || one.name.localeCompare(other.name) || one.environment.localeCompare(other.environment);
}

// Every number there is, for those who look for one that has no place above.
function everything(status) {
  return h("details", {class: "card"}, h("summary", {}, t("everything")), ["observed", "documents", "drift", "database"].map((key) => status[key] && [h("h3", {}, key), tree(status[key])]));
}

function tree(value) {
  if (value === null || typeof value !== "object") return String(value);
  if (Array.isArray(value)) return value.length ? h("ul", {}, value.map((item) => h("li", {}, tree(item)))) : "–";
  return facts(Object.entries(value).map(([key, item]) => [key, tree(item)]));
}
