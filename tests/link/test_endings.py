"""A statement that only calls something that never returns is a `raise`."""

from __future__ import annotations

import pytest

from stripe_idem_lint.ir import nodes as ir
from stripe_idem_lint.link.endings import with_endings
from stripe_idem_lint.lower.module import lower_module
from stripe_idem_lint.source.parse import parse

NEVER = frozenset({"sys.exit", "os._exit", "builtins.exit"})


def last(text: str) -> ir.Stmt:
    """The last statement of the function `f` of a program."""
    tree = parse("app.py", text.encode())
    module = with_endings(lower_module(tree, "app.py"), NEVER)  # type: ignore[arg-type]
    return next(f for f in module.functions if f.name == "f").body[-1]


@pytest.mark.parametrize(
    "text",
    [
        "import sys\ndef f():\n    sys.exit(1)\n",
        "import sys as s\ndef f():\n    s.exit(1)\n",
        "from sys import exit as leave\ndef f():\n    leave(1)\n",
        "def f():\n    import os\n    os._exit(1)\n",
        "def f():\n    exit()\n",
        "def fail():\n    raise ValueError\ndef f():\n    fail()\n",
        "class A:\n    def fail(self):\n        raise OSError\n    def f(self):\n        self.fail()\n",
        "from typing import NoReturn\ndef fail() -> NoReturn: ...\ndef f():\n    fail()\n",
    ],
)
def test_a_call_that_never_returns_is_a_raise(text: str) -> None:
    assert isinstance(last(text), ir.Raise)


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    sys.exit(1)\n",
        "import sys\ndef f():\n    sys.stdout(1)\n",
        "def hook():\n    raise NotImplementedError\ndef f():\n    hook()\n",
        "def check(x):\n    if x:\n        return 1\n    raise ValueError\ndef f():\n    check(2)\n",
        "import sys\ndef f():\n    x = sys.exit\n",
        "def g():\n    def fail():\n        raise OSError\ndef f(fail):\n    fail()\n",
        "class A:\n    def fail(self): raise OSError\nclass B:\n    def f(self):\n        self.fail()\n",
    ],
)
def test_others_stay_calls(text: str) -> None:
    assert not isinstance(last(text), ir.Raise)


def test_branches_and_handlers_are_looked_into() -> None:
    text = (
        "import sys\ndef f(x):\n    try:\n        x()\n    except OSError:\n        sys.exit(1)\n"
    )
    attempt = last(text)
    assert isinstance(attempt, ir.Try)
    assert isinstance(attempt.handlers[0].body[0], ir.Raise)
