// Documents: what is indexed, upload, quarantine, and decisions.
import {announce, byId, field, h, mount, scrolled} from "/static/dom.js";
import {get, post, upload} from "/static/api.js";
import {t} from "/static/i18n.js";
import {failure, go, panel} from "/static/app.js";
import {number, time} from "/static/format.js";
import {rights} from "/static/rights.js";

export async function render(root, {parameters}) {
  const [may, body, held] = await Promise.all([rights(), get("/documents", {text: parameters.text, cursor: parameters.cursor}), get("/documents/quarantine").catch(() => ({quarantine: []}))]);
  const search = h("input", {type: "search", value: parameters.text ?? "", onchange: (event) => go("documents", {text: event.target.value.trim()})});
  mount(root, h("h1", {}, t("documents")), may.upload && uploader(), h("div", {class: "row"}, field(t("filter"), search)),
    body.documents.length ? table(body.documents, may) : h("div", {class: "card"}, h("h2", {}, t("documents_empty")), h("p", {}, may.upload ? t("documents_empty_do") : t("documents_empty_read"))),
    body.next && h("button", {onclick: () => go("documents", {...parameters, cursor: body.next})}, t("more")), quarantine(held.quarantine));
}

function uploader() {
  const input = h("input", {type: "file", multiple: true, "aria-label": t("choose_files"), required: true});
  const bar = h("progress", {max: 1, value: 0, hidden: true, "aria-label": t("uploading")});
  const result = h("div", {role: "status"});
  return h("form", {class: "card", onsubmit: async (event) => {
    event.preventDefault();
    const form = new FormData();
    for (const file of input.files) form.append("files", file);
    bar.hidden = false;
    result.replaceChildren();
    try {
      const body = await upload("/upload", form, (share) => { bar.value = share; });
      result.replaceChildren(h("p", {}, ["indexed", "skipped", "quarantined", "failed", "claims", "edges"].filter((key) => body[key] !== undefined).map((key) => `${key} ${number(body[key])}`).join(" · ")),
        ...(body.errors ?? []).map((error) => h("p", {class: "conflict"}, `${error.path}${error.line ? ":" + error.line : ""} ${error.error}`)));
      if (body.indexed || body.quarantined) setTimeout(() => go("documents", {}, true), 1500);
    } catch (error) {
      result.replaceChildren(failure(error));
    } finally {
      bar.hidden = true;
    }
  }}, h("div", {class: "row"}, field(t("choose_files"), input), h("button", {class: "primary"}, t("upload"))), bar, result);
}

function table(documents, may) {
  return scrolled(h("table", {}, h("thead", {}, h("tr", {}, ["title", "namespace", "classification", "state"].map((key) => h("th", {scope: "col"}, t(key))), h("th", {scope: "col", class: "number"}, t("passages_count")), h("th", {scope: "col"}, t("changed")), may.manage && h("th", {scope: "col"}, t("actions")))),
    h("tbody", {}, documents.map((one) => h("tr", {}, h("td", {}, h("button", {onclick: () => detail(one, may)}, one.title || one.path), h("div", {class: "muted"}, h("code", {}, one.path || one.uri))), h("td", {}, one.namespace), h("td", {}, one.classification),
      h("td", {}, one.status, one.stale && h("span", {class: "tag doc_only"}, t("stale"))), h("td", {class: "number"}, number(one.passages ?? 0)), h("td", {}, time(one.modified_at)),
      may.manage && h("td", {}, one.status === "hidden" ? act(t("restore"), one, "restore") : act(t("hide"), one, "hide")))))));
}

function act(text, one, action) {
  return h("button", {"aria-label": `${text}: ${one.title}`, onclick: async (event) => {
    try {
      await post(`/documents/${encodeURIComponent(one.rid)}/${action}`, {});
      announce(t("done"));
      go("documents", {}, true);
    } catch (error) {
      event.target.after(failure(error));
    }
  }}, text);
}

async function detail(one, may) {
  const history = await get(`/documents/${encodeURIComponent(one.rid)}/history`).catch(() => ({history: []}));
  const by = h("input", {"aria-label": t("supersede"), required: true}), why = h("input", {"aria-label": t("reason")});
  const message = h("div", {role: "alert"});
  panel(one.title || one.path, h("p", {}, h("code", {}, one.uri)), h("p", {class: "muted"}, [one.classification, one.tier, one.type, one.status].filter(Boolean).join(" · ")),
    one.superseded_by && h("p", {}, `${t("supersede")}: `, h("code", {}, one.superseded_by)),
    may.manage && h("form", {onsubmit: async (event) => {
      event.preventDefault();
      try {
        await post("/documents/supersede", {old: one.rid, new: by.value.trim(), why: why.value});
        byId("panel").hidden = true;
        go("documents", {}, true);
      } catch (error) {
        message.replaceChildren(failure(error));
      }
    }}, h("div", {class: "row"}, field(t("supersede"), by), field(t("reason"), why), h("button", {}, t("done"))), message),
    history.history.length > 0 && h("ul", {}, history.history.map((row) => h("li", {class: "muted"}, `${time(row.at)} ${row.action} ${row.who} ${row.why}`))));
}

function quarantine(rows) {
  return h("section", {}, h("h2", {}, t("quarantine")), h("p", {class: "muted"}, t("quarantine_means")),
    rows.length ? scrolled(h("table", {}, h("thead", {}, h("tr", {}, ["documents", "kind", "place"].map((key) => h("th", {scope: "col"}, t(key))))),
      h("tbody", {}, rows.map((row) => h("tr", {}, h("td", {}, h("code", {}, row.path)), h("td", {}, row.kind), h("td", {}, `${row.place}${row.line ? ":" + row.line : ""}`)))))) : h("p", {}, "–"));
}
