"""`forks.view`: pages, secrets, ends."""

import threading
import urllib.error
import urllib.request

import pytest

import forks


def page(url):
    with urllib.request.urlopen(url, timeout=20) as answer:
        return answer.read().decode()


def test_a_mechanism_a_model_and_a_scene_are_shown(hand, finger, fixtures):
    scene = forks.load_scene(fixtures / "scenes/hand-ball.toml")
    for shown in (hand, finger, scene):
        with forks.view(shown) as view:
            assert view.url.startswith("http://127.0.0.1:") and not view.closed
            assert "<canvas" in page(view.url)
            assert view.url in repr(view) and view.url in view._repr_html_()
        assert view.closed
    with pytest.raises(forks.HandleError, match="closed"):
        scene.step()


def test_a_wrong_token_sees_nothing_and_a_closed_view_nobody(hand):
    view = forks.view(hand)
    with pytest.raises(urllib.error.HTTPError):
        page(view.url[:-1] + ("0" if view.url[-1] != "0" else "1"))
    view.close()
    with pytest.raises(urllib.error.URLError):
        page(view.url)
    view.close()  # twice does no harm


def test_waiting_ends_when_another_thread_closes_the_view(hand):
    view = forks.view(hand)
    timer = threading.Timer(0.3, view.close)
    timer.start()
    view.wait()
    timer.join()
    assert view.closed


def test_what_is_refused_is_named(hand, finger):
    for call, words in [
        (lambda: forks.view("hand.xml"), "str"),
        (lambda: forks.view(hand, step=0.0), "0"),
        (lambda: forks.view(hand, start="nowhere"), "nowhere"),
        (lambda: forks.view(hand, start=[1.0]), "(1,)"),
        (lambda: forks.view(finger, start=[1.0]), "Mechanism"),
    ]:
        with pytest.raises((ValueError, TypeError)) as e:
            call()
        assert words in str(e.value), (words, str(e.value))
