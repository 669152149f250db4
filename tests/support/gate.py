"""A door before a server: while it is shut, every connection is cut and none is taken, as while the server restarts with its disk."""

from __future__ import annotations

import contextlib
import socket
import threading

CHUNK = 1 << 16


class Gate:
    """`address` is HOST:PORT; `behind` is what it leads to."""

    def __init__(self):
        self.behind = None
        self.open = True
        self.pairs = set()
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._take, daemon=True).start()

    def shut(self):
        """Whatever is on its way is lost; nobody knows what has arrived."""
        with self.lock:
            self.open = False
            pairs = list(self.pairs)
        for pair in pairs:
            self._end(pair)

    def reopen(self):
        with self.lock:
            self.open = True

    def close(self):
        self.shut()
        self.listener.close()

    def _take(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                pair = (client, socket.create_connection(self.behind, 5))
            except OSError:
                client.close()
                continue
            # A group may take half a minute to answer.
            pair[1].settimeout(None)
            with self.lock:
                self.pairs.add(pair)
                shut = not self.open
            if shut:
                self._end(pair)
                continue
            for source, target in (pair, pair[::-1]):
                threading.Thread(target=self._pass_on, args=(source, target, pair), daemon=True).start()

    def _pass_on(self, source, target, pair):
        with contextlib.suppress(OSError):
            while data := source.recv(CHUNK):
                target.sendall(data)
        self._end(pair)

    def _end(self, pair):
        with self.lock:
            self.pairs.discard(pair)
        for one in pair:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
