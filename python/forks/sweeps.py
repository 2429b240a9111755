"""A function, or a spec, over many parameters: on threads or processes here, or a Ray cluster.

Results come in the order of the parameters whatever the engine is, each variant once. A variant's
random numbers follow from the sweep's seed and its index alone. Rows go to a CSV file as they
arrive, so that a sweep that was killed goes on where it was.
"""

from __future__ import annotations

import concurrent.futures as futures
import csv
import hashlib
import inspect
import itertools
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from forks.specs import Spec, Study

Row = dict[str, Any]


class SweepError(RuntimeError):
    """A variant that failed as often as it was tried; `index` and `parameters` say which."""

    def __init__(self, index: int, parameters: Mapping[str, Any], tries: int, why: str) -> None:
        super().__init__(f"variant {index} {dict(parameters)} failed {tries} times: {why}")
        self.index, self.parameters, self.tries = index, dict(parameters), tries


@dataclass
class SweepResult:
    """Rows in the order of the parameters: index, parameters, then what the function returned."""

    rows: list[Row]
    seconds: float
    computed: int
    """Variants that this run computed; the others were read from the file."""
    retried: int
    failed: dict[int, str] = field(default_factory=dict)
    """Index to reason, of variants that were left out (`on_error='skip'`)."""

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def column(self, name: str) -> np.ndarray:
        """One column, (rows,)."""
        if self.rows and name not in self.rows[0]:
            raise KeyError(f"no column '{name}'; there are {', '.join(self.rows[0])}")
        return np.array([row[name] for row in self.rows])

    def to_parquet(self, path: str) -> None:
        """Writes all rows as a Parquet file (needs the package pyarrow)."""
        import pyarrow
        from pyarrow import parquet

        part = f"{path}.part"
        parquet.write_table(pyarrow.Table.from_pylist(self.rows), part)
        os.replace(part, path)


def grid(**values: Iterable[Any]) -> list[Row]:
    """All combinations of the values, the last name changing fastest."""
    names = list(values)
    return [dict(zip(names, row)) for row in itertools.product(*values.values())]


def rng(seed: int, index: int) -> np.random.Generator:
    """The random numbers of a variant: the same on every engine and in every order."""
    return np.random.default_rng(np.random.SeedSequence(entropy=seed, spawn_key=(index,)))


def sweep(
    function: Callable[..., Mapping[str, Any] | float] | Spec | Mapping[str, Any],
    parameters: Sequence[Mapping[str, Any]] | Mapping[str, Iterable[Any]],
    *,
    engine: str = "threads",
    address: str | None = None,
    workers: int | None = None,
    seed: int = 0,
    retries: int = 2,
    on_error: str = "raise",
    output: str | os.PathLike[str] | None = None,
    chunk: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> SweepResult:
    """Calls `function(**parameters)` for every variant, or computes what a spec says.

    function: returns a dict of numbers and strings, or one number ('value'). If it has an argument
        `rng`, it gets a numpy generator that depends on `seed` and the variant's index alone; if it
        has an argument `index`, it gets that. Or a `Spec`, or a dict of what that has.
    parameters: a list of dicts, one a variant; or a dict of lists, of which all combinations are
        taken.
    engine: 'threads', 'processes', 'serial' or 'ray'. With an `address` it is 'ray' ('auto', or
        'local' for a cluster of its own on this machine).
    retries: how often a variant that raised, or whose worker died, is tried again.
    on_error: 'raise' a SweepError, or 'skip' and name it in `failed`.
    output: a CSV file that rows are added to as they arrive; variants that it has are not computed
        again. At the end it is written anew in order; a name in .parquet is written at the end,
        with the rows kept in NAME.parquet.partial.csv on the way.
    chunk: variants a task has on processes and Ray; by itself so many that a task takes some time.
    progress: is called with the numbers of variants done and of all.
    """
    variants = _variants(parameters)
    if on_error not in ("raise", "skip"):
        raise ValueError(f"on_error is '{on_error}', expected 'raise' or 'skip'")
    if retries < 0:
        raise ValueError(f"retries is {retries}, expected 0 or more")
    if address is not None:
        engine = "ray"
    if engine not in _ENGINES:
        raise ValueError(f"engine is '{engine}', expected {', '.join(map(repr, _ENGINES))}")
    begin = time.perf_counter()
    call = _Call(_callable(function, variants), seed)
    store = _Store(output, variants, seed, call.mark())
    rows: dict[int, Row] = dict(store.done)
    todo = [i for i in range(len(variants)) if i not in rows]
    tries = dict.fromkeys(todo, 0)
    failed: dict[int, str] = {}
    retried = 0
    try:
        while todo:
            again: list[int] = []
            options = _Options(workers, address, chunk)
            for index, row, why in _ENGINES[engine](call, variants, todo, options):
                if why is None:
                    if index in rows:
                        continue
                    rows[index] = {"index": index, **variants[index], **row}
                    store.add(rows[index])
                    if progress is not None:
                        progress(len(rows), len(variants))
                    continue
                tries[index] += 1
                if tries[index] <= retries:
                    again.append(index)
                    retried += 1
                elif on_error == "raise":
                    raise SweepError(index, variants[index], tries[index], why)
                else:
                    failed[index] = why
            todo = sorted(again)
    finally:
        store.close()
    ordered = [rows[i] for i in sorted(rows)]
    computed = len(rows) - len(store.done)
    result = SweepResult(ordered, time.perf_counter() - begin, computed, retried, failed)
    store.finish(result)
    return result


def _callable(function: Any, variants: list[Row]) -> Callable[..., Any]:
    if isinstance(function, Mapping):
        function = Spec(**function)
    if isinstance(function, Spec):
        return Study(function, list(variants[0]) if variants else [])
    if not callable(function):
        kind = type(function).__name__
        raise TypeError(f"function is a {kind}, expected a function, a Spec or a dict of one")
    return function


def _variants(parameters: Any) -> list[Row]:
    variants = grid(**parameters) if isinstance(parameters, Mapping) else [*map(dict, parameters)]
    names = list(variants[0]) if variants else []
    for i, v in enumerate(variants):
        if list(v) != names:
            raise ValueError(f"variant {i} has parameters {list(v)}, the first one has {names}")
    for reserved in ("index", "rng"):
        if reserved in names:
            raise ValueError(f"a parameter cannot be called '{reserved}'")
    return variants


class _Call:
    """The user's function with what it asks for; can be sent to other processes."""

    def __init__(self, function: Callable[..., Any], seed: int) -> None:
        self.function, self.seed = function, seed
        names = inspect.signature(function).parameters
        self.rng, self.index = "rng" in names, "index" in names

    def mark(self) -> Any:
        """What rows depend on, where that is data."""
        return self.function.mark() if isinstance(self.function, Study) else None

    def __call__(self, index: int, variant: Row) -> Row:
        more: Row = {}
        if self.rng:
            more["rng"] = rng(self.seed, index)
        if self.index:
            more["index"] = index
        found = self.function(**variant, **more)
        if not isinstance(found, Mapping):
            found = {"value": found}
        return {str(k): _plain(k, v) for k, v in found.items()}

    def tried(self, index: int, variant: Row) -> tuple[int, Row, str | None]:
        try:
            return index, self(index, variant), None
        except Exception as e:  # noqa: BLE001, whatever the user's function raises
            return index, {}, f"{type(e).__name__}: {e}"

    def all(self, tasks: list[tuple[int, Row]]) -> list[tuple[int, Row, str | None]]:
        return [self.tried(index, variant) for index, variant in tasks]


def _plain(name: Any, value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"result '{name}' is a {type(value).__name__}, expected a number or text")


@dataclass
class _Options:
    workers: int | None
    address: str | None
    chunk: int | None

    def count(self) -> int:
        return self.workers or os.cpu_count() or 1


Results = Iterator[tuple[int, Row, "str | None"]]


def _serial(call: _Call, variants: list[Row], todo: list[int], options: _Options) -> Results:
    for i in todo:
        yield call.tried(i, variants[i])


def _threads(call: _Call, variants: list[Row], todo: list[int], options: _Options) -> Results:
    with futures.ThreadPoolExecutor(options.count()) as pool:
        yield from _windowed(
            lambda i: pool.submit(call.tried, i, variants[i]), todo, 4 * options.count()
        )


def _windowed(submit: Callable[[int], Any], todo: list[int], window: int) -> Results:
    """Keeps some tasks waiting, so that Ctrl-C does not wait for all."""
    waiting, rest = set(), iter(todo)
    try:
        while True:
            for i in itertools.islice(rest, window - len(waiting)):
                waiting.add(submit(i))
            if not waiting:
                return
            done, waiting = futures.wait(waiting, return_when=futures.FIRST_COMPLETED)
            for f in done:
                yield f.result()
    finally:
        for f in waiting:
            f.cancel()


def _chunks(todo: list[int], options: _Options) -> list[list[int]]:
    """Large ones first, single variants in the end, so that all workers end together."""
    parts, first = [], 0
    while first < len(todo):
        left = len(todo) - first
        size = options.chunk or max(1, min(64, left // (8 * options.count())))
        parts.append(todo[first : first + size])
        first += size
    return parts


def _processes(call: _Call, variants: list[Row], todo: list[int], options: _Options) -> Results:
    with futures.ProcessPoolExecutor(options.count()) as pool:
        pending = {
            pool.submit(call.all, [(i, variants[i]) for i in part]): part
            for part in _chunks(todo, options)
        }
        for f in futures.as_completed(pending):
            try:
                yield from f.result()
            except Exception as e:  # noqa: BLE001, a process that died
                for i in pending[f]:
                    yield i, {}, f"{type(e).__name__}: {e}"


def _ray(call: _Call, variants: list[Row], todo: list[int], options: _Options) -> Results:
    try:
        import ray
    except ImportError as e:
        raise ImportError("engine 'ray' needs the package ray: pip install 'forks[ray]'") from e
    if not ray.is_initialized():
        if options.address in (None, "local"):
            ray.init(num_cpus=options.workers, include_dashboard=False, log_to_driver=False)
        else:
            ray.init(address=options.address, log_to_driver=False)
    # Retries are counted here, so that a worker that died is one try of each of its variants.
    task = ray.remote(max_retries=0)(lambda c, tasks: c.all(tasks))
    shared = ray.put(call)
    parts = iter(_chunks(todo, options))
    cpus = int(ray.cluster_resources().get("CPU", options.count()))
    waiting: dict[Any, list[int]] = {}
    try:
        while True:
            for part in itertools.islice(parts, max(0, 4 * cpus - len(waiting))):
                waiting[task.remote(shared, [(i, variants[i]) for i in part])] = part
            if not waiting:
                return
            done, _ = ray.wait(list(waiting), num_returns=1)
            for reference in done:
                part = waiting.pop(reference)
                try:
                    yield from ray.get(reference)
                except ray.exceptions.RayError as e:
                    why = f"{type(e).__name__}: {str(e).splitlines()[0]}"
                    for i in part:
                        yield i, {}, why
    finally:
        for reference in waiting:
            ray.cancel(reference, force=True)


_ENGINES: dict[str, Callable[..., Results]] = {
    "threads": _threads,
    "processes": _processes,
    "serial": _serial,
    "ray": _ray,
}


class _Store:
    """The rows on disk: a line of JSON about the sweep, then CSV with JSON in its cells."""

    def __init__(
        self,
        output: str | os.PathLike[str] | None,
        variants: list[Row],
        seed: int,
        mark: Any,
    ) -> None:
        self.done: dict[int, Row] = {}
        self.path = None if output is None else os.fspath(output)
        self.file: Any = None
        self.columns: list[str] | None = None
        if self.path is None:
            return
        self.partial = self.path + (".partial.csv" if self.path.endswith(".parquet") else "")
        of = [seed, variants] if mark is None else [seed, variants, mark]
        text = json.dumps(of, sort_keys=True, default=repr)
        self.mark = f"# forks.sweep {hashlib.sha256(text.encode()).hexdigest()[:16]}"
        if os.path.exists(self.partial):
            self._read()
        self.file = open(self.partial, "a", newline="", encoding="utf-8")
        if self.file.tell() == 0:
            self.file.write(self.mark + "\n")

    def _read(self) -> None:
        with open(self.partial, newline="", encoding="utf-8") as file:
            whole = file.read()
        if not whole:
            return
        if not whole.startswith(self.mark + "\n"):
            raise ValueError(
                f"{self.partial} is of another sweep: other parameters, another seed, or no sweep; "
                "give another output"
            )
        # A run that was killed may have left half a line.
        end = whole.rfind("\n") + 1
        if end < len(whole):
            with open(self.partial, "r+", encoding="utf-8", newline="") as file:
                file.truncate(len(whole[:end].encode()))
        rows = csv.reader(whole[:end].splitlines()[1:])
        self.columns = next(rows, None)
        for cells in rows:
            row = dict(zip(self.columns or [], map(json.loads, cells)))
            self.done.setdefault(row["index"], row)

    def _write(self, file: Any, row: Row) -> None:
        writer = csv.writer(file, lineterminator="\n")
        if self.columns is None:
            self.columns = list(row)
            writer.writerow(self.columns)
        if list(row) != self.columns:
            raise ValueError(f"variant {row['index']} gave {list(row)}, others {self.columns}")
        writer.writerow([json.dumps(_plain(k, v)) for k, v in row.items()])

    def add(self, row: Row) -> None:
        if self.file is not None:
            self._write(self.file, row)
            self.file.flush()

    def close(self) -> None:
        if self.file is not None:
            self.file.close()

    def finish(self, result: SweepResult) -> None:
        """Rows in order, under the file's own name; the partial file goes."""
        if self.path is None:
            return
        if self.path.endswith(".parquet"):
            result.to_parquet(self.path)
            return
        part, self.columns = f"{self.path}.part", None
        with open(part, "w", newline="", encoding="utf-8") as file:
            file.write(self.mark + "\n")
            for row in result.rows:
                self._write(file, row)
        os.replace(part, self.path)
