// Questions: the answer as it comes, marked unverified until the check at its end; evidence beside it.
import {announce, h, link, mount} from "/static/dom.js";
import {get, stream} from "/static/api.js";
import {language, t} from "/static/i18n.js";
import {failure, go, panel} from "/static/app.js";
import {designedSide, observedSide} from "/static/edge.js";
import {many, percent} from "/static/format.js";

// The conversation so far, for follow-ups; gone with the page.
const turns = [];

export function render(root, {parameters}) {
  const input = h("input", {type: "search", "aria-label": t("question"), placeholder: t("ask_placeholder"), value: parameters.q ?? "", required: true, maxlength: 2000});
  const answer = h("section", {"aria-live": "polite"});
  const beside = h("aside", {"aria-label": t("evidence")});
  const abort = new AbortController();
  const form = h("form", {onsubmit: (event) => {
    event.preventDefault();
    if (input.value.trim()) ask(input.value.trim(), answer, beside, abort.signal);
  }}, input, h("button", {class: "primary"}, t("ask")));
  const again = h("button", {hidden: !turns.length, onclick: () => { turns.length = 0; go("ask", {}, true); }}, t("new_conversation"));
  const suggestions = h("div", {class: "chips"});
  mount(root, h("div", {class: "row"}, h("h1", {}, t("ask")), again), h("div", {class: "ask"}, h("div", {}, form, suggestions, answer), beside));
  suggest(suggestions, input, form);
  if (parameters.q) form.requestSubmit();
  else input.focus();
  return () => abort.abort();
}

// Questions that can be answered here, from what was really seen.
async function suggest(chips, input, form) {
  const body = await get("/edges", {layer: "observed", relation: "CALLS_OBSERVED", limit: 50}).catch(() => ({edges: []}));
  // Names that people use, rather than hosts and RPC interfaces.
  const edge = body.edges.find((one) => !/[./]/.test(one.target.name)) ?? body.edges[0];
  if (!edge) return;
  const fill = (key) => t(key).replace("{a}", edge.source.name).replace("{b}", edge.target.name);
  chips.append(...["why_question", "callers_question", "impact_question"].map((key) => h("button", {type: "button", onclick: () => { input.value = fill(key); form.requestSubmit(); }}, fill(key))));
}

async function ask(question, root, beside, signal) {
  const text = h("p", {class: "answer unverified"});
  const state = h("p", {class: "muted busy", role: "status"}, t("searching"));
  mount(root, h("h2", {}, question), state, text);
  beside.replaceChildren();
  let packet = {};
  try {
    await stream("/search/answer/stream", {query: question, history: turns.slice(-4)}, (event, data) => {
      if (event === "evidence") {
        packet = data;
        mount(beside, evidence(data.evidence ?? data));
        state.textContent = t("writing_unverified");
      } else if (event === "delta") {
        text.append(data.text ?? "");
      } else if (event === "done") {
        finish(root, beside, question, {...packet, ...data}, text, state);
      } else if (event === "error") {
        state.remove();
        root.append(failure(new Error(data.detail ?? t("failed"))));
      }
    }, signal);
  } catch (error) {
    if (error.name !== "AbortError") root.append(failure(error, () => ask(question, root, beside, signal)));
    state.remove();
  }
}

function finish(root, beside, question, result, text, state) {
  const unverified = (result.unverified?.citations ?? 0) + (result.unverified?.numbers ?? 0);
  state.remove();
  const good = !result.abstained && !unverified;
  const words = result.answer ?? text.textContent;
  const marks = new Map((result.citations ?? []).map((citation) => [String(citation.marker).replace(/^\[|\]$/g, ""), citation]));
  const found = evidence(result.evidence ?? {});
  beside.replaceChildren(found);
  const shown = h("p", {class: `answer ${good ? "verified" : "unverified"}`}, withMarks(words, marks, found));
  text.replaceWith(shown);
  shown.after(
    result.abstained ? h("div", {class: "notice warn"}, h("p", {}, t("abstained")), h("p", {}, t("abstained_do")))
      : h("p", {class: good ? "confirmed" : "doc_only"}, good ? t("all_verified") : many(unverified, "unverified_part", "unverified_parts")),
    confidence(result.confidence ?? 0),
    ...(result.degraded?.length ? [h("div", {class: "notice warn"}, `${t("degraded")}: ${result.degraded.join(", ")}`)] : []),
    ...(result.abstained ? [] : [h("p", {class: "muted"}, `${t("narrator")}: ${result.narrator ?? "–"}`)]));
  turns.push({question, answer: words});
  announce(t("answered"));
}

// [1] and [E1] of the answer become buttons that open what they cite.
function withMarks(words, marks, found) {
  return words.split(/(\[[A-Za-z]?\d+\])/).map((part) => {
    const marker = /^\[([A-Za-z]?\d+)\]$/.exec(part)?.[1];
    const citation = marker && marks.get(marker);
    // What closes a sentence stays with its last citation.
    if (!citation) return /^[.,;:)]/.test(part) ? "\u2060" + part : part;
    return h("button", {class: `cite${citation.verified ? "" : " bad"}`, title: citation.verified ? t("verified") : citation.reason ?? t("unverified"), onclick: () => openCitation(citation, found)}, part);
  });
}

async function openCitation(citation, found) {
  const item = [...found.querySelectorAll("[data-rid]")].find((node) => node.dataset.rid === citation.rid);
  for (const lit of found.querySelectorAll(".lit")) lit.classList.remove("lit");
  if (item) {
    item.classList.add("lit");
    item.scrollIntoView({block: "nearest"});
    item.querySelector("details")?.setAttribute("open", "");
  }
  if (citation.kind === "edge") await openEdge(citation.rid);
}

async function openEdge(rid) {
  try {
    const edge = await get(`/edges/${encodeURIComponent(rid)}`, {step: "1d"});
    panel(`${edge.source.name} → ${edge.target.name}`, edge.claims?.length ? designedSide(edge) : null, edge.layer !== "designed" && observedSide(edge));
  } catch (error) {
    panel(t("evidence"), failure(error, () => openEdge(rid)));
  }
}

function evidence(body) {
  const passages = body.passages ?? [], edges = body.edges ?? [], findings = body.findings ?? [];
  if (!passages.length && !edges.length && !findings.length) return h("p", {class: "muted"}, t("no_evidence"));
  return h("div", {},
    edges.length > 0 && [h("h2", {}, t("edges_of_evidence")), h("ul", {class: "evidence"}, edges.map((edge) => h("li", {"data-rid": edge.rid}, edge.marker && h("span", {class: "tag"}, edge.marker), " ",
      h("button", {onclick: () => openEdge(edge.rid)}, `${edge.source.name} → ${edge.target.name}`), " ", h("span", {class: "muted"}, edge.relation), edge.trace_query?.url && [" ", link(edge.trace_query.url, t("open_traces"))])))],
    passages.length > 0 && [h("h2", {}, t("passages")), h("ol", {class: "evidence"}, passages.map((passage) => h("li", {"data-rid": passage.rid}, h("details", {}, h("summary", {}, passage.marker && h("span", {class: "tag"}, passage.marker), ` ${[...new Set([passage.document.title, ...passage.section])].join(" › ")}`),
      h("p", {class: "muted"}, h("code", {}, `${passage.uri}:${passage.lines[0]}`), ` · ${passage.classification} · ${passage.tier}`, passage.stale ? ` · ${t("stale")}` : ""), h("blockquote", {}, passage.text)))))],
    findings.length > 0 && [h("h2", {}, t("drift")), h("ul", {class: "evidence"}, findings.map((finding) => h("li", {}, h("span", {class: `tag ${finding.undecided ? "undecided" : finding.flag}`}, t("verdict_" + finding.flag)), " ", h("button", {onclick: () => go("drift", {finding: finding.fingerprint})}, finding.summary))))]);
}

function confidence(value) {
  const bar = h("div");
  bar.style.width = `${Math.round(value * 100)}%`;
  return h("div", {}, h("p", {}, `${t("confidence")} ${percent(value, 1)} `, h("span", {class: "muted"}, t("confidence_means"))), h("div", {class: "meter", role: "meter", "aria-label": t("confidence"), "aria-valuenow": Math.round(value * 100), "aria-valuemin": 0, "aria-valuemax": 100, lang: language()}, bar));
}
