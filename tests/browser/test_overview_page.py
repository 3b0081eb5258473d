"""The first page of the dashboard, as a person meets it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support import Daemon

HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script> needle of the hostile drawer \u202e gnitset"


@contextmanager
def page_of(
    browser: Browser, *, width: int = 1280, scheme: str = "light", scripts: bool = True
) -> Iterator[tuple[Page, list[str]]]:
    """A fresh page and what its console complained about."""
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme="dark" if scheme == "dark" else "light",
        java_script_enabled=scripts,
    )
    complaints: list[str] = []
    page = context.new_page()
    page.on("console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(f"a dialog opened: {dialog.message}"))
    try:
        yield page, complaints
    finally:
        context.close()


@pytest.fixture(scope="module")
def palace(shared_daemon: Daemon) -> Daemon:
    """A palace with a usual drawer, a hostile one, and a long unbroken line."""
    drawers = {"plain text": "The castle keeps a needle in every room.", "hostile": HOSTILE, "wide": "needle" + "x" * 5000}
    for name, content in drawers.items():
        shared_daemon.post("/api/wings/browser/rooms/kept/drawers", {"content": content, "name": name.replace(" ", "-")})
    shared_daemon.post("/api/wings", {"name": "<b onclick=alert(3)>wing", "description": "<i>shown as it is</i>"})
    shared_daemon.ended(shared_daemon.post("/api/jobs", {"type": "demo", "steps": 1})["id"])
    return shared_daemon


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1600])
@pytest.mark.parametrize("path", ["/ui/", "/ui/?q=needle", "/ui/?q=nothinghasthisword", "/api/docs"])
def test_pages_fit_and_make_no_complaint(browser: Browser, palace: Daemon, path: str, width: int, scheme: str) -> None:
    with page_of(browser, width=width, scheme=scheme) as (page, complaints):
        response = page.goto(palace.url + path)
        assert response is not None
        assert response.status == 200
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert complaints == []


@pytest.mark.browser
@pytest.mark.parametrize("scripts", [True, False])
def test_a_person_searches_from_the_first_page(browser: Browser, palace: Daemon, scripts: bool) -> None:
    with page_of(browser, scripts=scripts) as (page, _):
        page.goto(palace.url)
        expect(page).to_have_url(palace.url + "/ui/")
        page.get_by_role("searchbox").fill("castle needle")
        page.get_by_role("button", name="Search").click()
        expect(page.get_by_role("heading", name="1 result for “castle needle”")).to_be_visible()
        expect(page.get_by_text("The castle keeps a needle in every room.")).to_be_visible()
        expect(page.get_by_text("plain-text")).to_be_visible()


@pytest.mark.browser
def test_stored_text_is_shown_and_never_run(browser: Browser, palace: Daemon) -> None:
    with page_of(browser) as (page, complaints):
        page.goto(palace.url + "/ui/?q=hostile")
        expect(page.get_by_text("<script>alert(2)</script>")).to_be_visible()
        expect(page.get_by_role("cell", name="<b onclick=alert(3)>wing")).to_be_visible()
        assert page.locator("main script, main img").count() == 0
        assert complaints == []


@pytest.mark.browser
def test_the_page_is_reached_by_keyboard_alone(browser: Browser, palace: Daemon) -> None:
    with page_of(browser) as (page, _):
        page.goto(palace.url + "/ui/")
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
        page.get_by_role("searchbox").focus()
        page.keyboard.type("needle")
        page.keyboard.press("Enter")
        expect(page.locator("#results")).to_be_visible()


def test_the_policy_allows_nothing_inline_and_nothing_foreign(shared_daemon: Daemon) -> None:
    for path in ("/ui/", "/api/docs", "/nothing-here"):
        answer = shared_daemon.request("GET", path)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert " style=" not in answer.text
        assert "<style" not in answer.text
        assert "<script" not in answer.text
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_static_files_are_cached_and_revalidated(shared_daemon: Daemon) -> None:
    first = shared_daemon.request("GET", "/static/memcastle/dashboard.css")
    assert first.status == 200
    assert "max-age" in first.headers["cache-control"]
    again = shared_daemon.request(
        "GET", "/static/memcastle/dashboard.css", headers={"If-Modified-Since": first.headers["last-modified"]}
    )
    assert again.status == 304
    assert shared_daemon.request("GET", "/static/../manage.py").status in (400, 404)


def test_the_dashboard_can_be_switched_off(tmp_path_factory: pytest.TempPathFactory) -> None:
    from tests.support import running_daemon

    with running_daemon(tmp_path_factory.mktemp("no-web") / "home", MEMCASTLE_WEB_ENABLE="false") as daemon:
        answer = daemon.request("GET", "/ui/")
        assert answer.status == 404
        assert "web.enable" in answer.json["help"]
