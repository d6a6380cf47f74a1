"""How is an address opened, so that a server that sends too slowly or leads elsewhere is noticed?"""

from __future__ import annotations

import http.client
import io
import urllib.request
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import urlsplit

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.checks)

SCHEMES = ("http", "https")


class SourceError(Exception):
    """This source will not give the file, whatever is tried."""


class Pace(NamedTuple):
    """At least ``least_rate`` bytes per second are expected over every ``window`` of seconds, by ``clock``."""

    least_rate: float
    window: float
    clock: Callable[[], float]


class _Paced(io.RawIOBase):
    """What a server sends, be it headers or content; an error as soon as a whole window passed at too low a rate."""

    def __init__(self, stream: io.RawIOBase, pace: Pace) -> None:
        self.stream, self.pace = stream, pace
        self.began, self.received = pace.clock(), 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        size = self.stream.readinto(buffer)
        self.received += size or 0
        seconds = self.pace.clock() - self.began
        if seconds >= self.pace.window:
            if self.received < self.pace.least_rate * seconds:
                rate = f"{self.received / seconds:,.0f} bytes per second"
                raise TimeoutError(f"{rate} over {seconds:,.0f} s; at least {self.pace.least_rate:,.0f} are expected")
            self.began, self.received = self.pace.clock(), 0
        return size

    def close(self) -> None:
        self.stream.close()
        super().close()


class _PacedResponse(http.client.HTTPResponse):
    def __init__(self, sock: Any, *arguments: Any, pace: Pace, **keywords: Any) -> None:
        super().__init__(sock, *arguments, **keywords)
        self.fp = io.BufferedReader(_Paced(self.fp.detach(), pace))


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects to http and https only; urllib would follow them to ftp, where no pace is watched."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        scheme = urlsplit(newurl).scheme.lower()
        if scheme not in SCHEMES:
            raise SourceError(f"redirects to an address with {scheme!r}; only http and https are followed")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def opener(pace: Pace) -> urllib.request.OpenerDirector:
    """Make an opener that opens http and https only, and raises TimeoutError when a server is slower than the pace."""

    def connecting(kind: Callable[..., Any]) -> Callable[..., Any]:
        def connect(host: str, **keywords: Any) -> Any:
            connection = kind(host, **keywords)
            connection.response_class = partial(_PacedResponse, pace=pace)
            return connection

        return connect

    class Http(urllib.request.HTTPHandler):
        def http_open(self, req: urllib.request.Request) -> Any:
            return self.do_open(connecting(http.client.HTTPConnection), req)

    class Https(urllib.request.HTTPSHandler):
        def https_open(self, req: urllib.request.Request) -> Any:
            return self.do_open(connecting(http.client.HTTPSConnection), req)

    director = urllib.request.OpenerDirector()
    for handler in (
        *(urllib.request.ProxyHandler(), urllib.request.UnknownHandler(), Http(), Https()),
        *(urllib.request.HTTPDefaultErrorHandler(), _Redirects(), urllib.request.HTTPErrorProcessor()),
    ):
        director.add_handler(handler)
    return director
