"""How deep a text nests is told without recursion, and never too low."""

from __future__ import annotations

import ast
import io
import tokenize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripe_idem_lint.source.depth import MOST_BRACKETS, MOST_OPERATORS, Depth, depth_of


@pytest.mark.parametrize(
    ("text", "brackets", "operators"),
    [
        ("", 0, 0),
        ("x = 1\n", 0, 0),
        ("x = f(a + -b, [c.d])\n", 2, 3),
        ("f(a)(b)(c)", 1, 3),
        ("x = (a\n + b\n + c)", 1, 3),
        ("a + b\nc + d\n", 0, 1),
        ("a + b; c + d", 0, 1),
        ("f(-a, -b, -c)", 1, 2),
        ("{'a': -1, 'b': -2}", 1, 2),
        ("not not not a", 0, 3),
        ("a if b else c if d else e", 0, 2),
        ("lambda: lambda: 1", 0, 2),
        ("lambda x, y: lambda z, w: 1", 0, 2),
        ("a = lambda x: 1\nb = lambda x: 1", 0, 1),
        # Text and comments hide what they hold, but for the expressions in format strings.
        ("x = '((((' + \"[[[\" # {{{\n", 0, 1),
        ("rb'''(\n((''' ", 0, 0),
        ("'\\'((' + '\\\\' + '('", 0, 2),
        ("'abc\\\n(((' (", 1, 1),
        ("print'('", 0, 0),
        ("f'{x}'", 2, 0),
        ("f'{{((' + '('", 1, 1),
        ("f'''{\n(1)}'''", 3, 1),
        ("f\"{x['a']:%H:%M((}\"", 3, 1),
        ("f'{x:{y}}' + f'{z!r:>{w}}'", 4, 1),
        ('f"{f"{1}"}"', 4, 0),
        ("rf'\\{x}'", 2, 0),
        # Branches nest one in another.
        ("if a:\n 1\nelif b:\n 1\nelif c:\n 2\n", 0, 2),
        ("if a:\n 1\nelif b:\n 1\nif c:\n 2\nelif d:\n 1\n", 0, 1),
        ("if x:\n  if y: 1\n  elif z: 2\n  elif z: 2\nelif w: 1\n", 0, 2),
        ("if x:\n  1\nelif w:\n  if y: 1\n  elif z: 2\n  elif z: 2\n", 0, 3),
        ("if x:\n  1\n# elif\n\nelif w:\n  1\n", 0, 1),
        # What is no Python is measured as well.
        ("'unterminated (\n((", 2, 2),
        (")))", 0, 0),
        ("\\", 0, 0),
        ("f'", 1, 0),
        ("f'{", 2, 0),
        ("f'{x", 2, 0),
        ("\x0c((\r(\r\n(", 4, 4),
    ],
)
def test_the_depth_of_a_text(text: str, brackets: int, operators: int) -> None:
    depth = depth_of(text)
    assert (depth.brackets, depth.operators) == (brackets, operators)
    assert depth.offset is None
    assert depth.excess == ""


def test_the_place_where_a_limit_is_passed_is_told() -> None:
    depth = depth_of("x = " + "(" * 300 + ")" * 300)
    assert depth == Depth(MOST_BRACKETS + 1, MOST_BRACKETS + 1, 201, 4 + MOST_BRACKETS + 1)
    assert depth.excess == "more than 200 brackets inside one another"
    depth = depth_of("x = " + "- " * 5000 + "1")
    assert depth.operators == MOST_OPERATORS + 1
    assert depth.excess == "more than 1000 operators inside one another"


def test_a_file_of_too_many_tokens_is_told_from_a_deep_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stripe_idem_lint.source.depth.MOST_TOKENS", 100)
    assert depth_of("x = [" + "1," * 40 + "]").excess == ""
    assert depth_of("x = [" + "1," * 200 + "]").excess == "more than 100 tokens"


@pytest.mark.parametrize(
    "text",
    [
        "{" * 60_000,
        "f'{" * 60_000,
        "a." * 100_000,
        "elif x:\n" * 50_000,
        "'" * 99_999,
        "\\\n" * 99_999,
    ],
)
def test_measuring_ends_soon_whatever_the_text(text: str) -> None:
    assert depth_of(text).tokens < 200_000


_NAMES = st.sampled_from(["a", "b", "print", "f", "rb"])
_ATOMS = st.one_of(
    _NAMES,
    st.sampled_from(
        ["1", "1.5", "'('", '"[#"', "b'{'", "f'{a}'", "f'{{'", "'''\n('''", "rf'{b:{a}}'"]
    ),
)
_EXPRESSIONS = st.recursive(
    _ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.tuples(_NAMES, inner).map(lambda p: f"{p[0]}({p[1]})"),
        st.tuples(inner, inner).map(lambda p: f"{{{p[0]}: {p[1]}}}"),
        st.tuples(inner, inner).map(lambda p: f"({p[0]}\n + {p[1]})"),
        inner.map(lambda text: f"(not {text})"),
        inner.map(lambda text: f"(lambda x, y: {text})"),
        inner.map(lambda text: f"(  # ((\n{text})"),
    ),
    max_leaves=25,
)


def _tokens_depth(text: str) -> int:
    """How deep brackets nest, by Python's own tokenizer."""
    depth = most = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.OP and token.string in "([{":
            depth += 1
            most = max(most, depth)
        elif token.type == tokenize.OP and token.string in ")]}":
            depth -= 1
    return most


@given(_EXPRESSIONS)
def test_brackets_are_counted_as_python_counts_them(expression: str) -> None:
    text = f"x = {expression}\ny = 1\n"
    ast.parse(text)
    # Format strings count their braces here, and in Python's tokenizer from 3.12 on.
    slack = 4 if "f'" in text else 0
    assert _tokens_depth(text) <= depth_of(text).brackets <= _tokens_depth(text) + slack
