"""Pages in Debian's chromium, with whatever they complain of or try to fetch."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from lab.report.tour.small import SMALL
from penstock.lab.report.tour.guide import Guide, write_tour

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-quic",
    "--no-first-run",
    "--disable-component-update",
    "--disable-sync",
]
CHROMIUM = "/usr/bin/chromium"


@dataclass
class Visit:
    """An open page, the complaints of its console, and the addresses that it asked for."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


Open = Callable[..., Visit]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = CHROMIUM if Path(CHROMIUM).exists() else shutil.which("chromium")
    if path is None:
        pytest.fail(f"there is no chromium at {CHROMIUM}: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def tour(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tour(tmp_path_factory.mktemp("tour"), Guide(lambda line: None), SMALL)


@pytest.fixture
def visit(browser: Browser, tour: Path) -> Iterator[Open]:
    """`visit(width=390, dark=True)`: the tour in a window of its own."""
    contexts = []

    def open(width: int = 1280, dark: bool = False, scripts: bool = True, still: bool = False) -> Visit:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            java_script_enabled=scripts,
            has_touch=width < 500,
            reduced_motion="reduce" if still else "no-preference",
        )
        contexts.append(context)
        found = Visit(context.new_page())
        found.page.on("console", lambda message: found.complaints.append(message.text))
        found.page.on("pageerror", lambda error: found.complaints.append(str(error)))
        found.page.on("request", lambda request: found.requests.append(request.url))
        found.page.goto(tour.as_uri())
        return found

    yield open
    for context in contexts:
        context.close()
