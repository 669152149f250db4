// The API, with its errors as sentences.
export class ApiError extends Error {
  constructor(status, body) {
    super(body?.detail || `HTTP ${status}`);
    this.status = status;
    this.code = body?.code ?? "";
  }
}

async function answer(response) {
  if (response.status === 401) location.reload();
  const body = response.status === 204 ? null : await response.json().catch(() => null);
  if (!response.ok) throw new ApiError(response.status, body);
  return body;
}

export function query(parameters) {
  const kept = Object.entries(parameters ?? {}).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return kept.length ? "?" + new URLSearchParams(kept) : "";
}

export const get = async (path, parameters, signal) => answer(await fetch(path + query(parameters), {headers: {Accept: "application/json"}, signal}));

export const post = async (path, body) =>
  answer(await fetch(path, {method: "POST", headers: {"Content-Type": "application/json", Accept: "application/json"}, body: JSON.stringify(body ?? {})}));

// Server-sent events of a POST: calls on(event, data) for each.
export async function stream(path, body, on, signal) {
  const response = await fetch(path, {method: "POST", headers: {"Content-Type": "application/json", Accept: "text/event-stream"}, body: JSON.stringify(body), signal});
  if (!response.ok || !response.body) return answer(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return null;
    rest += value.replaceAll("\r\n", "\n");
    let end;
    while ((end = rest.indexOf("\n\n")) >= 0) {
      const lines = rest.slice(0, end).split("\n");
      rest = rest.slice(end + 2);
      const event = lines.find((line) => line.startsWith("event:"))?.slice(6).trim() ?? "message";
      const data = lines.filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trimStart()).join("\n");
      if (data) on(event, JSON.parse(data));
    }
  }
}

// Upload with progress; fetch cannot tell how far it is.
export function upload(path, form, onprogress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", path);
    request.responseType = "json";
    request.upload.onprogress = (event) => event.lengthComputable && onprogress(event.loaded / event.total);
    request.onload = () => (request.status < 300 ? resolve(request.response) : reject(new ApiError(request.status, request.response)));
    request.onerror = () => reject(new ApiError(0, {detail: "the server does not answer"}));
    request.send(form);
  });
}
