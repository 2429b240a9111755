"""How fast `forks view` is, in a real browser: start, pictures per second, latency, costs.

    python measure.py [--json FILE] [--seconds N] [--every N]

FORKS_PROGRAM names the program (release profile), CHROMIUM the browser. Rendering is in software,
on the cores that the program has too: what a browser with a graphics card adds is not measured;
what the page itself does per picture is. What a page costs the program is measured with a listener
that draws nothing, for a browser that draws in software takes the program's cores away.
"""

import argparse
import base64
import contextlib
import glob
import json
import math
import multiprocessing
import os
import socket
import statistics
import struct
import subprocess
import tempfile
import time

from playwright.sync_api import sync_playwright

from test_page import ARM, CHROMIUM, PROGRAM, SOFTWARE, TIP, chain, pixel, ready

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../fixtures")
# With a graphics card a browser composes pages on it. Without one it copies every picture back,
# for which the page waits; with these it composes on the software's graphics card, slowly.
COMPOSING = [*SOFTWARE, "--use-gl=angle", "--use-angle=swiftshader"]
TICKS = os.sysconf("SC_CLK_TCK")


def ball(rings, columns):
    """A sphere of 2 (rings - 1) columns triangles, as OBJ."""
    lines = ["v 0 0 0.05", "v 0 0 -0.05"]
    for i in range(1, rings):
        for j in range(columns):
            a, b = math.pi * i / rings, 2 * math.pi * j / columns
            x, y = math.sin(a) * math.cos(b), math.sin(a) * math.sin(b)
            lines.append(f"v {0.05 * x} {0.05 * y} {0.05 * math.cos(a)}")
    at = lambda i, j: 3 + (i - 1) * columns + j % columns
    for j in range(columns):
        lines.append(f"f 1 {at(1, j)} {at(1, j + 1)}")
        lines.append(f"f 2 {at(rings - 1, j + 1)} {at(rings - 1, j)}")
        for i in range(1, rings - 1):
            lines.append(f"f {at(i, j)} {at(i + 1, j)} {at(i + 1, j + 1)}")
            lines.append(f"f {at(i, j)} {at(i + 1, j + 1)} {at(i, j + 1)}")
    return "\n".join(lines)


JELLY = """title = "a ball of jelly"
world = { duration = 100.0, step = 0.008333333333333333 }
[[tissue]]
mesh = { lattice = "ball.obj", cell = 0.05 }
surface = "ball.obj"
material = { young = 2e4, poisson = 0.3, density = 1000.0 }
position = [0.0, 0.0, 0.08]
[[ground]]
form = "plane"
"""


@contextlib.contextmanager
def program(path, *arguments):
    """The program with a file; gives it and the address of its page."""
    command = [PROGRAM, "view", path, *arguments]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield run, run.stdout.readline().strip()
    finally:
        run.terminate()
        run.wait()


@contextlib.contextmanager
def page_of(browser, url):
    page = browser.new_page(viewport={"width": 1100, "height": 760})
    page.goto(url)
    ready(page)
    try:
        yield page
    finally:
        page.close()


def models():
    """The models that the program can show."""
    found = [p for kind in ("xml", "urdf") for p in glob.glob(f"{FIXTURES}/models/*/*.{kind}")]
    read = lambda path: subprocess.run([PROGRAM, "inspect", path], capture_output=True)
    return [path for path in sorted(found) if read(path).returncode == 0]


def start(browser, path):
    """Seconds from the command to a picture that has moved."""
    begin = time.perf_counter()
    with program(path, "--play") as (_, url):
        if not url:
            return None
        page = browser.new_page(viewport={"width": 1100, "height": 760})
        page.goto(url, wait_until="commit")
        moved = (
            "document.documentElement.dataset.drawn === 'scene'"
            " && window.forks?.recording.end > 0 && window.forks.received > 1"
        )
        while time.perf_counter() < begin + 60:
            with contextlib.suppress(Exception):
                if page.evaluate(f"() => Boolean({moved})"):
                    break
        taken = time.perf_counter() - begin
        page.close()
        return taken


def pictures(page, seconds):
    """Pictures per second, and milliseconds of the page's own work for each."""
    page.evaluate(
        """() => {
            forks.drawn = []; forks.work = [];
            const draw = Object.getPrototypeOf(forks).draw.bind(forks);
            forks.draw = () => {
                const begin = performance.now();
                draw();
                forks.work.push(performance.now() - begin);
                forks.drawn.push(begin);
            };
        }"""
    )
    page.wait_for_timeout(1000 * seconds)
    drawn, work = page.evaluate("[forks.drawn, forks.work]")
    return len(drawn) / seconds, statistics.median(work or [math.inf])


def latency(page, times):
    """Milliseconds from a movement of the mouse to a pose that has changed, and to its picture."""
    page.evaluate(
        """() => {
            forks.poses = []; forks.waits = []; forks.since = null;
            for (const kind of ["pointerrawupdate", "pointermove"]) addEventListener(kind, (e) => {
                if (forks.pulled && forks.since === null) forks.since = e.timeStamp;
            }, true);
            const see = forks.see.bind(forks);
            const drawn = (since) => () => forks.waits.push(performance.now() - since);
            let last = null;
            forks.see = (buffer) => {
                see(buffer);
                const poses = forks.recording.poses, now = [...poses.slice(-14)];
                const moved = last && Math.max(...now.map((x, i) => Math.abs(x - last[i]))) > 1e-6;
                if (moved && forks.since > 0) {
                    const after = drawn(forks.since);
                    forks.poses.push(performance.now() - forks.since);
                    forks.since = -1;
                    requestAnimationFrame(() => setTimeout(after, 0));
                }
                last = now;
            };
        }"""
    )
    page.click("[data-view=front]")
    page.wait_for_timeout(1000)
    for _ in range(times):
        x, y = pixel(page, 1, TIP)
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x, y - 40)
        page.wait_for_timeout(200)
        page.mouse.up()
        page.evaluate("forks.send({type: 'reset'})")
        page.evaluate("forks.send({type: 'play'})")
        page.wait_for_timeout(300)
        page.evaluate("forks.since = null")
    return [sorted(waits) for waits in page.evaluate("[forks.poses, forks.waits]")]


def used(run):
    """Seconds of processor time of the program."""
    with open(f"/proc/{run.pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def frames(url):
    """Frames as a page gets them, without a page."""
    host, query = url.removeprefix("http://").split("/", 1)
    name, port = host.split(":")
    with socket.create_connection((name, int(port))) as s:
        key = base64.b64encode(os.urandom(16)).decode()
        s.sendall(
            (
                f"GET /socket{query} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n"
                "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                f"Sec-WebSocket-Key: {key}\r\n\r\n"
            ).encode()
        )
        stream = s.makefile("rb")
        while stream.readline().strip():
            pass
        while start := stream.read(2):
            kind, length = start
            if length == 126:
                (length,) = struct.unpack(">H", stream.read(2))
            elif length == 127:
                (length,) = struct.unpack(">Q", stream.read(8))
            body = stream.read(length)
            if kind & 15 == 2:
                yield body


def moment(url):
    """Simulated time now."""
    return struct.unpack("<d", next(frames(url))[:8])[0]


def rate(url, seconds):
    """Simulated seconds per second."""
    first, begin = moment(url), time.perf_counter()
    time.sleep(seconds)
    return (moment(url) - first) / (time.perf_counter() - begin)


def listen(url, count):
    for _ in frames(url):
        count.value += 1


@contextlib.contextmanager
def listener(url):
    """Somebody in a process of its own who takes every frame; gives how many came."""
    count = multiprocessing.Value("l", 0)
    process = multiprocessing.Process(target=listen, args=(url, count), daemon=True)
    process.start()
    time.sleep(1)
    yield count
    process.kill()
    process.join()


def measure(browser, composing, folder, options):
    seconds = options.seconds
    out = {}
    times = {os.path.relpath(p, FIXTURES): start(browser, p) for p in models()[:: options.every]}
    times = {path: t for path, t in times.items() if t is not None}
    slowest = sorted(times.items(), key=lambda x: -x[1])[:3]
    out["start of every model, s"] = times
    middle = statistics.median(times.values())
    print(f"start: median {middle:.2f} s of {len(times)} models; slowest:")
    for path, t in slowest:
        print(f"    {t:.2f} s  {path}")

    path = {}
    texts = {"arm.xml": ARM, "chain.xml": chain(400), "ball.obj": ball(101, 100)}
    for name, text in {**texts, "jelly.toml": JELLY}.items():
        path[name] = os.path.join(folder, name)
        with open(path[name], "w") as file:
            file.write(text)
    for name, what in [("chain.xml", "400 links"), ("jelly.toml", "skin of 20,000 triangles")]:
        with program(path[name], "--play") as (_, url), page_of(browser, url) as page:
            page.wait_for_timeout(2000)
            fps, work = pictures(page, seconds)
        out[f"pictures per second, {what}"] = fps
        out[f"work of the page per picture, {what}, ms"] = work
        print(f"{what}: {fps:.1f} pictures/s in software, {work:.2f} ms of the page's work each")

    for name, of in [("pictures copied", browser), ("pictures composed", composing)]:
        with program(path["arm.xml"], "--play") as (_, url), page_of(of, url) as page:
            waits = latency(page, 40)
        for what, times in zip(["a changed pose", "its picture"], waits):
            out[f"latency to {what}, {name}, ms"] = times
            middle, most = statistics.median(times), times[int(0.9 * len(times))]
            print(
                f"latency to {what}, {name}: median {middle:.1f} ms,"
                f" nine of ten below {most:.1f} ms"
            )

    # The chain at its own pace; what a page adds to the program's processor time.
    costs, pace = [], []
    with program(path["chain.xml"], "--play") as (run, url):
        time.sleep(2)

        def cost():
            before, begin = used(run), time.perf_counter()
            time.sleep(seconds)
            return (used(run) - before) / (time.perf_counter() - begin)

        for _ in range(3):
            alone = cost()
            with listener(url) as count:
                first = count.value
                shown = cost()
                pace.append((count.value - first) / seconds)
            costs.append(shown - 0.5 * (alone + cost()))
    out["streaming of 400 links, part of a core"] = costs
    out["frames per second of 400 links"] = pace
    cost, pace = statistics.median(costs), statistics.median(pace)
    print(f"streaming of 400 links: {100 * cost:.1f} % of a core at {pace:.1f} frames/s")

    # The same as fast as it can.
    ratios = []
    with program(path["chain.xml"], "--play") as (_, url):
        with page_of(browser, url) as page:
            page.evaluate("forks.send({type: 'speed', factor: 100})")
        for _ in range(3):
            alone = rate(url, seconds)
            with listener(url):
                shown = rate(url, seconds)
            again = rate(url, seconds)
            ratios.append(shown / statistics.mean([alone, again]))
    out["rate with a page over that without"] = ratios
    print(f"steps with a page: {100 * statistics.median(ratios):.1f} % of those without; {ratios}")
    return out


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--json")
    arguments.add_argument("--seconds", type=float, default=8.0)
    arguments.add_argument("--every", type=int, default=1, help="start every so many-th model only")
    options = arguments.parse_args()
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=SOFTWARE)
        composing = playwright.chromium.launch(executable_path=CHROMIUM, args=COMPOSING)
        out = measure(browser, composing, folder, options)
        out["browser"] = browser.version
        browser.close()
        composing.close()
    if options.json:
        with open(options.json + ".new", "w") as file:
            json.dump(out, file, indent=1)
            file.write("\n")
        os.replace(options.json + ".new", options.json)


if __name__ == "__main__":
    main()
