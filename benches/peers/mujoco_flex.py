"""Time of a MuJoCo step of tissue: `python mujoco_flex.py TASK.json`, prints JSON.

The task holds nodes (m), tetrahedra, the nodes that are pinned, Young's modulus (Pa), Poisson's
ratio, mass (kg), the time step (s), and the seconds that a run should last. The tissue is a flex
whose nodes move in three directions each, without contact and gravity, stepped by the `discrete`
integrator, which alone has its elasticity implicitly. Bones are left out: less than ours has to do.
Two warm-ups, median of seven runs, (max - min)/median; `cpu_ns` is the thread's computing time.
"""

import json
import sys

import mujoco

from runs import median_of_seven


def gmsh(nodes, tetrahedra):
    n, t = len(nodes), len(tetrahedra)
    lines = ["$MeshFormat", "4.1 0 8", "$EndMeshFormat", "$Nodes", f"1 {n} 1 {n}", f"3 1 0 {n}"]
    lines += [str(k + 1) for k in range(n)]
    lines += [" ".join(repr(c) for c in x) for x in nodes]
    lines += ["$EndNodes", "$Elements", f"1 {t} 1 {t}", f"3 1 4 {t}"]
    lines += [f"{k + 1} " + " ".join(str(i + 1) for i in e) for k, e in enumerate(tetrahedra)]
    return "\n".join(lines + ["$EndElements", ""])


def load(task):
    pins = " ".join(str(k) for k in task["pinned"])
    text = f"""
<mujoco>
  <option timestep="{task["dt"]}" gravity="0 0 0" integrator="discrete"/>
  <worldbody>
    <flexcomp name="tissue" type="gmsh" file="tissue.msh" dim="3" mass="{task["mass"]}"
        radius="1e-4">
      <contact selfcollide="none" contype="0" conaffinity="0"/>
      <elasticity young="{task["young"]}" poisson="{task["poisson"]}"/>
      <pin id="{pins}"/>
    </flexcomp>
  </worldbody>
</mujoco>"""
    mesh = gmsh(task["nodes"], task["tetrahedra"]).encode()
    return mujoco.MjModel.from_xml_string(text, {"tissue.msh": mesh})


def main():
    task = json.load(open(sys.argv[1]))
    model = load(task)
    data = mujoco.MjData(model)
    # In motion, not at rest.
    data.qvel[:] = 1e-3
    mujoco.mj_step(model, data, 10)

    timing = median_of_seven(lambda steps: mujoco.mj_step(model, data, steps), task["batch"])
    version = mujoco.__version__
    settings = f"MuJoCo {version}, flex of {model.nv} dofs, integrator discrete, no bones"
    # Near incompressibility its solve of M + K runs out of iterations.
    if any(w.number for w in data.warning):
        settings += ", with warnings (a solve that did not converge)"
    print(json.dumps({"timing": timing, "settings": settings}))


if __name__ == "__main__":
    main()
