"""Sweeps: the same rows in the same order on every engine, each variant once, after a kill too."""

import csv
import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import forks
from forks.sweeps import grid


def area(width, height, rng, index):
    return {"area": width * height, "noise": rng.normal(), "also": index}


def fails_twice(x, folder):
    marker = f"{folder}/{x}"
    with open(marker, "a") as file:
        file.write("x")
    if os.path.getsize(marker) < 3:
        raise RuntimeError("not yet")
    return float(x)


PARAMETERS = {"width": [1.0, 2.0, 3.0], "height": list(range(20))}


@pytest.fixture(scope="module")
def expected():
    return forks.sweep(area, PARAMETERS, engine="serial", seed=7).rows


def test_a_grid_changes_its_last_name_fastest():
    assert grid(a=[1, 2], b="xy") == [
        {"a": 1, "b": "x"}, {"a": 1, "b": "y"}, {"a": 2, "b": "x"}, {"a": 2, "b": "y"},
    ]


@pytest.mark.parametrize("engine", ["threads", "processes"])
def test_engines_agree(engine, expected):
    result = forks.sweep(area, PARAMETERS, engine=engine, seed=7, workers=2)
    assert result.rows == expected and result.computed == 60
    assert np.array_equal(result.column("index"), np.arange(60))
    other = forks.sweep(area, PARAMETERS, engine=engine, seed=8, workers=2)
    assert not np.array_equal(other.column("noise"), result.column("noise"))


def test_what_fails_is_tried_again(tmp_path):
    variants = [{"x": i, "folder": str(tmp_path)} for i in range(5)]
    result = forks.sweep(fails_twice, variants, retries=2)
    assert result.column("value").tolist() == [0, 1, 2, 3, 4] and result.retried == 10
    for i in range(5):
        (tmp_path / str(i)).unlink()
    with pytest.raises(forks.SweepError, match=r"variant \d .* failed 2 times: RuntimeError: not"):
        forks.sweep(fails_twice, variants, retries=1)
    for i in range(5):
        (tmp_path / str(i)).unlink(missing_ok=True)
    result = forks.sweep(fails_twice, variants, retries=0, on_error="skip")
    assert len(result) == 0 and sorted(result.failed) == [0, 1, 2, 3, 4]


def test_a_killed_sweep_goes_on(tmp_path, expected):
    script = tmp_path / "work.py"
    script.write_text(textwrap.dedent(f"""
        import sys, time, forks
        sys.path.insert(0, {os.path.dirname(__file__)!r})
        import test_sweep
        def slow(width, height, rng, index):
            time.sleep(0.02)
            return test_sweep.area(width, height, rng, index)
        if __name__ == "__main__":
            r = forks.sweep(slow, test_sweep.PARAMETERS, seed=7, output="rows.csv", workers=2)
            print(r.computed)
    """))
    process = subprocess.Popen([sys.executable, script], cwd=tmp_path)
    file, end = tmp_path / "rows.csv", time.monotonic() + 60
    while time.monotonic() < end and not (file.exists() and file.read_text().count("\n") > 12):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    with open(file, "a") as f:
        f.write("59,3.0,1")
    out = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, check=True)
    assert 0 < int(out.stdout) < 50
    rows = [
        {k: json.loads(v) for k, v in row.items()}
        for row in csv.DictReader(file.read_text().splitlines()[1:])
    ]
    assert rows == expected


def test_outputs_of_other_sweeps_are_refused(tmp_path):
    forks.sweep(area, PARAMETERS, output="a.csv", seed=1)
    again = forks.sweep(area, PARAMETERS, output="a.csv", seed=1)
    assert again.computed == 0 and len(again) == 60
    with pytest.raises(ValueError, match="a.csv is of another sweep"):
        forks.sweep(area, PARAMETERS, output="a.csv", seed=2)


def test_parquet(tmp_path, expected):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pip install pyarrow for Parquet")
    forks.sweep(area, PARAMETERS, output="a.parquet", seed=7)
    assert parquet.read_table("a.parquet").to_pylist() == expected


def test_bad_calls():
    for kwargs, text in (
        ({"engine": "magic"}, "engine is 'magic'"),
        ({"on_error": "cry"}, "on_error is 'cry'"),
        ({"retries": -1}, "retries is -1"),
    ):
        with pytest.raises(ValueError, match=text):
            forks.sweep(area, PARAMETERS, **kwargs)
    with pytest.raises(ValueError, match="variant 1 has parameters"):
        forks.sweep(area, [{"width": 1}, {"height": 1}])
    with pytest.raises(ValueError, match="cannot be called 'rng'"):
        forks.sweep(area, [{"rng": 1}])
    with pytest.raises(forks.SweepError, match="result 'value' is a list"):
        forks.sweep(lambda x: [x], [{"x": 1}], retries=0)


def test_ray_delivers_each_variant_once_though_a_worker_dies(tmp_path, expected):
    ray = pytest.importorskip("ray", reason="pip install ray to try a cluster")
    folder = str(tmp_path)

    def deadly(width, height, rng, index):
        marker = os.path.join(folder, "died")
        if index == 30 and not os.path.exists(marker):
            open(marker, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return {"area": width * height, "noise": rng.normal(), "also": index}

    try:
        result = forks.sweep(deadly, PARAMETERS, address="local", workers=2, seed=7, chunk=4)
    finally:
        ray.shutdown()
    assert os.path.exists(os.path.join(folder, "died"))
    assert result.rows == expected and result.retried >= 1
