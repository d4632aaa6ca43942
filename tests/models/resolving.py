"""Looks a dotted name up in the libraries of the interpreter that runs it.

    python tests/models/resolving.py < questions.json > answers.json

does so in another environment, so this file imports the standard library alone and runs on Python
3.10. It knows no model and no library: what to look for comes in, what was found goes out.

    `celery.Celery.task`             → kind "method"
    `tenacity.retry`, keyword `stop` → accepted "named", "through **" or "no"

An attribute that only an instance has is looked for among the annotations, the slots and the
assignments to `self` in the source of its class; that is told apart from what was really there.
"""

from __future__ import annotations

import builtins
import fnmatch
import functools
import importlib
import importlib.metadata
import importlib.util
import inspect
import json
import re
import sys
import types
import typing
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

ABSENT = object()

KINDS = (
    "module",
    "class",
    "exception",
    "function",
    "method",
    "property",
    "object",
    "attribute",
    "dynamic attribute",
    "behind an instance",
    "family",
)


@dataclass(frozen=True)
class Answer:
    """What stands at a name.

    Attributes:
        kind: One of `KINDS`; empty: nothing.
        problem: Why there is nothing.
        found: The thing itself, for as long as this process lives.
        bound: It was read from an instance or a module, so that its signature has no `self`.
    """

    kind: str
    problem: str = ""
    found: Any = None
    bound: bool = True


def resolve(name: str, leads: Mapping[str, str] | None = None) -> Answer:
    """What stands at a dotted name.

    Args:
        name: `package.module.Class.method`, or a name of Python's own.
        leads: Dotted attribute → the dotted class of what it holds; dotted class → an expression
            that makes an instance (`at("a.B")(1)`), for what only instances have.
    """
    if hasattr(builtins, name):
        return _answer(getattr(builtins, name), owner=builtins)
    if "*" in name:
        return _family(name, leads or {})
    return _walk(name, leads or {})


def _family(name: str, leads: Mapping[str, str]) -> Answer:
    """A pattern (`django.db.models.*Field`) stands for something if one name matches it."""
    parts = name.split(".")
    star = next(number for number, part in enumerate(parts) if "*" in part)
    above = resolve(".".join(parts[:star]), leads)
    if not above.kind:
        return above
    if any(fnmatch.fnmatchcase(each, parts[star]) for each in dir(above.found)):
        return Answer("family")
    return Answer("", f"nothing matches {name}")


def accepts(answer: Answer, key: str) -> str:
    """How a callable takes a keyword or a position: "named", "through **", "no" or "unknown"."""
    try:
        parameters = list(inspect.signature(answer.found).parameters.values())
    except (TypeError, ValueError):
        return "unknown"
    plain = inspect.isfunction(answer.found) or inspect.ismethoddescriptor(answer.found)
    if not answer.bound and plain and parameters:
        parameters = parameters[1:]
    wide = inspect.Parameter.VAR_POSITIONAL if key.isdigit() else inspect.Parameter.VAR_KEYWORD
    if key.isdigit():
        places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        named = int(key) < len(places)
    else:
        named = any(p.name == key and p.kind is not p.POSITIONAL_ONLY for p in parameters)
    if named:
        return "named"
    return "through **" if any(p.kind is wide for p in parameters) else "no"


def default(name: str, parameter: str) -> object:
    """The default of a parameter.

    Raises:
        LookupError: Name or parameter is not there.
    """
    answer = resolve(name)
    if not answer.kind:
        raise LookupError(answer.problem)
    for each in inspect.signature(answer.found).parameters.values():
        if each.name == parameter:
            return "required" if each.default is each.empty else each.default
    raise LookupError(f"{name} has no parameter {parameter}")


def installed(package: str) -> bool:
    """Something of this name can be imported or is a name of Python's own."""
    try:
        return hasattr(builtins, package) or importlib.util.find_spec(package) is not None
    except ValueError:
        # A module that replaced itself when it was imported has no specification any more.
        return True
    except Exception:  # noqa: BLE001 - packages above it are imported, without their settings
        return False


@functools.cache
def _module(name: str) -> tuple[Any, str]:
    """A module, or why there is none. One that failed once would only fail again, slowly."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(name), ""
    except ModuleNotFoundError as error:
        inside = not f"{name}.".startswith(f"{error.name}.")
        return None, f"{name} needs {error.name}" if inside else f"no module {error.name}"
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever an import does
        return None, f"{name} cannot be imported: {type(error).__name__}"


def _walk(name: str, leads: Mapping[str, str]) -> Answer:
    """From the outermost package inwards: a name in a package hides its submodule of that name."""
    parts = name.split(".")
    module, problem = _module(parts[0])
    if module is None:
        return Answer("", problem)
    answer = _answer(module)
    for number, part in enumerate(parts[1:], 1):
        owner, dotted = answer.found, ".".join(parts[: number + 1])
        answer = _step(owner, part)
        if not answer.kind and inspect.ismodule(owner):
            module, problem = _module(dotted)
            answer = Answer("", problem) if module is None else _answer(module)
        if not answer.kind or number == len(parts) - 1:
            return answer
        lead = leads.get(dotted)
        if lead is not None and "(" in lead:
            answer = _answer(_instance(lead))
        elif lead is not None and answer.kind in ("attribute", "property", "object"):
            answer = resolve(lead, leads)
        elif answer.kind in ("attribute", "property", "dynamic attribute"):
            inner = _type_of(owner, part)
            if inner is None:
                return Answer("behind an instance")
            answer = Answer("class", found=inner, bound=False)
        elif answer.kind in ("method", "function") or answer.found is None:
            return Answer("behind an instance")
    return answer


@functools.cache
def _instance(text: str) -> Any:
    """What an expression makes; None where the release at hand makes it in another way."""
    try:
        return eval(text, {"at": lambda name: resolve(name).found})
    except Exception:  # noqa: BLE001 - whatever a constructor raises
        return None


def _step(owner: Any, part: str) -> Answer:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            inner = inspect.getattr_static(owner, part, ABSENT)
            if not isinstance(inner, property):
                inner = getattr(owner, part, ABSENT)
    except Exception:  # noqa: BLE001 - whatever a lazy object raises for want of its settings
        return Answer("behind an instance")
    if inner is not ABSENT:
        return _answer(inner, owner)
    if inspect.isclass(owner):
        return _instance_attribute(owner, part)
    return Answer("", f"{getattr(owner, '__name__', type(owner).__name__)} has no {part}")


def _answer(found: Any, owner: Any = None) -> Answer:
    if typing.get_origin(found) is not None and hasattr(found, "__metadata__"):
        found = found.__origin__
    bound = not inspect.isclass(owner)
    if inspect.ismodule(found):
        kind = "module"
    elif inspect.isclass(found):
        kind = "exception" if issubclass(found, BaseException) else "class"
    elif isinstance(found, property) or inspect.isdatadescriptor(found):
        kind = "property"
    elif inspect.isroutine(found):
        kind = "function" if inspect.ismodule(owner) else "method"
        bound = bound or inspect.ismethod(found)
    else:
        kind = "object"
    return Answer(kind, found=found, bound=bound)


def _instance_attribute(cls: type, part: str) -> Answer:
    for base in cls.__mro__:
        if part in _annotations(base) or part in _fields(base):
            return Answer("attribute", bound=False)
        if part in _slots(base) or _assigned(base, part):
            return Answer("attribute", bound=False)
    if any("__getattr__" in base.__dict__ for base in cls.__mro__):
        return Answer("dynamic attribute", bound=False)
    return Answer("", f"{cls.__name__} has no {part}")


def _annotations(cls: type) -> Mapping[str, object]:
    try:
        return inspect.get_annotations(cls)
    except Exception:  # noqa: BLE001 - they are code from Python 3.14 on
        return {}


def _fields(cls: type) -> Iterator[str]:
    for holder in ("model_fields", "__fields__", "__dataclass_fields__", "__struct_fields__"):
        found = inspect.getattr_static(cls, holder, ())
        yield from found if isinstance(found, Mapping | list | tuple) else ()


def _slots(cls: type) -> tuple[str, ...]:
    slots = cls.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _assigned(cls: type, part: str) -> bool:
    try:
        source = inspect.getsource(cls)
    except (OSError, TypeError):
        return False
    return re.search(rf"\bself\.{re.escape(part)}\b[^=\n()]*=[^=]", source) is not None


def _type_of(owner: Any, part: str) -> type | None:
    """The class that annotations promise for an attribute of the instances of a class."""
    hint: object = None
    for base in getattr(owner, "__mro__", ()):
        inner = base.__dict__.get(part)
        target = inner.fget if isinstance(inner, property) else getattr(inner, "func", None)
        try:
            if target is not None:
                hint = typing.get_type_hints(target).get("return")
            elif part in _annotations(base):
                hint = typing.get_type_hints(base).get(part)
        except Exception:  # noqa: BLE001 - names that only a type checker sees
            hint = None
        if hint is not None:
            break
    return _class_in(hint)


def _class_in(hint: Any) -> type | None:
    if typing.get_origin(hint) in (typing.Union, getattr(types, "UnionType", None)):
        hint = next((arg for arg in typing.get_args(hint) if arg is not type(None)), None)
    hint = typing.get_origin(hint) or hint
    return hint if inspect.isclass(hint) and hint.__module__ != "builtins" else None


def answer_all(questions: Mapping[str, Any]) -> dict[str, Any]:
    """Answers for one environment, in plain data.

    Args:
        questions: `names`: dotted name → what must be importable for it; `leads`; `keywords`: pairs of a callable and a keyword or
            position; `same`: pairs of names that should be one thing; `defaults`: identifier →
            Python expression, in which `default(name, parameter)` and `at(name)` can be used;
            `packages`: import roots whose distributions and versions are asked for; `setup`: code
            to run first.
    """
    if questions.get("setup"):
        exec(questions["setup"], {})  # noqa: S102 - code of this repository
    leads = questions.get("leads", {})
    found = {
        name: resolve(name, leads)
        for name, package in questions.get("names", {}).items()
        if installed(package)
    }
    return {
        "names": {name: [a.kind, a.problem] for name, a in found.items()},
        "callable": {name: callable(a.found) for name, a in found.items() if a.kind == "object"},
        "keywords": [
            [name, key, accepts(resolve(name, leads), key)]
            for name, key in questions.get("keywords", ())
            if name in found and found[name].found is not None
        ],
        "same": [[one, two, _same(one, two)] for one, two in questions.get("same", ())],
        "defaults": {key: _evaluated(text) for key, text in questions.get("defaults", {}).items()},
        "distributions": _distributions(questions.get("packages", ())),
        "python": ".".join(map(str, sys.version_info[:3])),
    }


def _same(one: str, two: str) -> str:
    """How two names are one thing: "same", "instance", "subclass", "same names", "other" or "absent"."""
    first, second = resolve(one), resolve(two)
    if not first.kind or not second.kind or second.found is None:
        return "absent"
    if first.found is second.found:
        return "same"
    try:
        if inspect.ismodule(first.found) and inspect.ismodule(second.found):
            names = [each for each in dir(second.found) if each[0] != "_"]
            ours = vars(first.found)
            shared = any(ours.get(each, ABSENT) is vars(second.found)[each] for each in names)
            return "same names" if shared else "other"
        if inspect.isclass(first.found):
            if inspect.isclass(second.found):
                near = issubclass(second.found, first.found) or issubclass(
                    first.found, second.found
                )
                return "subclass" if near else "other"
            if isinstance(second.found, first.found):
                return "instance"
        if first.found == second.found:
            return "same"
    except Exception:  # noqa: BLE001 - proxies that want a running application
        return "absent"
    return "other"


def _evaluated(text: str) -> str:
    def at(name: str) -> Any:
        answer = resolve(name)
        if not answer.kind:
            raise LookupError(answer.problem)
        return answer.found

    scope: dict[str, Any] = {"default": default, "at": at, "inspect": inspect}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return repr(eval(text, scope))
    except Exception as error:  # noqa: BLE001 - the answer says what went wrong
        return f"! {type(error).__name__}: {error}"


def _distributions(packages: typing.Iterable[str]) -> dict[str, dict[str, str]]:
    """For each package the distributions that bring it, with their versions."""
    owners = importlib.metadata.packages_distributions()
    return {
        package: {name: importlib.metadata.version(name) for name in found}
        for package in packages
        if (found := _owners(package, owners))
    }


def _owners(package: str, owners: Mapping[str, list[str]]) -> list[str]:
    """Who brings a package; of a namespace (`google.cloud.firestore`), only who brings that part."""
    candidates = sorted(set(owners.get(package.partition(".")[0], ())))
    if "." not in package:
        return candidates
    folder = package.replace(".", "/")
    return [
        name
        for name in candidates
        if any(
            str(file).replace("\\", "/").startswith((f"{folder}/", f"{folder}.py"))
            for file in importlib.metadata.files(name) or ()
        )
    ]


def main(read: Callable[[], str] = sys.stdin.read) -> None:
    """Questions from standard input, answers to the real standard output."""
    out = sys.stdout
    sys.stdout = sys.stderr
    answers = answer_all(json.loads(read()))
    json.dump(answers, out)
    out.flush()


if __name__ == "__main__":
    main()
