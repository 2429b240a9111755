"""What the builder builds against the same mechanism from MJCF."""

import re

import numpy as np
import pytest

import forks

ARM = """<mujoco model="arm"><compiler angle="radian"/><option gravity="0 0 -9.81"/><worldbody>
 <body name="a"><joint name="ja" type="hinge" axis="0 1 0" stiffness="2" damping="0.1"
   range="-1 1.5" limited="true" armature="0.01"/>
  <inertial mass="0.2" pos="0.1 0 0" diaginertia="1e-4 1e-3 1e-3"/>
  <geom type="box" size="0.1 0.02 0.01" pos="0.1 0 0" mass="0" friction="0.7 0.005 0.0001"/>
  <site name="hook" pos="0.1 0 0.03"/>
  <body name="b" pos="0.2 0 0">
   <joint name="jb" type="hinge" axis="0 1 0" springref="0.2" stiffness="1"/>
   <inertial mass="0.1" pos="0.1 0 0" diaginertia="1e-4 1e-3 1e-3"/>
   <geom type="capsule" size="0.01 0.08" pos="0.1 0 0" mass="0"/>
   <site name="ring" pos="0.05 0 0.02"/>
   <body name="c" pos="0.2 0 0"><joint name="jc" type="slide" axis="1 0 0"/>
    <inertial mass="0.05" pos="0.05 0 0" diaginertia="1e-5 1e-4 1e-4"/>
    <geom type="sphere" size="0.02" pos="0.1 0 0" mass="0"/>
    <site name="end" pos="0.1 0 0"/></body></body></body>
 <site name="post" pos="0 0 0.1"/>
 </worldbody>
 <contact><exclude body1="a" body2="b"/></contact>
 <tendon>
  <fixed name="pair" stiffness="3" damping="0.2" springlength="0.1">
   <joint joint="ja" coef="1"/><joint joint="jb" coef="-0.5"/></fixed>
  <spatial name="string" stiffness="50" damping="0.3" springlength="0 0.1">
   <site site="post"/><site site="hook"/><site site="ring"/></spatial></tendon>
 <equality><joint joint1="jc" joint2="jb" polycoef="0.01 0.1 0.02 0 0"/></equality>
 <actuator><position name="sa" joint="ja" kp="5" kv="0.4"/>
  <position name="sp" tendon="pair" kp="2"/></actuator>
</mujoco>"""


@pytest.fixture(scope="module")
def read():
    return forks.parse(ARM)


@pytest.fixture(scope="module")
def built():
    b = forks.Builder("arm")
    b.link("a", mass=0.2, center=[0.1, 0, 0], inertia=[1e-4, 1e-3, 1e-3])
    b.link("b", mass=0.1, center=[0.1, 0, 0], inertia=[1e-4, 1e-3, 1e-3])
    b.link("c", mass=0.05, center=[0.05, 0, 0], inertia=[1e-5, 1e-4, 1e-4])
    y = [0, 1, 0]
    b.joint("ja", "revolute", "world", "a", axis=y, stiffness=2.0, damping=0.1, armature=0.01,
            limits=(-1.0, 1.5))
    at = [0.2, 0, 0, 1, 0, 0, 0]
    b.joint("jb", "revolute", "a", "b", axis=y, at=at, stiffness=1.0, rest=0.2)
    b.joint("jc", "prismatic", "b", "c", axis=[1, 0, 0], at=at)
    b.shape("a", "box", half_extents=[0.1, 0.02, 0.01], at=[0.1, 0, 0, 1, 0, 0, 0], friction=0.7)
    b.shape("b", "capsule", radius=0.01, half_length=0.08, at=[0.1, 0, 0, 1, 0, 0, 0])
    b.shape("c", "sphere", radius=0.02, at=[0.1, 0, 0, 1, 0, 0, 0])
    b.exclude_contact("a", "b")
    b.spring("pair", {"ja": 1.0, "jb": -0.5}, stiffness=3.0, damping=0.2, rest=0.1)
    b.cable("string", [("world", [0, 0, 0.1]), ("a", [0.1, 0, 0.03]), ("b", [0.05, 0, 0.02])],
            stiffness=50.0, damping=0.3, rest=0.1, slack=True)
    b.coupling("", ("jc", "jb"), polynomial=[0.01, 0.1, 0.02, 0, 0])
    b.servo("sa", "ja", stiffness=5.0, damping=0.4)
    b.servo("sp", {"ja": 1.0, "jb": -0.5}, stiffness=2.0)
    b.frame("end", "c", [0.1, 0, 0, 1, 0, 0, 0])
    return b.build()


def test_it_moves_as_the_one_from_mjcf(built, read):
    ours, theirs = built.inspect(), read.inspect()
    for key in ("dof", "mobility", "constraint_rank", "total_mass", "bounding_radius", "joints"):
        assert ours[key] == theirs[key], key
    assert built.servos == read.servos == ["sa", "sp"]
    kwargs = dict(servos=True, default_stiffness=1.0)
    a, b = (m.statics("site:end", [[0, 0, -0.5, 0, 0, 0]], **kwargs) for m in (built, read))
    assert np.allclose(a.positions, b.positions, rtol=0, atol=1e-12)
    a, b = (m.simulate(0.3, 1e-2, servos=True, start=[0.3, -0.2, 0.0]) for m in (built, read))
    assert np.allclose(a.poses, b.poses, rtol=0, atol=1e-12)
    # Springs, cable, servos, couplings: their energies too.
    assert np.allclose(a.values("elastic"), b.values("elastic"), rtol=1e-12, atol=1e-15)
    a, b = (m.reduce("site:end", at="equilibrium", **kwargs) for m in (built, read))
    assert np.allclose(a.stiffness, b.stiffness, rtol=1e-9)
    assert np.allclose(a.mass, b.mass, rtol=1e-9) and np.allclose(a.damping, b.damping, rtol=1e-9)
    assert a.servos == b.servos


def test_it_is_written_as_the_one_from_mjcf(built, read):
    """Shapes, exclusions, limits and armature are data that statics do not show."""
    plain = lambda m: set(re.findall(  # noqa: E731
        r"<(?:geom|exclude|joint|general|fixed|spatial)\b[^>]*>", m.to_mjcf()))
    ours, theirs = plain(built), plain(read)
    for tag in ("geom", "exclude", "general", "fixed", "spatial"):
        pick = lambda all_of: sorted(x for x in all_of if x.startswith(f"<{tag}"))  # noqa: E731
        assert pick(ours) == pick(theirs) and pick(ours), tag
    assert any('armature="0.01"' in x and "range" in x for x in ours)


def test_cables_wrap_and_branch():
    """A pulley of radius r on the way: the length is straight parts and an arc."""
    r, far = 0.1, 0.5
    b = forks.Builder("pulley", gravity=[0, 0, 0])
    b.link("mass", mass=1.0, inertia=[1, 1, 1])
    b.joint("z", "prismatic", "world", "mass", axis=[0, 0, 1], at=[r, 0, -1, 1, 0, 0, 0],
            stiffness=100.0)
    along_y = [0, 0, 0, np.sqrt(0.5), np.sqrt(0.5), 0, 0]
    path = [("world", [-r, 0, -far]),
            {"cylinder": r, "at": along_y, "side": ("world", [0, 0, 1.0])},
            ("mass", [0, 0, 0])]
    free = far + np.pi * r + 1.0
    b.cable("rope", path, stiffness=50.0, rest=free)
    rest = b.build().statics("mass", [[0, 0, -1.0, 0, 0, 0]])
    # Spring and rope side by side.
    assert rest.positions[0] == pytest.approx(-1 / 150, rel=1e-9)
    b = forks.Builder("tackle", gravity=[0, 0, 0])
    b.link("mass", mass=1.0, inertia=[1, 1, 1])
    b.joint("z", "prismatic", "world", "mass", axis=[0, 0, 1], stiffness=100.0)
    straight = [("world", [0, 0, 1.0]), ("mass", [0, 0, 0])]
    b.cable("rope", [{"path": straight, "strands": 0.5}], stiffness=50.0, rest=2.0)
    # Two strands: the length changes twice as fast, so the stiffness is four times as high.
    rest = b.build().statics("mass", [[0, 0, -1.0, 0, 0, 0]])
    assert rest.positions[0] == pytest.approx(-1 / 300, rel=1e-9)


def test_a_cables_servo_pulls():
    b = forks.Builder("puller", gravity=[0, 0, 0])
    b.link("cart", mass=1.0, inertia=[1, 1, 1])
    b.joint("x", "prismatic", "world", "cart", axis=[1, 0, 0], stiffness=10.0)
    b.cable("wire", [("world", [1.0, 0, 0]), ("cart", [0, 0, 0])])
    b.servo("winch", cable="wire", stiffness=30.0)
    model = b.build().reduce("cart")
    assert model.servos == ["winch"]
    moved = model.statics(servo_targets=[-0.01]).effector_poses[0, 0]
    assert moved == pytest.approx(0.01 * 30 / 40, rel=1e-6)


def test_what_cannot_be_is_refused():
    def fresh():
        b = forks.Builder()
        b.link("a", mass=1.0, inertia=[1, 1, 1])
        b.joint("j", "revolute", "world", "a", axis=[0, 0, 1])
        b.joint("ball", "spherical", "world", "a")
        return b

    nan = float("nan")
    for call, kind, text in (
        (lambda b: b.servo("s", "k", stiffness=1.0), ValueError, "no joint 'k'; there are: j"),
        (lambda b: b.servo("s", stiffness=1.0), ValueError, "servo 's' drives either"),
        (lambda b: b.servo("s", "j", cable="c", stiffness=1.0), ValueError, "drives either"),
        (lambda b: b.servo("s", cable="c", stiffness=1.0), ValueError, "no cable 'c'"),
        (lambda b: b.servo("s", 3, stiffness=1.0), TypeError, "a coordinate is a joint's name"),
        (lambda b: b.servo("s", {}, stiffness=1.0), ValueError, "dict of joints is empty"),
        (lambda b: b.servo("s", {"j": "x"}, stiffness=1.0), TypeError, "coefficient of j"),
        (lambda b: (b.servo("s", ("j", 1), stiffness=1.0), b.build()), ValueError, "coordinate 1"),
        (lambda b: (b.servo("s", "ball", stiffness=1.0), b.build()), ValueError, "'ball'"),
        (lambda b: (b.servo("s", "j", stiffness=-1.0), b.build()), ValueError, "stiffness is -1"),
        (lambda b: (b.servo("s", "j", stiffness=nan), b.build()), ValueError, "NaN"),
        (lambda b: b.coupling("c", "j", polynomial=[0.0, 1.0]), TypeError, "pair of joints"),
        (lambda b: b.coupling("c", ("j", "j"), polynomial=[1.0], constant=1.0), ValueError, "const"),
        (lambda b: b.cable("c", 3), TypeError, "path is no list"),
        (lambda b: b.cable("c", [("a", [0, 0])]), ValueError, r"shape \(2,\), expected \(3,\)"),
        (lambda b: b.cable("c", ["a"]), TypeError, "stop 0 of the path is no"),
        (lambda b: b.cable("c", [{"cone": 1.0}]), ValueError, "'cone' of a obstacle is none of"),
        (lambda b: b.cable("c", [{"link": "a"}]), ValueError, "is a 'sphere' or a 'cylinder'"),
        (lambda b: b.cable("c", [("a", [0, 0, 0])], stiffness=1.0), ValueError, "give its rest"),
        (lambda b: b.cable("c", [("a", [0, 0, 0])], rest="x"), TypeError, "rest is a length"),
        (lambda b: (b.cable("c", [("a", [0, 0, 0])], rest=1.0), b.build()), ValueError, "'c'"),
        (lambda b: b.shape("a", "cone"), ValueError, "form is 'cone'"),
        (lambda b: b.shape("a", "sphere"), ValueError, "a sphere takes radius"),
        (lambda b: b.shape("a", "box", radius=1.0), ValueError, "a box takes half_extents"),
        (lambda b: b.shape("a", "hull", points=[[0, 0]]), ValueError, r"\(1, 2\), expected \(rows"),
        (lambda b: b.shape("a", "sphere", radius=1.0, at=[0] * 7), ValueError, "length zero"),
        (lambda b: (b.shape("a", "sphere", radius=-1.0), b.build()), ValueError, "-1"),
        (lambda b: b.shape("a", "hull", points=np.zeros((4, 6))[:, ::2]), ValueError, "contig"),
        (lambda b: b.exclude_contact("a", "z"), ValueError, "no link 'z'"),
        (lambda b: b.joint("k", "revolute", "world", "a", axis=[0, 0, 1], rest=1.0), ValueError,
         "rest is of a spring"),
        (lambda b: b.joint("k", "fixed", "world", "a", axis=[0, 0, 1]), ValueError, "no axis"),
        (lambda b: (b.joint("k", "prismatic", "world", "a", axis=[0, 0, 1], limits=(1.0, 0.0)),
                    b.build()), ValueError, r"range \[1, 0\] is empty"),
    ):
        with pytest.raises(kind, match=text):
            call(fresh())
    b = fresh()
    b.build()
    with pytest.raises(forks.HandleError, match="closed"):
        b.servo("s", "j", stiffness=1.0)


def test_numbers_are_changed_by_name(built):
    assert built.value("joint:ja.stiffness") == 2.0 and built.value("servo:sa.damping") == 0.4
    m = built.changed({
        "joint:ja.stiffness": 7.0, "joint:jb.rest": 0.1, "joint:j*.damping": 0.3, "link:a.mass": 0.4,
        "servo:sp.stiffness": 9.0, "cable:string.rest": 0.2, "spring:pair.rest": 0.5,
        "frame:end.x": 0.15, "joint:jb.x": 0.25, "joint:ja.armature": 0.5,
    })
    for address, value in (
        ("joint:ja.stiffness", 7.0), ("joint:jb.rest", 0.1), ("joint:*.damping", 0.3),
        ("link:a.mass", 0.4), ("servo:sp.stiffness", 9.0), ("cable:string.rest", 0.2),
        ("spring:pair.rest", 0.5), ("frame:end.x", 0.15), ("joint:jb.x", 0.25),
        ("joint:ja.armature", 0.5),
    ):
        assert m.value(address) == value, address
    assert built.value("joint:ja.stiffness") == 2.0
    assert m.fingerprint != built.fingerprint and len(m.fingerprint) == 16
    assert built.changed({"joint:ja.stiffness": 2.0}).fingerprint == built.fingerprint
    assert m.inspect()["total_mass"] == pytest.approx(0.55)
    for values, kind, text in (
        ({"ja.stiffness": 1.0}, ValueError, "'ja.stiffness' is no address"),
        ({"joint:ja": 1.0}, ValueError, "is no address"),
        ({"geom:ja.size": 1.0}, ValueError, "'geom' is none of joint, link"),
        ({"joint:jx.stiffness": 1.0}, ValueError, "no joint 'jx'; there are: ja, jb, jc"),
        ({"joint:z*.stiffness": 1.0}, ValueError, r"no joint 'z\*'"),
        ({"joint:ja.colour": 1.0}, ValueError, "'colour' is none of a joint's stiffness"),
        ({"joint:jc.rest": 1.0}, ValueError, "the joint has no spring"),
        ({"joint:ja.stiffness": float("nan")}, ValueError, "the value is NaN"),
        ({"joint:ja.stiffness": "x"}, TypeError, "the value of joint:ja.stiffness is no number"),
        ({"joint:ja.stiffness": -1.0}, ValueError, "-"),
        ({"link:a.mass": -1.0}, ValueError, "-1"),
    ):
        with pytest.raises(kind, match=text):
            built.changed(values)
    with pytest.raises(ValueError, match="different numbers"):
        built.value("joint:j*.stiffness")
