"""How deep a text nests, told before libcst parses it: its parser recurses on the native stack.

A segmentation fault cannot be caught, so a text is measured first and refused above a limit. The
scan reads tokens, never a tree, and needs no stack:

    x = f(a + -b, [c.d])      # brackets  operators
        f                     #     0         0
         (                    #     1         1     an opening bracket also continues its operand
          a + -b              #     1         3
                ,             #     1         1     operators of the argument are done
                  [           #     2         2
                   c.d        #     2         3
                      ])      #     0         1     and the end of the line sets all to 0

Measured (libcst 1.9, Linux, 8 MiB of stack): brackets overflow at 1,000 to 1,400 in one another,
chains of operators at 3,000 to 10,000; time grows with the square (300 brackets or 1,000 operators:
up to a second). CPython itself refuses 200 brackets, so the limit refuses no program that runs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MOST_BRACKETS = 200
"""As in CPython (`MAXLEVEL` of its tokenizer)."""

MOST_OPERATORS = 1000
"""Operators, attributes, calls, lambdas and `elif`s that nest without brackets, added up over all
brackets that are open."""

MOST_TOKENS = 500_000
"""Tokens other than names: libcst takes 2.6 KB and 25 µs for each, so this is 1.3 GB and 12 s.
Of 17,000 files of the standard library and a hundred packages the largest has 90,000."""


@dataclass(frozen=True, slots=True)
class Depth:
    """The deepest place of a text.

    Attributes:
        brackets: How many are open at most, format strings included.
        operators: How many operators wait for one another at most.
        tokens: How many there are, names not counted.
        offset: Where a limit was passed, in characters; None: nowhere.
    """

    brackets: int
    operators: int
    tokens: int
    offset: int | None = None

    @property
    def excess(self) -> str:
        """Which limit was passed, in words; empty if none."""
        if self.brackets > MOST_BRACKETS:
            return f"more than {MOST_BRACKETS} brackets inside one another"
        if self.operators > MOST_OPERATORS:
            return f"more than {MOST_OPERATORS} operators inside one another"
        return f"more than {MOST_TOKENS:,} tokens" if self.tokens > MOST_TOKENS else ""


def depth_of(text: str) -> Depth:
    """Measures a text, Python or not; stops where it passes a limit."""
    return _Scan(text).run()


_CODE = re.compile(
    r"""
    (?: (?! (?:not|and|or|else|await|for|lambda)\b ) \w++ (?!["'])   # words that do not nest
      | [ \t\f=!]
    )*+
    (?: (?P<comment> \#[^\r\n]* )
      | (?P<string>  (?:(?<!\w)(?P<prefix>[A-Za-z]{1,2}+))? (?P<quote>\"{3}|'{3}|"|') )
      | (?P<end>     (?:\r\n|\r|\n) (?P<indent>[ \t\f]*+) (?=(?P<first>elif\b|else\b|[\#\r\n])?) )
      | (?P<open>    [(\[{] )
      | (?P<close>   [)\]}] )
      | (?P<comma>   [,;] )
      | (?P<colon>   :=? )
      | (?P<operator> [-+*/%@&|^~.]++ | << | >> )
      | (?P<keyword> \b(?:not|and|or|else|await|for|lambda)\b )
      | (?P<joined>  \\(?:\r\n|[\r\n]) )
      | (?P<other>   \w++ | . )
    )
    """,
    re.VERBOSE,
)
_STRING_REST = {
    '"': re.compile(r'(?:[^"\\\r\n]++|\\(?:\r\n|.))*+"?', re.DOTALL),
    "'": re.compile(r"(?:[^'\\\r\n]++|\\(?:\r\n|.))*+'?", re.DOTALL),
    '"""': re.compile(r'(?:[^"\\]++|\\.|"(?!""))*+(?:""")?', re.DOTALL),
    "'''": re.compile(r"(?:[^'\\]++|\\.|'(?!''))*+(?:''')?", re.DOTALL),
}
# In a format string a backslash does not hide a brace, and doubled braces are text.
_FORMAT_REST = {
    '"': re.compile(r'(?:[^"\\\r\n{}]++|\\(?:\r\n|[^{}]|(?=[{}]))|\{\{|\}\})*+', re.DOTALL),
    "'": re.compile(r"(?:[^'\\\r\n{}]++|\\(?:\r\n|[^{}]|(?=[{}]))|\{\{|\}\})*+", re.DOTALL),
    '"""': re.compile(r'(?:[^"\\{}]++|\\(?:[^{}]|(?=[{}]))|"(?!"")|\{\{|\}\})*+', re.DOTALL),
    "'''": re.compile(r"(?:[^'\\{}]++|\\(?:[^{}]|(?=[{}]))|'(?!'')|\{\{|\}\})*+", re.DOTALL),
}


class _Scan:
    """One measurement: the frames that are open, and the deepest seen so far."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        # Per open bracket: its kind, the operators that wait in it, and the lambdas whose colon has
        # not come. Kinds: `(` of any shape, and of a format string `f` its text, `x` an expression
        # in it, `:` that expression's format.
        self._kinds = ["("]
        self._operators = [0]
        self._lambdas = [0]
        self._quotes: list[str] = []
        self._elifs: list[tuple[int, int]] = []
        self._waiting = 0
        self._tokens = 0
        self._most_brackets = 0
        self._most_operators = 0

    def run(self) -> Depth:
        while self._at < len(self._text) and self._within_limits():
            if self._kinds[-1] in ("f", ":"):
                self._format_text()
            else:
                self._code()
        offset = None if self._within_limits() else min(self._at, len(self._text))
        return Depth(self._most_brackets, self._most_operators, self._tokens, offset)

    def _within_limits(self) -> bool:
        return (
            self._most_brackets <= MOST_BRACKETS
            and self._most_operators <= MOST_OPERATORS
            and self._tokens <= MOST_TOKENS
        )

    def _code(self) -> None:
        match = _CODE.match(self._text, self._at)
        if match is None:
            self._at = len(self._text)
            return
        self._at = match.end()
        self._tokens += 1
        match match.lastgroup:
            case "string":
                self._string(match["prefix"], match["quote"])
            case "open":
                self._wait(1)
                self._push("(")
            case "close":
                self._close()
            case "comma":
                self._comma()
            case "colon":
                self._colon()
            case "keyword":
                self._wait(1)
                self._lambdas[-1] += match["keyword"] == "lambda"
            case "operator":
                self._wait(len(match["operator"]))
            case "end":
                self._line_end(match["indent"], match["first"])
            case _:
                pass

    def _string(self, prefix: str | None, quote: str) -> None:
        if prefix and not {"f", "t"}.isdisjoint(prefix.lower()):
            self._quotes.append(quote)
            self._push("f")
            return
        rest = _STRING_REST[quote].match(self._text, self._at)
        if rest is not None:
            self._at = rest.end()

    def _format_text(self) -> None:
        """The text of a format string, or of a format after a colon in it, up to what ends it."""
        quote = self._quotes[-1]
        rest = _FORMAT_REST[quote].match(self._text, self._at)
        if rest is not None:
            self._at = rest.end()
        here = self._text[self._at : self._at + 1]
        if here == "{":
            self._at += 1
            self._push("x")
        elif here == "}":
            self._at += 1
            if self._kinds[-1] == ":":
                self._pop()
                self._pop()
        else:  # the closing quote, or a line end or text end that should not be here
            while self._kinds[-1] != "f":
                self._pop()
            self._pop()
            self._quotes.pop()
            self._at += len(quote) if self._text.startswith(quote, self._at) else 0

    def _close(self) -> None:
        if len(self._kinds) > 1:
            self._pop()

    def _comma(self) -> None:
        if not self._lambdas[-1]:
            self._forget()

    def _colon(self) -> None:
        if self._lambdas[-1]:
            self._lambdas[-1] -= 1
        elif self._kinds[-1] == "x":
            self._push(":")
        else:
            self._forget()

    def _line_end(self, indent: str, first: str | None) -> None:
        if len(self._kinds) > 1:
            return
        self._forget()
        self._lambdas[-1] = 0
        if first is None or first in ("elif", "else"):  # neither an empty line nor a comment
            self._branch(len(indent.expandtabs(8)), first)

    def _branch(self, column: int, first: str | None) -> None:
        """Each `elif` lies inside the one before it, as libcst sees them."""
        while self._elifs and self._elifs[-1][0] > column:
            self._waiting -= self._elifs.pop()[1]
        at_column = bool(self._elifs) and self._elifs[-1][0] == column
        if first == "elif":
            count = self._elifs.pop()[1] + 1 if at_column else 1
            self._elifs.append((column, count))
            self._waiting += 1
            self._most_operators = max(self._most_operators, self._waiting)
        elif first is None and at_column:
            self._waiting -= self._elifs.pop()[1]

    def _push(self, kind: str) -> None:
        self._kinds.append(kind)
        self._operators.append(0)
        self._lambdas.append(0)
        self._most_brackets = max(self._most_brackets, len(self._kinds) - 1)

    def _pop(self) -> None:
        self._kinds.pop()
        self._waiting -= self._operators.pop()
        self._lambdas.pop()

    def _wait(self, count: int) -> None:
        self._operators[-1] += count
        self._waiting += count
        self._most_operators = max(self._most_operators, self._waiting)

    def _forget(self) -> None:
        self._waiting -= self._operators[-1]
        self._operators[-1] = 0
