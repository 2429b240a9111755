"""Reading XML that is not quite well-formed, for `sweep.py`: all readers take it."""

import pathlib
import re
import xml.etree.ElementTree as xml


def root(path):
    """The outermost element: blank lines before the declaration, NUL characters at the end and
    prefixes that
    nobody declared are no reason not to read a file."""
    text = pathlib.Path(path).read_bytes().decode("utf-8", "replace").strip("\ufeff\0 \r\n\t")
    text = re.sub(r"^<\?xml[^>]*\?>", "", text)
    for _ in range(20):
        try:
            return xml.fromstring(text)
        except xml.ParseError as problem:
            if "unbound prefix" not in str(problem):
                raise
            line, column = problem.position
            at = sum(len(l) + 1 for l in text.split("\n")[: line - 1]) + column
            prefix = re.match(r"</?(\w+):|[^>]*?\s(\w+):", text[at:])
            name = prefix.group(1) or prefix.group(2)
            text = re.sub(r"<(robot|mujoco)\b", rf'<\1 xmlns:{name}="urn:{name}"', text, count=1)
    return xml.fromstring(text)
