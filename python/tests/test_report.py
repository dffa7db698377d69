"""The page of a run in a browser: it works from the disk alone, on a desk and on a telephone."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, sync_playwright

from command import SMALL, Folder, run, succeeded

WIDTHS = {"wide": 1440, "desk": 1280, "telephone": 390}
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def chromium() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = chromium()
    if program is None:
        pytest.skip("there is no Chromium: install one (Debian: apt install chromium), or name one as CHROMIUM=...")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, headless=True, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def opened(browser: Browser, file: Path, width: int = 1280, scheme: str = "light") -> Iterator[Page]:
    """The page; at the end it must have asked for nothing but itself and complained of nothing."""
    complaints: list[str] = []
    requests: list[str] = []

    def refuse(route: Route) -> None:
        requests.append(route.request.url)
        if route.request.url.startswith("file:"):
            route.continue_()
        else:
            route.abort()

    context = browser.new_context(viewport={"width": width, "height": 900}, offline=True, color_scheme=scheme)
    page = context.new_page()
    page.route("**/*", refuse)
    page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: complaints.append(f"exception: {error}"))
    page.on("requestfailed", lambda request: complaints.append(f"failed: {request.url}"))
    try:
        page.goto(file.as_uri())
        yield page
        assert not complaints
        assert requests == [file.as_uri()], "a page that needs nothing but itself"
    finally:
        context.close()


@pytest.fixture(scope="module")
def report(small: Folder) -> Path:
    return small.path / "report.html"


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """A run over two axes with everything over time: the widest tables and the most charts."""
    where = tmp_path_factory.mktemp("swept")
    text = SMALL.replace("[sweep]", '[sweep]\n"port.limit" = ["60KB", "240KB"]').replace("flows = 600", "flows = 400")
    text = text.replace("[record]", '[record]\nqueue_series = true\nqueue_sample = "10us"')
    (where / "small.toml").write_text(text, encoding="utf-8")
    succeeded(run("run", "small.toml", "--out", "run", cwd=where))
    return Folder(where / "run")


#: The charts of every page; beside them there are those of what is recorded or swept.
CHARTS = ("metric-chart", "ratio-chart", "slowdown-chart", "fct-chart", "queue-chart")

#: Numbers of pixels of a chart's canvas by their colour, those without any left out.
COLOURS = """id => {
  const canvas = document.querySelector(`#${id} canvas`);
  if (!canvas || !canvas.width || !canvas.height) return {};
  // A copy: the page's own canvas is not one that is read.
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  const data = copy.getImageData(0, 0, canvas.width, canvas.height).data;
  const counts = {};
  for (let i = 0; i < data.length; i += 4) {
    if (data[i + 3] < 128) continue;
    const colour = [data[i], data[i + 1], data[i + 2]].join();
    counts[colour] = (counts[colour] || 0) + 1;
  }
  return counts;
}"""


def colours(page: Page, chart: str) -> dict[str, int]:
    return page.evaluate(COLOURS, chart)


def vivid(counts: dict[str, int]) -> int:
    """Pixels that are neither grey nor white: curves, not axes."""
    return sum(n for colour, n in counts.items() if (c := [int(part) for part in colour.split(",")]) and max(c) - min(c) > 60)


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_charts_are_drawn_and_nothing_overflows(browser: Browser, report: Path, width: int, scheme: str) -> None:
    with opened(browser, report, width, scheme) as page:
        for chart in CHARTS:
            counts = colours(page, chart)
            assert sum(counts.values()) > 500, f"{chart} is empty"
            assert vivid(counts) > 100, f"{chart} has axes and no curve"
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        outside = page.evaluate(
            """() => [...document.querySelectorAll("main *")].filter(one => {
              const box = one.getBoundingClientRect();
              return box.width > 0 && box.right > innerWidth + 1 && !one.closest(".scroll, .tall, pre, .tip");
            }).map(one => one.outerHTML.slice(0, 100))"""
        )
        assert not outside, outside


def test_the_page_tells_what_was_run(browser: Browser, report: Path, small: Folder) -> None:
    with opened(browser, report) as page:
        info = small.info()
        assert page.title() == info["title"] == page.inner_text("h1")
        text = page.inner_text("main")
        assert info["command"] in text and info["version"] in text
        for name in ("short", "long", "incast", "short+incast", "all"):
            assert page.locator("h3", has_text=name).count() >= 1, name
        assert "two seeds" in text.lower() or "2 seeds" in text, "that two seeds are few is said"
        assert "[topology.leaf-spine]" in page.text_content("main"), "the scenario is part of the page"


def column(page: Page, table: int, at: int) -> list[str]:
    """The values of a column of a headline table, as the page compares them."""
    return page.evaluate(
        """([table, at]) => [...document.querySelectorAll("table.headline")[table].tBodies[0].rows]
            .map(row => row.cells[at].dataset.value ?? row.cells[at].textContent)""",
        [table, at],
    )


def test_tables_are_sorted_by_a_click_on_a_head(browser: Browser, report: Path) -> None:
    with opened(browser, report) as page:
        table = page.locator("table.headline").first
        heads = table.locator("thead th")
        assert heads.count() >= 6
        for at in range(heads.count()):
            values = column(page, 0, at)
            numbers = at > 0
            key = float if numbers and "" not in values and "-" not in values else str
            before = sorted(values, key=key)
            heads.nth(at).locator("button").click()
            assert heads.nth(at).get_attribute("aria-sort") == "ascending"
            assert column(page, 0, at) == before, at
            heads.nth(at).locator("button").click()
            assert heads.nth(at).get_attribute("aria-sort") == "descending"
            assert column(page, 0, at) == sorted(values, key=key, reverse=True), at
        sorted_heads = [heads.nth(at).get_attribute("aria-sort") for at in range(heads.count())]
        assert [one for one in sorted_heads if one] == ["descending"], "one column at a time says that it is sorted"


def test_tables_show_the_numbers_of_the_summary(browser: Browser, report: Path, small: Folder) -> None:
    rows = {(row["scheme"], row["workload.load"], row["class"], row["metric"]): row["value"] for row in small.rows()}
    with opened(browser, report) as page:
        means = [
            (scheme, load, float(value))
            for scheme, load, value in zip(column(page, 0, 0), column(page, 0, 1), column(page, 0, 3), strict=True)
        ]
        assert len(means) == 4
        for scheme, load, value in means:
            assert value == pytest.approx(float(rows[scheme, load, "short", "fct_mean"]), rel=1e-8)


def test_a_scheme_is_hidden_and_shown_by_its_button(browser: Browser, report: Path) -> None:
    with opened(browser, report) as page:
        chips = page.locator("#schemes button")
        rows = page.locator("table.headline").first.locator("tbody tr")
        assert chips.all_inner_texts() == ["dctcp", "slytherin"]
        charts = [chart for chart in CHARTS if chart != "ratio-chart"]
        whole = {chart: colours(page, chart) for chart in charts}
        assert rows.count() == rows.locator("visible=true").count() == 4
        listed = page.locator("#all-table tbody tr").count()
        page.locator("#schemes button", has_text="slytherin").click()
        chip = page.locator("#schemes button", has_text="slytherin")
        assert chip.get_attribute("aria-pressed") == "false"
        for chart in charts:
            assert vivid(colours(page, chart)) < vivid(whole[chart]), f"{chart} still shows it"
            assert vivid(colours(page, chart)) > 50, f"{chart} shows nothing at all"
        assert "no ratio to dctcp here" in page.inner_text("#ratio-chart")
        shown = rows.locator("visible=true").all_inner_texts()
        assert len(shown) == 2 and all(text.startswith("dctcp") for text in shown)
        assert 0 < page.locator("#all-table tbody tr").count() < listed
        assert "slytherin" not in page.inner_text("#all-table tbody")
        chip.click()
        assert page.locator("#schemes button", has_text="slytherin").get_attribute("aria-pressed") == "true"
        assert {chart: colours(page, chart) for chart in charts} == whole


def test_the_metric_and_class_of_a_chart_can_be_chosen(browser: Browser, report: Path) -> None:
    with opened(browser, report) as page:
        selects = page.locator("#metric-controls select")
        assert selects.count() >= 2
        seen = {str(colours(page, "metric-chart"))}
        for at in range(selects.count()):
            values = selects.nth(at).locator("option").evaluate_all("options => options.map(option => option.value)")
            for value in values:
                # What the horizontal axis shows is not also a value to choose.
                if selects.nth(at).is_visible():
                    selects.nth(at).select_option(value)
                    seen.add(str(colours(page, "metric-chart")))
        assert len(seen) > 10, "other choices are other pictures"
        page.locator("#fct-controls input[type=checkbox]").first.check()
        assert vivid(colours(page, "fct-chart")) > 100


def test_every_statistic_can_be_found(browser: Browser, report: Path, small: Folder) -> None:
    with opened(browser, report) as page:
        selects = page.locator("#all-controls select")
        for at in range(selects.count()):
            selects.nth(at).select_option("-1")
        rows = len(small.rows())
        assert f"of {rows} rows" in page.inner_text("#all-count")
        page.click("#all-more")
        assert page.locator("#all-table tbody tr").count() == rows
        page.fill("#all-controls input[type=search]", "slytherin fct_p99 short")
        found = page.locator("#all-table tbody tr").all_inner_texts()
        assert found and all("slytherin" in text and "fct_p99" in text and "short" in text for text in found)


def test_a_swept_value_is_hidden_and_shown_by_its_button(browser: Browser, swept: Folder) -> None:
    with opened(browser, swept.path / "report.html") as page:
        chips = page.locator("#axis-0 button")
        assert page.inner_text("#axis-0 span") == "port limit" and page.inner_text("#axis-1 span") == "load"
        assert chips.all_inner_texts() == ["60KB", "240KB"]
        visible = page.locator("table.headline").first.locator("tbody tr >> visible=true")
        cells = page.locator("#heat-chart table.map").first.locator("td")
        before = str(colours(page, "fct-chart"))
        assert (visible.count(), cells.count()) == (8, 4)
        page.locator("#axis-0 button", has_text="240KB").click()
        assert (visible.count(), cells.count()) == (4, 2)
        assert all("60KB" in text for text in visible.all_inner_texts())
        assert "240KB" not in page.inner_text("#all-table tbody")
        assert str(colours(page, "fct-chart")) != before, "the chart was of a value that is hidden now"
        page.locator("#axis-0 button", has_text="240KB").click()
        assert (visible.count(), cells.count()) == (8, 4)


def test_no_column_is_cut_on_a_desk(browser: Browser, swept: Folder) -> None:
    with opened(browser, swept.path / "report.html", 1440) as page:
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        cut = page.evaluate(
            """() => [...document.querySelectorAll(".scroll, .heat")].filter(one => one.scrollWidth > one.clientWidth + 1)
                .map(one => `${one.scrollWidth} > ${one.clientWidth}: ${one.textContent.slice(0, 80)}`)"""
        )
        assert not cut, cut


def test_what_is_recorded_is_drawn(browser: Browser, swept: Folder, report: Path) -> None:
    with opened(browser, swept.path / "report.html", 1440) as page:
        for chart in ("series-chart", "throughput-chart"):
            assert vivid(colours(page, chart)) > 300, f"{chart} has axes and no curve"
        options = page.locator("#series-controls select").first.locator("option").all_inner_texts()
        assert options[:2] == ["longest queue of a switch port", "all switch ports together"]
        assert any("->" in name for name in options[2:]), "single ports"
        before = str(colours(page, "series-chart"))
        page.locator("#series-controls select").first.select_option("1")
        assert str(colours(page, "series-chart")) != before
        classes = page.locator("#throughput-controls select").first.locator("option").all_inner_texts()
        assert classes == ["all flows", "short", "long", "incast"]
    with opened(browser, report) as page:
        assert page.locator("#series-chart").count() == 0, "the small run records no queues over time"
        assert vivid(colours(page, "throughput-chart")) > 300


def test_ratios_are_those_of_a_comparison(browser: Browser, report: Path, small: Folder) -> None:
    command = ("compare", "run:dctcp", "run:slytherin", "--format", "json", "--class", "short", "--metric", "fct_mean")
    compared = json.loads(succeeded(run(*command, cwd=small.path.parent)).stdout)["rows"]
    with opened(browser, report) as page:
        table = page.locator("table.ratios").first
        heads = [text.split("\u2195")[0].strip() for text in table.locator("thead th").all_inner_texts()]
        at = heads.index("FCT mean") + 1
        shown = table.locator(f"tbody tr td:nth-child({at})").all_inner_texts()
        # The page writes few digits.
        numbers = [[float(number) for number in re.findall(r"[0-9.]+", text)] for text in shown]
        expected = [[row["ratio"], row["low"], row["high"]] for row in compared]
        assert numbers == [pytest.approx(row, rel=0.01, abs=0.006) for row in expected]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a run that records a shared buffer and where the time of flows goes."""
    where = tmp_path_factory.mktemp("shared")
    text = SMALL.replace("[sweep]\n\"workload.load\" = [0.4, 0.8]\n", "")
    text = text.replace("[record]", "[record]\nmemory = true\nattribution = true\nqueue_sample = \"5us\"")
    text = text.replace('schemes = ["dctcp", "slytherin"]', 'schemes = ["dctcp", "tcp"]')
    text += '[switch]\nmemory.dt.size = "300KB"\n'
    (where / "shared.toml").write_text(text, encoding="utf-8")
    succeeded(run("run", "shared.toml", "--out", "run", cwd=where))
    return where / "run" / "report.html"


#: What a browser asks for in vain if it is hidden: the part of the picture that is inside of the page, and its shapes.
SHOWN = """figure => {
  const svg = figure.querySelector("svg"), box = svg.getBoundingClientRect();
  return { width: box.width, height: box.height, shapes: svg.querySelectorAll("polygon, polyline, rect").length,
    visible: svg.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }), moves: svg.querySelectorAll("animate").length };
}"""


@pytest.mark.parametrize("width", WIDTHS)
def test_pictures_without_a_chart_are_seen_with_scripts(browser: Browser, shared: Path, width: str) -> None:
    with opened(browser, shared, WIDTHS[width]) as page:
        figures = page.locator("#pictures figure")
        words = [figure.get_attribute("aria-label") or "" for figure in figures.all()]
        buffers = [at for at, text in enumerate(words) if text.startswith("What waits in")]
        assert len(buffers) == 2 and words[buffers[1]].endswith("as time passes"), words
        assert len(words) > 2, "and bars of where the time of the slowest flows goes"
        seen = [figure.evaluate(SHOWN) for figure in figures.all()]
        assert all(one["visible"] and one["shapes"] > 5 and one["width"] > 250 and one["height"] > 150 for one in seen), seen
        assert [one["moves"] > 0 for one in seen] == [at == buffers[1] for at in range(len(seen))]
        hidden = page.evaluate("document.querySelector('noscript').textContent")
        assert "memory_burst" not in hidden and "plots/fct_p99" in hidden, "what has a chart alone is for readers without"


def test_warm_up_and_drain_are_shaded_in_charts_over_time(browser: Browser, swept: Folder) -> None:
    with opened(browser, swept.path / "report.html") as page:
        for chart in ("series-chart", "throughput-chart"):
            shade = page.evaluate(COLOURS, chart).get("238,238,246", 0)
            assert shade > 500, (chart, shade)


def test_the_page_can_be_read_without_scripts(browser: Browser, swept: Folder) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, offline=True, java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto((swept.path / "report.html").as_uri())
        pictures = page.locator(".pictures img")
        assert pictures.count() >= 8
        pictures.first.scroll_into_view_if_needed()
        assert page.locator("table.headline").first.locator("tbody tr").count() == 8
        assert page.locator("table.ratios").first.is_visible()
        assert not page.locator("#metric-chart").is_visible(), "no empty frames of charts"
    finally:
        context.close()


def test_links_lead_to_files(browser: Browser, swept: Folder) -> None:
    with opened(browser, swept.path / "report.html") as page:
        links = page.evaluate("[...document.querySelectorAll('main a')].map(one => decodeURIComponent(one.getAttribute('href')))")
    missing = [link for link in links if not (swept.path / link).exists()]
    assert not missing
    data = {str(file.relative_to(swept.path)) for file in swept.path.rglob("*") if file.is_file()}
    unlinked = data - set(links) - {"report.html", "run.lock"}
    assert not unlinked, "every data file of the folder is one click away"
