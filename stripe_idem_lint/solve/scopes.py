"""In which frame the parts of a definition are evaluated that do not run with its body."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stripe_idem_lint.link.program import ClassRef, FunctionRef
from stripe_idem_lint.solve.values import Frame

if TYPE_CHECKING:
    from stripe_idem_lint.solve.evaluate import Evaluator


def definition_frame(ev: Evaluator, frame: Frame) -> Frame:
    """Where defaults and annotations of the frame's function are evaluated."""
    if frame.closure is not None:
        return frame.closure
    function = ev.program.function(frame.owner) if isinstance(frame.owner, FunctionRef) else None
    if function is not None and function.cls is not None:
        return ev.class_frame(ClassRef(frame.path, function.cls))
    return ev.module_frame(frame.path)


def decorator_scope(ev: Evaluator, ref: FunctionRef) -> Frame:
    """Where the decorators of a function are evaluated."""
    function = ev.program.function(ref)
    if function.cls is not None:
        return ev.class_frame(ClassRef(ref.path, function.cls))
    if function.parent is not None:
        return ev.open_frame(FunctionRef(ref.path, function.parent))
    return ev.module_frame(ref.path)


def class_scope(ev: Evaluator, ref: ClassRef) -> Frame:
    """Where the bases, decorators and annotations of a class are evaluated."""
    parent = ev.program.cls(ref).parent
    return (
        ev.open_frame(FunctionRef(ref.path, parent))
        if parent is not None
        else ev.module_frame(ref.path)
    )
