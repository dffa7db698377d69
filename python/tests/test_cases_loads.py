"""What links are offered, and which of them are overloaded, on networks and lists that are not uniform."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command import Folder, run, succeeded

CASES = Path(__file__).parent / "cases"
RATES = CASES / "f14-hosts-of-several-rates"


def checked(scenario: Path, *sets: str, cwd: Path) -> tuple[dict[str, float], list[str]]:
    """What each of the busiest links is offered, and the warnings of an overload."""
    arguments = [part for value in sets for part in ("--set", value)]
    done = succeeded(run("check", str(scenario), *arguments, "--format", "json", cwd=cwd))
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    links = {line["name"]: line["utilisation"] for line in lines if line["kind"] == "link"}
    warnings = [line["text"] for line in lines if line["kind"] == "warning"]
    return links, [warning for warning in warnings if "times what it carries" in warning]


@pytest.mark.parametrize(
    ("file", "link", "share", "is_over"),
    [
        ("mix", "link from host 3", 3.084, True),
        ("mix", "link to host 3", 3.084, True),
        ("mixf", "link from host 3", 3.084, True),
        ("slowagg", "link to host 3", 8.224, True),
        # Two flows in 1 ms, of which the first has ended when the second starts.
        ("slowlist", "link from host 3", 1.64384, False),
        ("down", "link leaf0->spine0 from tier `leaf` to tier `spine`", 1.4392, True),
        ("down", "link spine0->leaf0 from tier `spine` to tier `leaf`", 1.4392, True),
    ],
)
def test_each_link_is_judged_by_its_own_rate_and_routes(
    file: str, link: str, share: float, is_over: bool, tmp_path: Path
) -> None:
    links, warnings = checked(RATES / f"{file}.toml", cwd=tmp_path)
    assert links[link] == pytest.approx(share, rel=1e-6)
    named = [warning for warning in warnings if f"the {link} is offered {share:.2f} times" in warning]
    assert len(named) == is_over, warnings
    text = succeeded(run("check", str(RATES / f"{file}.toml"), cwd=tmp_path)).stdout
    assert f"busiest {link}: {share * 100:.1f} % offered" in text


def test_a_link_that_is_down_counts_at_each_load(tmp_path: Path) -> None:
    for load in (0.3, 0.6):
        links, warnings = checked(RATES / "down.toml", f"workload.load={load}", cwd=tmp_path)
        share = links["link leaf0->spine0 from tier `leaf` to tier `spine`"]
        assert share == pytest.approx(2 * load * 20_560 / 20_000, rel=1e-6)
        assert bool(warnings) == (share > 1), warnings


def test_an_overload_is_noted_in_the_results(tmp_path: Path) -> None:
    succeeded(run("run", str(RATES / "mix.toml"), "--set", "workload.flows=200", "--out", "run", cwd=tmp_path))
    notes = [row["note"] for row in Folder(tmp_path / "run").rows()]
    assert notes and all("overloaded: the link from host 3 is offered 3.08 times" in note for note in notes)


def test_a_burst_of_two_flows_is_no_overload(tmp_path: Path) -> None:
    case = CASES / "f07-overload-of-a-finite-list" / "over.toml"
    assert checked(case, cwd=tmp_path) == ({}, [])
    succeeded(run("run", str(case), "--out", "run", cwd=tmp_path))
    rows = Folder(tmp_path / "run").rows()
    assert rows and not any("overloaded" in row["note"] for row in rows)
    advised = run("advise", "buffer", str(case), "--keep", "fct_mean < 1ms", "--out", "advice", cwd=tmp_path)
    assert "no buffer to advise" not in advised.stderr, advised.stderr


def test_a_list_that_offers_too_much_all_the_time_is_an_overload(tmp_path: Path) -> None:
    rows = "\n".join(f"{nth * 500_000},{nth % 3},3,1000000" for nth in range(40))
    (tmp_path / "flows.csv").write_text(f"start_ns,src,dst,size_bytes\n{rows}\n", encoding="utf-8")
    scenario = tmp_path / "list.toml"
    scenario.write_text(
        'schemes = ["dctcp"]\n'
        'topology.star = { hosts = 4, host_link = { rate = "10Gbps", delay = "1us" } }\n'
        'workload.traffic.a.file.path = "flows.csv"\n',
        encoding="utf-8",
    )
    links, warnings = checked(scenario, cwd=tmp_path)
    assert links["link to host 3"] == pytest.approx(40 * 1_027_400 * 8 / 19.5e-3 / 10e9, rel=1e-6)
    assert len(warnings) == 1 and "the link to host 3 is offered 1.64 times" in warnings[0]
    refused = run("advise", "buffer", str(scenario), "--keep", "fct_mean < 1ms", "--out", "advice", cwd=tmp_path)
    assert refused.returncode != 0 and "no buffer to advise" in refused.stderr


def test_a_network_is_as_oversubscribed_as_its_worst_tier(tmp_path: Path) -> None:
    case = CASES / "f09-oversubscription-above-the-leaves" / "os.toml"
    text = succeeded(run("check", str(case), cwd=tmp_path)).stdout
    assert "oversubscribed 4.00:1" in text
    links, warnings = checked(case, cwd=tmp_path)
    # 8 racks with 20 Gb/s: 0.5 of that leaves them, 14 of 15 flows, and 8 of 15 flows leave their pod, over 4 links.
    expected = 0.5 * 160 / (14 / 15) * (8 / 15) / 40 * 20_560 / 20_000
    assert links["link agg0->core0 from tier `agg` to tier `core`"] == pytest.approx(expected, rel=1e-6)
    assert any("agg0->core0 from tier `agg` to tier `core` is offered" in warning for warning in warnings)
