"""Which arrays are shared and which are copies."""

import numpy as np
import pytest

def shared(get):
    """The same array every time, not to be written."""
    a = get()
    assert get() is a and not a.flags.writeable and a.flags.c_contiguous
    with pytest.raises(ValueError, match="read-only"):
        a[...] = 0.0


def test_what_never_changes_is_one_array_for_all(finger, hand):
    for name in ("basis", "stiffness", "mass", "damping", "rest_poses", "frequencies"):
        shared(lambda: getattr(finger, name))  # noqa: B023
    push = [[0, -0.05, 0, 0, 0, 0]]
    rest, full = finger.statics(push), hand.statics("rh_ffdistal", push, gravity=False)
    for name in ("coordinates", "effector_poses", "link_poses"):
        shared(lambda: getattr(rest, name))  # noqa: B023
    for name in ("positions", "effector_poses", "link_poses"):
        shared(lambda: getattr(full, name))  # noqa: B023
    recording = finger.simulation(1e-3).run(0.01, push)
    shared(lambda: recording.times)
    shared(lambda: recording.poses)
    # Views of these: no numbers of their own.
    body = recording.body(recording.bodies[1])
    assert np.shares_memory(body, recording.poses) and not body.flags.writeable
    assert np.array_equal(body, recording.poses[:, 1])
    energy = recording.values("kinetic")
    assert np.shares_memory(energy, recording.values("kinetic")) and not energy.flags.writeable


def test_they_outlive_what_they_came_from(hand):
    model = hand.reduce("rh_ffdistal")
    basis, expected = model.basis, model.basis.copy()
    recording = model.simulation(1e-3).run(0.002)
    poses, last = recording.poses, recording.poses.copy()
    del model, recording
    [np.zeros((100, 100)) for _ in range(100)]
    assert np.array_equal(basis, expected) and np.array_equal(poses, last)


def test_states_are_copies_or_fill_what_is_given(finger):
    """They move while other threads run: nobody gets to see them on the way."""
    simulation, batch = finger.simulation(1e-3), finger.batch(5, 1e-3)
    before, many = simulation.coordinates, batch.coordinates()
    push = np.tile([[[0.0, -1.0, 0, 0, 0, 0]]], (5, 1, 1))
    simulation.step(push[0], count=10)
    batch.step(push, count=10)
    assert not before.any() and not many.any()
    assert before.flags.writeable and many.flags.writeable
    room = np.full((5, finger.dof), np.nan)
    for _ in range(2):
        assert batch.coordinates(room) is room
        assert np.array_equal(room, np.tile(simulation.coordinates, (5, 1)))
    poses = np.empty((5, len(batch.links), 7))
    assert batch.link_poses(poses) is poses
    assert np.array_equal(poses[0], simulation.link_poses())


def test_frequencies_are_those_of_the_matrices(finger):
    values = np.linalg.eigvals(np.linalg.solve(finger.mass, finger.stiffness)).real
    expected = np.sqrt(np.sort(values)) / (2 * np.pi)
    assert np.allclose(finger.frequencies, expected, rtol=1e-6)


def test_wrenches_are_read_and_never_kept(finger):
    """A step of a few instances reads the array in place; a long one has its own numbers."""
    push = np.zeros((3, 1, 6))
    push[:, 0, 1] = [-0.1, 0.0, 0.1]
    batch, other = finger.batch(3, 1e-3), finger.batch(3, 1e-3)
    batch.step(push, count=50_000)
    for _ in range(100):
        other.step(push, count=500)
    assert np.array_equal(batch.coordinates(), other.coordinates())
    push[:] = 0.0
    free = finger.batch(3, 1e-3)
    free.set(batch.coordinates(), batch.velocity())
    free.step(push)
    batch.step(push)
    assert np.array_equal(batch.coordinates(), free.coordinates())
    for frame in ("world", "body"):
        alone = finger.simulation(1e-3)
        alone.step([[0, -0.2, 0.1, 0, 1e-3, 0]], frame=frame, count=20)
        many = finger.batch(2, 1e-3)
        many.step(np.tile([[[0, -0.2, 0.1, 0, 1e-3, 0]]], (2, 1, 1)), frame=frame, count=20)
        assert np.array_equal(many.coordinates()[1], alone.coordinates)
