"""Strange programs: the case pages and the example service, cut up and put together again.

Every program is drawn by hypothesis, so that a failing one shrinks. Most of them are syntactically
right and make no sense; whole random modules would never reach a Stripe call, and so test nothing
but the parser.
"""

from __future__ import annotations

import ast
import copy
import re
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import hypothesmith
from hypothesis import reject
from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^```python[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


@cache
def seeds() -> tuple[str, ...]:
    """Source texts that hold Stripe calls or belong to one, in a fixed order."""
    pages = sorted((ROOT / "tests" / "cases").glob("*.md"))
    blocks = [block for page in pages for block in _FENCE.findall(page.read_text(encoding="utf-8"))]
    example = sorted((ROOT / "examples").rglob("*.py"))
    texts = [*blocks, *(file.read_text(encoding="utf-8") for file in example)]
    return tuple(text for text in texts if _holds_statements(text))


@st.composite
def modules(draw: st.DrawFn) -> str:
    """One seed after one to eight changes."""
    tree = ast.parse(draw(st.sampled_from(seeds())))
    for _ in range(draw(st.integers(1, 8))):
        change = draw(st.sampled_from(CHANGES))
        change(tree, draw)
    try:
        return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    except (
        ValueError
    ):  # Before 3.12 no f-string can hold a backslash, and so not every tree be text.
        reject()


@st.composite
def grafted(draw: st.DrawFn) -> str:
    """A random module, and a Stripe call whose key is a random expression over its names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        body = draw(hypothesmith.from_node(auto_target=False))
        key = draw(hypothesmith.from_grammar("eval_input", auto_target=False)).strip()
    call = f"    stripe.Charge.create(amount=1, idempotency_key=({key}))\n"
    return f"{body}\nimport stripe\n@retry\ndef charge(self, *args, **kwargs):\n{call}"


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A seed with bytes replaced, cut out or put in."""
    data = bytearray(draw(st.sampled_from(seeds())).encode())
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        data[start : start + draw(st.integers(0, 40))] = draw(st.binary(max_size=8))
    return bytes(data)


FOLDERS = ("", "billing/", "tests/")


def programs() -> st.SearchStrategy[dict[str, bytes]]:
    """Up to four files by path; `main.py` is always among them."""
    names = st.sampled_from(["keys", "gateway", "tasks", "views", "__init__", "stripe", "uuid"])
    paths = st.builds(lambda folder, name: f"{folder}{name}.py", st.sampled_from(FOLDERS), names)
    texts = modules().map(str.encode)
    others = st.dictionaries(paths, texts | damaged(), max_size=3)
    # A random module costs as much as ten changed ones.
    main = st.integers(0, 9).flatmap(
        lambda choice: (
            grafted().map(lambda text: text.encode(errors="ignore")) if choice == 9 else texts
        )
    )
    return st.builds(lambda rest, text: rest | {"main.py": text}, others, main)


def _holds_statements(text: str) -> bool:
    try:
        return bool(ast.parse(text).body)
    except SyntaxError:
        return False


def _replace_expression(tree: ast.Module, draw: st.DrawFn) -> None:
    """`f(a, b)` becomes `f(a, x[0])`, with an expression from elsewhere."""
    slots = list(_expression_slots(tree))
    if slots:
        donor = draw(st.sampled_from(slots))
        _put(draw(st.sampled_from(slots)), copy.deepcopy(_get(donor)))


def _rename(tree: ast.Module, draw: st.DrawFn) -> None:
    """A name, attribute, parameter or keyword is called like another one."""
    named: list[tuple[ast.AST, str]] = [
        (node, field)
        for node in ast.walk(tree)
        for field in ("id", "attr", "arg", "name")
        if isinstance(getattr(node, field, None), str)
    ]
    if named:
        source, from_field = draw(st.sampled_from(named))
        target, to_field = draw(st.sampled_from(named))
        setattr(target, to_field, getattr(source, from_field).rpartition(".")[2])


def _move_statement(tree: ast.Module, draw: st.DrawFn) -> None:
    """A statement is copied into another block, functions into themselves included."""
    blocks = list(_blocks(tree))
    source, target = draw(st.sampled_from(blocks)), draw(st.sampled_from(blocks))
    statement = copy.deepcopy(draw(st.sampled_from(source)))
    target.insert(draw(st.integers(0, len(target))), statement)


def _drop_statement(tree: ast.Module, draw: st.DrawFn) -> None:
    block = draw(st.sampled_from(list(_blocks(tree))))
    at = draw(st.integers(0, len(block) - 1))
    block[at : at + 1] = [] if len(block) > 1 else [ast.Pass()]


WRAPPERS = (
    "for item in todo:\n    pass",
    "while True:\n    pass",
    "try:\n    pass\nexcept Exception:\n    pass",
    "try:\n    pass\nfinally:\n    return key",
    "with lock() as key:\n    pass",
    "async def inner(key=None, *args, **kwargs):\n    pass",
    "def recover_payments(key=uuid.uuid4()):\n    pass",
    "class Inner(Base):\n    pass",
    "if (key := make()):\n    pass",
    "match order:\n    case {'key': str(key), **rest} | [key, *rest]:\n        pass",
)


def _wrap_statement(tree: ast.Module, draw: st.DrawFn) -> None:
    """A statement gets a loop, a handler, a function or the like around it."""
    block = draw(st.sampled_from(list(_blocks(tree))))
    at = draw(st.integers(0, len(block) - 1))
    wrapper = ast.parse(draw(st.sampled_from(WRAPPERS))).body[0]
    inner = next(iter(_blocks(wrapper)))
    inner[:] = [block[at]]
    block[at] = wrapper


SNIPPETS = (
    "uuid.uuid4()",
    "lambda *a, **k: stripe.Charge.create(*a, **k)",
    "[*args, *map(str, args)]",
    "{**params, 'idempotency_key': key}",
    "(yield key)",
    "(await key)",
    "f'{key!r:>{width}}-{time.time():.0f}'",
    "'%(a)s-%s' % (key, *args)",
    "'{0.id}-{}-{name[0]}'.format(order, **params)",
    "functools.partial(stripe.Refund.create, **params)",
    "key[1:][::-1]",
    "(key := key or make(key))",
    "[x async for x in todo if x]",
    "-1",
    "None",
    "...",
    "b'\\xff'",
    "super().charge(*args)",
)


def _splice(tree: ast.Module, draw: st.DrawFn) -> None:
    """An expression that was not in the program."""
    slots = list(_expression_slots(tree))
    if slots:
        snippet = ast.parse(draw(st.sampled_from(SNIPPETS)), mode="eval").body
        _put(draw(st.sampled_from(slots)), snippet)


def _decorate(tree: ast.Module, draw: st.DrawFn) -> None:
    """A decorator moves to another function or class."""
    owners = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    ]
    decorators = [each for owner in owners for each in owner.decorator_list]
    if decorators:
        owner = draw(st.sampled_from(owners))
        owner.decorator_list.append(copy.deepcopy(draw(st.sampled_from(decorators))))


CHANGES = (
    _replace_expression,
    _rename,
    _move_statement,
    _drop_statement,
    _wrap_statement,
    _splice,
    _decorate,
)

Slot = tuple[ast.AST, str, int | None]


def _expression_slots(tree: ast.AST) -> Iterator[Slot]:
    """Places that hold an expression which is read, so that any other may stand there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr | ast.FormattedValue | ast.MatchValue):
            continue
        for field, value in ast.iter_fields(node):
            if _is_read(value):
                yield node, field, None
            elif isinstance(value, list):
                yield from ((node, field, at) for at, item in enumerate(value) if _is_read(item))


def _is_read(value: object) -> bool:
    return isinstance(value, ast.expr) and isinstance(getattr(value, "ctx", ast.Load()), ast.Load)


def _get(slot: Slot) -> ast.AST:
    node, field, at = slot
    found = getattr(node, field)
    value = found if at is None else found[at]
    assert isinstance(value, ast.AST)
    return value


def _put(slot: Slot, value: ast.AST) -> None:
    node, field, at = slot
    if at is None:
        setattr(node, field, value)
    else:
        getattr(node, field)[at] = value


def _blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block
