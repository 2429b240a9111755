"""Tissue: closed forms, momentum, files, refusals."""

import numpy as np
import pytest

import forks
from forks.tissue import Material, SoftSimulation, TetMesh, box_mesh, load_mesh

POST = """
<mujoco><worldbody>
  <body name="post"><joint name="swing" type="hinge" axis="0 1 0" stiffness="1e3"/>
    <geom type="capsule" fromto="0 0 0 0.02 0 0" size="0.005" mass="0.01"/></body>
</worldbody></mujoco>
"""
FREE = POST.replace('<joint name="swing" type="hinge" axis="0 1 0" stiffness="1e3"/>',
                    '<freejoint name="root"/>')


@pytest.fixture(scope="module")
def post():
    return forks.parse(POST)


@pytest.fixture(scope="module")
def bar():
    return box_mesh([4, 1, 1], [0.4, 0.1, 0.1])


def ends(mesh):
    x = mesh.nodes[:, 0]
    return np.flatnonzero(x < 1e-9), np.flatnonzero(x > 0.4 - 1e-9)


def pull(mesh, force):
    """A force along x as a uniform traction on the far end's triangles, lumped."""
    out = np.zeros_like(mesh.nodes)
    far = set(ends(mesh)[1].tolist())
    for triangle in mesh.boundary:
        if set(triangle.tolist()) <= far:
            a, b, c = mesh.nodes[triangle]
            area = 0.5 * np.linalg.norm(np.cross(b - a, c - a))
            out[triangle, 0] += force / 0.01 * area / 3
    return out


def test_a_bar_is_as_long_as_its_law_says(post, bar):
    # Without cross contraction the stretch s of St. Venant–Kirchhoff balances
    # F / A = E s (s² − 1) / 2.
    young, s = 1e5, 1.1
    force = 0.01 * young * s * (s * s - 1) / 2
    held = ends(bar)[0].tolist()
    with SoftSimulation(post, bar, Material(young, 0.0, 1000.0), nodes={"world": held},
                        gravity=False) as sim:
        rest = sim.rest(node_forces=pull(bar, force))
        assert rest.status == "converged"
        moved = sim.x - bar.nodes
        assert np.abs(moved[:, 0] - (s - 1) * bar.nodes[:, 0]).max() < 1e-9
        assert np.abs(moved[:, 1:]).max() < 1e-9
        energy = 0.01 * 0.4 * young * (s * s - 1) ** 2 / 8
        assert sim.energy()["tissue"] == pytest.approx(energy, rel=1e-9)
        assert sim.mass == pytest.approx(4.0)


def test_a_spring_carries_tissue(post, bar):
    # A stiff bar on a hinge with a spring: its weight turns the hinge.
    held = ends(bar)[0].tolist()
    mesh = bar.quadratic()
    sim = SoftSimulation(post, mesh, Material(1e8, 0.3, 1000.0, law="corotated"),
                         nodes={"post": held + []})
    assert sim.rest().status == "converged"
    moment = 9.81 * (4.0 * 0.2 + 0.01 * 0.01)
    assert sim.positions[0] == pytest.approx(moment / 1e3, rel=1e-2)


@pytest.mark.parametrize("stepper", ["linear", "backward", "explicit"])
def test_momentum_is_kept(bar, stepper):
    free = forks.parse(FREE)
    sim = SoftSimulation(free, bar, Material(1e4, 0.3, 1000.0, law="neo-hookean"),
                         nodes={"post": ends(bar)[0].tolist()}, stepper=stepper, gravity=False,
                         tolerance=1e-6)
    rng = np.random.default_rng(1)
    sim.set_state(node_velocities=0.1 * rng.standard_normal(bar.nodes.shape))
    before = sim.momentum()
    assert sim.step(1e-3, 50) == 0
    assert sim.time == pytest.approx(0.05)
    assert np.abs(sim.momentum() - before).max() < 1e-12
    assert np.abs(sim.x - bar.nodes).max() > 1e-4


def test_a_number_that_overflows_leaves_the_state(post, bar):
    sim = SoftSimulation(post, bar, Material(1e9, 0.3, 1.0), stepper="explicit",
                         nodes={"post": ends(bar)[0].tolist()})
    with pytest.raises(forks.ForksError):
        sim.step(10.0, 500)
    assert np.isfinite(sim.x).all() and np.isfinite(sim.velocities).all()


def test_files_and_arrays_come_back(bar, tmp_path):
    bar.save(tmp_path / "bar.msh")
    again = load_mesh(tmp_path / "bar.msh")
    assert np.array_equal(again.nodes, bar.nodes) and np.array_equal(again.elements, bar.elements)
    own = TetMesh(bar.nodes, bar.elements)
    assert np.array_equal(own.elements, bar.elements) and own.volume == pytest.approx(0.004)
    turned = TetMesh(bar.nodes, bar.elements[:, [0, 1, 3, 2]])
    assert len(turned.notes) == len(bar.elements) and turned.volume == pytest.approx(0.004)
    assert (bar.quality > 0.3).all() and (bar.quality <= 1).all()
    assert bar.quadratic().elements.shape == (24, 10)
    bar.save(tmp_path / "moved.vtk", bar.nodes + 1.0)
    assert "POINTS" in (tmp_path / "moved.vtk").read_text()


def test_what_is_refused_is_named(post, bar, tmp_path):
    held = {"post": ends(bar)[0].tolist()}
    soft = Material(1e4, 0.3, 1000.0)
    beside = TetMesh(bar.nodes + 0.05, bar.elements)
    for call, words in [
        (lambda: Material(1e4, 0.5, 1000.0), "0.5"),
        (lambda: Material(-1.0, 0.3, 1000.0), "-1"),
        (lambda: Material(1e4, 0.3, 1000.0, law="rubber"), "rubber"),
        (lambda: Material(1e4, 0.3, 1000.0, range=(0.1, 2.0)), "0.1"),
        (lambda: TetMesh(bar.nodes, bar.elements.astype(np.int32)), "int32"),
        (lambda: TetMesh(bar.nodes, [[0, 1, 2, 99]]), "99"),
        (lambda: TetMesh(bar.nodes, [[0, 1, 2, -1]]), "-1"),
        (lambda: TetMesh(bar.nodes, [[0, 1, 2]]), "3 indices"),
        (lambda: TetMesh(bar.nodes[:, :2].copy(), bar.elements), "(20, 2)"),
        (lambda: TetMesh(np.full((4, 3), np.nan), [[0, 1, 2, 3]]), "NaN"),
        (lambda: box_mesh([0, 1, 1], [1, 1, 1]), "0"),
        (lambda: bar.save(tmp_path / "bar.stl"), "bar.stl"),
        (lambda: load_mesh(tmp_path / "none.msh"), "none.msh"),
        (lambda: SoftSimulation(post, bar, soft, nodes={"hand": [0]}), "hand"),
        (lambda: SoftSimulation(post, bar, soft, nodes={"post": [900]}), "900"),
        (lambda: SoftSimulation(post, beside, soft, within=1e-9), "1e-9"),
        (lambda: SoftSimulation(post, bar, soft, nodes=held, stepper="fast"), "fast"),
        (lambda: SoftSimulation(post, bar, soft, nodes=held, damping=-1.0), "-1"),
        (lambda: SoftSimulation(post, bar, soft).rest(), "no bone"),
        (lambda: SoftSimulation(post, bar, soft, nodes=held).step(-1.0), "-1"),
        (lambda: SoftSimulation(post, bar, soft, nodes=held).step(1e-3, forces=[1.0, 2.0]),
         "(2,)"),
        (lambda: SoftSimulation(post, bar, soft, nodes=held).rest(tolerance=0.0), "tolerance"),
    ]:
        with pytest.raises((ValueError, TypeError)) as e:
            call()
        assert words in str(e.value), (words, str(e.value))
    sim = SoftSimulation(post, bar, soft, nodes=held)
    sim.close()
    with pytest.raises(forks.HandleError, match="closed"):
        sim.step(1e-3)
