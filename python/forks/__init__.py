"""Reduced models of compliant mechanisms.

A large mechanism with springs, servos and loops (`load`, `parse`, `Builder`) becomes a small model
of the few bodies that touch the world, its end effectors (`Mechanism.reduce`, `Mechanism.blend`).
The model is saved and loaded (`Model.save`, `load_model`), solved (`Model.statics`) and stepped,
alone (`Model.simulation`) or in thousands of instances (`Model.batch`). `load_scene` reads worlds
in frictional contact; `forks.control` drives and poses mechanisms; `forks.tissue` puts soft bodies
on them; `view` shows them in the browser, in motion; `sweep` runs a function, or a
`Spec` of a model file, over many parameters, here or on a cluster.

SI units, radians. Arrays are float64 and C-contiguous. Poses are rows x, y, z, qw, qx, qy, qz, from
body to world; twists and wrenches have their linear part first. Whatever is refused raises a
`ForksError` (a `ValueError`) with the reason in a sentence.
"""

from forks._forks import (
    Batch,
    Builder,
    Equilibrium,
    ForksError,
    HandleError,
    Mechanism,
    Model,
    NotFiniteError,
    Placed,
    ReadError,
    Recording,
    ReductionError,
    Scene,
    Simulation,
    Statics,
    View,
    __version__,
    load,
    load_model,
    load_scene,
    parse,
    parse_scene,
    view,
)
from forks import control, tissue
from forks.plotting import Plot
from forks.specs import Case, Spec
from forks.sweeps import SweepError, SweepResult, sweep

__all__ = [
    "Batch",
    "Builder",
    "Case",
    "Equilibrium",
    "ForksError",
    "HandleError",
    "Mechanism",
    "Model",
    "NotFiniteError",
    "Placed",
    "Plot",
    "ReadError",
    "Recording",
    "ReductionError",
    "Scene",
    "Simulation",
    "Spec",
    "Statics",
    "SweepError",
    "SweepResult",
    "View",
    "__version__",
    "control",
    "load",
    "load_model",
    "load_scene",
    "parse",
    "parse_scene",
    "sweep",
    "tissue",
    "view",
]
