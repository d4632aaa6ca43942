"""The report as one HTML file: nothing is fetched, no script runs, all data is escaped text.

Per logical charge a small picture: the attempts on a line from left to right, their keys by colour
(and by letter, for those who see colours otherwise), the objects they made below.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from pytest_stripe_idem.report.story import Story
from pytest_stripe_idem.report.summary import document

_COLOURS = ("#0b6bcb", "#c2410c", "#15803d", "#7e22ce", "#b91c1c", "#0f766e", "#a16207", "#475569")

_STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }
body { max-width: 72rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.4rem } h2 { font-size: 1rem; margin: 0 }
pre, code, td, svg text { font-family: ui-monospace, monospace; font-size: .85rem }
pre { overflow-x: auto; padding: .8rem; border-left: 4px solid #b91c1c; background: #b91c1c14 }
pre.warning { border-color: #a16207; background: #a1620714 }
section { border: 1px solid #8884; border-radius: .5rem; padding: 1rem; margin: 1rem 0 }
.charge { margin: .8rem 0 } .passed { color: #15803d } .failed { color: #b91c1c }
table { border-collapse: collapse; display: block; overflow-x: auto }
td, th { padding: .15rem .8rem .15rem 0; text-align: left; white-space: nowrap }
svg { max-width: 100%; height: auto } svg text { fill: currentColor }
"""

_HEAD = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Fake Stripe: charges and keys</title>
<style>{style}</style>
</head>
<body>
"""


def rendered(stories: Sequence[Story]) -> str:
    """The whole page."""
    totals: Any = document(stories)["totals"]
    counts = ", ".join(f"{number} {escape(name)}" for name, number in totals.items())
    parts = [
        _HEAD.format(style=_STYLE),
        f"<h1>Fake Stripe: charges and keys</h1>\n<p>{counts}</p>\n",
        *map(_test, stories),
        "</body>\n</html>\n",
    ]
    return "".join(parts)


def _test(story: Story) -> str:
    outcome = "passed" if story["outcome"] == "passed" else "failed"
    parts = [f'<section><h2><span class="{outcome}">{escape(story["outcome"])}</span> ']
    parts += [f"<code>{escape(story['test'])}</code></h2>\n"]
    parts += [_divergence(each) for each in story["divergences"]]
    parts += [_charge(each) for each in story["charges"]]
    return "".join([*parts, "</section>\n"])


def _divergence(found: dict[str, Any]) -> str:
    severity = "error" if found["severity"] == "error" else "warning"
    return f'<pre class="{severity}">{escape(found["text"])}</pre>\n'


def _charge(charge: dict[str, Any]) -> str:
    requests = charge["requests"]
    colours = _colours(requests)
    return (
        f'<div class="charge"><code>{escape(charge["what"])}</code><br>\n'
        f"{_picture(requests, colours)}\n<table>{''.join(map(_row, requests))}</table></div>\n"
    )


def _colours(requests: Sequence[dict[str, Any]]) -> dict[str, int]:
    """A number for each key, in the order they were sent; requests without one get their own."""
    found: dict[str, int] = {}
    for each in requests:
        found.setdefault(_key_of(each), len(found))
    return found


def _key_of(request: dict[str, Any]) -> str:
    return str(request["key"] or f"none {request['number']}")


_STEP, _LEFT, _LINE, _BELOW = 130, 40, 30, 72


def _picture(requests: Sequence[dict[str, Any]], colours: dict[str, int]) -> str:
    width = _LEFT * 2 + _STEP * max(len(requests) - 1, 0) + 80
    dots = "".join(
        _attempt(_LEFT + place * _STEP, each, colours[_key_of(each)])
        for place, each in enumerate(requests)
    )
    objects = len({each["object"] for each in requests if each["executed"] and each["object"]})
    label = escape(f"{len(requests)} attempts, {len(colours)} keys, {objects} objects made")
    return (
        f'<svg width="{width}" height="92" viewBox="0 0 {width} 92" role="img"'
        f' aria-label="{label}"><title>{label}</title>'
        f'<line x1="{_LEFT}" y1="{_LINE}" x2="{width - _LEFT - 80}" y2="{_LINE}"'
        f' stroke="currentColor" stroke-opacity=".3"/>{dots}</svg>'
    )


def _attempt(x: int, each: dict[str, Any], number: int) -> str:
    """A dot for the attempt, hollow where its answer was lost; a box for the object it made."""
    colour = _COLOURS[number % len(_COLOURS)]
    fill = colour if each["delivered"] else "none"
    letter = chr(ord("A") + number % 26)
    parts = [
        f'<circle cx="{x}" cy="{_LINE}" r="10" fill="{fill}" stroke="{colour}" stroke-width="3"/>',
        f'<text x="{x + 15}" y="{_LINE - 8}">{letter}</text>',
    ]
    if each["executed"] and each["object"]:
        parts += [
            f'<line x1="{x}" y1="{_LINE + 12}" x2="{x}" y2="{_BELOW - 14}" stroke="{colour}"/>',
            f'<rect x="{x - 7}" y="{_BELOW - 14}" width="14" height="14" fill="{colour}"/>',
            f'<text x="{x + 12}" y="{_BELOW - 2}">{escape(str(each["object"]))}</text>',
        ]
    return "".join(parts)


def _row(each: dict[str, Any]) -> str:
    cells = (
        each["key"] or "no key",
        f"{each['key_look'] or ''}{', automatic' if each['automatic'] else ''}",
        each["object"] or "",
        each["outcome"],
        each["place"],
    )
    return f"<tr>{''.join(_cells(cells))}</tr>"


def _cells(values: Iterable[str]) -> Iterable[str]:
    return (f"<td>{escape(value)}</td>" for value in values)
