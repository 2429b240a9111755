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


LEVER = """<mujoco><option gravity="0 0 0"/><worldbody><body name="lever">
  <joint name="hinge" type="hinge" axis="0 1 0" stiffness="100"/>
  <inertial mass="1" pos="0.5 0 0" diaginertia="0.1 0.1 0.1"/>
  <site name="end" pos="1 0 0"/></body></worldbody></mujoco>"""


def longer(case, factor):
    """What `set` may be: a function of the case and the value."""
    at = case.mechanism.value("frame:end.x")
    return case.mechanism.changed({"frame:end.x": at * factor})


def noisy(case):
    return case.rng.normal() + case.parameters["factor"]


@pytest.fixture
def lever(tmp_path):
    path = tmp_path / "lever.xml"
    path.write_text(LEVER)
    return forks.Spec(
        model=path,
        effectors="site:end",
        set={"factor": longer, "k": ["joint:hinge.stiffness"]},
        wrenches=[[0, 0, 1.0, 0, 0, 0]],
        outputs={
            "z": "position:site:end.z", "moved": "moved:end", "full": "full.moved:end",
            "error": "static_error:end", "soft": "compliance:end.z", "turn": "compliance:end.ry",
            "hertz": "frequency.0", "mass": "mass", "dof": "dof", "noise": noisy,
        },
    )


STUDY = {"k": [100.0, 400.0], "factor": [1.0, 2.0], "link:lever.mass": [1.0, 3.0]}


def test_a_spec_is_a_study_of_a_file(lever):
    result = forks.sweep(lever, STUDY, engine="serial", seed=3)
    assert list(result.rows[0]) == ["index", *STUDY, *lever.outputs] and len(result) == 8
    for row in result:
        k, length, mass = row["k"], row["factor"], row["link:lever.mass"]
        # A lever of a length on a spring k under 1 N: it turns by φ with k φ = length cos φ.
        phi = length / k
        for _ in range(50):
            phi = length * np.cos(phi) / k
        assert row["full"] == pytest.approx(2 * length * np.sin(phi / 2), rel=1e-9)
        assert row["z"] == pytest.approx(length * np.sin(phi), rel=1e-3)
        assert row["moved"] == pytest.approx(row["full"], rel=1e-3) and row["error"] < 1e-3
        assert row["soft"] == pytest.approx(length**2 / k, rel=1e-9)
        assert row["turn"] == pytest.approx(1 / k, rel=1e-9)
        inertia = mass * (0.1 + 0.25)
        assert row["hertz"] == pytest.approx(np.sqrt(k / inertia) / (2 * np.pi), rel=1e-9)
        assert (row["mass"], row["dof"]) == (mass, 1)
    noise = [np.random.default_rng(np.random.SeedSequence(3, spawn_key=(i,))).normal()
             for i in range(8)]
    assert np.allclose(result.column("noise"), noise + result.column("factor"), atol=0)


@pytest.mark.parametrize("engine", ["threads", "processes"])
def test_engines_agree_on_specs(lever, engine):
    expected = forks.sweep(lever, STUDY, engine="serial", seed=3)
    assert forks.sweep(lever, STUDY, engine=engine, seed=3, workers=2).rows == expected.rows
    fields = {name: getattr(lever, name) for name in lever.__dataclass_fields__}
    assert forks.sweep(fields, STUDY, engine=engine, seed=3, workers=2).rows == expected.rows


def test_a_spec_goes_on_where_it_was_unless_it_changed(lever, tmp_path):
    import dataclasses

    few = [{"k": 100.0, "factor": 1.0}, {"k": 200.0, "factor": 1.0}]
    first = forks.sweep(lever, few, output="a.csv")
    assert first.computed == 2
    again = forks.sweep(lever, few, output="a.csv")
    assert again.computed == 0 and again.rows == first.rows
    other = dataclasses.replace(lever, wrenches=[[0, 0, 2.0, 0, 0, 0]])
    with pytest.raises(ValueError, match="a.csv is of another sweep"):
        forks.sweep(other, few, output="a.csv")
    lever.model.write_text(LEVER.replace('mass="1"', 'mass="1.5"'))
    with pytest.raises(ValueError, match="a.csv is of another sweep"):
        forks.sweep(lever, few, output="a.csv")


def test_what_a_spec_cannot_be_is_said_before_anything_is_computed(lever):
    import dataclasses

    def with_(**changes):
        return dataclasses.replace(lever, set={}, **changes)

    one = {"joint:hinge.stiffness": [100.0]}
    for spec, parameters, kind, text in (
        (with_(outputs=[]), one, ValueError, "outputs is empty"),
        (with_(outputs="mass"), one, TypeError, "outputs is a text"),
        (with_(outputs=["weight"]), one, ValueError, "no output 'weight'; there are: mass, mob"),
        (with_(outputs=["compliance:end"]), one, ValueError, "components of compliance are .x"),
        (with_(outputs=["moved:end.rx"]), one, ValueError, "components of moved are .x, .y, .z"),
        (with_(outputs=["static_error:end.x"]), one, ValueError, "components of .* are none"),
        (with_(outputs=[3]), one, TypeError, "output 3 is a int"),
        (with_(outputs={"index": "mass"}), one, ValueError, "cannot be called 'index'"),
        (lever, one, ValueError, "set has 'factor', which is no parameter"),
        (with_(), {"joint:knee.stiffness": [1.0]}, ValueError, "no joint 'knee'; there are: hinge"),
        (with_(), {"k": [1.0]}, ValueError, "'k' is no address"),
        (with_(model="none.xml"), one, forks.ReadError, "none.xml"),
        ({"model": "x.xml", "output": []}, one, TypeError, "output"),
        (3, one, TypeError, "function is a int, expected a function, a Spec"),
    ):
        with pytest.raises(kind, match=text):
            forks.sweep(spec, parameters)
    for spec, parameters, text in (
        (with_(outputs=["moved:tip"]), one, "no effector 'tip'; there are: site:end"),
        (with_(outputs=["frequency.7"]), one, "the model has 1 frequencies"),
        (with_(outputs=["static_error:end"], wrenches=None), one, "nothing moves; give wrenches"),
        (with_(outputs=["mass"]), {"joint:hinge.stiffness": ["stiff"]}, "is a str, expected a num"),
        (with_(outputs=["mass"]), {"joint:hinge.stiffness": [np.nan]}, "is nan; numbers must be"),
        (with_(outputs=["mass"]), {"joint:hinge.stiffness": [-1.0]}, "ForksError"),
    ):
        with pytest.raises(forks.SweepError, match=text):
            forks.sweep(spec, parameters, retries=0)


def test_specs_run_on_ray(lever):
    ray = pytest.importorskip("ray", reason="pip install ray to try a cluster")
    import dataclasses

    # Functions of a module that workers cannot import do not get there by name.
    lever = dataclasses.replace(
        lever,
        set={**lever.set, "factor": lambda case, f: case.mechanism.changed({"frame:end.x": f})},
        outputs={**lever.outputs, "noise": lambda case: case.rng.normal()},
    )
    expected = forks.sweep(lever, STUDY, engine="serial", seed=3)
    try:
        result = forks.sweep(lever, STUDY, address="local", workers=2, seed=3, chunk=2)
    finally:
        ray.shutdown()
    assert result.rows == expected.rows


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
