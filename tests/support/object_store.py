"""A store of objects in memory that speaks as much S3 as the test broker needs, so that the broker may be killed and what it has acknowledged is still there."""

from __future__ import annotations

import hashlib
import threading
from datetime import UTC, datetime
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

BUCKET = "log"
NONE_SUCH = b"<Error><Code>NoSuchKey</Code></Error>"


class ObjectStore:
    """`environment` is what a client of it is started with."""

    def __init__(self):
        self.objects = {}
        self.lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"store": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        # A broker that is killed is what this is for.
        self.server.handle_error = lambda *_: None
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    @property
    def environment(self):
        address = f"http://127.0.0.1:{self.server.server_address[1]}"
        return {
            "AWS_ENDPOINT": address, "AWS_ENDPOINT_URL": address, "AWS_ALLOW_HTTP": "true", "AWS_DEFAULT_REGION": "us-east-1", "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
        }

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    store: ObjectStore

    def log_message(self, *_):
        """Say nothing."""

    @property
    def key(self):
        return unquote(urlsplit(self.path).path).removeprefix(f"/{BUCKET}").lstrip("/")

    def do_PUT(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with self.store.lock:
            old = self.store.objects.get(self.key)
            wanted = self.headers.get("If-Match")
            if (self.headers.get("If-None-Match") == "*" and old) or (wanted and (old is None or old[1] != wanted)):
                return self._answer(412, b"<Error><Code>PreconditionFailed</Code></Error>")
            tag = f'"{hashlib.md5(body, usedforsecurity=False).hexdigest()}"'
            self.store.objects[self.key] = (body, tag, datetime.now(UTC))
        return self._answer(200, b"", ETag=tag)

    def do_DELETE(self):
        with self.store.lock:
            self.store.objects.pop(self.key, None)
        self._answer(204, b"")

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        if not self.key:
            return self._list({name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()})
        with self.store.lock:
            found = self.store.objects.get(self.key)
        if found is None:
            return self._answer(404, NONE_SUCH)
        body, tag, at = found
        more = {"ETag": tag, "Last-Modified": format_datetime(at, usegmt=True)}
        given = self.headers.get("Range", "").removeprefix("bytes=")
        if not given:
            return self._answer(200, body, **more)
        first, last = given.split("-")
        start, end = (int(first), min(int(last or len(body)), len(body) - 1)) if first else (max(0, len(body) - int(last)), len(body) - 1)
        return self._answer(206, body[start : end + 1], **more, **{"Content-Range": f"bytes {start}-{end}/{len(body)}"})

    def _list(self, query):
        prefix, cut = query.get("prefix", ""), query.get("delimiter", "")
        with self.store.lock:
            keys = sorted(key for key in self.store.objects if key.startswith(prefix) and key > query.get("start-after", ""))
            found = {key: self.store.objects[key] for key in keys}
        folders = sorted({key[: key.index(cut, len(prefix)) + 1] for key in keys if cut and cut in key[len(prefix) :]})
        lines = [
            f"<Contents><Key>{escape(key)}</Key><Size>{len(body)}</Size><ETag>{escape(tag)}</ETag><LastModified>{at:%Y-%m-%dT%H:%M:%S.000Z}</LastModified></Contents>"
            for key, (body, tag, at) in found.items() if not cut or cut not in key[len(prefix) :]
        ] + [f"<CommonPrefixes><Prefix>{escape(folder)}</Prefix></CommonPrefixes>" for folder in folders]
        self._answer(200, f"<ListBucketResult><IsTruncated>false</IsTruncated>{''.join(lines)}</ListBucketResult>".encode())

    def _answer(self, status, body, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
