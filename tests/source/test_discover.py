"""Which files a run reads: what is pruned, what is always read, and what cannot be read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from stripe_idem_lint.core.config import Settings, load_settings
from stripe_idem_lint.core.errors import ConfigError
from stripe_idem_lint.source.discover import discover

needs_links = pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")


def plant(folder: Path, *names: str, text: str = "") -> None:
    for name in names:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def found(folder: Path, *paths: str, **settings: object) -> list[str]:
    chosen = Settings(**settings)  # type: ignore[arg-type]
    result = discover(paths, chosen, str(folder))
    assert result.problems == ()
    return [file.path for file in result.files]


def reasons(folder: Path, *paths: str) -> list[tuple[str, str]]:
    return [(p.path, p.reason) for p in discover(paths, None, str(folder)).problems]


# --- paths


def test_files_are_sorted_and_named_from_the_working_directory(tmp_path: Path) -> None:
    plant(tmp_path, "b/z.py", "b/a.py", "a.py", "b.py")
    assert found(tmp_path) == ["a.py", "b.py", "b/a.py", "b/z.py"]
    assert found(tmp_path, ".") == found(tmp_path)
    assert found(tmp_path, str(tmp_path / "b")) == ["b/a.py", "b/z.py"]
    assert found(tmp_path / "b", "../a.py", ".") == ["../a.py", "a.py", "z.py"]


def test_only_python_files_are_found_in_folders(tmp_path: Path) -> None:
    plant(tmp_path, "a.py", "b.pyi", "c.txt", "script", "d.pyx", "e.PY", "f.ipynb")
    assert found(tmp_path) == ["a.py"]


def test_a_named_file_is_read_whatever_its_suffix_and_known_to_be_named(tmp_path: Path) -> None:
    plant(tmp_path, "a.py", "script")
    files = discover((".", "script"), None, str(tmp_path)).files
    assert [(f.path, f.explicit) for f in files] == [("a.py", False), ("script", True)]


def test_paths_that_overlap_give_each_file_once(tmp_path: Path) -> None:
    plant(tmp_path, "a/b.py")
    files = discover((".", "a", "a/b.py", "a/../a"), None, str(tmp_path)).files
    assert [(f.path, f.explicit) for f in files] == [("a/b.py", True)]


def test_a_path_that_does_not_exist_is_a_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"command line: nope\.py: no such file or folder"):
        discover(("nope.py",), None, str(tmp_path))
    with pytest.raises(ConfigError, match="is no path"):
        discover(("a\0b",), None, str(tmp_path))


def test_an_empty_folder_is_an_empty_result(tmp_path: Path) -> None:
    assert found(tmp_path) == []


# --- pruning


@pytest.mark.parametrize(
    "folder",
    [
        ".venv", "venv", "env", "node_modules", "site-packages", "__pycache__", ".git", ".tox",
        ".nox", "build", "dist", ".eggs", ".hidden", "tests", "test",
    ],
)  # fmt: skip
def test_a_folder_of_this_name_is_not_entered_unless_it_is_named(
    tmp_path: Path, folder: str
) -> None:
    plant(tmp_path, f"{folder}/inner/a.py", "b.py")
    assert found(tmp_path) == ["b.py"]
    assert found(tmp_path, folder) == [f"{folder}/inner/a.py"]


@pytest.mark.parametrize("mark", ["pyvenv.cfg", "conda-meta/history"])
def test_an_environment_of_any_name_is_known_by_its_mark(tmp_path: Path, mark: str) -> None:
    plant(tmp_path, f"py311/{mark}", "py311/lib/a.py", "b.py")
    assert found(tmp_path) == ["b.py"]
    assert found(tmp_path, "py311") == ["py311/lib/a.py"]


@pytest.mark.parametrize(
    "name", ["test_charge.py", "charge_test.py", "tests.py", "conftest.py", "tests/a.py"]
)
def test_tests_are_left_out_unless_named_or_included(tmp_path: Path, name: str) -> None:
    plant(tmp_path, name, "contest.py", "latest.py")
    assert found(tmp_path) == ["contest.py", "latest.py"]
    assert name in found(tmp_path, include_tests=True)
    assert found(tmp_path, name) == [name]


def test_a_named_test_folder_is_read_with_its_tests(tmp_path: Path) -> None:
    plant(tmp_path, "tests/test_a.py", "tests/unit/test_b.py", "tests/unit/tests/conftest.py")
    assert len(found(tmp_path, "tests")) == 3
    assert len(found(tmp_path, "tests/unit")) == 2
    assert found(tmp_path / "tests") == ["test_a.py", "unit/test_b.py", "unit/tests/conftest.py"]


def test_a_project_that_lies_in_a_folder_called_test_is_no_test(tmp_path: Path) -> None:
    project = tmp_path / "test" / "project"
    plant(project, "a.py", "test_a.py")
    assert found(project) == ["a.py"]


def test_exclude_replaces_the_default_and_extend_exclude_adds_to_it(tmp_path: Path) -> None:
    plant(tmp_path, "build/a.py", "old/b.py", "c.py")
    assert found(tmp_path, exclude=("old",)) == ["build/a.py", "c.py"]
    assert found(tmp_path, extend_exclude=("old",)) == ["c.py"]


def test_exclude_speaks_the_language_of_gitignore(tmp_path: Path) -> None:
    plant(tmp_path, "a/gen_x.py", "a/keep.py", "b/gen_y.py", "gen.py", "c d.py")
    assert found(tmp_path, exclude=("gen_*.py",)) == ["a/keep.py", "c d.py", "gen.py"]
    assert found(tmp_path, exclude=("/a/",)) == ["b/gen_y.py", "c d.py", "gen.py"]
    assert found(tmp_path, exclude=("a/*", "!a/keep.py", "c d.py")) == [
        "a/keep.py",
        "b/gen_y.py",
        "gen.py",
    ]


def test_a_named_file_is_read_though_a_pattern_names_it(tmp_path: Path) -> None:
    plant(tmp_path, "a.py", ".gitignore", text="a.py\n")
    assert found(tmp_path, "a.py", exclude=("a.py",)) == ["a.py"]
    assert found(tmp_path, exclude=("a.py",)) == []


def test_patterns_of_a_file_are_relative_to_it_and_those_of_the_command_line_to_the_folder(
    tmp_path: Path,
) -> None:
    plant(tmp_path, "app/old/a.py", "app/b.py", "old/c.py")
    (tmp_path / "pyproject.toml").write_text(
        '[tool.stripe-idem-lint]\nextend-exclude = ["/app/old"]\n', encoding="utf-8"
    )
    app = tmp_path / "app"
    from_file = load_settings({}, (), app)
    assert [f.path for f in discover((), from_file, str(app)).files] == ["b.py"]
    from_line = load_settings({"extend_exclude": ("/old",)}, (), app)
    assert [f.path for f in discover((), from_line, str(app)).files] == ["b.py"]


# --- gitignore


def test_what_a_gitignore_names_is_left_out_unless_told_otherwise(tmp_path: Path) -> None:
    plant(tmp_path, "a.py", "gen/b.py", "x/c_pb2.py")
    plant(tmp_path, ".gitignore", text="gen/\n*_pb2.py\n")
    assert found(tmp_path) == ["a.py"]
    assert found(tmp_path, respect_gitignore=False) == ["a.py", "gen/b.py", "x/c_pb2.py"]


def test_a_deeper_gitignore_decides_over_a_higher_one(tmp_path: Path) -> None:
    plant(tmp_path, "a/local.py", "b/local.py", "b/c/local.py")
    plant(tmp_path, ".gitignore", text="local.py\n")
    plant(tmp_path, "b/.gitignore", text="!local.py\n")
    assert found(tmp_path) == ["b/c/local.py", "b/local.py"]


def test_an_anchored_pattern_holds_in_its_own_folder_only(tmp_path: Path) -> None:
    plant(tmp_path, "a/x.py", "a/b/x.py", "x.py")
    plant(tmp_path, "a/.gitignore", text="/x.py\n")
    assert found(tmp_path) == ["a/b/x.py", "x.py"]


def test_the_files_above_count_inside_a_work_tree_only(tmp_path: Path) -> None:
    plant(tmp_path, "app/gen/a.py", "app/b.py")
    plant(tmp_path, ".gitignore", text="gen/\n")
    assert found(tmp_path / "app") == ["b.py", "gen/a.py"]
    (tmp_path / ".git").mkdir()
    assert found(tmp_path / "app") == ["b.py"]


def test_git_info_exclude_counts_below_every_gitignore(tmp_path: Path) -> None:
    plant(tmp_path, "a.py", "b.py", "c/d.py")
    plant(tmp_path, ".git/info/exclude", text="b.py\nd.py\n")
    plant(tmp_path, ".gitignore", text="!d.py\n")
    assert found(tmp_path) == ["a.py", "c/d.py"]
    assert found(tmp_path / "c") == ["d.py"]


def test_a_linked_work_tree_finds_its_info_exclude_elsewhere(tmp_path: Path) -> None:
    main, linked = tmp_path / "main", tmp_path / "linked"
    plant(main, ".git/info/exclude", text="b.py\n")
    plant(main, ".git/worktrees/linked/commondir", text="../..\n")
    plant(linked, ".git", text=f"gitdir: {main / '.git' / 'worktrees' / 'linked'}\n")
    plant(linked, "a.py", "b.py")
    assert found(linked) == ["a.py"]


def test_the_rules_of_a_work_tree_do_not_reach_into_another_one(tmp_path: Path) -> None:
    plant(tmp_path, "vendored/gen.py", "gen.py")
    plant(tmp_path, ".gitignore", text="gen.py\n")
    (tmp_path / ".git").mkdir()
    plant(tmp_path, "vendored/.git", text="gitdir: nowhere\n")
    assert found(tmp_path) == ["vendored/gen.py"]


def test_a_named_folder_is_read_though_git_ignores_it(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    plant(tmp_path, "out/a.py", "out/deep/b.py")
    plant(tmp_path, ".gitignore", text="out/\n")
    assert found(tmp_path) == []
    assert found(tmp_path, "out") == ["out/a.py", "out/deep/b.py"]
    assert found(tmp_path, "out/deep") == ["out/deep/b.py"]


def test_a_gitignore_with_lines_git_cannot_use_still_counts(tmp_path: Path) -> None:
    plant(tmp_path, "a.py", "b.py")
    (tmp_path / ".gitignore").write_bytes(b"\xef\xbb\xbf!\n/\n\\\n[\n\xff\xfe\nb.py\r\n")
    assert found(tmp_path) == ["a.py"]


# --- what cannot be read


@needs_links
def test_links_in_a_circle_end(tmp_path: Path) -> None:
    plant(tmp_path, "a/b.py")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "a" / "self").symlink_to("self")
    assert found(tmp_path) == ["a/b.py"]
    assert found(tmp_path, ".", "a/up", "a/up/a/up") == ["a/b.py"]


@needs_links
def test_a_named_link_to_a_folder_is_entered(tmp_path: Path) -> None:
    plant(tmp_path, "elsewhere/a.py", "project/b.py")
    (tmp_path / "project" / "link").symlink_to(tmp_path / "elsewhere")
    assert found(tmp_path / "project") == ["b.py"]
    assert found(tmp_path / "project", "link") == ["link/a.py"]


@needs_links
def test_a_linked_file_is_read_once(tmp_path: Path) -> None:
    plant(tmp_path, "z.py", "out/w.py")
    (tmp_path / "a.py").symlink_to("z.py")
    (tmp_path / "b.py").symlink_to("out/w.py")
    (tmp_path / "c.py").symlink_to("out/w.py")
    assert found(tmp_path) == ["out/w.py", "z.py"]
    assert found(tmp_path, exclude=("out",)) == ["b.py", "z.py"]


@needs_links
def test_links_that_lead_nowhere_are_problems_with_a_place(tmp_path: Path) -> None:
    plant(tmp_path, "ok.py")
    (tmp_path / "gone.py").symlink_to("nothing.py")
    (tmp_path / "loop.py").symlink_to("loop.py")
    (tmp_path / "notes.txt").symlink_to("nothing.txt")
    expected = [
        ("gone.py", "is a link that leads nowhere"),
        ("loop.py", "is a link that leads back to itself"),
    ]
    assert reasons(tmp_path) == expected
    assert reasons(tmp_path, "gone.py", "loop.py") == expected
    assert [f.path for f in discover((), None, str(tmp_path)).files] == ["ok.py"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_what_is_no_regular_file_is_a_problem_and_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    assert reasons(tmp_path) == [("pipe.py", "is no regular file")]
    assert reasons(tmp_path, "pipe.py") == [("pipe.py", "is no regular file")]


def test_a_folder_that_cannot_be_read_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(tmp_path, "closed/a.py", "open/b.py")
    scandir = os.scandir

    def refuse(path: str) -> object:
        if path.endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert reasons(tmp_path) == [("closed", "cannot be read: Permission denied")]
    assert [f.path for f in discover((), None, str(tmp_path)).files] == ["open/b.py"]


def test_a_gitignore_that_cannot_be_read_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(tmp_path, "a.py", ".gitignore")
    read_bytes = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path.name == ".gitignore":
            raise PermissionError(13, "Permission denied", str(path))
        return read_bytes(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert reasons(tmp_path) == [(".gitignore", "cannot be read: Permission denied")]
    assert [f.path for f in discover((), None, str(tmp_path)).files] == ["a.py"]


@pytest.mark.skipif(os.name == "nt", reason="names are text there")
def test_a_name_that_is_no_text_is_found(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.py")
    try:
        plant(tmp_path, name)
    except OSError:
        pytest.skip("this file system refuses such names")
    assert found(tmp_path) == [name]


def test_nothing_is_opened_but_ignore_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(tmp_path, "a.py", "b/__init__.py", ".gitignore")
    opened: list[str] = []
    real = Path.read_bytes

    def noting(path: Path) -> bytes:
        opened.append(path.name)
        return real(path)

    monkeypatch.setattr(Path, "read_bytes", noting)
    discover((), None, str(tmp_path))
    assert opened == [".gitignore"]


def test_a_folder_is_listed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(tmp_path, "a/b/c.py")
    listed: list[str] = []
    real = os.scandir

    def listing(path: str) -> Iterator[os.DirEntry[str]]:
        listed.append(path)
        return real(path)

    monkeypatch.setattr(os, "scandir", listing)
    discover((".", "a", "a/b"), None, str(tmp_path))
    assert sorted(listed) == [str(tmp_path), str(tmp_path / "a"), str(tmp_path / "a" / "b")]


# --- names


def test_each_file_carries_its_import_names(tmp_path: Path) -> None:
    plant(tmp_path, "src/billing/__init__.py", "src/billing/api.py")
    (package, api) = discover((), None, str(tmp_path)).files
    assert (package.modules[0], package.package, package.root) == ("billing", "billing", "src")
    assert (api.modules[0], api.package, api.root) == ("billing.api", "billing", "src")


def test_names_grow_to_the_project_when_a_folder_inside_is_checked(tmp_path: Path) -> None:
    plant(tmp_path, "pyproject.toml", "billing/api.py")
    (api,) = discover((".",), None, str(tmp_path / "billing")).files
    assert api.modules == ("api", "billing.api")
    assert api.root == ""
    (api,) = discover(("billing",), None, str(tmp_path)).files
    assert api.modules == ("api", "billing.api")
    assert api.root == "billing"
