"""Times of calls: two warm-ups, median of seven runs."""

import math
import time


def median_of_seven(call, batch):
    """Times of `call(count)`, which does its work so often, per piece of work; runs last about
    `batch` s. `spread` is (max - min)/median, `cpu_ns` the thread's computing time.
    """

    def run(count):
        start = time.perf_counter()
        call(count)
        return 1e9 * (time.perf_counter() - start) / count

    count = max(1, math.ceil(1e9 * batch / min(run(2), run(2))))
    run(count)
    before = time.thread_time()
    times = sorted(run(count) for _ in range(7))
    computing = 1e9 * (time.thread_time() - before) / (7 * count)
    return {"ns": times[3], "spread": (times[6] - times[0]) / times[3], "cpu_ns": computing}


def one_by_one(call):
    """`call(k)` for k = 0, 1, ... as often as wanted."""

    def many(count):
        for k in range(count):
            call(k)

    return many
