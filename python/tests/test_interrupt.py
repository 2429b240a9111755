"""Ctrl-C inside a single long call, and what is shared and read-only afterwards."""

import subprocess
import sys
import textwrap

import pytest

# A long chain, bent by its weight: each call below takes far longer than the signal comes.
SCRIPT = """
import os, signal, sys, threading, time
import forks

def chain(count, gravity):
    b = forks.Builder("chain", gravity=gravity)
    for i in range(count):
        b.link(f"l{i}", mass=1.0, center=[0.01, 0, 0], inertia=[1e-3, 1e-3, 1e-3])
        b.joint(f"j{i}", "spherical", f"l{i - 1}" if i else "world", f"l{i}",
                at=[0.02 if i else 0, 0, 0, 1, 0, 0, 0], stiffness=50.0, damping=0.1)
    return b.build()

def call(m):
    CALL

m = chain(COUNT, [0, 0, -9.81])
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    call(m)
    print("done")
except KeyboardInterrupt:
    print("stopped")
# Nothing is broken: the same mechanism and others go on to be used.
assert len(m.links) == COUNT and m.link_poses().shape == (COUNT, 7)
small = chain(3, [0, 0, -9.81])
assert small.statics("l2").status == "converged"
assert small.reduce("l2", at="equilibrium").dof > 0
"""

CALLS = {
    "statics": ("m.statics('l0')", 30_000),
    "reduce": (
        "m.reduce([f'l{k}' for k in range(500, 30_000, 500)], servos=False)", 30_000,
    ),
    "reduce at an equilibrium": ("m.reduce('l9', at='equilibrium')", 30_000),
}


@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_stops_a_single_call(name, tmp_path):
    call, count = CALLS[name]
    script = tmp_path / "long.py"
    text = textwrap.dedent(SCRIPT).replace("CALL", call).replace("COUNT", str(count))
    script.write_text(text)
    # What is left to do without the signal takes minutes; the rest of the script a second or two.
    out = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=120, check=False
    )
    assert out.returncode == 0, out.stderr
    assert out.stdout.strip() == "stopped"
