"""A file hub on 127.0.0.1 that knows ranges and can break off on the way."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


class Hub:
    """Serves one file. `cut` ends the next answer after so many bytes; `ranges` lists the ranges asked for."""

    def __init__(self, content: bytes, cut: int | None = None, status: int = 200) -> None:
        self.ranges: list[str | None] = []
        hub = self
        self.cut = cut

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                wanted = self.headers.get("Range")
                hub.ranges.append(wanted)
                start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
                self.send_response(status if status != 200 else 206 if wanted else 200)
                self.send_header("Content-Length", str(len(content) - start))
                self.end_headers()
                if status == 200:
                    self.wfile.write(content[start:hub.cut])
                hub.cut = None

            def log_message(self, format: str, *args: Any) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/model.gguf"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
