"""Downloads against a real server on this machine that misbehaves on request."""

import contextlib
import errno
import hashlib
import http.server
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest

from pipeline_lib.core.errors import DataError, DownloadError, StorageError
from pipeline_lib.sources import download as module
from pipeline_lib.sources.catalog import Archive
from pipeline_lib.sources.download import Candidate, download

BODY = bytes(range(256)) * 1000
OTHER = bytes(reversed(range(256))) * 1000


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@dataclass
class Answer:
    """How the server answers one request."""

    status: int = 200
    reason: str | None = None
    body: bytes = BODY
    stated_length: int | None = -1  # -1: the right one, None: no such header
    send: int | None = None  # bytes after which the connection is cut
    headers: dict[str, str] = field(default_factory=dict)
    chunk_pause: float = 0.0
    hang: bool = False


class Server:
    """Answers the n-th request with the n-th answer (the last one again and again) and remembers what was asked."""

    def __init__(self) -> None:
        self.answers: list[Answer] = [Answer()]
        self.requests: list[str] = []
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                server.requests.append(self.path)
                answer = server.answers[min(len(server.requests), len(server.answers)) - 1]
                with contextlib.suppress(OSError):  # the client went away
                    _give(self, answer)
                self.close_connection = True

            def log_message(self, *_: object) -> None:
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self.thread.start()
        self.address = f"http://127.0.0.1:{self.http.server_address[1]}"

    def stop(self) -> None:
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


def _give(request: http.server.BaseHTTPRequestHandler, answer: Answer) -> None:
    if answer.hang:
        request.connection.recv(1)  # which the end of the connection ends
        return
    body = answer.body if answer.status == 200 else b""
    request.send_response(answer.status, answer.reason)
    if answer.stated_length is not None:
        length = len(body) if answer.stated_length == -1 else answer.stated_length
        request.send_header("Content-Length", str(length))
    for name, value in {**answer.headers, "Connection": "close"}.items():
        request.send_header(name, value)
    request.end_headers()
    body = body[: answer.send] if answer.send is not None else body
    for i in range(0, len(body), 50_000):
        request.wfile.write(body[i : i + 50_000])
        request.wfile.flush()
        time.sleep(answer.chunk_pause)


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.stop()


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses between attempts, none of which takes place."""
    asked: list[float] = []
    clock = SimpleNamespace(sleep=asked.append, monotonic=time.monotonic)
    monkeypatch.setattr(module, "time", clock)
    monkeypatch.setattr(module, "ATTEMPTS", 3)
    return asked


RIGHT = Archive(name="x.zip", bytes=len(BODY), sha256=(sha256(BODY),))
UNKNOWN = Archive(name="x.zip")


def fetch(server: Server, folder: Path, archive: Archive = RIGHT) -> Path:
    return download([Candidate(f"{server.address}/x.zip", archive)], folder, lambda path: path, by_hand="Ask.")


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


BUSY = [{"Retry-After": "7"}, {"Retry-After": "86400"}]


@pytest.mark.parametrize(
    ("answers", "archive", "paused"),
    [
        ([Answer()], RIGHT, []),
        ([Answer(stated_length=None)], RIGHT, []),
        ([Answer(chunk_pause=0.05)], RIGHT, []),
        ([Answer(send=100_000), Answer(send=50_000), Answer()], RIGHT, [1.0, 2.0]),
        ([Answer(send=100_000), Answer()], UNKNOWN, [1.0]),
        ([Answer(stated_length=None, send=100_000), Answer()], RIGHT, [1.0]),
        *(([Answer(status=status), Answer(status=status), Answer()], RIGHT, [1.0, 2.0]) for status in (500, 503, 429)),
        ([*(Answer(status=503, headers=wish) for wish in BUSY), Answer()], RIGHT, [7.0, module.LONGEST_PAUSE]),
        ([Answer(status=302, headers={"Location": "/elsewhere.zip"}), Answer()], RIGHT, []),
    ],
)
def test_what_can_arrive_arrives(server, tmp_path, pauses, answers, archive, paused):
    server.answers = answers
    assert fetch(server, tmp_path / "new", archive).read_bytes() == BODY
    assert files(tmp_path / "new") == ["x.zip"]
    assert (len(server.requests), pauses) == (len(answers), paused)


MD5 = hashlib.md5(BODY, usedforsecurity=False).hexdigest()
SMALL = Archive(name="x.zip", max_bytes=len(BODY))


@pytest.mark.parametrize(
    ("answer", "archive", "message", "requests"),
    [
        (Answer(status=404), RIGHT, "HTTP 404", 1),
        (Answer(status=500), RIGHT, r"HTTP 500 .*\(3 attempts\)", 3),
        (Answer(send=20_000), RIGHT, r"broke off after 20,000 of 256,000 bytes \(3 attempts\)", 3),
        (Answer(stated_length=len(BODY) + 10), UNKNOWN, "broke off after 256,000 ", 3),
        (Answer(body=OTHER), RIGHT, f"wrong file .*{sha256(BODY)}.*{sha256(OTHER)}.*removed", 1),
        (Answer(), Archive(name="x.zip", md5=("0" * 32,)), f"expected the md5 digest 000.*{MD5}", 1),
        (Answer(body=BODY + b"more"), RIGHT, "offers 256,004 bytes where 256,000 are expected", 1),
        (Answer(stated_length=1000), RIGHT, "offers 1,000 bytes where 256,000 are expected", 1),
        (Answer(body=BODY * 3, stated_length=None), RIGHT, r"sent .* more than the 256,000 that x\.zip may have", 1),
        (Answer(body=BODY * 3), SMALL, r"offers 768,000 .* more than the 256,000 that x\.zip may have", 1),
        (Answer(body=BODY * 3, stated_length=None), SMALL, r"sent .* more than the 256,000 that x\.zip may have", 1),
        (Answer(status=302, headers={"Location": "http://[::1/x.zip"}), RIGHT, "IPv6", 1),
        (Answer(status=404, reason="gone\x1b]0;title\x07\x9b2J"), RIGHT, r"gone\\x1b\]0;title\\x07\\x9b2J", 1),
    ],
)
def test_what_cannot_be_used_leaves_a_reason_and_no_file(server, tmp_path, answer, archive, message, requests):
    server.answers = [answer]
    with pytest.raises(DownloadError, match=message) as caught:
        fetch(server, tmp_path, archive)
    assert str(caught.value).isprintable()
    assert str(caught.value).endswith("Ask.")
    assert files(tmp_path) == []
    assert len(server.requests) == requests


def test_a_full_disk_is_named_at_once(server, tmp_path, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module, "_received", full)
    with pytest.raises(StorageError, match=r"x\.zip.*the disk is full"):
        fetch(server, tmp_path)
    assert files(tmp_path) == []


def test_a_download_that_would_fill_the_disk_is_refused(server, tmp_path, monkeypatch):
    free = [module.SPARED_BYTES + len(BODY)]
    monkeypatch.setattr(module.shutil, "disk_usage", lambda _: SimpleNamespace(free=free[0]))
    fetch(server, tmp_path / "enough")
    free[0] -= 1
    with pytest.raises(StorageError, match=r"cannot be written: 0\.3 MB more and 268 MB to spare are needed"):
        fetch(server, tmp_path / "full")
    assert len(server.requests) == 1
    # The size is not known beforehand, and the disk fills meanwhile.
    looks = iter([module.SPARED_BYTES * 2, 0])
    monkeypatch.setattr(module, "ROOM_EVERY", 1)
    monkeypatch.setattr(module.shutil, "disk_usage", lambda _: SimpleNamespace(free=next(looks)))
    with pytest.raises(StorageError, match="cannot be written"):
        fetch(server, tmp_path / "full", UNKNOWN)
    assert files(tmp_path / "full") == []


def test_a_server_that_drips_is_not_waited_for(server, tmp_path, monkeypatch, pauses):
    """Bytes come all the time, so that nothing times out, but too few of them."""
    monkeypatch.setattr(module, "RATE_WINDOW", 0.2)
    monkeypatch.setattr(module, "LEAST_RATE", 1e9)
    server.answers = [Answer(chunk_pause=0.05)]
    with pytest.raises(DownloadError, match=r"bytes per second over .* at least 1,000,000,000 .*\(3 attempts\)"):
        fetch(server, tmp_path)
    assert (pauses, files(tmp_path)) == ([1.0, 2.0], [])


def test_how_much_has_come_is_shown(server, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(module, "REPORT_EVERY", 0.0)
    fetch(server, tmp_path / "known")
    assert "x.zip: 0.3 of 0.3 MB\n" in capsys.readouterr().err
    fetch(server, tmp_path / "unknown", UNKNOWN)
    assert "x.zip: 0.3 MB\n" in capsys.readouterr().err


def test_a_silent_server_is_given_up(server, tmp_path, monkeypatch):
    server.answers = [Answer(hang=True), Answer()]
    monkeypatch.setattr(module, "TIMEOUT", 0.2)
    monkeypatch.setattr(module, "ATTEMPTS", 100)  # on a busy machine, the answers to some more requests come too late
    assert fetch(server, tmp_path).read_bytes() == BODY
    assert len(server.requests) > 1


def test_a_server_that_is_not_there(tmp_path, pauses):
    gone = Server()
    gone.stop()
    with pytest.raises(DownloadError, match="refused"):
        fetch(gone, tmp_path)
    assert len(pauses) == 2


def test_sources_are_tried_in_order_and_all_failures_told(server, tmp_path):
    def use(path: Path) -> Path:
        if path.read_bytes() == OTHER:
            raise DataError("no archive")
        return path

    server.answers = [Answer(status=404), Answer(body=OTHER), Answer()]
    candidates = [Candidate("http://[::1", UNKNOWN)]
    candidates += [Candidate(f"{server.address}/{name}", UNKNOWN) for name in ("a", "b", "c")]
    assert download(candidates, tmp_path, use, by_hand="").read_bytes() == BODY
    assert server.requests == ["/a", "/b", "/c"]
    server.answers, server.requests = [Answer(status=404), Answer(body=OTHER)], []
    with pytest.raises(DownloadError) as caught:
        download(candidates[:3], tmp_path / "new", use, by_hand="Ask.", tried=["in a drawer: nothing"])
    message = str(caught.value)
    for told in ("in a drawer: nothing", "IPv6", "/a: HTTP 404", "/b: wrong file (no archive); removed", "Ask."):
        assert told in message
    assert files(tmp_path / "new") == []


@pytest.mark.parametrize(
    ("address", "message"),
    [
        (None, r"no address is known\. Ask\."),
        ("ftp://example.org/x.zip", "ftp://example.org/x.zip: expected an address with http or https"),
        ("file:///dev/zero", "expected an address with http or https"),
    ],
)
def test_what_is_no_source(tmp_path, address, message):
    with pytest.raises(DownloadError, match=message):
        download([Candidate(address, UNKNOWN)] if address else [], tmp_path, Path, by_hand="Ask.")
