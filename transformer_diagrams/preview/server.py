"""The server of the page: loopback only, nothing but its own files and figures."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from transformer_diagrams.api import theme_names
from transformer_diagrams.choices import DIRECTIONS, SHAPES
from transformer_diagrams.options import ask_error
from transformer_diagrams.preview.figures import Figures

HOST: Final = "127.0.0.1"
PATIENCE: Final = 20.0  # seconds that a question may wait for a change
ASSETS: Final = {"/": ("page.html", "text/html"), "/page.js": ("page.js", "text/javascript"),
                 "/page.css": ("page.css", "text/css")}  # fmt: skip
# What a reader may choose; the empty choice is what the watch began with.
SWITCHES: Final[Mapping[str, Callable[[], tuple[str, ...]]]] = {
    "theme": theme_names, "direction": lambda: DIRECTIONS, "shapes": lambda: SHAPES,
}  # fmt: skip
# Figures are pictures of this page, and pictures run no script.
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src blob: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)


class Server(ThreadingHTTPServer):
    """Answers on ``port`` of this machine, of its own choice when 0.

    :raises AskError: when the port is taken.
    """

    daemon_threads = True

    def __init__(self, figures: Figures, port: int = 0, *, interval: float = 0.1) -> None:
        self.figures = figures
        self.interval = interval
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as fault:
            raise ask_error(
                f"port {port} cannot be used: {fault.strerror}",
                "without --port a free one is found",
            ) from fault

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{HOST}:{self.server_port}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A reader who left is no fault."""


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """The terminal is for faults of specs."""

    def do_GET(self) -> None:
        """A file of the page, or what there is to show."""
        # Another name for this machine is a page of somebody else's that reads this one.
        if self.headers.get("Host") not in {f"{h}:{self.server.server_port}"
                                            for h in (HOST, "localhost")}:  # fmt: skip
            self._give(HTTPStatus.FORBIDDEN, "text/plain", b"this page is for this machine alone\n")
            return
        address = urlsplit(self.path)
        if address.path in ASSETS:
            name, kind = ASSETS[address.path]
            self._give(HTTPStatus.OK, kind, (files(__package__) / name).read_bytes())
        elif address.path == "/switches":
            choices = {name: list(each()) for name, each in SWITCHES.items()}
            self._json({"specs": self.server.figures.names(), "switches": choices})
        elif address.path == "/figure":
            self._figure(parse_qs(address.query))
        else:
            self._give(HTTPStatus.NOT_FOUND, "text/plain", b"there is no such page\n")

    def _figure(self, query: dict[str, list[str]]) -> None:
        """The answer as soon as it is another than the reader has; none within some patience."""
        asked: dict[str, Any] = {n: query[n][0] for n in SWITCHES if n in query}
        asked |= {name: query[name] for name in ("open", "close") if name in query}
        name, have = query.get("spec", [""])[0], query.get("have", [""])[0]
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            answer = self.server.figures.answer(name, asked)
            if answer is None:
                self._give(HTTPStatus.NOT_FOUND, "text/plain", b"there is no such spec\n")
                return
            if answer["version"] != have:
                self._json(answer)
                return
            time.sleep(self.server.interval)
        self._give(HTTPStatus.NO_CONTENT, "application/json", b"")

    def _json(self, data: Any) -> None:
        self._give(HTTPStatus.OK, "application/json", json.dumps(data).encode())

    def _give(self, code: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(code)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        if code != HTTPStatus.NO_CONTENT:
            self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(body)
