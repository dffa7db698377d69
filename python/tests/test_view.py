"""Runs in a browser while they go on: `tailcut view`."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from command import PROGRAM, SMALL, Folder, run
from test_report import COLOURS, browser, vivid

# A busy machine takes its time.
expect.set_options(timeout=30_000)

#: Points that take long enough to be seen under way.
LONG = SMALL.replace("flows = 600", "flows = 4000").replace("seeds = 2", "seeds = 3")


@contextmanager
def viewed(*folders: Path) -> Iterator[str]:
    """The address at which `tailcut view` shows the folders; it ends by Ctrl-C as it should."""
    command = [str(PROGRAM), "view", *map(str, folders)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            line = process.stdout.readline()
            yield re.match(r"(http://127\.0\.0\.1:\d+/) ", line)[1]
        finally:
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=20)
        assert (process.returncode, said) == (0, "")


@contextmanager
def kept_going(process: subprocess.Popen) -> Iterator[None]:
    """A process that was stopped goes on at the end, also of a test that fails: nobody waits for it for ever."""
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)


@contextmanager
def opened(browser: Browser, address: str, width: int = 1280, scheme: str = "light") -> Iterator[Page]:
    """The page; at the end it must have complained of nothing, and asked nobody else."""
    complaints: list[str] = []
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: complaints.append(f"exception: {error}"))
    page.on("request", lambda request: request.url.startswith((address, "about:")) or complaints.append(request.url))
    try:
        page.goto(address)
        yield page
        # The browser asks every server for an icon.
        assert [one for one in complaints if "favicon" not in one and "404" not in one] == []
    finally:
        context.close()


def curves(page: Page, pane: str = "a") -> int:
    """Coloured pixels of the first chart of a pane."""
    frame = page.locator(f"#pane-{pane} iframe:not(.next)").element_handle().content_frame()
    if frame is None or frame.query_selector("#metric-chart canvas") is None:
        return 0
    return vivid(frame.evaluate(COLOURS, "metric-chart"))


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "dark")])
def test_a_finished_run_is_shown_with_its_curves(browser: Browser, small: Folder, width: int, scheme: str) -> None:
    with viewed(small.path) as address, opened(browser, address, width, scheme) as page:
        points = len(small.points())
        expect(page.locator("#pane-a .status")).to_have_text(f"{points} of {points} points")
        expect(page.frame_locator("#pane-a iframe:not(.next)").locator("#metric-chart canvas")).to_be_visible()
        assert curves(page) > 100
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == (
            "rgb(21, 24, 28)" if scheme == "dark" else "rgb(255, 255, 255)"
        )


def test_a_slow_flow_is_explained_by_the_keyboard_alone(browser: Browser, small: Folder) -> None:
    with viewed(small.path) as address, opened(browser, address) as page:
        # The classes come with what is known of the run.
        expect(page.locator('#pane-a select option[value="short"]')).to_be_attached()
        page.locator("#pane-a .slowest > summary").focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.tagName") == "SELECT"
        with page.expect_response("**/slowest.json?class=short"):
            page.keyboard.press("s")
        expect(page.locator("#pane-a select")).to_have_value("short")
        link = page.locator("#pane-a .list a").first
        expect(link).to_be_visible()
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "why?"
        with page.context.expect_page() as opening:
            page.keyboard.press("Enter")
        why = opening.value
        why.wait_for_load_state()
        assert why.locator("h1").inner_text() == "Why was it slow?"
        assert "in an idle network" in why.locator("pre").first.inner_text()
        assert why.locator("svg").count() >= 2


def test_two_runs_stand_side_by_side_and_below_each_other_on_a_telephone(
    browser: Browser, small: Folder, tmp_path: Path
) -> None:
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    assert run("run", "small.toml", "--set", "port.limit=60KB", "--out", "other", cwd=tmp_path).returncode == 0
    with viewed(small.path, tmp_path / "other") as address:
        for width in (1440, 390):
            with opened(browser, address, width) as page:
                for pane in "ab":
                    expect(page.frame_locator(f"#pane-{pane} iframe:not(.next)").locator("#metric-chart canvas")).to_be_visible()
                a, b = (page.locator(f"#pane-{pane}").bounding_box() for pane in "ab")
                assert (a["y"] == b["y"] and b["x"] >= a["x"] + a["width"]) if width > 1000 else b["y"] >= a["y"] + a["height"]
                assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_curves_fill_in_while_a_run_goes_on(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(LONG, encoding="utf-8")
    command = [str(PROGRAM), "run", "small.toml", "--quiet", "--jobs", "1", "--out", "run"]
    with subprocess.Popen(command, cwd=tmp_path) as running, kept_going(running):
        while not (tmp_path / "run" / "run.json").exists():
            time.sleep(0.02)
        # The run waits for the reader, however long a browser takes on a busy machine.
        running.send_signal(signal.SIGSTOP)
        with viewed(tmp_path / "run") as address, opened(browser, address) as page:

            def state() -> dict:
                return json.load(urllib.request.urlopen(address + "state.json"))[0]

            # It waits within a point, so that there is one under way.
            while not (state()["finished"] and state()["under_way"]):
                running.send_signal(signal.SIGCONT)
                time.sleep(0.02)
                running.send_signal(signal.SIGSTOP)
            expect(page.locator("#pane-a .under-way li").first).to_contain_text("%")
            # A reader has chosen something: it stays chosen when the next points have finished.
            frame = page.frame_locator("#pane-a iframe:not(.next)")
            expect(frame.locator("#metric-chart canvas")).to_be_visible(timeout=60_000)
            frame.locator("#metric-controls select").first.select_option(index=1)
            before = state()["finished"]
            running.send_signal(signal.SIGCONT)
            running.wait(timeout=300)
            expect(page.locator("#pane-a .status")).to_have_text("12 of 12 points")
            expect(page.locator("#pane-a .under-way")).to_be_hidden()
            frame = page.frame_locator("#pane-a iframe:not(.next)")
            expect(frame.locator(".facts")).to_contain_text(re.compile(r"(?<!of )12 points"), timeout=60_000)
            assert before < 12 and curves(page) > 100
            assert frame.locator("#metric-controls select").first.evaluate("one => one.selectedIndex") == 1
    assert running.returncode == 0
    assert not list((tmp_path / "run").rglob(".*"))


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    for folders in (["nothing"], ["."], ["a", "b", "c"]):
        done = run("view", *folders, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
    assert "nothing is no run folder" in run("view", "nothing", cwd=tmp_path).stderr


def test_nobody_reads_what_it_prints(small: Folder) -> None:
    reader, writer = os.pipe()
    with subprocess.Popen([str(PROGRAM), "view", str(small.path)], stdout=writer, stderr=subprocess.PIPE) as process:
        os.close(writer)
        os.close(reader)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
        assert (process.returncode, said) == (0, b"")


def test_other_hosts_and_methods_are_refused(small: Folder) -> None:
    with viewed(small.path) as address:
        for request, status in (
            (urllib.request.Request(address, headers={"Host": "example.org"}), 403),
            (urllib.request.Request(address, data=b"x"), 405),
            (urllib.request.Request(address + "a/../run.json"), 404),
        ):
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(request)
            assert refused.value.code == status


def test_idle_connections_beyond_the_descriptors_do_not_end_the_server(small: Folder) -> None:
    limit = f'ulimit -n 128; exec "{PROGRAM}" view "{small.path}"'
    with subprocess.Popen(["bash", "-c", limit], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            address = re.match(r"(http://127\.0\.0\.1:(\d+)/) ", process.stdout.readline())
            port = int(address[2])
            idle = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(200)]
            for one in idle:
                one.close()
            with urllib.request.urlopen(address[1] + "state.json", timeout=60) as answer:
                assert json.load(answer)[0]["points"] == len(small.points())
        finally:
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=20)
        assert (process.returncode, said) == (0, "")


def test_a_planted_picture_runs_no_script(browser: Browser, small: Folder) -> None:
    picture = small.path / "planted.svg"
    picture.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg"><script>document.documentElement.id = "ran"</script></svg>', "utf-8"
    )
    try:
        with viewed(small.path) as address:
            page = browser.new_page()
            assert page.goto(address + "a/planted.svg").status == 200
            assert page.evaluate("document.documentElement.id") == ""
            page.close()
    finally:
        picture.unlink()
