"""The settings: one option table, read from files and flags, with errors that name the place."""

from __future__ import annotations

from pathlib import Path

import pytest

from stripe_idem_lint.core.config import (
    DEFAULT_EXCLUDE,
    Option,
    Settings,
    check_codes,
    describe,
    load_settings,
    options,
)
from stripe_idem_lint.core.errors import ConfigError

RIGHT: dict[str, object] = {
    "codes": ["SIL101"],
    "patterns": ["old/"],
    "files": ["own.toml"],
    "switch": True,
}
WRONG: dict[str, str] = {
    "codes": '"SIL101"',
    "patterns": '"old"',
    "files": '"own.toml"',
    "switch": '"yes"',
    "word": "3",
}
IN_FILE = [option for option in options() if option.in_file]


def write(folder: Path, table: str, name: str = "pyproject.toml") -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"[tool.stripe-idem-lint]\n{table}", encoding="utf-8")
    return file


def problem(folder: Path, paths: tuple[str, ...] = (), **given: object) -> str:
    with pytest.raises(ConfigError) as caught:
        load_settings(given, paths, folder)
    return str(caught.value)


# --- the table


def test_the_documented_options_are_all_there() -> None:
    assert [option.name for option in options()] == [
        "select",
        "extend-select",
        "ignore",
        "fail-on",
        "output-format",
        "min-severity",
        "show-unknown",
        "exclude",
        "extend-exclude",
        "respect-gitignore",
        "include-tests",
        "models",
        "config",
    ]


def test_the_manual_has_a_row_for_each_option_with_key_flag_and_default() -> None:
    rows = describe().splitlines()[2:]
    assert len(rows) == len(options())
    for row, option in zip(rows, options(), strict=True):
        assert f"`--{option.name}" in row
        assert (f"| `{option.name}` |" in row) == option.in_file
        assert option.help in row


@pytest.mark.parametrize("option", IN_FILE, ids=lambda option: option.name)
def test_every_option_can_be_set_in_the_file(tmp_path: Path, option: Option) -> None:
    (tmp_path / "own.toml").touch()
    value = RIGHT.get(option.kind, option.words[-1] if option.words else None)
    shown = str(value).lower() if isinstance(value, bool) else repr(value)
    write(tmp_path, f"{option.name} = {shown}")
    settings = load_settings({}, (), tmp_path)
    got = getattr(settings, option.field)
    if option.kind == "files":
        assert got == (str(tmp_path / "own.toml"),)
    else:
        assert got == (tuple(value) if isinstance(value, list) else value)
    assert settings.source_of(option.field) == "pyproject.toml"


@pytest.mark.parametrize("option", IN_FILE, ids=lambda option: option.name)
def test_a_value_of_the_wrong_type_names_file_key_and_right_type(
    tmp_path: Path, option: Option
) -> None:
    write(tmp_path, f"{option.name} = {WRONG[option.kind]}")
    said = problem(tmp_path)
    assert said.startswith(f"pyproject.toml: tool.stripe-idem-lint.{option.name}: must be ")
    assert option.toml_type in said
    assert WRONG[option.kind] in said


def test_a_list_may_hold_nothing_but_strings(tmp_path: Path) -> None:
    write(tmp_path, 'select = ["SIL101", 2]')
    assert 'must be a list of strings, not ["SIL101", 2]' in problem(tmp_path)


# --- where it is read from


def test_without_a_file_everything_is_a_default(tmp_path: Path) -> None:
    settings = load_settings({}, (), tmp_path)
    assert settings == Settings(root=str(tmp_path))
    assert settings.exclude == DEFAULT_EXCLUDE


def test_the_nearest_file_above_the_first_path_with_our_table_counts(tmp_path: Path) -> None:
    write(tmp_path, 'fail-on = "never"')
    write(tmp_path / "billing", 'fail-on = "warning"')
    inner = tmp_path / "billing" / "api"
    inner.mkdir()
    (inner / "pyproject.toml").write_text('[project]\nname = "api"\n', encoding="utf-8")
    (inner / "views.py").touch()
    assert load_settings({}, ("billing/api/views.py",), tmp_path).fail_on == "warning"
    assert load_settings({}, ("billing/api", "."), tmp_path).fail_on == "warning"
    assert load_settings({}, (), tmp_path).fail_on == "never"
    assert load_settings({}, (), inner).fail_on == "warning"


def test_a_file_that_is_no_toml_is_an_error_only_if_it_could_be_ours(tmp_path: Path) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text("[broken", encoding="utf-8")
    assert load_settings({}, (), tmp_path).root == str(tmp_path)
    file.write_text("[tool.stripe-idem-lint]\nselect = [", encoding="utf-8")
    assert problem(tmp_path).startswith("pyproject.toml: is not valid TOML: ")


def test_a_file_in_another_encoding_is_an_error_not_a_crash(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b"[tool.stripe-idem-lint] # \xe9")
    assert "pyproject.toml: is not UTF-8" in problem(tmp_path)


def test_a_byte_order_mark_is_no_part_of_the_file(tmp_path: Path) -> None:
    text = b'\xef\xbb\xbf[tool.stripe-idem-lint]\nfail-on = "never"\n'
    (tmp_path / "pyproject.toml").write_bytes(text)
    assert load_settings({}, (), tmp_path).fail_on == "never"


def test_our_table_must_be_a_table(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool]\nstripe-idem-lint = 3\n", encoding="utf-8")
    assert "tool.stripe-idem-lint: must be a table" in problem(tmp_path)


def test_config_names_another_pyproject(tmp_path: Path) -> None:
    write(tmp_path, 'fail-on = "never"')
    write(tmp_path / "other", 'fail-on = "warning"')
    settings = load_settings({"config": "other/pyproject.toml"}, (), tmp_path)
    assert settings.fail_on == "warning"
    assert settings.root == str(tmp_path / "other")


def test_config_names_a_file_that_holds_the_keys_alone(tmp_path: Path) -> None:
    (tmp_path / "idem.toml").write_text('fail-on = "never"\n', encoding="utf-8")
    assert load_settings({"config": "idem.toml"}, (), tmp_path).fail_on == "never"


def test_config_must_exist(tmp_path: Path) -> None:
    assert problem(tmp_path, config="none.toml").startswith("none.toml: cannot be read: ")


def test_a_file_above_the_working_directory_is_named_from_there(tmp_path: Path) -> None:
    write(tmp_path, "selekt = []")
    below = tmp_path / "a"
    below.mkdir()
    assert problem(below).startswith("../pyproject.toml: tool.stripe-idem-lint.selekt: unknown key")


# --- what is read


def test_an_unknown_key_is_an_error_with_the_nearest_right_one(tmp_path: Path) -> None:
    write(tmp_path, "fail_on = 'never'")
    assert problem(tmp_path) == (
        "pyproject.toml: tool.stripe-idem-lint.fail_on: unknown key; did you mean fail-on?"
    )


def test_a_key_like_no_other_gets_no_suggestion(tmp_path: Path) -> None:
    write(tmp_path, "zzz = 1")
    assert problem(tmp_path).endswith("zzz: unknown key")


def test_config_is_a_flag_and_no_key(tmp_path: Path) -> None:
    write(tmp_path, "config = 'a.toml'")
    assert "tool.stripe-idem-lint.config: unknown key" in problem(tmp_path)


def test_a_wrong_word_is_an_error_with_the_nearest_right_one(tmp_path: Path) -> None:
    write(tmp_path, 'fail-on = "warnings"')
    said = problem(tmp_path)
    assert 'must be one of "error", "warning", "never"' in said
    assert said.endswith("did you mean warning?")


@pytest.mark.parametrize("code", ["E501", "SIL1234", "101", "fresh-key-in-retry"])
def test_what_is_no_code_is_an_error(tmp_path: Path, code: str) -> None:
    write(tmp_path, f'ignore = ["{code}"]')
    assert f"ignore: '{code}' is no rule code" in problem(tmp_path)


def test_codes_may_be_joined_by_commas_and_patterns_may_hold_them(tmp_path: Path) -> None:
    given = {"select": ("SIL101, sil2", "SIL3"), "exclude": ("a,b.py",)}
    settings = load_settings(given, (), tmp_path)
    assert settings.select == ("SIL101", "SIL2", "SIL3")
    assert settings.exclude == ("a,b.py",)


def test_model_files_are_relative_to_the_file_that_names_them(tmp_path: Path) -> None:
    write(tmp_path, 'models = ["own/models.toml"]')
    (tmp_path / "own").mkdir()
    assert "models: no such file: own/models.toml" in problem(tmp_path)
    (tmp_path / "own" / "models.toml").touch()
    inner = tmp_path / "inner"
    inner.mkdir()
    found = load_settings({}, (), inner).models
    assert found == (str(tmp_path / "own" / "models.toml"),)


def test_model_files_of_the_command_line_are_relative_to_the_working_directory(
    tmp_path: Path,
) -> None:
    write(tmp_path, "")
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "m.toml").touch()
    assert load_settings({"models": ("m.toml",)}, (), inner).models == (str(inner / "m.toml"),)


# --- the command line


def test_the_command_line_wins_over_the_file_option_by_option(tmp_path: Path) -> None:
    write(tmp_path, 'fail-on = "never"\nselect = ["SIL1"]\ninclude-tests = true')
    given = {"fail_on": "warning", "select": (), "include_tests": False, "ignore": None}
    settings = load_settings(given, (), tmp_path)
    assert settings.fail_on == "warning"
    assert settings.select == ("SIL1",)
    assert settings.include_tests is False
    assert settings.source_of("fail_on") == "command line"
    assert settings.source_of("select") == "pyproject.toml"
    assert settings.source_of("ignore") == ""


def test_an_error_of_the_command_line_names_the_flag(tmp_path: Path) -> None:
    assert problem(tmp_path, select=("X1",)).startswith("command line: --select: 'X1'")


# --- which codes


@pytest.mark.parametrize(
    ("chosen", "code", "default", "expected"),
    [
        ({}, "SIL101", True, True),
        ({}, "SIL206", False, False),
        ({"select": ("SIL2",)}, "SIL101", True, False),
        ({"select": ("SIL2",)}, "SIL206", False, True),
        ({"select": ("ALL",)}, "SIL206", False, True),
        ({"extend_select": ("SIL206",)}, "SIL206", False, True),
        ({"extend_select": ("SIL206",)}, "SIL101", True, True),
        ({"ignore": ("SIL1",)}, "SIL101", True, False),
        ({"ignore": ("ALL",)}, "SIL101", True, False),
        ({"select": ("SIL1",), "ignore": ("SIL101",)}, "SIL101", True, False),
        ({"select": ("SIL101",), "ignore": ("SIL1",)}, "SIL101", True, True),
        ({"select": ("SIL101",), "ignore": ("SIL101",)}, "SIL101", True, False),
        ({"select": ("ALL",), "ignore": ("SIL2",)}, "SIL101", True, True),
    ],
)
def test_the_longest_prefix_decides_and_ignore_wins_a_tie(
    chosen: dict[str, tuple[str, ...]], code: str, default: bool, expected: bool
) -> None:
    assert Settings(**chosen).selects(code, default) is expected  # type: ignore[arg-type]


def test_codes_of_no_rule_are_refused_with_their_place(tmp_path: Path) -> None:
    known = ["SIL101", "SIL206"]
    check_codes(Settings(select=("SIL1", "ALL")), known)
    write(tmp_path, 'ignore = ["SIL102"]')
    with pytest.raises(ConfigError) as caught:
        check_codes(load_settings({}, (), tmp_path), known)
    assert str(caught.value) == (
        "pyproject.toml: tool.stripe-idem-lint.ignore: no rule has the code SIL102;"
        " did you mean SIL101?"
    )
    with pytest.raises(ConfigError, match="command line: --select: no rule has the code SIL9"):
        check_codes(load_settings({"select": ("SIL9",)}, (), tmp_path), known)
