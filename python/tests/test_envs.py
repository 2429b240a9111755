"""Environments, by gymnasium's own checker, and the same bits alone and in a batch."""

import warnings

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="pip install gymnasium to try environments")

import forks.envs  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402

NAMES = ["forks/Reach-v0", "forks/Calm-v0", "forks/Push-v0"]


@pytest.mark.parametrize("name", NAMES)
def test_gymnasium_has_no_complaint(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Observations have no bounds, which the checker would have.
        warnings.filterwarnings("ignore", message=".*infinity.*")
        check_env(gymnasium.make(name).unwrapped)


@pytest.mark.parametrize("name", NAMES)
def test_many_are_as_many_single_ones(name):
    many = gymnasium.make_vec(name, num_envs=3)
    single = [gymnasium.make(name) for _ in range(3)]
    seen, _ = many.reset(seed=5)
    alone = [env.reset(seed=5 + i)[0] for i, env in enumerate(single)]
    assert np.array_equal(seen, np.stack(alone))
    rng = np.random.default_rng(0)
    for _ in range(12):
        actions = rng.uniform(-1, 1, many.action_space.shape).astype(np.float32)
        seen, reward, ended, cut, _ = many.step(actions)
        alone = [env.step(a) for env, a in zip(single, actions)]
        assert np.array_equal(seen, np.stack([a[0] for a in alone]))
        assert reward.tolist() == [a[1] for a in alone]
        assert not ended.any() and not cut.any()
        assert many.observation_space.contains(seen)
    many.close()


def test_episodes_end_and_start_anew():
    many = gymnasium.make_vec("forks/Reach-v0", num_envs=2)
    first, _ = many.reset(seed=1)
    zeros = np.zeros(many.action_space.shape, np.float32)
    for k in range(20):
        _, _, _, cut, _ = many.step(zeros)
        assert cut.all() == (k == 19)
    seen, reward, _, cut, _ = many.step(zeros)
    assert not reward.any() and not cut.any()
    assert not np.array_equal(seen[:, 2:4], first[:, 2:4])
    with pytest.raises(ValueError, match="actions have shape"):
        many.step(np.zeros((3, 3)))
    with pytest.raises(ValueError, match="finite"):
        many.step(np.full(zeros.shape, np.nan))


def test_pushing_moves_the_ball_and_letting_go_calms_the_beam():
    push = gymnasium.make("forks/Push-v0").unwrapped
    push.reset(seed=0)
    for _ in range(30):
        push.step(np.array([1.0, 0.0], np.float32))
    assert push.task._moved()[0, 0] > 0.01
    calm = gymnasium.make("forks/Calm-v0").unwrapped
    calm.reset(seed=0)
    before = calm.task.energy()[0]
    for _ in range(100):
        calm.step(np.zeros(3, np.float32))
    assert 0 < calm.task.energy()[0] < before
