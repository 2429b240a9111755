"""What a sweep computes, as data: a model file, numbers by name, outputs by name."""

from __future__ import annotations

import functools
import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from forks._forks import Equilibrium, Mechanism, Model, Statics, load

_AXES = ("x", "y", "z", "rx", "ry", "rz")
_PLAIN = ("mass", "mobility", "dof", "radius", "constraint_error")
_OF_EFFECTORS = {
    "compliance": _AXES,
    "position": _AXES[:3],
    "moved": ("", *_AXES[:3]),
    "full.position": _AXES[:3],
    "full.moved": ("", *_AXES[:3]),
    "static_error": ("",),
}


@dataclass(frozen=True)
class Spec:
    """A study as data; `forks.sweep` takes it in place of a function. A dict of the same does too.

    model: an MJCF or URDF file, which every worker must be able to read.
    outputs: names of numbers, or a dict of names to such or to functions of a `Case` that return a
        number or text. Numbers are
        'mass' (kg), 'mobility', 'dof' and 'radius' (m) of the model, 'frequency.K' (Hz, of the
        reduced model, from 0), 'constraint_error';
        'compliance:EFFECTOR.x' … '.z' (m/N), '.rx' … '.rz' (rad/(N m)), in the effector's axes;
        'position:EFFECTOR.x' … '.z' (m) at rest under the wrenches, 'moved:EFFECTOR' (m) from the
        start pose, or one component of it; the same of the full solver as 'full.position:…' and
        'full.moved:…'; 'static_error:EFFECTOR', the difference of the two over what the full one
        moves.
    effectors: as in `Mechanism.reduce`.
    set: what parameters stand for: an address of `Mechanism.changed`, several, or a function of a
        `Case` and the value that returns a mechanism. A parameter that is not in it has an address
        as its name.
    wrenches, frame: as in `Model.statics`.
    reduce: keywords of `Mechanism.reduce`. load: keywords of `forks.load`.
    """

    model: str | os.PathLike[str]
    outputs: Sequence[str] | Mapping[str, str | Callable[[Case], Any]]
    effectors: str | Sequence[str] | None = None
    set: Mapping[str, str | Sequence[str] | Callable[[Case, Any], Mechanism]] = field(
        default_factory=dict
    )
    wrenches: Any = None
    frame: str = "world"
    reduce: Mapping[str, Any] = field(default_factory=dict)
    load: Mapping[str, Any] = field(default_factory=dict)

    def named_outputs(self) -> dict[str, str | Callable[[Case], Any]]:
        """Column to what is in it."""
        if isinstance(self.outputs, Mapping):
            return dict(self.outputs)
        if isinstance(self.outputs, str):
            raise TypeError("outputs is a text, expected a list of names or a dict")
        return {name: name for name in self.outputs}


class Case:
    """A variant while it is computed; models and rests are made when they are asked for."""

    def __init__(
        self, spec: Spec, mechanism: Mechanism, parameters: dict[str, Any], rng: np.random.Generator
    ) -> None:
        self.spec, self.parameters, self.rng = spec, parameters, rng
        self.mechanism: Mechanism = mechanism

    @functools.cached_property
    def model(self) -> Model:
        """The reduced model."""
        return self.mechanism.reduce(self.spec.effectors, **self.spec.reduce)

    @functools.cached_property
    def statics(self) -> Statics:
        """Where the reduced model rests under the wrenches."""
        return self.model.statics(_lists(self.spec.wrenches), frame=self.spec.frame)

    @functools.cached_property
    def full(self) -> Equilibrium:
        """Where the full mechanism rests under them; gravity acts if the model has it."""
        shared = ("default_stiffness", "servos", "limits", "start")
        more = {k: v for k, v in self.spec.reduce.items() if k in shared}
        gravity = self.spec.reduce.get("at", "rest") == "equilibrium"
        return self.mechanism.statics(
            self.spec.effectors,
            _lists(self.spec.wrenches),
            frame=self.spec.frame,
            gravity=gravity,
            **more,
        )

    def value(self, name: str) -> float:
        """One of the numbers that `Spec` lists."""
        quantity, effector, component = _parsed(name)
        if effector is None:
            return self._plain(quantity, component)
        e = self._effector(name, effector)
        if quantity == "compliance":
            i = 6 * e + _AXES.index(component)
            row = self.model.basis[i]
            return float(row @ np.linalg.solve(self.model.stiffness, row))
        rest = self.model.rest_poses[e, :3]
        full = quantity.startswith("full.")
        if quantity == "static_error":
            reduced, truth = (s.effector_poses[e, :3] for s in (self.statics, self.full))
            far = float(np.linalg.norm(truth - rest))
            if far == 0.0:
                raise ValueError(f"{name}: nothing moves; give wrenches")
            return float(np.linalg.norm(reduced - truth)) / far
        p = (self.full if full else self.statics).effector_poses[e, :3]
        if quantity.endswith("moved"):
            p = p - rest
            if component == "":
                return float(np.linalg.norm(p))
        return float(p[_AXES.index(component)])

    def _plain(self, quantity: str, component: str) -> float:
        if quantity == "frequency":
            all_of_them = self.model.frequencies
            k = int(component)
            if k >= len(all_of_them):
                raise ValueError(f"frequency.{k}: the model has {len(all_of_them)} frequencies")
            return float(all_of_them[k])
        if quantity == "mass":
            return float(self.mechanism.inspect()["total_mass"])
        if quantity == "mobility":
            return self.mechanism.inspect()["mobility"]
        if quantity == "constraint_error":
            return float(self.statics.constraint_error)
        return getattr(self.model, quantity)

    def _effector(self, name: str, effector: str) -> int:
        known = self.model.effectors
        for e in (effector, f"site:{effector}", effector.removeprefix("site:")):
            if e in known:
                return known.index(e)
        raise ValueError(f"{name}: no effector '{effector}'; there are: {', '.join(known)}")


def _parsed(name: str) -> tuple[str, str | None, str]:
    """Quantity, effector and component of an output's name."""
    if not isinstance(name, str):
        raise TypeError(f"output {name!r} is a {type(name).__name__}, expected a name")
    if name in _PLAIN:
        return name, None, ""
    quantity, dot, k = name.partition(".")
    if quantity == "frequency" and dot and k.isdecimal():
        return quantity, None, k
    quantity, colon, rest = name.partition(":")
    components = _OF_EFFECTORS.get(quantity)
    if colon and components:
        effector, dot, component = rest.rpartition(".")
        if dot and component in components:
            return quantity, effector, component
        if "" in components and not (dot and component in _AXES):
            return quantity, rest, ""
        known = ", ".join(f".{c}" for c in components if c) or "none"
        raise ValueError(f"output '{name}': the components of {quantity} are {known}")
    known = ", ".join([*_PLAIN, "frequency.K", *(f"{q}:EFFECTOR" for q in _OF_EFFECTORS)])
    raise ValueError(f"no output '{name}'; there are: {known}")


def _lists(wrenches: Any) -> Any:
    return None if wrenches is None else np.ascontiguousarray(wrenches, dtype=np.float64)


@functools.lru_cache(maxsize=8)
def _loaded(path: str, options: str, changed: int) -> Mechanism:
    """A file is read once by every process, and again when it has changed."""
    del changed
    return load(path, **json.loads(options))


def _read(spec: Spec) -> Mechanism:
    path = os.fspath(spec.model)
    try:
        changed = os.stat(path).st_mtime_ns
    except OSError:
        changed = 0
    return _loaded(path, json.dumps(dict(spec.load), sort_keys=True, default=os.fspath), changed)


class Study:
    """A spec that is checked, as a function of its parameters; can be sent to other processes."""

    def __init__(self, spec: Spec, parameters: Sequence[str]) -> None:
        self.spec = spec
        mechanism = _read(spec)
        self.outputs = spec.named_outputs()
        if not self.outputs:
            raise ValueError("outputs is empty; a sweep needs something to compute")
        for column, output in self.outputs.items():
            if not callable(output):
                _parsed(output)
            if column == "index" or column in parameters:
                raise ValueError(f"an output cannot be called '{column}': a parameter is")
        for name in spec.set:
            if name not in parameters:
                raise ValueError(f"set has '{name}', which is no parameter: {list(parameters)}")
        for name in parameters:
            for address in self._addresses(name):
                mechanism.value(address)
        self.fingerprint = mechanism.fingerprint

    def _addresses(self, name: str) -> list[str]:
        to = self.spec.set.get(name, name)
        if callable(to):
            return []
        return [to] if isinstance(to, str) else list(to)

    def mark(self) -> list[Any]:
        """What the rows depend on beside parameters and seed, as far as it is data."""
        plain = {k: v if isinstance(v, str) else None for k, v in self.outputs.items()}
        to = {k: None if callable(v) else v for k, v in self.spec.set.items()}
        wrenches = None if self.spec.wrenches is None else np.asarray(self.spec.wrenches).tolist()
        s = self.spec
        return [self.fingerprint, plain, to, wrenches, s.frame, s.effectors, dict(s.reduce)]

    def __call__(self, /, *, rng: np.random.Generator, **parameters: Any) -> dict[str, Any]:
        mechanism = _read(self.spec)
        if mechanism.fingerprint != self.fingerprint:
            path = self.spec.model
            raise RuntimeError(f"{path} is another model here than where the sweep began")
        case = Case(self.spec, mechanism, parameters, rng)
        for name, value in parameters.items():
            to = self.spec.set.get(name, name)
            if callable(to):
                case.mechanism = to(case, value)
                if not isinstance(case.mechanism, Mechanism):
                    kind = type(case.mechanism).__name__
                    raise TypeError(f"set['{name}'] returned a {kind}, expected a Mechanism")
            else:
                changes = dict.fromkeys(self._addresses(name), _number(name, value))
                case.mechanism = case.mechanism.changed(changes)
        return {
            column: output(case) if callable(output) else case.value(output)
            for column, output in self.outputs.items()
        }


def _number(name: str, value: Any) -> float:
    if isinstance(value, (bool, str)) or not isinstance(value, (int, float, np.number)):
        raise TypeError(f"parameter '{name}' is a {type(value).__name__}, expected a number")
    if not math.isfinite(value):
        raise ValueError(f"parameter '{name}' is {value}; numbers must be finite")
    return float(value)
