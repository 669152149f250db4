// The drift report: counters, trend, filters, findings with both sides' evidence.
import {announce, facts, field, h, mount, s, select} from "/static/dom.js";
import {get, post} from "/static/api.js";
import {language, t} from "/static/i18n.js";
import {environment, failure, go, panel, START} from "/static/app.js";
import {designedSide, observedSide} from "/static/edge.js";
import {many, number, time} from "/static/format.js";
import {rights} from "/static/rights.js";

const FLAGS = ["confirmed", "doc_only", "observed_only", "conflict"];
const PAGE = 50;

export async function render(root, {parameters}) {
  const wanted = {lang: language(), environment: environment(), flag: parameters.flag, status: parameters.status, entity: parameters.entity, min_severity: parameters.severity, state: parameters.state, limit: PAGE};
  const again = (await rights()).compare && h("button", {class: "primary", onclick: () => compute(again)}, t("compare_now"));
  let report;
  try {
    report = await get("/diff", wanted);
  } catch (error) {
    if (error.status !== 404) throw error;
  }
  if (!report?.run) {
    mount(root, h("h1", {}, t("drift")), h("div", {class: "card"}, h("h2", {}, t("no_run")), h("p", {}, t("no_run_do")), again));
    return;
  }
  const runs = await get("/diff/runs", {environment: environment()}).then((body) => body.runs ?? [], () => []);
  const change = (name, value) => go("drift", {...parameters, [name]: value, finding: ""});
  const list = h("div", {});
  const more = h("button", {hidden: true}, t("more"));
  const show = (body) => {
    list.append(...body.findings.map(card));
    more.hidden = !body.next;
    more.onclick = async () => show(await get("/diff", {...wanted, cursor: body.next}));
  };
  mount(root, 
    h("div", {class: "row"}, h("h1", {}, t("drift")), again),
    h("p", {class: "muted"}, `${t("window")} ${time(report.run.window?.from)} – ${time(report.run.window?.to)} · ${t("computed")} ${time(report.run.generated_at)}`),
    h("div", {class: "counters"}, [...FLAGS, "undecided"].map((flag) => h("button", {class: `counter ${flag}`, "aria-pressed": String(parameters.flag === flag), disabled: flag === "undecided",
      onclick: () => change("flag", parameters.flag === flag ? "" : flag)}, h("b", {}, number(report.totals[flag] ?? 0)), h("span", {}, t("verdict_" + flag))))),
    trend(runs),
    h("div", {class: "row"},
      field(t("status"), select([["", t("all")], ...Object.keys(report.totals.by_status ?? {}).sort().map((key) => [key, `${key} (${report.totals.by_status[key]})`])], parameters.status ?? "", (v) => change("status", v))),
      field(t("severity"), select([["", t("all")], ["low", t("severity_low")], ["medium", t("severity_medium")], ["high", t("severity_high")]], parameters.severity ?? "", (v) => change("severity", v))),
      field(t("state"), select([["", t("all")], ...["new", "open", "acknowledged", "suppressed", "resolved", "reopened", "held"].map((key) => [key, t("state_" + key)])], parameters.state ?? "", (v) => change("state", v))),
      field(t("entity"), h("input", {value: parameters.entity ?? "", placeholder: t("entity_hint"), onchange: (event) => change("entity", event.target.value.trim())}))),
    list, more);
  show(report);
  const counted = FLAGS.some((flag) => report.totals[flag]);
  if (!report.findings.length) list.append(h("div", {class: "card"}, counted
    ? [h("p", {}, t("no_findings")), h("button", {onclick: () => go("drift", {})}, t("clear_filters"))]
    : [h("h2", {}, t("no_edges")), h("p", {}, t("map_empty_do")), h("pre", {}, h("code", {}, START))]));
  if (parameters.finding) await open(parameters.finding);
}

async function compute(button) {
  button.disabled = true;
  announce(t("computing"));
  try {
    await post("/diff/runs", environment() ? {environment: environment()} : {});
    go("drift", {}, true);
  } catch (error) {
    button.after(failure(error));
  } finally {
    button.disabled = false;
  }
}

function trend(runs) {
  const points = runs.slice().reverse().filter((run) => run.totals);
  if (points.length < 2) return null;
  const of = (run) => (run.totals.doc_only ?? 0) + (run.totals.observed_only ?? 0) + (run.totals.conflict ?? 0);
  const values = points.map(of), top = Math.max(1, ...values);
  const d = values.map((value, index) => `${index ? "L" : "M"}${(index / (values.length - 1) * 300).toFixed(1)} ${(56 - value / top * 52).toFixed(1)}`).join("");
  const said = `${t("trend")}: ${number(values[0])} → ${number(values.at(-1))} (${many(points.length, "run", "runs")})`;
  return h("figure", {class: "card"}, s("svg", {class: "spark", viewBox: "0 0 300 60", preserveAspectRatio: "none", role: "img", "aria-label": said}, s("path", {d})), h("figcaption", {class: "muted"}, said));
}

function card(finding) {
  const verdict = finding.undecided ? "undecided" : finding.flag;
  return h("article", {class: "card finding", onclick: (event) => event.target.tagName !== "BUTTON" && open(finding.fingerprint)},
    h("div", {class: "row"}, h("span", {class: `tag ${verdict}`}, t("verdict_" + finding.flag)), h("span", {class: "muted"}, finding.status), finding.severity !== "none" && h("span", {class: "tag"}, t("severity_" + finding.severity)), h("span", {class: "muted"}, t("state_" + finding.state))),
    h("button", {class: "open", onclick: () => open(finding.fingerprint)}, `${finding.source.name} → ${finding.target.name}`), h("p", {}, finding.summary));
}

async function open(fingerprint) {
  try {
    const body = await get(`/diff/findings/${encodeURIComponent(fingerprint)}`, {lang: language()});
    detail(body, await rights());
  } catch (error) {
    panel(t("finding"), failure(error, () => open(fingerprint)));
  }
}

function detail(finding, may) {
  const exposure = finding.exposure;
  panel(`${finding.source.name} → ${finding.target.name}`,
    h("p", {}, h("span", {class: `tag ${finding.undecided ? "undecided" : finding.flag}`}, t("verdict_" + finding.flag)), ` ${finding.status}`, finding.reason && ` · ${finding.reason}`),
    h("p", {}, h("strong", {}, finding.summary)), finding.what_would_change_this && h("p", {class: "muted"}, `${t("would_change")}: ${finding.what_would_change_this}`),
    exposure && facts([[t("opportunities"), number(exposure.opportunities)], [t("covered_days"), exposure.covered_days], [t("detection"), exposure.detection?.toFixed(3)],
      [t("rate_upper"), exposure.rate_upper ? `1 / ${number(Math.round(1 / exposure.rate_upper))}` : null], [t("active_day_upper"), exposure.active_day_upper ? `1 / ${(1 / exposure.active_day_upper).toFixed(1)}` : null]]),
    h("div", {class: "sides"}, designedSide({claims: finding.designed ?? []}), observedSide(finding.observed)),
    facts([[t("first_detected"), time(finding.first_detected)], [t("state"), t("state_" + finding.state)]]),
    finding.history.length > 0 && [h("h3", {}, t("history")), h("ul", {}, finding.history.map((one) => h("li", {class: "muted"}, [time(one.at), t("state_" + one.to), one.environment, one.actor, one.note].filter(Boolean).join(" · "))))],
    may.manage && actions(finding));
}

function actions(finding) {
  const reason = h("input", {"aria-label": t("reason"), placeholder: t("reason"), required: true});
  const until = h("input", {type: "date", "aria-label": t("expires"), value: new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10)});
  const owner = h("input", {"aria-label": t("owner"), placeholder: t("owner")});
  const message = h("div", {role: "alert"});
  const act = (name, body) => async () => {
    if (!reason.reportValidity()) return;
    try {
      await post(`/diff/findings/${encodeURIComponent(finding.fingerprint)}/${name}`, body());
      announce(t("done"));
      await open(finding.fingerprint);
    } catch (error) {
      message.replaceChildren(failure(error));
    }
  };
  return h("section", {}, h("h3", {}, t("decide")), h("div", {class: "row"}, field(t("reason"), reason), field(t("owner"), owner), field(t("expires"), until)),
    h("div", {class: "row"}, h("button", {onclick: act("acknowledge", () => ({reason: reason.value}))}, t("acknowledge")),
      h("button", {onclick: act("suppress", () => ({reason: reason.value, owner: owner.value || t("unknown"), expires_at: `${until.value}T00:00:00Z`}))}, t("suppress"))), message);
}
