"""The text form of a linked file: what `debug link` prints. Each imported or defined name, and where it leads."""

from __future__ import annotations

from stripe_idem_lint.ir import nodes as ir
from stripe_idem_lint.link.program import External, ModuleRef, Program


def dump(program: Program, path: str) -> str:
    """The names of one file.

    `name -> outside NAME`, `name -> module FILE`, `name -> NAME in FILE`, `name -> def QUALNAME`, `name -> class QUALNAME`.
    """
    module = program.module(path)
    if module is None:
        return f"{path}: not analysed\n"
    unit = program.unit(path)
    lines = [
        f"file {path}",
        f"  modules {', '.join(unit.modules) or '-'}",
        f"  package {unit.package or '-'}",
    ]
    bodies = [("module", module.body), *((f.qualname, f.body) for f in module.functions)]
    for label, body in bodies:
        names = [
            line for stmt in ir.statements(body) for line in _names(program, path, module, stmt)
        ]
        if names:
            lines.append(f"in {label}")
            lines.extend(f"  {name}" for name in names)
    return "\n".join(lines) + "\n"


def _names(program: Program, path: str, module: ir.Module, stmt: ir.Stmt) -> list[str]:
    match stmt:
        case ir.Import() | ir.ImportFrom():
            return [f"{stmt.name} -> {_target(program.imported(stmt, path))}"]
        case ir.Define(_, function):
            return [
                f"{module.functions[function].name} -> def {module.functions[function].qualname}"
            ]
        case ir.DefineClass(_, cls):
            return [f"{module.classes[cls].name} -> class {module.classes[cls].qualname}"]
        case _:
            return []


def _target(target: ModuleRef | External | tuple[str, str]) -> str:
    match target:
        case ModuleRef(path):
            return f"module {path}"
        case External(name):
            return f"outside {name}"
        case (path, name):
            return f"{name} in {path}"
