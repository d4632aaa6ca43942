# Asked for every file of a run: text is enough.
# ruff: noqa: PTH110, PTH113, PTH118
"""What `.gitignore` files and exclude patterns leave out: layers of rules, the deepest decides.

Follows git (https://git-scm.com/docs/gitignore): a `.gitignore` in any folder, those of the folders
above up to the top of the work tree, and `.git/info/exclude` below them all. A user's own
`core.excludesFile` is not read: two people must get the same findings.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from stripe_idem_lint.source.names import is_inside, self_and_above

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


@dataclass(frozen=True, slots=True)
class Layer:
    """The rules of one file or option.

    Attributes:
        base: The absolute folder that they are relative to.
    """

    base: str
    spec: GitIgnoreSpec

    def verdict(self, path: str, is_folder: bool) -> bool | None:
        """True: left out; False: taken back in by `!`; None: not named."""
        if not is_inside(path, self.base) or path == self.base:
            return None
        relative = path[len(self.base.rstrip(os.sep)) + 1 :].replace(os.sep, "/")
        return self.spec.check_file(f"{relative}/" if is_folder else relative).include


Layers = tuple[Layer, ...]


def ignored(layers: Layers, path: str, is_folder: bool) -> bool:
    """Whether the layers, outermost first, leave out the absolute `path`."""
    for layer in reversed(layers):
        verdict = layer.verdict(path, is_folder)
        if verdict is not None:
            return verdict
    return False


def patterns_layer(base: str, patterns: Iterable[str]) -> Layer:
    """Rules given as lines; a line that git would not understand is none, as in git."""
    # Imported late: most runs need it, but `rules`, `explain` and `--version` do not.
    from pathspec import GitIgnoreSpec

    lines = list(patterns)
    try:
        return Layer(base, GitIgnoreSpec.from_lines(lines))
    except ValueError:
        return Layer(base, GitIgnoreSpec.from_lines(line for line in lines if _is_pattern(line)))


def _is_pattern(line: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True


def file_layer(folder: str, file: str) -> Layer | None:
    """The rules of one file, relative to `folder`; None where there is no such file.

    Raises:
        OSError: The file is there and cannot be read.
    """
    try:
        data = Path(file).read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    return patterns_layer(folder, data.decode("utf-8-sig", "replace").splitlines())


def layers_above(folder: str) -> Layers:
    """The rules that hold in `folder` by files further up: none outside a git work tree.

    A folder that they leave out themselves was asked for by name, so they do not hold in it.

    Raises:
        OSError: A `.gitignore` is there and cannot be read.
    """
    chain = self_and_above(folder)
    top = next((n for n, above in enumerate(chain) if is_work_tree(above)), None)
    if not top:  # no work tree, or the folder is its top: its own files are read on entering
        return ()
    layers: Layers = ()
    for above in reversed(chain[: top + 1]):
        if ignored(layers, above, is_folder=True):
            layers = ()
        if above != folder:
            layers += own_layers(above)
    return layers


def own_layers(folder: str) -> Layers:
    """The rules that start in this very folder.

    Raises:
        OSError: A file is there and cannot be read.
    """
    exclude = _info_exclude(folder) if is_work_tree(folder) else None
    found = (
        file_layer(folder, exclude) if exclude else None,
        file_layer(folder, os.path.join(folder, ".gitignore")),
    )
    return tuple(layer for layer in found if layer is not None)


def is_work_tree(folder: str) -> bool:
    """Whether the folder is the top of a git work tree."""
    return os.path.exists(os.path.join(folder, ".git"))


def _info_exclude(top: str) -> str:
    """`info/exclude` of the repository; linked work trees and submodules keep it elsewhere
    (https://git-scm.com/docs/gitrepository-layout)."""
    git = os.path.join(top, ".git")
    if os.path.isfile(git):
        pointer = Path(git).read_text("utf-8", "replace").strip()
        git = os.path.join(top, pointer.removeprefix("gitdir:").strip())
        common = os.path.join(git, "commondir")
        if os.path.isfile(common):
            git = os.path.join(git, Path(common).read_text("utf-8", "replace").strip())
    return os.path.join(git, "info", "exclude")
