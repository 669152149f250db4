// What the caller may do, so that nobody is offered what the server would refuse. The server checks all the same.
import {get} from "/static/api.js";

let asked = null;

// Asked once; where that fails nothing is offered, and the next page asks again.
function session() {
  asked ??= get("/session").catch(() => {
    asked = null;
    return {capabilities: [], namespaces: []};
  });
  return asked;
}

export async function rights() {
  const {capabilities, namespaces} = await session();
  const holds = (...any) => ["admin", ...any].some((one) => capabilities.includes(one));
  return {
    manage: holds("manage"),
    compare: holds("ingest", "manage"),
    // The page uploads into the namespace `default`.
    upload: holds("ingest") && (!namespaces.length || namespaces.includes("default")),
  };
}
