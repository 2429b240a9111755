"""Models that the tests share."""

import os
import pathlib

import pytest

import forks

FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "fixtures"


@pytest.fixture(scope="session")
def fixtures() -> pathlib.Path:
    return FIXTURES


@pytest.fixture(scope="session")
def hand() -> forks.Mechanism:
    return forks.load(FIXTURES / "models/shadow_hand_right/right_hand.nomesh.xml")


@pytest.fixture(scope="session")
def finger(hand) -> forks.Model:
    return hand.reduce("rh_ffdistal")


@pytest.fixture(scope="session")
def gripper() -> forks.Model:
    mechanism = forks.load(FIXTURES / "models/robotiq_2f85/2f85.nomesh.xml")
    return mechanism.reduce(["left_pad", "right_pad"], default_stiffness=1.0)


@pytest.fixture(scope="session")
def blend(hand) -> forks.Placed:
    return hand.blend(
        "rh_ffdistal", cone=[0, -1, 0], chart="joints", samples=2, training=6, time_limit=20.0
    )


@pytest.fixture(scope="session")
def program() -> str:
    """The Rust program: `.ci/run` builds it and names it."""
    path = os.environ.get("FORKS_PROGRAM")
    if path is None:
        pytest.skip("FORKS_PROGRAM does not name the program `forks`")
    return path
