"""Downloads against a real server on this machine that misbehaves on request."""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import itertools
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline_lib.errors import DataError, DownloadError
from pipeline_lib.sources import download as module
from pipeline_lib.sources.catalog import Archive
from pipeline_lib.sources.download import Candidate, Settings, download

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
    ranges: bool = True
    etag: str | None = '"v1"'
    headers: dict[str, str] = field(default_factory=dict)
    chunk_pause: float = 0.0
    hang: bool = False
    wrong_offset: bool = False
    heed_if_range: bool = True


class Server:
    """Answers the n-th request with the n-th answer (the last one again and again) and remembers what was asked."""

    def __init__(self) -> None:
        self.answers: list[Answer] = [Answer()]
        self.requests: list[dict[str, str]] = []
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                server.requests.append({"path": self.path, **self.headers})
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
    if answer.status not in (200, 416):
        request.send_response(answer.status, answer.reason)
        for name, value in answer.headers.items():
            request.send_header(name, value)
        request.send_header("Content-Length", "0")
        request.end_headers()
        return
    asked = re.fullmatch(r"bytes=(\d+)-", request.headers.get("Range", ""))
    condition = request.headers.get("If-Range")
    fits = condition is None or condition == answer.etag or not answer.heed_if_range
    start = int(asked[1]) if asked and answer.ranges and fits else 0
    if answer.status == 416 or (start and start >= len(answer.body)):
        request.send_response(416)
        request.send_header("Content-Range", f"bytes */{len(answer.body)}")
        request.send_header("Content-Length", "0")
        request.end_headers()
        return
    body = answer.body[start:]
    request.send_response(206 if start else 200)
    if start:
        stated = start + 1 if answer.wrong_offset else start
        request.send_header("Content-Range", f"bytes {stated}-{len(answer.body) - 1}/{len(answer.body)}")
    if answer.stated_length is not None:
        length = len(body) if answer.stated_length == -1 else answer.stated_length
        request.send_header("Content-Length", str(length))
    if answer.etag:
        request.send_header("ETag", answer.etag)
    for name, value in answer.headers.items():
        request.send_header(name, value)
    request.send_header("Connection", "close")
    request.end_headers()
    body = body[: answer.send] if answer.send is not None else body
    if not answer.chunk_pause:
        request.wfile.write(body)
        return
    for i in range(0, len(body), 50_000):
        request.wfile.write(body[i : i + 50_000])
        request.wfile.flush()
        time.sleep(answer.chunk_pause)


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.stop()


class Clock:
    """Stands in for time.sleep and remembers the pauses."""

    def __init__(self) -> None:
        self.pauses: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.pauses.append(seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


RIGHT = Archive("x.zip", len(BODY), (sha256(BODY),), ())
UNKNOWN = Archive("x.zip", None, (), ())


def fetch(
    server: Server,
    folder: Path,
    clock: Clock,
    archive: Archive = RIGHT,
    use: Callable[[Path], Path] = lambda path: path,
    now: Callable[[], float] = time.monotonic,
    **patience: Any,
) -> Path:
    candidates = [Candidate(f"{server.address}/x.zip", archive)]
    settings = Settings(**{"attempts": 3, "sleep": clock, "clock": now, **patience})
    return download(candidates, folder, use, by_hand="Ask the author.", settings=settings)


def visible(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def all_files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_well_behaved_server(server, tmp_path, clock):
    path = fetch(server, tmp_path / "new", clock)
    assert path.read_bytes() == BODY
    assert all_files(tmp_path / "new") == ["x.zip"]
    assert (len(server.requests), clock.pauses) == (1, [])
    assert "Range" not in server.requests[0]


def test_a_cut_connection_is_resumed_where_it_broke_off(server, tmp_path, clock):
    server.answers = [Answer(send=100_000), Answer(send=50_000), Answer()]
    assert fetch(server, tmp_path, clock).read_bytes() == BODY
    assert [request.get("Range") for request in server.requests] == [None, "bytes=100000-", "bytes=150000-"]
    assert [request.get("If-Range") for request in server.requests] == [None, '"v1"', '"v1"']
    assert clock.pauses == [1.0, 2.0]
    assert all_files(tmp_path) == ["x.zip"]


def test_a_partial_file_of_an_earlier_run_is_resumed(server, tmp_path, clock):
    server.answers = [Answer(send=20_000)]  # three attempts bring 60,000 bytes
    with pytest.raises(DownloadError, match="broke off after 60,000 of 256,000 bytes"):
        fetch(server, tmp_path, clock)
    assert visible(tmp_path) == []
    assert (tmp_path / ".x.zip.partial").stat().st_size == 60_000
    server.answers, server.requests = [Answer()], []
    assert fetch(server, tmp_path, clock).read_bytes() == BODY
    assert server.requests[0]["Range"] == "bytes=60000-"


def test_a_server_that_ignores_ranges_sends_all_again(server, tmp_path, clock):
    server.answers = [Answer(send=100_000), Answer(ranges=False)]
    assert fetch(server, tmp_path, clock).read_bytes() == BODY
    assert server.requests[1]["Range"] == "bytes=100000-"


def test_a_file_that_changed_between_attempts_is_fetched_anew(server, tmp_path, clock):
    server.answers = [Answer(body=OTHER, send=100_000), Answer(etag='"v2"')]
    assert fetch(server, tmp_path, clock).read_bytes() == BODY
    assert server.requests[1]["If-Range"] == '"v1"'


def test_a_changed_file_is_noticed_when_the_server_ignores_if_range(server, tmp_path, clock):
    server.answers = [Answer(body=OTHER, send=100_000), Answer(etag='"v2"', heed_if_range=False), Answer(etag='"v2"')]
    assert fetch(server, tmp_path, clock, UNKNOWN).read_bytes() == BODY
    assert [request.get("Range") for request in server.requests] == [None, "bytes=100000-", None]


def test_pieces_that_do_not_belong_together_are_fetched_once_more_in_one(server, tmp_path, clock):
    # Same validator, other content: only the digest can tell.
    server.answers = [Answer(body=OTHER, send=100_000), Answer(), Answer()]
    assert fetch(server, tmp_path, clock).read_bytes() == BODY
    assert [request.get("Range") for request in server.requests] == [None, "bytes=100000-", None]


def test_without_validator_and_digest_nothing_is_pieced_together(server, tmp_path, clock):
    server.answers = [Answer(etag=None, send=100_000), Answer(etag=None)]
    assert fetch(server, tmp_path, clock, UNKNOWN).read_bytes() == BODY
    assert "Range" not in server.requests[1]


def test_a_weak_etag_is_no_validator_but_last_modified_is(server, tmp_path, clock):
    modified = {"Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT"}
    server.answers = [Answer(etag='W/"v1"', headers=modified, send=100_000), Answer(heed_if_range=False)]
    fetch(server, tmp_path, clock)
    assert server.requests[1]["If-Range"] == modified["Last-Modified"]


def test_a_server_that_continues_at_another_place_is_not_believed(server, tmp_path, clock):
    server.answers = [Answer(send=100_000), Answer(wrong_offset=True), Answer()]
    assert fetch(server, tmp_path, clock).read_bytes() == BODY
    assert [request.get("Range") for request in server.requests] == [None, "bytes=100000-", None]


def test_a_file_that_was_complete_already_is_only_checked(server, tmp_path, clock):
    (tmp_path / ".x.zip.partial").write_bytes(BODY)
    note = {"address": f"{server.address}/x.zip", "validator": '"v1"'}
    (tmp_path / ".x.zip.partial.json").write_text(json.dumps(note))
    assert fetch(server, tmp_path, clock).read_bytes() == BODY
    assert len(server.requests) == 1
    assert all_files(tmp_path) == ["x.zip"]


def test_a_range_that_is_refused_starts_anew(server, tmp_path, clock):
    server.answers = [Answer(send=100_000), Answer(status=416), Answer()]
    assert fetch(server, tmp_path, clock).read_bytes() == BODY
    assert "Range" not in server.requests[2]


def test_a_partial_file_from_elsewhere_is_not_continued(server, tmp_path, clock):
    (tmp_path / ".x.zip.partial").write_bytes(OTHER[:1000])
    (tmp_path / ".x.zip.partial.json").write_text('{"address": "http://elsewhere/x.zip", "validator": "\\"v1\\""}')
    assert fetch(server, tmp_path, clock).read_bytes() == BODY
    assert "Range" not in server.requests[0]


@pytest.mark.parametrize("status", [500, 503, 429])
def test_a_passing_failure_is_tried_again_with_growing_pauses(server, tmp_path, clock, status):
    server.answers = [Answer(status=status), Answer(status=status), Answer()]
    assert fetch(server, tmp_path, clock).read_bytes() == BODY
    assert clock.pauses == [1.0, 2.0]


def test_a_busy_server_s_wish_is_respected_within_reason(server, tmp_path, clock):
    asked = [{"Retry-After": "7"}, {"Retry-After": "86400"}]
    server.answers = [*(Answer(status=503, headers=headers) for headers in asked), Answer()]
    fetch(server, tmp_path, clock)
    assert clock.pauses == [7.0, module.LONGEST_PAUSE]


def test_a_lasting_failure_is_not_repeated(server, tmp_path, clock):
    server.answers = [Answer(status=404)]
    with pytest.raises(DownloadError, match="HTTP 404"):
        fetch(server, tmp_path, clock)
    assert (len(server.requests), clock.pauses) == (1, [])


def test_endless_failure_ends(server, tmp_path, clock):
    server.answers = [Answer(status=500)]
    with pytest.raises(DownloadError, match=r"HTTP 500 .*\(3 attempts\)"):
        fetch(server, tmp_path, clock)
    assert len(server.requests) == 3


def test_progress_earns_further_attempts(server, tmp_path, clock, monkeypatch):
    monkeypatch.setattr(module, "PROGRESS_BYTES", 20_000)
    server.answers = [Answer(send=30_000)]
    assert fetch(server, tmp_path, clock).read_bytes() == BODY
    assert len(server.requests) == 9
    assert set(clock.pauses) == {1.0}


def test_a_wrong_file_is_removed_and_reported(server, tmp_path, clock):
    server.answers = [Answer(body=OTHER)]
    with pytest.raises(DownloadError) as caught:
        fetch(server, tmp_path, clock)
    message = str(caught.value)
    assert sha256(BODY) in message
    assert sha256(OTHER) in message
    assert "wrong file" in message
    assert message.endswith("Ask the author.")
    assert all_files(tmp_path) == []
    assert len(server.requests) == 1


def test_a_wrong_file_in_pieces_is_fetched_twice_and_no_more(server, tmp_path, clock):
    server.answers = [Answer(body=OTHER, send=100_000), Answer(body=OTHER)] * 5
    with pytest.raises(DownloadError, match="wrong file"):
        fetch(server, tmp_path, clock)
    assert len(server.requests) == 4
    assert all_files(tmp_path) == []


def test_md5_is_compared_where_it_is_all_that_is_known(server, tmp_path, clock):
    md5 = hashlib.md5(BODY, usedforsecurity=False).hexdigest()
    fetch(server, tmp_path / "a", clock, Archive("x.zip", None, (), (md5,)))
    with pytest.raises(DownloadError, match="expected the md5 digest 000"):
        fetch(server, tmp_path / "b", clock, Archive("x.zip", None, (), ("0" * 32,)))


def test_a_file_of_another_size_is_refused_before_it_is_fetched(server, tmp_path, clock):
    server.answers = [Answer(body=BODY + b"more")]
    with pytest.raises(DownloadError, match="offers 256,004 bytes where 256,000 are expected"):
        fetch(server, tmp_path, clock)
    assert all_files(tmp_path) == []


def test_an_endless_body_without_a_length_is_cut_off(server, tmp_path, clock):
    server.answers = [Answer(body=BODY * 3, stated_length=None)]
    with pytest.raises(DownloadError, match="sent more than the expected 256,000 bytes"):
        fetch(server, tmp_path, clock)
    assert visible(tmp_path) == []


@pytest.mark.parametrize(("stated", "verb"), [(-1, "offers 768,000"), (None, "sent ")])
def test_a_file_of_unknown_size_is_fetched_up_to_its_limit(server, tmp_path, clock, stated, verb):
    server.answers = [Answer(body=BODY * 3, stated_length=stated)]
    with pytest.raises(DownloadError, match=rf"{verb}.* more than the 256,000 that x\.zip may have"):
        fetch(server, tmp_path, clock, Archive("x.zip", None, (), (), max_bytes=len(BODY)))
    assert all_files(tmp_path) == []
    assert len(server.requests) == 1


def test_a_download_is_refused_that_would_fill_the_disk(server, tmp_path, clock, monkeypatch):
    room = [module.SPARED_BYTES + len(BODY)]
    monkeypatch.setattr(module.shutil, "disk_usage", lambda _: SimpleNamespace(free=room[0]))
    fetch(server, tmp_path / "enough", clock)
    room[0] -= 1
    with pytest.raises(DownloadError, match=r"x\.zip: cannot be written .*0\.3 MB more"):
        fetch(server, tmp_path / "full", clock)
    (tmp_path / "x.zip").write_bytes(BODY)
    with pytest.raises(DownloadError, match="cannot be written"):
        download([Candidate((tmp_path / "x.zip").as_uri(), RIGHT)], tmp_path / "full", Path, by_hand="")


def test_a_download_stops_before_the_disk_is_full_and_is_continued_later(server, tmp_path, clock, monkeypatch):
    partial = tmp_path / ".x.zip.partial"
    looks = iter([module.SPARED_BYTES * 2, 0])
    monkeypatch.setattr(module, "ROOM_EVERY", 1)
    monkeypatch.setattr(module.shutil, "disk_usage", lambda _: SimpleNamespace(free=next(looks)))
    server.answers = [Answer(send=100_000, stated_length=None), Answer()]
    (tmp_path / ".x.zip.partial").write_bytes(BODY[:1000])
    note = {"address": f"{server.address}/x.zip", "validator": '"v1"'}
    (tmp_path / ".x.zip.partial.json").write_text(json.dumps(note))
    with pytest.raises(DownloadError, match="cannot be written"):
        fetch(server, tmp_path, clock)
    assert partial.read_bytes() == BODY[:1000]
    monkeypatch.undo()
    assert fetch(server, tmp_path, clock).read_bytes() == BODY
    assert [request.get("Range") for request in server.requests] == ["bytes=1000-"] * 2


def test_a_transfer_that_drips_is_broken_off_and_continued(server, tmp_path, clock):
    partial = tmp_path / ".x.zip.partial"

    def after_the_first_block_a_century() -> float:
        return 3e9 if partial.exists() and partial.stat().st_size else 0.0

    server.answers = [Answer(chunk_pause=0.01), Answer()]
    assert fetch(server, tmp_path, clock, now=after_the_first_block_a_century).read_bytes() == BODY
    assert [bool(request.get("Range")) for request in server.requests] == [False, True]


def test_headers_that_drip_are_not_waited_for(server, tmp_path, clock):
    ticks = itertools.count(step=1000)
    with pytest.raises(DownloadError, match=r"bytes per second .*\(3 attempts\)"):
        fetch(server, tmp_path, clock, now=lambda: next(ticks))
    assert len(server.requests) == 3


def test_redirects_are_followed_to_http_alone(server, tmp_path, clock):
    server.answers = [Answer(status=302, headers={"Location": f"{server.address}/elsewhere.zip"}), Answer()]
    assert fetch(server, tmp_path / "http", clock).read_bytes() == BODY
    server.requests = []
    server.answers = [Answer(status=302, headers={"Location": "ftp://127.0.0.1:1/x.zip"})]
    with pytest.raises(DownloadError, match="'ftp'; only http and https"):
        fetch(server, tmp_path / "ftp", clock)
    assert (len(server.requests), clock.pauses) == (1, [])


def test_what_a_server_says_cannot_command_the_terminal(server, tmp_path, clock):
    server.answers = [Answer(status=404, reason="gone\x1b]0;title\x07\x9b2J")]
    with pytest.raises(DownloadError, match=r"gone\\x1b\]0;title\\x07\\x9b2J") as caught:
        fetch(server, tmp_path, clock)
    assert str(caught.value).isprintable()


def test_a_device_is_not_copied(tmp_path):
    with pytest.raises(DownloadError, match="no regular file"):
        download([Candidate("file:///dev/zero", UNKNOWN)], tmp_path, lambda path: path, by_hand="")


def test_a_body_without_a_length_is_accepted_by_its_digest(server, tmp_path, clock):
    server.answers = [Answer(stated_length=None)]
    assert fetch(server, tmp_path, clock).read_bytes() == BODY


def test_a_stated_length_beyond_the_body_is_a_broken_transfer(server, tmp_path, clock):
    server.answers = [Answer(stated_length=len(BODY) + 10, ranges=False)]
    with pytest.raises(DownloadError, match="broke off after 256,000 "):
        fetch(server, tmp_path, clock, UNKNOWN)
    assert visible(tmp_path) == []


def test_a_stated_length_short_of_the_body_is_another_file(server, tmp_path, clock):
    server.answers = [Answer(stated_length=1000)]
    with pytest.raises(DownloadError, match="offers 1,000 bytes where 256,000 are expected"):
        fetch(server, tmp_path, clock)


def test_a_slow_server_is_waited_for(server, tmp_path, clock):
    server.answers = [Answer(chunk_pause=0.05)]
    assert fetch(server, tmp_path, clock).read_bytes() == BODY
    assert len(server.requests) == 1


def test_a_silent_server_is_given_up(server, tmp_path, clock):
    server.answers = [Answer(hang=True), Answer()]
    # On a busy machine, the answers to some more requests may come too late.
    assert fetch(server, tmp_path, clock, timeout=0.2, attempts=100).read_bytes() == BODY
    assert len(server.requests) > 1


def test_a_server_that_is_not_there(tmp_path, clock):
    gone = Server()
    gone.stop()
    with pytest.raises(DownloadError, match="refused"):
        fetch(gone, tmp_path, clock)
    assert len(clock.pauses) == 2


def test_sources_are_tried_in_order_and_all_failures_told(server, tmp_path, clock):
    server.answers = [Answer(status=404), Answer(body=OTHER), Answer()]
    candidates = [Candidate(f"{server.address}/{name}", RIGHT) for name in ("a", "b", "c")]
    download(candidates, tmp_path, lambda path: path, by_hand="", settings=Settings(sleep=clock))
    assert [request["path"] for request in server.requests] == ["/a", "/b", "/c"]
    server.answers, server.requests = [Answer(status=404), Answer(status=403)], []
    with pytest.raises(DownloadError) as caught:
        download(candidates[:2], tmp_path, lambda path: path, by_hand="Ask.", tried=["in a drawer: nothing"])
    message = str(caught.value)
    for told in ("x.zip could not be fetched", "in a drawer: nothing", "/a: HTTP 404", "/b: HTTP 403", "Ask."):
        assert told in message


def test_a_file_that_cannot_be_used_is_removed_and_the_next_source_tried(server, tmp_path, clock):
    def use(path: Path) -> Path:
        if path.read_bytes() == OTHER:
            raise DataError("no archive")
        return path

    server.answers = [Answer(body=OTHER), Answer()]
    candidates = [Candidate(f"{server.address}/{name}", UNKNOWN) for name in ("a", "b")]
    found = download(candidates, tmp_path, use, by_hand="", settings=Settings(sleep=clock))
    assert found.read_bytes() == BODY


def test_without_an_address_the_error_says_so(tmp_path):
    with pytest.raises(DownloadError, match=r"no address is known\. Ask\."):
        download([], tmp_path, lambda path: path, by_hand="Ask.")


def test_files_are_copied_and_checked(tmp_path, clock):
    (tmp_path / "with space.zip").write_bytes(BODY)
    address = (tmp_path / "with space.zip").as_uri()
    path = download([Candidate(address, RIGHT)], tmp_path / "raw", lambda path: path, by_hand="")
    assert path.read_bytes() == BODY
    with pytest.raises(DownloadError, match="cannot be copied"):
        download([Candidate("file:///nowhere", RIGHT)], tmp_path / "raw", lambda path: path, by_hand="")


def test_an_address_that_cannot_be_one_fails_alone(server, tmp_path, clock):
    server.answers = [Answer(status=302, headers={"Location": "http://[::1/x.zip"}), Answer()]
    wrong, redirecting, right = (
        Candidate(address, RIGHT) for address in ("http://[::1", f"{server.address}/a", f"{server.address}/b")
    )
    with pytest.raises(DownloadError, match=r"http://\[::1: .*IPv6.*; http://[^ ]*/a: .*IPv6"):
        download([wrong, redirecting], tmp_path, lambda path: path, by_hand="")
    assert download([wrong, right], tmp_path, lambda path: path, by_hand="").read_bytes() == BODY


def test_other_protocols_are_refused(tmp_path):
    with pytest.raises(DownloadError, match="expected an address with http, https or file, found 'ftp'"):
        download([Candidate("ftp://example.org/x.zip", RIGHT)], tmp_path, lambda path: path, by_hand="")


def test_the_final_name_never_shows_a_partial_file(server, tmp_path, clock):
    seen = []

    def watch(seconds: float) -> None:
        clock(seconds)
        seen.append(visible(tmp_path))

    server.answers = [Answer(send=100_000), Answer(send=100_000), Answer()]
    settings = Settings(attempts=3, sleep=watch)
    candidates = [Candidate(f"{server.address}/x.zip", RIGHT)]
    download(candidates, tmp_path, lambda path: path, by_hand="", settings=settings)
    assert seen == [[], []]


def test_progress_is_shown_rarely(server, tmp_path, clock, monkeypatch, capsys):
    fetch(server, tmp_path / "quick", clock)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(module, "REPORT_EVERY", 0.0)
    fetch(server, tmp_path / "slow", clock)
    assert "x.zip: 0.3 of 0.3 MB" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_named(server, tmp_path, clock, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "_append", full)
    with pytest.raises(DownloadError, match=r"x\.zip: cannot be written \(No space left on device\)"):
        fetch(server, tmp_path, clock)
