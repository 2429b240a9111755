"""`forks view` in a real browser: what a person does with the mouse.

FORKS_PROGRAM names the program, CHROMIUM the browser (default: `chromium` on the path).
FORKS_LONG=1 watches the memory of a page for ten minutes instead of twenty seconds.
"""

import os
import shutil
import subprocess
import time
import urllib.error
import urllib.request

import pytest
from playwright.sync_api import Error as PageError
from playwright.sync_api import sync_playwright

PROGRAM = os.environ.get("FORKS_PROGRAM", "forks")
NAMES = ["chromium", "chromium-browser", "google-chrome"]
CHROMIUM = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
MODELS = os.path.join(os.path.dirname(__file__), "../../../fixtures/models")
PATIENCE = 120  # s
PLACE = (
    "affinePoint(affineOfPose(forks.scene.poses, POSE * {body}, UNIT_SCALE, new Float64Array(12)),"
    " {point})"
)
# A point near the end of the arm.
TIP = [0.25, 0, 0]

# Two links on sprung hinges in a plane, drawn as capsules.
ARM = """<mujoco><option gravity="0 0 0"/><worldbody><body name="upper">
<joint name="a" axis="0 1 0" stiffness="5" damping="0.3"/>
<geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0"/>
<body name="lower" pos="0.3 0 0"><joint name="b" axis="0 1 0" stiffness="5" damping="0.3"/>
<geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0"/></body></body></worldbody></mujoco>"""


# Software rendering, wherever this runs.
SOFTWARE = ["--no-sandbox", "--enable-unsafe-swiftshader"]


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=SOFTWARE)
        yield chromium
        chromium.close()


@pytest.fixture
def view(browser, tmp_path):
    """Opens a file; gives the page and the address. Messages of the page must be none."""
    opened = []

    def start(path=None, *arguments):
        if path is None:
            path = tmp_path / "arm.xml"
            path.write_text(ARM)
        command = [PROGRAM, "view", str(path), *arguments]
        program = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        url = program.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:"), url
        page = browser.new_page(viewport={"width": 1100, "height": 760})
        said = []
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("console", lambda m: said.append(m.text) if m.type == "error" else None)
        opened.append((program, page, said))
        page.goto(url, wait_until="commit")
        ready(page)
        return page, url

    yield start
    for program, page, said in opened:
        page.close()
        program.terminate()
        program.wait()
        assert said == []


def ready(page):
    until(
        page,
        "document.documentElement.dataset.drawn === 'scene' && window.forks?.received > 0"
        " && window.forks.status.picture !== undefined",
    )


def now(page, what):
    return page.evaluate(f"forks.{what}")


def place(page, body, point):
    """Where a point of a body is in the world."""
    return page.evaluate(f"() => {PLACE.format(body=body, point=point)}")


def pixel(page, body, point):
    """Where a point of a body is on the screen."""
    return page.evaluate(
        """([x, y, z]) => {
            const c = forks.canvas, box = c.getBoundingClientRect();
            const m = forks.camera.matrix(c.clientWidth / c.clientHeight);
            const row = (r) => m[r] * x + m[4 + r] * y + m[8 + r] * z + m[12 + r];
            const [px, py] = [0.5 + (0.5 * row(0)) / row(3), 0.5 - (0.5 * row(1)) / row(3)];
            return [box.left + px * c.clientWidth, box.top + py * c.clientHeight];
        }""",
        place(page, body, point),
    )


def until(page, condition):
    """Asks again and again from outside: the page's policy lets nothing be evaluated inside."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            if page.evaluate(f"() => Boolean({condition})"):
                return
        except PageError as error:
            if "context was destroyed" not in str(error):  # it loads anew
                raise
        page.wait_for_timeout(50)
    raise AssertionError(f"never: {condition}")


# A cart on a sprung slide and a bent arm on a sprung hinge, held to the ground by a loop.
LOOP = """<mujoco><option gravity="0 0 -9.81"/><worldbody>
<body name="cart"><joint name="s" type="slide" axis="1 0 0" stiffness="40" springref="0.05"
damping="1"/><geom type="box" size="0.04 0.03 0.02"/>
<body name="arm" pos="0 0 0.1"><joint name="h" axis="0 1 0" stiffness="3" springref="-200"
damping="0.02"/><geom type="capsule" size="0.02" fromto="0 0 0 0 0 0.3"/>
<body name="end" pos="0 0 0.3"><joint name="e" axis="0 1 0" stiffness="1" damping="0.02"/>
<geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0"/></body></body></body></worldbody>
<equality><connect name="pin" body1="end" anchor="0.3 0 0"/></equality></mujoco>"""


# A chain on ball joints whose springs hold it, the first far from its rest.
BALLS = """<mujoco><worldbody><body name="a" pos="0 0 1" quat="0.5 0.5 0.2 -0.3">
<joint name="a" type="ball" stiffness="6" damping="0.05"/>
<geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0"/>
<body name="b" pos="0.3 0 0"><joint name="b" type="ball" stiffness="2" damping="0.02"/>
<geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0"/></body></body></worldbody></mujoco>"""


def held_and_said(page):
    """What the page finds that springs hold, from poses alone, and what the program says."""
    return page.evaluate(
        """() => {
            forks.goTo(forks.recording.end);
            forks.scene.at(forks.time);
            const { joints } = forks.scene;
            const all = joints.all.flatMap((j) => [j.energy, ...j.energies]);
            const said = forks.recording.series.find((s) => s.name === "elastic").values.at(-1);
            return [all.reduce((a, b) => a + b, 0), said];
        }"""
    )


def test_ball_joints_show_what_their_springs_hold(view, tmp_path):
    path = tmp_path / "balls.xml"
    path.write_text(BALLS)
    page, _ = view(path)
    page.check("#show-joints")
    pull = "{type: 'pull', body: 1, point: [0.2, 0, 0], target: [-0.3, 0.3, 1.2]}"
    page.evaluate(f"forks.send({pull})")
    for count in [40, 200, 400]:
        end = now(page, "recording.end") + 0.002 * count
        page.evaluate(f"forks.send({{type: 'step', count: {count}}})")
        until(page, f"Math.abs(forks.recording.end - {end}) < 1e-9")
        shown, held = held_and_said(page)
        assert held > 1e-2 and abs(shown - held) < 1e-4 * held
    page.wait_for_timeout(300)
    assert page.inner_text("#joint-note").startswith("springs hold")


def test_joints_show_what_their_springs_hold(view, tmp_path):
    path = tmp_path / "loop.xml"
    path.write_text(LOOP)
    page, _ = view(path)
    assert page.is_visible("#joints-label") and page.is_visible("#gaps-label")
    page.check("#show-joints")
    page.check("#show-gaps")
    page.click("#play")
    until(page, "forks.recording.frames > 20")
    page.click("#play")
    until(page, "!forks.status.moving")
    page.wait_for_timeout(300)
    shown, held = held_and_said(page)
    assert held > 1e-3 and abs(shown - held) < 1e-4 * held
    gaps = page.evaluate("() => forks.scene.joints.all.filter((j) => j.closes).map((j) => j.gap)")
    assert len(gaps) == 1 and gaps[0] < 1e-5
    until(page, "document.getElementById('joint-note').textContent.startsWith('springs hold')")
    assert "loops open by less than" in page.inner_text("#joint-note")
    assert [t for t in page.locator("#labels span").all_inner_texts() if "pin" in t]
    # Nothing to show where there is no loop.
    arm, _ = view()
    assert arm.is_visible("#joints-label") and not arm.is_visible("#gaps-label")


def test_moments_are_kept_with_their_pictures(view):
    page, _ = view()
    assert page.locator("#keys > div").count() == 1
    page.click("#forward")
    until(page, "forks.recording.end > 0")
    time = now(page, "recording.end")
    page.click("#keep")
    until(page, "document.querySelectorAll('#keys img').length === 1")
    until(page, "document.querySelector('#keys img').naturalWidth === 144")
    page.locator("#keys > div").first.locator("button").click()
    until(page, "forks.recording.end === 0")
    page.locator("#keys > div").last.locator("button").first.click()
    until(page, f"forks.recording.end === {time}")
    # Pictures survive a page that loads anew.
    page.reload()
    ready(page)
    until(page, "document.querySelectorAll('#keys img').length === 1")
    page.click("#keys .drop")
    until(page, "document.querySelectorAll('#keys > div').length === 1")


def test_a_body_follows_the_mouse(view):
    page, _ = view()
    page.click("[data-view=front]")
    page.wait_for_timeout(300)
    before = place(page, 1, TIP)[2]
    height = PLACE.format(body=1, point=TIP) + "[2]"
    x, y = pixel(page, 1, TIP)
    page.click("#play")
    until(page, "forks.status.moving")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 60, steps=6)
    until(page, f"{height} > {before + 0.05}")
    assert page.evaluate("() => forks.pulled !== null")
    assert page.inner_text("#pull-force").endswith("N")
    page.mouse.up()
    # The springs bring it back.
    until(page, f"Math.abs({height} - {before}) < 0.01")
    # A drag beside the body turns the camera and pulls nothing.
    azimuth = now(page, "camera.azimuth")
    page.mouse.move(60, 200)
    page.mouse.down()
    page.mouse.move(160, 200, steps=3)
    page.mouse.up()
    assert now(page, "camera.azimuth") != azimuth and now(page, "pulled") is None


def chain(links):
    """A chain of sprung hinges, every other one turned by a right angle."""
    bodies, end = "", ""
    for k in range(links):
        at = "0.05 0 0" if k else "0 0 1"
        axis = "0 1 0" if k % 2 else "0 0 1"
        bodies += f"""<body name="b{k}" pos="{at}">
<joint name="j{k}" axis="{axis}" stiffness="20" damping="0.05"/>
<geom type="capsule" size="0.01" fromto="0 0 0 0.05 0 0"/>"""
        end += "</body>"
    return f"<mujoco><worldbody>{bodies}{end}</worldbody></mujoco>"


# How many instances are drawn, how many of them together, and how many corners all have.
DRAWN = """() => {
    const { scene, renderer } = forks, content = scene.at(forks.time);
    const sum = (list, of) => list.reduce((total, x) => total + of(x), 0);
    const corners = (b) => b.count * scene.surfaces[b.surface].positions.length / 3;
    const together = sum(content.unrolled, (u) => u.count);
    return { software: renderer.software, together,
        count: together + sum(content.opaque, (b) => b.count),
        corners: sum(content.unrolled, (u) => u.corners) + sum(content.opaque, corners) };
}"""


def test_links_are_as_round_as_they_are_large_and_met_where_they_are(view, tmp_path):
    path = tmp_path / "chain.xml"
    path.write_text(chain(100))
    page, _ = view(path)
    page.click("[data-view=front]")
    page.wait_for_timeout(300)
    far = page.evaluate(DRAWN)
    assert far["software"] and far["together"] == far["count"] == 300
    for body in (0, 33, 99):
        page.mouse.click(*pixel(page, body, "[0.025, 0, 0]"))
        assert now(page, "scene.selected") == body
    # From near by some are beside the picture, and the others rounder.
    page.evaluate("() => { forks.camera.distance = 0.2; forks.changed(); }")
    page.wait_for_timeout(300)
    near = page.evaluate(DRAWN)
    assert 0 < near["count"] < 100
    assert near["corners"] / near["count"] > 5 * far["corners"] / far["count"]


# Pictures that take so long, every one followed by a turn without; how sharp they become.
TAKING = """(times) => {
    const pace = new Sharpness(), found = [];
    let now = 0;
    for (const time of times) {
        for (let k = 0; k < 60; k++) {
            pace.drawn(now);
            pace.turn(now + time);
            now += time + 16;
        }
        found.push(pace.moving);
    }
    return [...found, pace.still(now), pace.still(now + 300)];
}"""


def test_pictures_are_less_sharp_only_where_drawing_is_slow(view):
    page, _ = view()
    slow, well, quick, resting, rested = page.evaluate(TAKING, [100, 30, 16])
    assert slow == well == 0.4 and quick == 1
    assert not resting and rested


# Three links without springs, which fall if nothing holds them.
CRANE = """<mujoco><worldbody><body name="a" pos="0 0 0.5">
<joint name="a" axis="0 1 0" damping="0.02"/>
<geom type="capsule" size="0.02" fromto="0 0 0 0.2 0 0"/>
<body name="b" pos="0.2 0 0"><joint name="b" axis="0 1 0" damping="0.02"/>
<geom type="capsule" size="0.02" fromto="0 0 0 0.2 0 0"/>
<body name="c" pos="0.2 0 0"><joint name="c" axis="0 1 0" damping="0.02"/>
<geom type="capsule" size="0.02" fromto="0 0 0 0.2 0 0"/>
</body></body></body></worldbody></mujoco>"""


def test_commands_and_poses_bring_a_body_to_the_mouse(view, tmp_path):
    path = tmp_path / "crane.xml"
    path.write_text(CRANE)
    page, _ = view(path)
    page.click("[data-view=front]")
    page.wait_for_timeout(300)
    end = [0.19, 0, 0]
    height = PLACE.format(body=2, point=end) + "[2]"

    def drag(by, up, on=lambda: None):
        page.select_option("#by", by)
        page.focus("#scene")
        page.click("[data-view=fit]")
        page.wait_for_timeout(300)
        x, y = pixel(page, 2, end)
        before = place(page, 2, end)[2]
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x - 15, y - up, steps=5)
        on()
        until(page, f"{height} > {before + 0.05}")
        until(page, "document.getElementById('pull-force').textContent.endsWith('mm off')")
        until(page, "parseFloat(document.getElementById('pull-force').textContent) < 2")

    # By its pose while it rests: it stays where it was brought, and falls when time goes on.
    drag("pose", 60)
    page.mouse.up()
    assert now(page, "recording.end") == 0 and not now(page, "status.moving")
    high = place(page, 2, end)[2]
    page.wait_for_timeout(300)
    assert abs(place(page, 2, end)[2] - high) < 1e-6
    page.click("#play")
    until(page, f"{height} < {high - 0.1}")
    page.click("#play")
    until(page, "!forks.status.moving")
    # By commands: it is held there against gravity.
    drag("commands", 80, lambda: page.keyboard.press("Space"))
    held = place(page, 2, end)[2]
    page.wait_for_timeout(500)
    assert abs(place(page, 2, end)[2] - held) < 5e-3
    page.mouse.up()
    until(page, f"{height} < {held - 0.1}")


def test_tissue_is_pulled_by_its_skin(view):
    page, _ = view(os.path.join(MODELS, "../tissue/worm-wave.toml"), "--play")
    until(page, "forks.recording.end > 0.05")
    assert now(page, "recording.skins.length") == 1
    page.click("#play")
    until(page, "!forks.status.moving")
    skin = now(page, "recording.skins[0].body")
    surface = "forks.scene.surfaces[forks.scene.skins[0].surface].positions"
    heights = f"{surface}.filter((_, i) => i % 3 === 2)"
    top = f"(forks.scene.at(forks.time), Math.max(...{heights}))"
    before = page.evaluate(f"() => {top}")
    page.evaluate("forks.send({type: 'stiffness', value: 500})")
    pull = "{type: 'pull', body: %d, point: [0, 0, 0.02], target: [0, 0, 0.5]}" % skin
    page.evaluate(f"forks.send({pull})")
    page.evaluate("forks.send({type: 'step', count: 30})")
    until(page, f"{top} > {before + 0.02}")
    # What was before comes back with its skin.
    page.evaluate("forks.goTo(forks.recording.start)")
    assert page.evaluate(f"() => {top}") < before + 0.02


def test_skins_of_reduced_models_are_pulled_by_their_pads(view, tmp_path):
    model, soft = str(tmp_path / "finger.forks"), os.path.join(MODELS, "../soft/finger.toml")
    subprocess.run([PROGRAM, "reduce", soft, "--effector", "pad", "-o", model], check=True)
    page, _ = view(model)
    skin = now(page, "recording.skins[0].body")
    assert skin in now(page, "status.feels")
    before = page.evaluate("[...forks.recording.skins[0].places.slice(-90)]")
    page.evaluate("forks.send({type: 'stiffness', value: 20})")
    pull = "{type: 'pull', body: %d, point: [0.03, 0, 0], target: [0.1, 0, 0.05]}" % skin
    page.evaluate(f"forks.send({pull})")
    page.evaluate("forks.send({type: 'step', count: 200})")
    until(page, "forks.recording.end > 0.39")
    # It bends: corners move in the box around them.
    after = page.evaluate("[...forks.recording.skins[0].places.slice(-90)]")
    assert max(abs(a - b) for a, b in zip(before, after)) > 1000


def test_a_broken_file_says_what_is_wrong_until_it_is_mended(browser, tmp_path):
    path = tmp_path / "broken.xml"
    path.write_text(ARM.replace('stiffness="5"', 'stiffness="five"'))
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([PROGRAM, "view", str(path)], **pipes) as program:
        url = program.stdout.readline().strip()
        page = browser.new_page()
        page.goto(url)
        assert page.inner_text("h1") == "broken.xml"
        assert "five" in page.inner_text("#problem")
        path.write_text(ARM)
        until(page, "window.forks?.received > 0")
        page.close()
        program.terminate()
        said = program.stderr.read()
        assert said.startswith("error: ") and "five" in said
    none = [PROGRAM, "view", str(tmp_path / "none.xml")]
    missing = subprocess.run(none, capture_output=True, text=True)
    assert missing.returncode == 1 and "none.xml" in missing.stderr


def test_rewinding_brings_every_bit_back(view):
    page, _ = view(None, "--step", "0.001")
    page.evaluate("forks.send({type: 'servo', index: 0, target: 0})")  # there is none: a sentence
    until(page, "!document.getElementById('problem').hidden")
    pull = "forks.send({type: 'pull', body: 1, point: [0.2, 0, 0], target: [0.4, 0, 0.2]})"
    page.evaluate(pull)
    page.evaluate("forks.send({type: 'step', count: 300})")
    until(page, "Math.abs(forks.recording.end - 0.3) < 1e-9")
    page.evaluate("forks.send({type: 'release'})")
    page.evaluate("forks.send({type: 'step', count: 1})")
    until(page, "Math.abs(forks.recording.end - 0.301) < 1e-9")
    page.evaluate("forks.send({type: 'step', count: 200})")
    until(page, "Math.abs(forks.recording.end - 0.501) < 1e-9")
    late = page.evaluate("[...forks.recording.poses.slice(-14)]")
    page.evaluate("forks.send({type: 'rewind', time: 0.301})")
    until(page, "Math.abs(forks.recording.end - 0.301) < 1e-9")
    page.evaluate("forks.send({type: 'step', count: 200})")
    until(page, "Math.abs(forks.recording.end - 0.501) < 1e-9")
    assert page.evaluate("[...forks.recording.poses.slice(-14)]") == late


def test_the_reduced_model_stands_beside_the_mechanism(view):
    page, _ = view()
    page.click("#bodies li:nth-child(2) .name")
    page.click("#effector")
    page.click("#reduce")
    until(page, "window.forks?.status?.models?.length && forks.scene.bodies.length === 4")
    ready(page)
    assert "coordinates" in page.inner_text("#models")
    page.evaluate("forks.send({type: 'step', count: 50})")
    until(page, "forks.recording.end > 0.09")
    assert number(page, "reduced off by") < 1
    page.click("#unreduce")
    until(page, "window.forks?.scene?.bodies.length === 2")


def number(page, series):
    """The last value of a series."""
    find = f"forks.recording.series.find((s) => s.name === '{series}')"
    return page.evaluate(f"() => {find}.values.at(-1)")


def test_full_reduced_and_blended_stand_beside_each_other(view):
    """[A16] 8.1: pull, reduce, place a blend, add a linearisation where the mechanism is, save."""
    page, url = view()
    page.click("#bodies li:nth-child(2) .name")
    page.click("#effector")
    page.click("#reduce")
    until(page, "window.forks?.status?.models?.length === 1 && forks.scene.bodies.length === 4")
    ready(page)
    page.fill("#samples", "2")
    page.click("#place")
    until(page, "window.forks?.status?.models?.length === 2 && forks.scene.bodies.length === 6")
    ready(page)
    assert "samples in" in page.inner_text("#models")
    pull = "forks.send({type: 'pull', body: 1, point: [0.2, 0, 0], target: [0.1, 0, 0.5]})"
    page.evaluate(pull)
    page.evaluate("forks.send({type: 'step', count: 600})")
    until(page, "forks.recording.end > 1.19")
    reduced, blended = number(page, "reduced off by"), number(page, "blended off by")
    # The one sample that the range needs is that of the single model.
    assert blended <= 1.001 * reduced
    assert number(page, "full") > 0
    with urllib.request.urlopen(url.replace("/?", "/model/blended?")) as answer:
        assert len(answer.read()) > 100
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(url.replace("/?", "/model/other?"))
    assert refused.value.code == 404


def test_a_linearisation_is_added_where_the_mechanism_is(view):
    page, _ = view()
    page.click("#bodies li:nth-child(2) .name")
    page.click("#effector")
    pull = "forks.send({type: 'pull', body: 1, point: [0.2, 0, 0], target: [0.2, 0, 0.5]})"
    page.evaluate(pull)
    page.evaluate("forks.send({type: 'step', count: 600})")
    until(page, "forks.recording.end > 1.19")
    page.click("#extend")
    until(page, "window.forks?.status?.models?.length === 1 && forks.scene.bodies.length === 4")
    ready(page)
    assert "2 samples" in page.inner_text("#models")
    page.click("#extend")
    until(page, "document.getElementById('models').textContent.includes('3 samples')")
    page.evaluate("forks.send({type: 'step', count: 600})")
    until(page, "forks.recording.end > 2.39")
    # At the point that was added both hold the same pose under the same force.
    assert number(page, "blended off by") < 1


def test_a_placement_can_be_given_up(view):
    page, _ = view(os.path.join(MODELS, "shadow_hand_right/right_hand.nomesh.xml"))
    page.evaluate("forks.send({type: 'place', bodies: [5], range: 1, samples: 8})")
    until(page, "!document.getElementById('cancel').hidden")
    page.click("#cancel")
    until(page, "document.getElementById('cancel').hidden")
    assert now(page, "status.models") == []


def test_a_page_that_loads_again_goes_on(view):
    page, url = view()
    page.click("#play")
    until(page, "forks.recording.end > 0.2")
    page.reload()
    ready(page)
    until(page, "forks.recording.end > 0.3")
    assert now(page, "status.moving")
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(url.split("?")[0] + "?token=" + "0" * 32)
    assert refused.value.code == 403


@pytest.mark.parametrize(
    "path", ["dmc_humanoid_CMU/humanoid_CMU.xml", "../scenes/hand-ball.toml"]
)
def test_scenes_and_real_models_are_shown(view, path):
    page, _ = view(os.path.join(MODELS, path), "--play")
    until(page, "forks.recording.end > 0.05")


def test_tasks_of_a_scene_drive_it_and_are_watched(view):
    page, _ = view(os.path.join(MODELS, "../scenes/direct/cassie-squats.toml"), "--play", "--full")
    until(page, "forks.recording.end > 0.05")
    assert page.evaluate("() => forks.recording.series.some((s) => s.name.includes(': '))")


def test_memory_does_not_grow(view):
    page, _ = view(None, "--play")
    seconds = 600 if os.environ.get("FORKS_LONG") else 20
    session = page.context.new_cdp_session(page)

    def used():
        session.send("HeapProfiler.collectGarbage")
        return session.send("Runtime.getHeapUsage")["usedSize"]

    page.wait_for_timeout(5000)
    before = used()
    page.wait_for_timeout(1000 * seconds)
    # Frames that are kept: 60 a second of two poses and four numbers, arrays that double.
    assert used() < before + 30e6
