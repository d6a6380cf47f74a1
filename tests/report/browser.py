"""A browser without a window, driven by the DevTools protocol through a pipe: no driver and no port is needed."""

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
QUIET = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
)
PATIENCE = 120.0
"""Seconds to wait for an answer."""


def command() -> str:
    """The command that starts a browser; skips where none is installed."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("no Chromium is installed: the report was checked as text only")
    return found


class Browser:
    """One tab of a browser: ``call`` sends a command of the DevTools protocol and returns its answer."""

    def __init__(self, read: int, write: int) -> None:
        self._read, self._write = read, write
        self._numbers = itertools.count(1)
        self._rest = b""
        self._session: str | None = None
        self._events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The answer to a command."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        message |= {"sessionId": self._session} if self._session else {}
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == number:
                assert "error" not in answer, (method, answer["error"])
                return dict(answer["result"])
            self._events.append(answer)

    def open(
        self,
        page: Path,
        *,
        width: int = 1280,
        height: int = 900,
        dark: bool = False,
        media: str = "",
        scripts: bool = True,
    ) -> list[str]:
        """Open a page, with or without scripts; what the browser logs and what the page requests meanwhile."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        return self.navigate(page.as_uri())

    def navigate(self, address: str) -> list[str]:
        """Load an address in the same window; what the browser logs and what the page requests meanwhile."""
        self._events.clear()
        self.call("Page.navigate", url=address)
        while not any(event["method"] == "Page.loadEventFired" for event in self._events):
            self._events.append(self._next())
        self.call("Page.getNavigationHistory")  # whatever was logged before has arrived then
        return [words for event in self._events if (words := _noticed(event))]

    def run(self, script: str) -> Any:
        """The value of an expression in the page; a promise is awaited."""
        found = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def printed(self) -> bytes:
        """The page as PDF."""
        return base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True)["data"])

    def _next(self) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._read], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"the browser did not answer within {PATIENCE:g} seconds"
            more = os.read(self._read, 1 << 20)
            assert more, "the browser ended"
            self._rest += more
        message, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(message))


@contextmanager
def started(folder: Path) -> Iterator[Browser]:
    """A browser whose profile is in ``folder``; skips where none is installed."""
    program = command()
    to_read, to_browser = os.pipe()
    from_browser, to_write = os.pipe()
    # The browser reads commands from the file descriptor 3 and writes answers to 4.
    shell = f'exec "$@" 3<&{to_read} 4>&{to_write}'
    arguments = [program, *QUIET, "--remote-debugging-pipe", f"--user-data-dir={folder / 'profile'}", "about:blank"]
    process = subprocess.Popen(
        ["bash", "-c", shell, "browser", *arguments],
        pass_fds=(to_read, to_write),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(to_read)
    os.close(to_write)
    try:
        yield Browser(from_browser, to_browser)
    finally:
        os.close(to_browser)
        process.kill()
        process.wait()
        os.close(from_browser)


def _noticed(event: dict[str, Any]) -> str:
    """What is wrong about an event, if anything: an entry of the console, or a request to another machine."""
    method, about = event["method"], event.get("params", {})
    if method == "Log.entryAdded":
        return f"log: {about['entry']['text']}"
    if method == "Runtime.consoleAPICalled":
        return f"console: {about['args']}"
    if method == "Runtime.exceptionThrown":
        return f"exception: {about['exceptionDetails']}"
    if method == "Network.requestWillBeSent" and not about["request"]["url"].startswith(("file:", "data:", "about:")):
        return f"request: {about['request']['url']}"
    return ""
