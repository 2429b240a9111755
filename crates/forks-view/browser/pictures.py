"""Pictures of `forks view` to be looked at; those in `fixtures/view/` were made by this.

    python pictures.py FOLDER

FORKS_PROGRAM names the program, CHROMIUM the browser.
"""

import os
import sys
import tempfile

from playwright.sync_api import sync_playwright

from measure import FIXTURES, page_of, program
from test_page import ARM, CHROMIUM, SOFTWARE, until

MODELS = f"{FIXTURES}/models"
HAND = f"{MODELS}/shadow_hand_right/right_hand.nomesh.xml"


def steps(page, count):
    """Makes steps, and waits until nothing comes any more."""
    page.evaluate(f"forks.send({{type: 'step', count: {count}}})")
    end, last = -1, -2
    while end != last:
        page.wait_for_timeout(3000)
        end, last = page.evaluate("forks.recording.end"), end


def loops(page):
    """Cassie: axes of its joints, springs by what they hold, gaps of its loops."""
    page.check("#show-joints")
    page.check("#show-gaps")
    page.evaluate("forks.send({type: 'pull', body: 3, point: [0, 0, 0], target: [0.1, 0.3, 0.6]})")
    steps(page, 150)
    page.click("[data-view=front]")


def models(page):
    """A hand: full, reduced and blended under the same pull."""
    tip = page.evaluate("forks.scene.bodies.findIndex((b) => b.name.endsWith('ffdistal'))")
    page.evaluate(f"forks.send({{type: 'reduce', bodies: [{tip}]}})")
    until(page, "window.forks?.status?.models?.length === 1")
    page.evaluate(f"forks.send({{type: 'place', bodies: [{tip}], range: 0.3, samples: 4}})")
    until(page, "window.forks?.status?.models?.length === 2 && window.forks.received > 0")
    place = page.evaluate(f"[...forks.scene.poses.slice(POSE * {tip}, POSE * {tip} + 3)]")
    target = [place[0], place[1] + 0.05, place[2] + 0.05]
    page.evaluate(f"forks.send({{type: 'pull', body: {tip}, point: [0, 0, 0], target: {target}}})")
    steps(page, 400)
    page.evaluate(f"forks.select({tip})")
    page.click("[data-view=fit]")


def tissue(page):
    """A worm, its back pulled up by a vertex."""
    skin = page.evaluate("forks.recording.skins[0].body")
    page.evaluate("forks.send({type: 'stiffness', value: 300})")
    pull = f"{{type: 'pull', body: {skin}, point: [0, 0, 0.02], target: [0, 0, 0.4]}}"
    page.evaluate(f"forks.send({pull})")
    steps(page, 60)
    page.click("[data-view=front]")


def driven(page):
    """A humanoid that reaches while its feet stay: the scene's tasks drive it."""
    steps(page, 200)
    page.click("[data-view=fit]")


def main():
    folder = sys.argv[1]
    views = [
        ("cassie-springs-and-gaps", f"{MODELS}/agility_cassie/cassie.xml", [], loops),
        ("hand-full-reduced-blended", HAND, [], models),
        ("worm-pulled", f"{FIXTURES}/tissue/worm-wave.toml", [], tissue),
        ("humanoid-driven", f"{FIXTURES}/scenes/direct/humanoid-reaches.toml", ["--full"], driven),
    ]
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as own:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=SOFTWARE)
        for name, path, arguments, prepare in views:
            with program(path, *arguments) as (_, url), page_of(browser, url) as page:
                prepare(page)
                page.wait_for_timeout(500)
                page.screenshot(path=f"{folder}/{name}.png")
                print(name, page.inner_text("#problem"))
        broken = os.path.join(own, "arm.xml")
        with open(broken, "w") as file:
            file.write(ARM.replace('stiffness="5"', 'stiffness="five"'))
        with program(broken) as (_, url):
            page = browser.new_page(viewport={"width": 1100, "height": 400})
            page.goto(url)
            page.screenshot(path=f"{folder}/broken-file.png")
        browser.close()


if __name__ == "__main__":
    main()
