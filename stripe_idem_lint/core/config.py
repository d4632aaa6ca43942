"""The settings: one class whose fields are the option table, read from files and flags.

Command-line flags (`cli`), the keys of `[tool.stripe-idem-lint]` and the options page of the manual
are all derived from the fields of `Settings`. Reads configuration files; knows no rule and opens no
source file.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

from stripe_idem_lint.core.errors import ConfigError

TABLE = "tool.stripe-idem-lint"
COMMAND_LINE = "command line"

Kind = Literal["codes", "patterns", "files", "word", "switch", "file"]
"""What an option holds; `word` is one word of a closed set, `switch` is yes or no."""

Scope = Literal["everywhere", "files", "check"]
"""Which commands take the flag: all; those that read source files; `check` alone."""

OutputFormat = Literal["text", "json", "sarif", "github", "gitlab"]
FailOn = Literal["error", "warning", "never"]
MinSeverity = Literal["info", "warning", "error"]

DEFAULT_EXCLUDE = (
    ".venv", "venv", "env", "node_modules", "site-packages", "__pycache__", ".git", ".tox", ".nox",
    "build", "dist", ".eggs",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Option:
    """One row of the option table.

    Attributes:
        field: The attribute of `Settings`.
        name: The TOML key, and the flag without its dashes.
        kind: What it holds.
        default: Its value where nothing is said.
        help: One sentence for `--help` and the manual.
        words: The words allowed, for `word`.
        in_file: False: a flag only.
        scope: Which commands take the flag.
    """

    field: str
    name: str
    kind: Kind
    default: Any
    help: str
    words: tuple[str, ...] = ()
    in_file: bool = True
    scope: Scope = "check"

    @property
    def many(self) -> bool:
        return self.kind in ("codes", "patterns", "files")

    @property
    def flag(self) -> str:
        """As `--help` shows it: `--exclude`, `--include-tests / --no-include-tests`."""
        flag = f"--{self.name}"
        return f"{flag} / --no-{self.name}" if self.kind == "switch" else flag

    @property
    def toml_type(self) -> str:
        """What a TOML file must give, in words."""
        if self.kind == "word":
            return "one of " + ", ".join(f'"{word}"' for word in self.words)
        if self.kind == "switch":
            return "true or false"
        return "a list of strings" if self.many else "a string"


def _about(
    kind: Kind, help: str, *, in_file: bool = True, scope: Scope = "check"
) -> dict[str, object]:
    return {"kind": kind, "help": help, "in_file": in_file, "scope": scope}


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run is told; each field but the last two is an option.

    Attributes:
        root: The folder that the configuration file's patterns and model files are relative to: its
            own, or the working directory where there is none.
        given_by: Pairs of field and source (`command line`, or a file) for what is no default.
    """

    select: tuple[str, ...] = field(
        default=(),
        metadata=_about(
            "codes",
            "Report these codes only; SIL1 stands for all that begin with it, ALL for every rule.",
        ),
    )
    extend_select: tuple[str, ...] = field(
        default=(),
        metadata=_about("codes", "Report these codes too, beside the default or selected ones."),
    )
    ignore: tuple[str, ...] = field(
        default=(),
        metadata=_about(
            "codes", "Do not report these codes; of two prefixes the longer one decides."
        ),
    )
    fail_on: FailOn = field(
        default="error",
        metadata=_about("word", "Exit 1 when something of this severity or above is found."),
    )
    output_format: OutputFormat = field(
        default="text", metadata=_about("word", "How findings are written to standard output.")
    )
    min_severity: MinSeverity = field(
        default="warning",
        metadata=_about("word", "Leave out what is below it; JSON and SARIF carry everything."),
    )
    show_unknown: bool = field(
        default=False,
        metadata=_about("switch", "Count the reasons why keys and calls could not be followed."),
    )
    exclude: tuple[str, ...] = field(
        default=DEFAULT_EXCLUDE,
        metadata=_about(
            "patterns",
            "Files and folders to leave out, in the language of .gitignore.",
            scope="files",
        ),
    )
    extend_exclude: tuple[str, ...] = field(
        default=(),
        metadata=_about(
            "patterns", "Files and folders to leave out beside those of exclude.", scope="files"
        ),
    )
    respect_gitignore: bool = field(
        default=True,
        metadata=_about("switch", "Leave out what .gitignore files name.", scope="files"),
    )
    include_tests: bool = field(
        default=False,
        metadata=_about(
            "switch",
            "Read tests too: tests/, test/, test_*.py, *_test.py, tests.py, conftest.py.",
            scope="files",
        ),
    )
    models: tuple[str, ...] = field(
        default=(),
        metadata=_about(
            "files",
            "Model files (TOML) of your own handlers, retry helpers and wrappers.",
            scope="everywhere",
        ),
    )
    config: str = field(
        default="",
        metadata=_about(
            "file",
            "Read this file instead of the nearest pyproject.toml.",
            in_file=False,
            scope="everywhere",
        ),
    )
    root: str = ""
    given_by: tuple[tuple[str, str], ...] = ()

    def source_of(self, name: str) -> str:
        """Where the field `name` was set: `command line`, a file, or nothing for a default."""
        return dict(self.given_by).get(name, "")

    def selects(self, code: str, default: bool = True) -> bool:
        """Whether `code` is reported.

        The longest prefix that names the code decides, `ignore` where two are equally long.

        Args:
            default: The answer where no option speaks of the code.
        """
        chosen = max(_lengths(code, (*self.select, *self.extend_select)), default=-1)
        if chosen < 0 and not self.select and default:
            chosen = 0
        return chosen > max(_lengths(code, self.ignore), default=-1)


@cache
def options() -> tuple[Option, ...]:
    """The option table, in the order of `--help`."""
    hints = get_type_hints(Settings)
    return tuple(
        Option(
            row.name,
            row.name.replace("_", "-"),
            default=row.default,
            words=get_args(hints[row.name]) if row.metadata["kind"] == "word" else (),
            **row.metadata,
        )
        for row in fields(Settings)
        if row.metadata
    )


def load_settings(
    given: Mapping[str, object], paths: Sequence[str] = (), cwd: Path | None = None
) -> Settings:
    """The settings of a run: defaults, then the configuration file, then the command line.

    Args:
        given: What the command line says, by field name; absent or None: nothing.
        paths: What is checked; the configuration is looked for above the first.
        cwd: The working directory.

    Raises:
        ConfigError: A file cannot be read or is no TOML, a key is unknown, a value has the wrong
            type or is none of the words allowed.
    """
    here = cwd or Path.cwd()
    table, file = _table_for(str(given.get("config") or ""), paths, here)
    root = file.parent if file is not None else here
    values: dict[str, object] = {}
    given_by: dict[str, str] = {}
    if file is not None:
        shown = _shown(file, here)
        values = _from_table(table, shown, root)
        given_by = dict.fromkeys(values, shown)
    for option in options():
        value = given.get(option.field)
        if value is not None and not (option.many and not value):
            values[option.field] = _check(option, value, COMMAND_LINE, f"--{option.name}", here)
            given_by[option.field] = COMMAND_LINE
    make: Callable[..., Settings] = Settings
    return make(**values, root=str(root), given_by=tuple(sorted(given_by.items())))


def check_codes(settings: Settings, known: Iterable[str]) -> None:
    """Refuse codes and prefixes that name no rule.

    Args:
        known: The codes of all rules.

    Raises:
        ConfigError: Names the place and the nearest code.
    """
    codes = sorted(known)
    for name in ("select", "extend_select", "ignore"):
        for prefix in getattr(settings, name):
            if prefix != "ALL" and not any(code.startswith(prefix) for code in codes):
                file = settings.source_of(name)
                key = name.replace("_", "-")
                key = f"--{key}" if file == COMMAND_LINE else f"{TABLE}.{key}"
                raise ConfigError(
                    file, key, f"no rule has the code {prefix}{_meant(prefix, codes)}"
                )


def describe() -> str:
    """The options as a Markdown table for the manual."""
    rows = ["| key | flag | value | default | meaning |", "|---|---|---|---|---|"]
    for option in options():
        key = f"`{option.name}`" if option.in_file else ""
        default = _as_toml(option.default)
        rows.append(
            f"| {key} | `{option.flag}` | {option.toml_type} | `{default}` | {option.help} |"
        )
    return "\n".join(rows) + "\n"


# --- files


def _table_for(
    config: str, paths: Sequence[str], here: Path
) -> tuple[Mapping[str, object], Path | None]:
    if config:
        file = here / config
        document = _read(file, here)
        if file.name == "pyproject.toml" or "tool" in document:
            return _ours(document, _shown(file, here)) or {}, file
        return document, file
    first = (here / paths[0]) if paths else here
    start = Path(os.path.realpath(first))
    for folder in (start, *start.parents):
        file = folder / "pyproject.toml"
        if file.is_file() and (table := _ours_if_any(file, here)) is not None:
            return table, file
    return {}, None


def _ours_if_any(file: Path, here: Path) -> Mapping[str, object] | None:
    """Our table of a pyproject.toml; a file without it hides none further up."""
    try:
        if b"stripe-idem-lint" not in file.read_bytes():
            return None
    except OSError as error:
        raise _unreadable(file, here, error) from error
    return _ours(_read(file, here), _shown(file, here))


def _read(file: Path, here: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise _unreadable(file, here, error) from error
    except UnicodeDecodeError as error:
        raise ConfigError(_shown(file, here), "", f"is not UTF-8: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(_shown(file, here), "", f"is not valid TOML: {error}") from error


def _ours(document: Mapping[str, Any], shown: str) -> Mapping[str, object] | None:
    tool = document.get("tool", {})
    table = tool.get("stripe-idem-lint") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise ConfigError(shown, TABLE, f"must be a table, written [{TABLE}]")
    return table


def _unreadable(file: Path, here: Path, error: OSError) -> ConfigError:
    return ConfigError(_shown(file, here), "", f"cannot be read: {error.strerror or error}")


def _shown(file: Path, here: Path) -> str:
    try:
        return Path(os.path.relpath(file, here)).as_posix()
    except ValueError:  # another drive
        return file.as_posix()


# --- values


def _from_table(table: Mapping[str, object], shown: str, root: Path) -> dict[str, object]:
    rows = {option.name: option for option in options() if option.in_file}
    values = {}
    for name, value in table.items():
        if name not in rows:
            raise ConfigError(shown, f"{TABLE}.{name}", f"unknown key{_meant(name, rows)}")
        values[rows[name].field] = _check(rows[name], value, shown, f"{TABLE}.{name}", root)
    return values


def _check(option: Option, value: object, file: str, key: str, base: Path) -> object:
    """The value as the field holds it.

    Raises:
        ConfigError: It has another type, or is none of the option's words.
    """
    if option.kind == "switch":
        if not isinstance(value, bool):
            raise _wrong_type(option, value, file, key)
        return value
    if not option.many:
        if not isinstance(value, str):
            raise _wrong_type(option, value, file, key)
        if option.words and value not in option.words:
            expected = option.toml_type
            raise ConfigError(
                file, key, f"must be {expected}, not {value!r}{_meant(value, option.words)}"
            )
        return value
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise _wrong_type(option, value, file, key)
    items = [part.strip() for item in value for part in _parts(option, item)]
    return tuple(_item(option, item, file, key, base) for item in items if item)


def _parts(option: Option, item: str) -> Sequence[str]:
    """`SIL101,SIL2` as two codes; a comma in a pattern or a file name is a comma."""
    return item.split(",") if option.kind == "codes" else [item]


def _item(option: Option, item: str, file: str, key: str, base: Path) -> str:
    if option.kind == "codes":
        if not re.fullmatch(r"SIL\d{0,3}|ALL", item.upper()):
            problem = f"{item!r} is no rule code: write SIL101, a prefix such as SIL1, or ALL"
            raise ConfigError(file, key, problem)
        return item.upper()
    if option.kind == "files":
        if not (base / item).is_file():
            raise ConfigError(file, key, f"no such file: {item}")
        return str(base / item)
    return item


def _wrong_type(option: Option, value: object, file: str, key: str) -> ConfigError:
    return ConfigError(file, key, f"must be {option.toml_type}, not {_as_toml(value)}")


def _meant(word: str, words: Iterable[str]) -> str:
    near = difflib.get_close_matches(word.replace("_", "-"), list(words), n=1, cutoff=0.7)
    return f"; did you mean {near[0]}?" if near else ""


def _as_toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_as_toml(item) for item in value) + "]"
    return str(value)


def _lengths(code: str, prefixes: Iterable[str]) -> list[int]:
    """How long each prefix that names `code` is; `ALL` counts as the shortest."""
    return [
        0 if prefix == "ALL" else len(prefix)
        for prefix in prefixes
        if prefix == "ALL" or code.startswith(prefix)
    ]
