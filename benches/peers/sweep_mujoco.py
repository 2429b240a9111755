"""The facts of a model as MuJoCo has it, for `sweep.py`.

links       [{name, parent, mass}] without the world, in MuJoCo's order; unnamed ones are `#i`, i
            MuJoCo's number
joints      [{name, type, link, positions, velocities, stiffness, damping, armature, rest, range}];
            `positions` and `velocities` are where the joint's numbers begin; unnamed ones are `#i`;
            `range` is null without limits, `keeps_range` is false where positions are not one
            number
frames      [{name, link, position, rotation}]: the named sites, poses in their links, rotations as
            matrices by rows
shapes      [{name, link, kind, size, position, rotation, friction}]: primitives that take part in
            contacts
has_meshes  whether there are meshes, whose vertices are single precision
servos      [{name, joints, stiffness, damping}]: affine bias on a hinge, a slide or a fixed tendon;
            `joints` are pairs of joint and coefficient
tendons     the same and `rest`, of the fixed tendons with a spring or damper; where the rest length
            is a range, the spring rests at the end that is nearest to the length at the start pose
equalities  [{name, type, links, joints}] that are switched on: connect, weld: two links; coupling:
            the joints
keyframes   [{name, positions}]
states      [{label, positions, velocities, mass_matrix, bias, spring, damper, gaps, rank,
            singular_values, acceleration}] at the start, at a random pose, and (with equalities) at
            a pose that closes them; world's velocities of free joints as MuJoCo's. `gaps`: what
            each equality is open by (connect, weld: the distance; couplings: the residual).
            `acceleration` keeps the equalities exactly, and is null where they are open;
            `force_size` is the size of the forces in the metric of the inverse mass matrix, to
            which its rounding is relative; `contradiction` is what the equalities' second
            derivatives leave
adapted     what was left out before MuJoCo would compile the file
"""

import pathlib
import xml.etree.ElementTree as xml

import mujoco
import numpy as np

import sweep_xml

FREE, BALL = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)
TENDON = int(mujoco.mjtTrn.mjTRN_TENDON)
TYPES = {0: "free", 1: "ball", 2: "slide", 3: "hinge"}
SHAPES = {
    0: ("plane", 0),
    2: ("sphere", 1),
    3: ("capsule", 2),
    4: ("ellipsoid", 3),
    5: ("cylinder", 2),
    6: ("box", 3),
}
VELOCITIES = {0: 6, 1: 3, 2: 1, 3: 1}
# Relative size of singular values below which rows count as repetitions.
RANK_TOLERANCE = 1e-8


def facts(task):
    if task["format"] == "urdf":
        model, adapted = load_urdf(task["path"]), ["geometry"]
    else:
        model, adapted = load_mjcf(task["path"])
    return Facts(model).all(np.random.default_rng(task["seed"]), adapted)


def load_mjcf(path):
    """The model, and what had to be left out before it would compile.

    It decides nothing of what is compared."""
    try:
        return mujoco.MjModel.from_xml_path(path), []
    except ValueError as problem:
        text = str(problem)
        spec = mujoco.MjSpec.from_file(path)
        adapted = []
        if any(
            word in text for word in ("opening file", "could not open", "resource", "not found")
        ):
            adapted += without_missing_files(
                spec, pathlib.Path(path).parent
            ) + without_missing_materials(spec)
        if "Lengthrange" in text:
            spec.compiler.LRopt.mode = mujoco.mjtLRMode.mjLRMODE_NONE
            adapted.append("length ranges")
        if not adapted:
            raise
        return spec.compile(), adapted


def without_missing_files(spec, folder):
    """Removes meshes, height fields and textures whose file is not there, and what shows them."""
    adapted = []
    for kind, assets, place in (
        ("mesh", spec.meshes, spec.meshdir),
        ("hfield", spec.hfields, spec.meshdir),
        ("texture", spec.textures, spec.texturedir),
    ):
        gone = [a for a in assets if a.file and not (folder / place / a.file).is_file()]
        names = {a.name or pathlib.Path(a.file).stem for a in gone}
        for geom in list(spec.geoms):
            if kind != "texture" and getattr(geom, kind + "name") in names:
                spec.delete(geom)
        if kind == "texture":
            for material in list(spec.materials):
                material.textures = ["" if t in names else t for t in material.textures]
        for asset in gone:
            spec.delete(asset)
        adapted += [f"{kind} '{name}'" for name in sorted(names)]
    return adapted


def without_missing_materials(spec):
    known, gone = {m.name for m in spec.materials}, set()
    for shown in list(spec.geoms) + list(spec.sites) + list(spec.tendons):
        if shown.material and shown.material not in known:
            gone.add(shown.material)
            shown.material = ""
    return [f"material '{name}'" for name in sorted(gone)]


def load_urdf(path):
    """The links, joints and inertias: shapes are left out.

    So no mesh is opened, and no mass comes from a shape."""
    root = sweep_xml.root(path)
    for link in root.iter("link"):
        for tag in ("visual", "collision"):
            for element in link.findall(tag):
                link.remove(element)
    for extension in root.findall("mujoco"):
        root.remove(extension)
    spec = mujoco.MjSpec.from_string(xml.tostring(root, encoding="unicode"))
    spec.compiler.fusestatic = False
    return spec.compile()


def pose(position, quaternion):
    rotation = np.zeros(9)
    mujoco.mju_quat2Mat(rotation, quaternion)
    return {"position": position.tolist(), "rotation": rotation.tolist()}


def pinv(a, tolerance=1e-9):
    if a.size == 0:
        return a.T.copy()
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    keep = s > tolerance * max(s[0], 1e-300)
    return (vt[keep].T / s[keep]) @ u[:, keep].T


def force_size_of(mass, force):
    return float(np.sqrt(max(0.0, force @ np.linalg.solve(mass, force))))


class Facts:
    def __init__(self, model):
        self.m, self.d = model, mujoco.MjData(model)
        disable = mujoco.mjtDisableBit
        # Equalities are all that constrains; no drag, which comes as passive force.
        for flag in (disable.mjDSBL_CONTACT, disable.mjDSBL_LIMIT, disable.mjDSBL_FRICTIONLOSS):
            model.opt.disableflags |= int(flag)
        model.opt.density = model.opt.viscosity = 0.0
        # Linear springs and dampers only: all others are noted.
        for poly in (
            model.jnt_stiffnesspoly,
            model.tendon_stiffnesspoly,
            model.dof_dampingpoly,
            model.tendon_dampingpoly,
            model.actuator_dampingpoly,
        ):
            poly[:] = 0.0
        # What it would add to the mass matrix is refused, or left out leniently.
        model.tendon_armature[:] = 0.0
        mujoco.mj_forward(self.m, self.d)
        self.start_lengths = np.array(self.d.ten_length)
        for t in range(model.ntendon):
            lower, upper = model.tendon_lengthspring[t]
            model.tendon_lengthspring[t] = min(max(self.start_lengths[t], lower), upper)

    def name(self, kind, i):
        return mujoco.mj_id2name(self.m, kind, i) or f"#{i}"

    def label(self, kind, i):
        return mujoco.mj_id2name(self.m, kind, i) or ""

    def body(self, i):
        return "world" if i == 0 else self.name(mujoco.mjtObj.mjOBJ_BODY, i)

    def joint(self, i):
        return self.name(mujoco.mjtObj.mjOBJ_JOINT, i)

    def all(self, rng, adapted):
        m = self.m
        return {
            "links": [
                {
                    "name": self.body(i),
                    "parent": self.body(m.body_parentid[i]),
                    "mass": float(m.body_mass[i]),
                }
                for i in range(1, m.nbody)
            ],
            "joints": [self.joint_facts(i) for i in range(m.njnt)],
            "frames": [
                {
                    "name": self.label(mujoco.mjtObj.mjOBJ_SITE, i),
                    "link": self.body(m.site_bodyid[i]),
                }
                | pose(m.site_pos[i], m.site_quat[i])
                for i in range(m.nsite)
                if self.label(mujoco.mjtObj.mjOBJ_SITE, i)
            ],
            # Where geometry was left out nothing can be said about it.
            "shapes": (
                None
                if adapted == ["geometry"]
                else [s for i in range(m.ngeom) for s in self.shape(i)]
            ),
            "has_meshes": bool(m.nmesh),
            "servos": [s for i in range(m.nu) for s in self.servo(i)],
            "tendons": [t for i in range(m.ntendon) for t in self.tendon(i)]
            + [t for i in range(m.nu) for t in self.actuator_damping(i)],
            "equalities": [e for i in range(m.neq) for e in self.equality(i)],
            "keyframes": [
                {
                    "name": self.label(mujoco.mjtObj.mjOBJ_KEY, i),
                    "positions": m.key_qpos[i].tolist(),
                }
                for i in range(m.nkey)
                # `size nkey` fills up with these.
                if self.label(mujoco.mjtObj.mjOBJ_KEY, i)
                or not np.array_equal(m.key_qpos[i], m.qpos0)
            ],
            "states": self.states(rng),
            "adapted": adapted,
        }

    def shape(self, i):
        m = self.m
        kind = SHAPES.get(int(m.geom_type[i]))
        if kind is None or not (m.geom_contype[i] or m.geom_conaffinity[i]):
            return []
        name, count = kind
        out = {
            "name": self.label(mujoco.mjtObj.mjOBJ_GEOM, i),
            "link": self.body(m.geom_bodyid[i]),
            "kind": name,
        }
        out |= {"size": m.geom_size[i, :count].tolist(), "friction": float(m.geom_friction[i, 0])}
        return [out | pose(m.geom_pos[i], m.geom_quat[i])]

    def is_off(self, flag):
        return bool(self.m.opt.disableflags & int(flag))

    def joint_facts(self, i):
        m = self.m
        springs = not self.is_off(mujoco.mjtDisableBit.mjDSBL_SPRING)
        dampers = not self.is_off(mujoco.mjtDisableBit.mjDSBL_DAMPER)
        kind, q, v = int(m.jnt_type[i]), int(m.jnt_qposadr[i]), int(m.jnt_dofadr[i])
        damping, armature = float(m.dof_damping[v]), float(m.dof_armature[v])
        for a in range(m.nu):
            if self.drives_joint(a) and m.actuator_trnid[a, 0] == i:
                damping += float(m.actuator_damping[a]) * m.actuator_gear[a, 0] ** 2
                armature += float(m.actuator_armature[a]) * m.actuator_gear[a, 0] ** 2
        return {
            "name": self.joint(i),
            "type": TYPES[kind],
            "link": self.body(m.jnt_bodyid[i]),
            "positions": q,
            "velocities": v,
            "stiffness": float(m.jnt_stiffness[i]) if springs else 0.0,
            "damping": damping if dampers else 0.0,
            "armature": armature,
            "range": (
                m.jnt_range[i].tolist() if m.jnt_limited[i] and kind not in (FREE, BALL) else None
            ),
            "keeps_range": kind not in (FREE, BALL),
            "rest": float(m.qpos_spring[q]) if kind not in (FREE, BALL) else None,
        }

    def terms(self, t):
        """Joints and coefficients of a fixed tendon; None for a spatial one."""
        m = self.m
        wraps = range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t])
        if any(int(m.wrap_type[w]) != int(mujoco.mjtWrap.mjWRAP_JOINT) for w in wraps):
            return None
        return [[self.joint(m.wrap_objid[w]), float(m.wrap_prm[w])] for w in wraps]

    def drives_joint(self, a):
        m = self.m
        kinds = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
        return int(m.actuator_trntype[a]) in kinds and int(
            m.jnt_type[m.actuator_trnid[a, 0]]
        ) not in (FREE, BALL)

    def driven(self, a):
        """What an actuator drives, as pairs of joint and coefficient."""
        m = self.m
        if self.drives_joint(a):
            return [[self.joint(m.actuator_trnid[a, 0]), 1.0]]
        if int(m.actuator_trntype[a]) == TENDON:
            return self.terms(m.actuator_trnid[a, 0])
        return None

    def servo(self, a):
        m = self.m
        joints = self.driven(a)
        if joints is None or int(m.actuator_biastype[a]) != int(mujoco.mjtBias.mjBIAS_AFFINE):
            return []
        gear = m.actuator_gear[a, 0] ** 2
        stiffness, damping = (-float(m.actuator_biasprm[a, k]) * gear for k in (1, 2))
        name = self.label(mujoco.mjtObj.mjOBJ_ACTUATOR, a)
        return [{"name": name, "joints": joints, "stiffness": stiffness, "damping": damping}]

    def tendon(self, t):
        m = self.m
        joints, stiffness, damping = (
            self.terms(t),
            float(m.tendon_stiffness[t]),
            float(m.tendon_damping[t]),
        )
        if self.is_off(mujoco.mjtDisableBit.mjDSBL_SPRING):
            stiffness = 0.0
        if self.is_off(mujoco.mjtDisableBit.mjDSBL_DAMPER):
            damping = 0.0
        if joints is None or stiffness == damping == 0.0:
            return []
        name = self.label(mujoco.mjtObj.mjOBJ_TENDON, t)
        rest = float(m.tendon_lengthspring[t, 0])
        return [
            {
                "name": name,
                "joints": joints,
                "stiffness": stiffness,
                "damping": damping,
                "rest": rest,
            }
        ]

    def actuator_damping(self, a):
        m = self.m
        if int(m.actuator_trntype[a]) != TENDON or not m.actuator_damping[a]:
            return []
        if self.is_off(mujoco.mjtDisableBit.mjDSBL_DAMPER):
            return []
        joints = self.terms(m.actuator_trnid[a, 0])
        if joints is None:
            return []
        damping = float(m.actuator_damping[a]) * m.actuator_gear[a, 0] ** 2
        name = self.label(mujoco.mjtObj.mjOBJ_ACTUATOR, a)
        return [{"name": name, "joints": joints, "stiffness": 0.0, "damping": damping, "rest": 0.0}]

    def equality(self, e):
        m = self.m
        if not m.eq_active0[e] or m.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_EQUALITY):
            return []
        kind, ends = int(m.eq_type[e]), [int(m.eq_obj1id[e]), int(m.eq_obj2id[e])]
        out = {"name": self.label(mujoco.mjtObj.mjOBJ_EQUALITY, e), "links": [], "joints": []}
        eq = mujoco.mjtEq
        if kind in (int(eq.mjEQ_CONNECT), int(eq.mjEQ_WELD)):
            if int(m.eq_objtype[e]) == int(mujoco.mjtObj.mjOBJ_SITE):
                ends = [int(m.site_bodyid[s]) for s in ends]
            point = kind == int(eq.mjEQ_CONNECT) or m.eq_data[e, 10] == 0.0
            out |= {"type": "connect" if point else "weld", "links": [self.body(b) for b in ends]}
        elif kind == int(eq.mjEQ_JOINT):
            out |= {"type": "coupling", "joints": [self.joint(j) for j in ends if j >= 0]}
        elif kind == int(eq.mjEQ_TENDON):
            terms = [self.terms(t) for t in ends if t >= 0]
            out |= {
                "type": "coupling",
                "joints": [j for some in terms for j, _ in some or [["spatial", 1.0]]],
            }
        else:
            out |= {"type": "flex"}
        return [out]

    def constraint(self):
        """Rows of the equalities, what they are open by, and whose they are."""
        m, d = self.m, self.d
        mujoco.mj_fwdPosition(m, d)
        rows = [
            i
            for i in range(d.nefc)
            if int(d.efc_type[i]) == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
        ]
        if not rows:
            return np.zeros((0, m.nv)), np.zeros(0), []
        if mujoco.mj_isSparse(m):
            jacobian = np.zeros((d.nefc, m.nv))
            for i in range(d.nefc):
                a, n = d.efc_J_rowadr[i], d.efc_J_rownnz[i]
                jacobian[i, d.efc_J_colind[a : a + n]] = d.efc_J[a : a + n]
        else:
            jacobian = np.array(d.efc_J).reshape(-1, m.nv)[: d.nefc]
        return (
            jacobian[rows].copy(),
            np.array(d.efc_pos)[rows].copy(),
            [int(d.efc_id[i]) for i in rows],
        )

    def moved(self, start, step):
        q = np.array(start)
        mujoco.mj_integratePos(self.m, q, step, 1.0)
        return q

    def states(self, rng):
        m = self.m
        start = np.array(m.qpos0)
        states = [self.state("start", start, rng.uniform(-1, 1, m.nv))]
        states.append(
            self.state(
                "random", self.moved(start, rng.uniform(-1, 1, m.nv)), rng.uniform(-1, 1, m.nv)
            )
        )
        if states[0]["gaps"]:
            closed = self.closed(self.moved(start, rng.uniform(-0.1, 0.1, m.nv)))
            if closed is not None:
                states.append(self.state("closed", closed, rng.uniform(-1, 1, m.nv)))
        return states

    def closed(self, q):
        """The pose near q that keeps all equalities; None where they cannot be kept."""
        for _ in range(60):
            self.d.qpos[:] = q
            rows, gaps, _ = self.constraint()
            if np.abs(gaps).max() < 1e-13:
                return q
            step = -pinv(rows, 1e-7) @ gaps
            q = self.moved(q, step * min(1.0, 0.3 / max(np.abs(step).max(), 1e-300)))
        self.d.qpos[:] = q
        return q if np.abs(self.constraint()[1]).max() < 1e-10 else None

    def state(self, label, q, v):
        m, d = self.m, self.d
        # The armature of a free joint has no momentum with us, which is noted; it has none of
        # MuJoCo's without this.
        for j in range(m.njnt):
            if int(m.jnt_type[j]) == FREE and m.dof_armature[m.jnt_dofadr[j]] > 0.0:
                v[m.jnt_dofadr[j] : m.jnt_dofadr[j] + 3] = 0.0
        d.qpos[:], d.qvel[:] = q, 0.0
        rows, gaps, owners = self.constraint()
        is_closed = np.abs(gaps).max(initial=0.0) < 1e-9
        if len(gaps) and is_closed:
            v = v - pinv(rows) @ (rows @ v)
        d.qvel[:] = v
        mujoco.mj_forward(m, d)
        mass = np.zeros((m.nv, m.nv))
        mujoco.mj_fullM(m, d, mass)
        bias, spring, damper = (
            np.array(d.qfrc_bias),
            np.array(d.qfrc_spring),
            np.array(d.qfrc_damper),
        )
        # Compensated gravity acts whether or not it counts as an actuator's force.
        force = spring + damper + np.array(d.qfrc_gravcomp) - bias
        values = np.linalg.svd(rows, compute_uv=False) if len(gaps) else np.zeros(0)
        acceleration, contradiction = None, 0.0
        if m.nv and is_closed:
            acceleration, contradiction = self.acceleration(mass, force, rows, q, v)
        force_size = force_size_of(mass, force) if acceleration is not None else 0.0
        return {
            "label": label,
            "positions": q.tolist(),
            "velocities": v.tolist(),
            "mass_matrix": mass.ravel().tolist(),
            "bias": bias.tolist(),
            "spring": spring.tolist(),
            "damper": damper.tolist(),
            "gaps": self.gaps(gaps, owners),
            "rank": int((values > RANK_TOLERANCE * values[0]).sum()) if len(values) else 0,
            "singular_values": values.tolist(),
            "acceleration": None if acceleration is None else acceleration.tolist(),
            "force_size": force_size,
            "contradiction": contradiction,
        }

    def gaps(self, gaps, owners):
        m, out = self.m, {}
        for gap, e in zip(gaps, owners):
            out.setdefault(e, []).append(gap)
        points = (int(mujoco.mjtEq.mjEQ_CONNECT), int(mujoco.mjtEq.mjEQ_WELD))
        # The first three rows of a weld are a distance, the rest is angles.
        return [
            float(np.linalg.norm(g[:3] if int(m.eq_type[e]) in points else g))
            for e, g in sorted(out.items())
        ]

    def acceleration(self, mass, force, rows, q, v):
        """Accelerations under forces, the equalities kept exactly (None where the mass matrix is
        singular), and
        by how much they miss the equalities' second derivatives, relative to these."""
        try:
            factor = np.linalg.cholesky(mass)
        except np.linalg.LinAlgError:
            return None, 0.0
        free = np.linalg.solve(mass, force)
        if not len(rows):
            return free, 0.0
        # d/dt of the rows along v, fourth order.
        h = 1e-3 / max(1.0, np.abs(v).max())

        def at(s):
            self.d.qpos[:] = self.moved(q, s * v)
            return self.constraint()[0] @ v

        change = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
        self.d.qpos[:] = q
        # Least change in the metric of the mass matrix: rows weighted by the factor's inverse.
        weighted = np.linalg.solve(factor, rows.T).T
        out = free + np.linalg.solve(factor.T, pinv(weighted) @ (-change - rows @ free))
        missed = np.abs(change + rows @ out).max()
        return out, float(missed / max(np.abs(change).max(), np.abs(rows @ free).max(), 1e-300))
