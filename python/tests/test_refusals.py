"""Bad input: an exception with names and shapes, never a crash."""

import ast
import pathlib
import threading
import time

import numpy as np
import pytest

import forks

SHAPE = [
    (np.zeros((2, 6)), ValueError, r"wrenches has shape \(2, 6\), expected \(1, 6\)"),
    (np.zeros(6), ValueError, r"wrenches has shape \(6,\), expected \(1, 6\)"),
    (np.zeros((1, 7)), ValueError, r"wrenches has shape \(1, 7\), expected \(1, 6\)"),
    (np.zeros((0, 6)), ValueError, r"wrenches has shape \(0, 6\), expected \(1, 6\)"),
    (np.float64(1.0), ValueError, r"wrenches has shape \(\), expected \(1, 6\)"),
    (np.zeros((1, 6), np.float32), TypeError, "wrenches .* has dtype float32, expected float64"),
    (np.zeros((1, 6), np.int64), TypeError, "wrenches .* has dtype int64, expected float64"),
    (np.zeros((1, 6), object), TypeError, "wrenches .* has dtype object, expected float64"),
    (np.zeros((1, 6), ">f8"), TypeError, "wrenches .* has dtype >f8, expected float64"),
    (np.zeros((1, 12))[:, ::2], ValueError, r"\(1, 6\) is not C-contiguous; numpy.asco"),
    (np.full((1, 6), np.nan), ValueError, r"wrenches\[0, 0\] is NaN; numbers must be finite"),
    ([[0, 0, 0, 0, np.inf, 0]], ValueError, r"wrenches\[0, 4\] is inf; numbers must be finite"),
    ([[0, 0, 0], [0, 0]], ValueError, "wrenches has rows of different lengths"),
    ("push", TypeError, "wrenches holds a str, expected numbers"),
    ([["a"] * 6], TypeError, "wrenches holds a str, expected numbers"),
    ({}, TypeError, "wrenches holds a dict, expected numbers"),
]


@pytest.mark.parametrize(("wrenches", "kind", "text"), SHAPE)
def test_wrenches(finger, wrenches, kind, text):
    for call in (finger.statics, finger.simulation(1e-3).step):
        with pytest.raises(kind, match=text):
            call(wrenches)


def test_batches(finger):
    batch = finger.batch(3, 1e-3)
    with pytest.raises(ValueError, match=r"has shape \(1, 6\), expected \(3, 1, 6\)"):
        batch.step(np.zeros((1, 6)))
    bad = np.zeros((3, 1, 6))
    bad[2, 0, 5] = np.nan
    before = batch.coordinates()
    with pytest.raises(ValueError, match=r"wrenches\[2, 0, 5\] is NaN"):
        batch.step(bad)
    assert np.array_equal(batch.coordinates(), before)
    with pytest.raises(IndexError, match="instance 3 of a batch of 3"):
        batch.reset([3])
    with pytest.raises(OverflowError):
        batch.reset([-1])
    with pytest.raises(ValueError, match=r"coordinates has shape \(3, 1\)"):
        batch.set(np.zeros((3, 1)), np.zeros((3, finger.dof)))
    with pytest.raises(ValueError, match="at most"):
        finger.batch(1 << 60, 1e-3)
    assert len(empty := finger.batch(0, 1e-3)) == 0
    empty.step(np.zeros((0, 1, 6)))
    assert empty.link_poses().shape == (0, len(finger.links), 7)


def test_out_arrays(finger):
    simulation, links = finger.simulation(1e-3), len(finger.links)
    out = np.full((links, 7), np.nan)
    assert simulation.link_poses(out) is out and np.isfinite(out).all()
    out.flags.writeable = False
    with pytest.raises(ValueError, match=r"out of shape .* is read-only"):
        simulation.link_poses(out)
    with pytest.raises(ValueError, match="out has shape"):
        simulation.link_poses(np.zeros((links + 1, 7)))
    with pytest.raises(TypeError, match="dtype float32"):
        simulation.link_poses(np.zeros((links, 7), np.float32))
    with pytest.raises(ValueError, match="not C-contiguous"):
        simulation.link_poses(np.zeros((7, links)).T)
    with pytest.raises(TypeError, match="out must be an array"):
        simulation.link_poses([0.0])


def test_read_only_input_is_as_good_as_any(finger):
    wrenches = np.zeros((1, 6))
    wrenches.flags.writeable = False
    assert finger.simulation(1e-3).step(wrenches) == "completed"


def test_closed_handles(finger, fixtures):
    scene = forks.load_scene(fixtures / "scenes/peg.toml")
    for handle, use in (
        (finger.simulation(1e-3), lambda s: s.step()),
        (finger.batch(2, 1e-3), lambda b: b.step()),
        (scene, lambda s: s.step()),
    ):
        with handle:
            use(handle)
        with pytest.raises(forks.HandleError, match="is closed"):
            use(handle)
        handle.close()
        assert "closed" in repr(handle)
    builder = forks.Builder()
    builder.link("a", mass=1.0, inertia=[1, 1, 1])
    builder.build()
    with pytest.raises(forks.HandleError, match="closed"):
        builder.build()


def test_two_threads_on_one_handle(finger):
    batch, seen = finger.batch(4096, 1e-3), []
    began = threading.Event()

    def work():
        began.set()
        batch.step(count=20_000)

    thread = threading.Thread(target=work)
    thread.start()
    began.wait()
    end = time.monotonic() + 60
    while thread.is_alive() and time.monotonic() < end:
        try:
            batch.step()
        except forks.HandleError as e:
            seen.append(str(e))
            break
    thread.join()
    assert seen and "in use by another thread" in seen[0]


def test_many_threads_with_one_model(finger):
    found = []

    def work():
        simulation = finger.simulation(1e-3)
        simulation.step([[0, 0, -1, 0, 0, 0]], count=5000)
        found.append(simulation.coordinates)

    threads = [threading.Thread(target=work) for _ in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert len(found) == 8 and all(np.array_equal(f, found[0]) for f in found)


def test_files_and_texts(tmp_path, hand):
    with pytest.raises(forks.ReadError, match="nothing.xml"):
        forks.load("nothing.xml")
    with pytest.raises(forks.ReadError):
        forks.parse("<mujoco><worldbody><body><geom size='x'/></body></worldbody></mujoco>")
    with pytest.raises(ValueError, match="format is 'sdf'"):
        forks.parse("", "sdf")
    with pytest.raises(forks.ReadError, match="none.forks"):
        forks.load_model("none.forks")
    (tmp_path / "bad.forks").write_bytes(b"\x00" * 100)
    with pytest.raises(forks.ReadError, match="bad.forks"):
        forks.load_model("bad.forks")
    with pytest.raises(forks.ReadError):
        forks.Model.from_bytes(b"")
    with pytest.raises(forks.ReadError, match="none.toml"):
        forks.load_scene("none.toml")
    with pytest.raises(forks.ReadError):
        forks.parse_scene("[world]\nduration = 'long'")


def test_every_cut_of_a_model_file_is_refused(finger):
    whole = finger.to_bytes()
    for end in range(0, len(whole), max(1, len(whole) // 200)):
        with pytest.raises(forks.ReadError):
            forks.Model.from_bytes(whole[:end])


def test_words_and_numbers(hand, finger):
    for call, text in (
        (lambda: hand.reduce("no_such_link"), "no_such_link"),
        (lambda: hand.reduce(), "an end effector is needed"),
        (lambda: hand.reduce("rh_ffdistal", at="noon"), "at is 'noon'"),
        (lambda: hand.reduce("rh_ffdistal", mass="heavy"), "mass is 'heavy'"),
        (lambda: hand.reduce("rh_ffdistal", start="dusk"), "no keyframe 'dusk'"),
        (lambda: hand.reduce("rh_ffdistal", start=[0.0]), r"start has shape \(1,\)"),
        (lambda: hand.reduce("rh_ffdistal", servos=False, default_stiffness=-1.0), "-1"),
        (lambda: hand.blend("rh_ffdistal", cone=[0, 0]), "cone has shape"),
        (lambda: hand.simulate(float("inf"), 1e-3), "time is inf"),
        (lambda: hand.simulate(1.0, 0.0), "step is 0"),
        (lambda: finger.simulation(0.0), "the step is 0 s; it must be finite and above 0"),
        (lambda: finger.simulation(float("nan")), "NaN"),
        (lambda: finger.simulation(1e-3, scheme="magic"), "scheme is 'magic'"),
        (lambda: finger.simulation(1e-3).run(-1.0), "time is -1"),
        (lambda: finger.simulation(1e-3).step(frame="moon"), "frame is 'moon'"),
        (lambda: finger.simulation(1e-3).run(0.1).save("a.png"), "a.png"),
    ):
        with pytest.raises(ValueError, match=text):
            call()
    free = forks.Builder(gravity=[0, 0, 0])
    free.link("a", mass=1.0, inertia=[1, 1, 1])
    free.joint("hinge", "revolute", "world", "a", axis=[0, 0, 1])
    with pytest.raises(forks.ReductionError, match="hinge"):
        free.build().reduce("a")
    for call, text in (
        (lambda b: b.joint("j", "revolute", "world", "x", axis=[0, 0, 1]), "no link 'x'"),
        (lambda b: b.joint("j", "hinge", "world", "world"), "kind is 'hinge'"),
        (lambda b: b.joint("j", "revolute", "world", "world"), "needs an axis"),
        (lambda b: b.frame("f", "world", [0] * 7), "quaternion of length zero"),
        (lambda b: b.link("a", inertia=[1, 2]), "inertia has shape"),
    ):
        with pytest.raises(ValueError, match=text):
            call(forks.Builder())


def test_numbers_that_overflow_leave_the_state(finger):
    simulation = finger.simulation(1e-3)
    with pytest.raises(forks.NotFiniteError, match="overflow"):
        simulation.step(np.full((1, 6), 1e308), count=10)
    assert np.isfinite(simulation.coordinates).all()


def test_stubs_say_what_there_is():
    text = pathlib.Path(forks.__file__).with_name("_forks.pyi").read_text()
    tree = ast.parse(text)
    classes = {n.name: n for n in tree.body if isinstance(n, ast.ClassDef)}
    functions = {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}
    module = forks._forks
    there = {n for n in dir(module) if not n.startswith("__")}
    assert there == set(classes) | functions
    for name, node in classes.items():
        if issubclass(kind := getattr(module, name), Exception):
            continue
        said = {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
        public = {n for n in vars(kind) if not n.startswith("__")}
        assert public == {n for n in said if not n.startswith("__")}, name
        for n in public - {"_repr_html_"}:
            assert (getattr(kind, n).__doc__ or "").strip(), f"{name}.{n} has no description"
        assert (kind.__doc__ or "").strip(), name
    for n in functions:
        assert getattr(module, n).__doc__, n
