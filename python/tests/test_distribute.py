"""A run on Ray, Dask or Submitit is the local run, bit for bit, also when a machine is lost in the middle."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from command import PROGRAM, Folder

tailcut = pytest.importorskip("tailcut", reason="the native module is not built: run the tests by `cargo xtask test`")

#: 40 points: two schemes, two loads, ten seeds.
SWEEP = """
schemes = ["dctcp", "pias"]
seeds = 10
[sweep]
"workload.load" = [0.4, 0.8]
[topology.leaf-spine]
leaves = 4
hosts_per_leaf = 4
spines = 2
host_link = { rate = "10Gbps", delay = "1us" }
core_link = { rate = "10Gbps", delay = "1us" }
[workload]
load = 0.5
load_of = "fabric"
flows = 500
[workload.traffic.all-sizes]
share = 1.0
sizes.file.path = "sizes.txt"
"""
SIZES = "1000 0\n10000 0.5\n100000 0.9\n3000000 1\n"


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("sweep")
    (where / "sweep.toml").write_text(SWEEP, encoding="utf-8")
    (where / "sizes.txt").write_text(SIZES, encoding="utf-8")
    return where / "sweep.toml"


@pytest.fixture(scope="module")
def local(scenario: Path) -> Folder:
    """The local run."""
    run = tailcut.Scenario.from_file(scenario).run(out=scenario.parent / "local", progress=False)
    assert len(run.points) == 40 and run.is_complete
    return Folder(run.folder)


def assert_equal(run: Path, local: Folder) -> None:
    """The same digests, statistics and rows."""
    there = Folder(run)
    assert there.digests() == local.digests() and len(there.digests()) == 40
    assert there.summary() == local.summary()
    for key in local.points():
        for file in (local.path / "points" / key).glob("*.parquet"):
            assert (run / "points" / key / file.name).read_bytes() == file.read_bytes(), (key, file.name)
    left = [path.name for path in run.rglob("*") if ".tmp" in path.name]
    assert left == [], "nothing half-written is left"


class Later:
    """Calls something once when a few points are done, from another thread."""

    def __init__(self, when: int, call) -> None:
        self.when, self.call, self.done = when, call, []

    def __call__(self, progress: tailcut.Progress) -> None:
        if progress.done >= self.when and not self.done:
            self.done.append(progress.done)
            threading.Thread(target=self.call).start()


@pytest.mark.parametrize("share", [True, False], ids=["shared folder", "by value"])
def test_dask_with_a_worker_killed_is_the_local_run(
    scenario: Path, local: Folder, tmp_path: Path, share: bool
) -> None:
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    from tailcut.distribute.dask import DaskEngine  # noqa: PLC0415

    cluster = distributed.LocalCluster(
        n_workers=2, processes=True, threads_per_worker=1, dashboard_address=None, silence_logs=50
    )
    with cluster, distributed.Client(cluster) as client:
        victim = client.run(os.getpid).popitem()[1]
        later = Later(8, lambda: os.kill(victim, signal.SIGKILL))
        engine = DaskEngine(client, share=share)
        run = tailcut.Scenario.from_file(scenario).run(out=tmp_path / "run", on=engine, progress=later)
        assert later.done and later.done[0] < 40, "the worker was killed in the middle"
        assert client.run(os.getpid).popitem()[1] != victim or len(client.run(os.getpid)) == 1
    assert run.failures == ()
    assert_equal(run.folder, local)


@pytest.fixture(scope="module")
def ray_cluster():
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    from ray.cluster_utils import Cluster  # noqa: PLC0415

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    ray.init(address=cluster.address, include_dashboard=False, log_to_driver=False)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


@pytest.mark.parametrize("share", [True, False], ids=["shared folder", "by value"])
def test_ray_with_a_node_killed_is_the_local_run(
    scenario: Path, local: Folder, tmp_path: Path, ray_cluster, share: bool
) -> None:
    from tailcut.distribute.ray import RayEngine  # noqa: PLC0415

    node = ray_cluster.add_node(num_cpus=1)
    ray_cluster.wait_for_nodes()
    later = Later(8, lambda: ray_cluster.remove_node(node, allow_graceful=False))
    run = tailcut.Scenario.from_file(scenario).run(out=tmp_path / "run", on=RayEngine(share=share), progress=later)
    assert later.done and later.done[0] < 40, "the node was killed in the middle"
    assert run.failures == ()
    assert_equal(run.folder, local)


#: What stands for Slurm: a job runs where it is submitted, behind whoever submits it.
SLURM = {
    "sbatch": """#!/bin/bash
export SLURM_JOB_ID=$$ SLURM_NTASKS=1 SLURM_NODEID=0 SLURM_PROCID=0 SLURM_LOCALID=0
echo "$*" >> "$(dirname "$0")/submitted"
grep -e '^#SBATCH --time' "$1" >> "$(dirname "$0")/submitted"
bash "$1" > /dev/null 2>&1 < /dev/null &
echo "Submitted batch job $$"
""",
    "srun": """#!/bin/bash
while [[ $1 == --* ]]; do
    case "$1" in --output | --error) shift 2 ;; *) shift ;; esac
done
exec "$@"
""",
    "sacct": "#!/bin/bash\nexit 1\n",
    "scancel": "#!/bin/bash\nexit 1\n",
}


def assert_a_part_of(run: tailcut.Run, local: Folder, points: int) -> None:
    """What was run of the sweep is what the local run has of it."""
    assert run.failures == () and len(run.points) == points
    there = Folder(run.folder).digests()
    assert len(there) == points and there.items() <= local.digests().items()
    for point in run.points:
        (whole,) = (local.path / "points").glob(f"{point.key}")
        for file in whole.glob("*.parquet"):
            assert (run.folder / "points" / point.key / file.name).read_bytes() == file.read_bytes()
    assert [path.name for path in run.folder.rglob("*") if ".tmp" in path.name] == []


@pytest.mark.parametrize("share", [True, False], ids=["shared folder", "by value"])
def test_submitit_with_a_job_lost_is_the_local_run(scenario: Path, local: Folder, tmp_path: Path, share: bool) -> None:
    submitit = pytest.importorskip("submitit", reason="Submitit is not installed")
    from tailcut.distribute.submitit import SubmititEngine  # noqa: PLC0415

    submitted: list[str] = []

    class Unlucky(SubmititEngine):
        """The second job ends as if its machine had been switched off."""

        def submit(self, task, folder, token):
            submitted.append(task.key)
            return self._executor.submit(os._exit, 9) if len(submitted) == 2 else super().submit(task, folder, token)

    few = tailcut.Scenario.from_file(scenario).schemes("dctcp").seeds(2)
    with pytest.MonkeyPatch.context() as patch:
        # How long a result may take to be seen on another machine, in s.
        patch.setattr(submitit.core.core.Job, "_results_timeout_s", 1)
        run = few.run(out=tmp_path / "run", on=Unlucky("local", jobs=2, share=share), progress=False)
    assert len(submitted) == 5 and submitted.count(submitted[1]) == 2
    assert_a_part_of(run, local, 4)
    # Lost for good: it is told, and the others are there.
    if share:
        submitted.clear()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(submitit.core.core.Job, "_results_timeout_s", 1)
            run = few.seeds(1).run(out=tmp_path / "lost", on=Unlucky("local", retries=0), progress=False)
        (failure,) = run.failures
        assert "without a result" in failure.reason and len(run.finished) == 1


def test_the_command_hands_points_to_slurm(
    scenario: Path, local: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("submitit", reason="Submitit is not installed")
    words = [sys.executable, "-m", "tailcut", "run", str(scenario), "--seeds", "2", "--set", 'schemes=["dctcp"]']
    words += ["--on", "slurm", "--quiet", "--out", "run"]
    options = {"cwd": tmp_path, "capture_output": True, "text": True, "check": False, "timeout": 120}
    done = subprocess.run(words, **options)
    assert done.returncode == 2 and "there is no Slurm" in done.stderr and not (tmp_path / "run").exists()
    own = tmp_path / "slurm"
    own.mkdir()
    for name, text in SLURM.items():
        (own / name).write_text(text, encoding="utf-8")
        (own / name).chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(own), os.environ["PATH"]]))
    done = subprocess.run(words, **options)
    assert done.returncode == 0, done.stderr
    assert_a_part_of(tailcut.load(tmp_path / "run"), local, 4)
    said = (own / "submitted").read_text(encoding="utf-8").splitlines()
    assert len(said) == 8 and said[1::2] == ["#SBATCH --time=30"] * 4, "half an hour beside the forecast"


def test_a_stopping_rule_runs_on_an_engine(scenario: Path, tmp_path: Path) -> None:
    """An engine may be any function: this one simulates in this process."""
    from tailcut.distribute import simulate  # noqa: PLC0415

    asked: list[int] = []

    def engine(tasks, folder):
        asked.append(len(tasks))
        assert [cost for _, cost, _, _ in tasks] == sorted((cost for _, cost, _, _ in tasks), reverse=True)
        for index, (_, _, head, files) in enumerate(tasks):
            yield index, simulate(head, files, folder, "")
            yield None

    base = tailcut.Scenario.from_file(scenario).seeds(5).schemes("dctcp")
    rule = {"until": "ci=2%", "of": "fct_mean", "max_seeds": 7}
    there = base.run(out=tmp_path / "there", on=engine, progress=False, **rule)
    here = base.run(out=tmp_path / "here", progress=False, **rule)
    assert there.seeds == here.seeds and len(there.seeds) > 5 and len(asked) > 1
    assert Folder(there.folder).summary() == Folder(here.folder).summary()


def test_what_an_engine_does_wrong_is_told(scenario: Path, tmp_path: Path) -> None:
    base = tailcut.Scenario.from_file(scenario).seeds(1).schemes("dctcp")

    def loses(tasks, folder):
        yield 0, "the machine burns"
        yield 1, None

    run = base.run(out=tmp_path / "a", on=loses, progress=False)
    reasons = [failure.reason for failure in run.failures]
    assert reasons == ["the machine burns", "its files did not come back"]

    def breaks(tasks, folder):
        raise RuntimeError("no cluster")
        yield

    with pytest.raises(tailcut.Error, match="no cluster"):
        base.run(out=tmp_path / "b", on=breaks, progress=False)
    with pytest.raises(tailcut.Error, match="neither run nor refused"):
        base.run(out=tmp_path / "c", on=lambda tasks, folder: iter(()), progress=False)


def test_a_cluster_that_does_not_answer_is_an_error(scenario: Path, tmp_path: Path) -> None:
    dask = pytest.importorskip("dask", reason="Dask is not installed")
    pytest.importorskip("distributed", reason="Dask is not installed")
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        with pytest.raises(tailcut.Error, match="tcp://127.0.0.1:9.* does not start"):
            tailcut.Scenario.from_file(scenario).run(on="tcp://127.0.0.1:9", out=tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()


def test_an_interrupt_ends_the_tasks_and_keeps_what_is_finished(scenario: Path, tmp_path: Path) -> None:
    from tailcut.distribute import simulate  # noqa: PLC0415

    closed: list[bool] = []

    def engine(tasks, folder):
        try:
            for index, (_, _, head, files) in enumerate(tasks):
                yield index, simulate(head, files, folder, "")
                time.sleep(0.2)
        finally:
            closed.append(True)

    def stop(progress: tailcut.Progress) -> None:
        if progress.done >= 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tailcut.Scenario.from_file(scenario).run(out=tmp_path / "run", on=engine, progress=stop)
    assert closed == [True]
    assert 2 <= len(tailcut.load(tmp_path / "run").finished) < 40


def test_what_fails_in_a_job_of_submitit_is_told_in_a_sentence(scenario: Path, tmp_path: Path) -> None:
    submitit = pytest.importorskip("submitit", reason="Submitit is not installed")
    from tailcut.distribute import Task  # noqa: PLC0415
    from tailcut.distribute.submitit import SubmititEngine  # noqa: PLC0415

    class Old(SubmititEngine):
        def submit(self, task, folder, token):
            head = task.head.replace(tailcut.__version__, "0.0.0+1")
            return super().submit(Task(task.key, task.cpu_s, head, task.files), folder, token)

    engine = Old(submitit.DebugExecutor(tmp_path / "jobs"))
    run = tailcut.Scenario.from_file(scenario).seeds(1).run(out=tmp_path / "run", on=engine, progress=False)
    reasons = {failure.reason for failure in run.failures}
    assert len(run.failures) == 4 and all("install the same package" in reason for reason in reasons)
    assert not any("Traceback" in reason for reason in reasons)


def test_a_task_of_another_build_is_refused(scenario: Path, tmp_path: Path) -> None:
    from tailcut.distribute import simulate  # noqa: PLC0415

    def engine(tasks, folder):
        for index, (_, _, head, files) in enumerate(tasks):
            try:
                yield index, simulate(head.replace(tailcut.__version__, "0.0.0+1"), files, folder, "")
            except tailcut.Error as error:
                yield index, error.message

    run = tailcut.Scenario.from_file(scenario).seeds(1).run(out=tmp_path / "run", on=engine, progress=False)
    assert len(run.failures) == 4 and all("install the same package" in f.reason for f in run.failures)


def test_the_command_hands_over_to_the_package(scenario: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed")
    words = [str(PROGRAM), "run", str(scenario), "--seeds", "1", "--quiet", "--on", "dask", "--out", "run"]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        words, cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert len(Folder(tmp_path / "run").digests()) == 4
    alone = subprocess.run(
        [*words[:-1], "other"], cwd=tmp_path, env={"PATH": "/nowhere"}, capture_output=True, text=True, check=False
    )
    assert alone.returncode == 2 and "pip install" in alone.stderr
    assert not (tmp_path / "other").exists()


def test_a_figure_is_reproduced_on_an_engine(tmp_path: Path) -> None:
    pytest.importorskip("submitit", reason="Submitit is not installed")
    words = [sys.executable, "-m", "tailcut", "reproduce", "pdq-fair-sharing", "--quiet"]
    found = []
    for further in [["--out", "there", "--on", "submitit"], ["--out", "here"]]:
        done = subprocess.run(
            [*words, *further], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stderr
        (summary,) = (tmp_path / further[1]).rglob("studies/*/summary.csv")
        found.append((Folder(summary.parent).digests(), summary.read_bytes()))
    assert found[0] == found[1] and len(found[0][0]) >= 1
