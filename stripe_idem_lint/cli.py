"""The command line: options in, exit code out. No logic, and nothing slow imported before its use.

Exit codes: 0 nothing at or above `--fail-on`, 1 findings, 2 a wrong use or setting or an internal
error, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TextIO, TypeVar, assert_never

import click

from stripe_idem_lint import __version__
from stripe_idem_lint.core.config import Option, Settings, load_settings, options
from stripe_idem_lint.core.errors import LintError
from stripe_idem_lint.core.finding import Severity

if TYPE_CHECKING:
    from stripe_idem_lint.report.base import Report

F = TypeVar("F", bound=Callable[..., Any])

PROGRAM = "stripe-idem-lint"


def main() -> None:
    """Entry point of `stripe-idem-lint`."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Runs one command line and gives the exit code; only wrong uses of click itself raise."""
    for stream in (sys.stdout, sys.stderr):
        # Paths and source hold characters that the locale may lack, and bytes that are no text.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    try:
        code = cli.main(list(arguments), prog_name=PROGRAM, standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return 2
    except click.Abort:
        return 130
    except LintError as error:
        click.echo(f"{PROGRAM}: error: {error}", err=True)
        _show_trace(error, arguments)
        return 2
    except Exception as error:  # noqa: BLE001 (told to the user with its place, exit code 2)
        click.echo(f"{PROGRAM}: internal error in {_place(error)}: {_said(error)}", err=True)
        if not _show_trace(error, arguments):
            again = " ".join([PROGRAM, "--traceback", *arguments])
            click.echo(f"please report it, with the output of `{again}`", err=True)
        return 2
    return code if isinstance(code, int) else 0


def _place(error: Exception) -> str:
    """File and line that raised, without the folders of the installation."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    _, ours, inside = frame.filename.replace(os.sep, "/").rpartition("/stripe_idem_")
    return f"{f'stripe_idem_{inside}' if ours else frame.filename}:{frame.lineno}"


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _show_trace(error: Exception, arguments: Sequence[str]) -> bool:
    """Prints the way to the error, if that was asked for."""
    asked = "--traceback" in arguments
    if asked:
        traceback.print_exception(error, file=sys.stderr)
    return asked


def _emit(write: Callable[[TextIO], object]) -> None:
    """Writes to standard output; a reader that went away (`| head`) is no error.

    Raises:
        LintError: It cannot be written (the disk is full).
    """
    try:
        write(sys.stdout)
        sys.stdout.flush()
    except BrokenPipeError:
        # The interpreter flushes once more at its end and must find somewhere to do so.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        raise LintError(f"cannot write the report: {error.strerror or error}") from error


# --- options


def _options(*scopes: str) -> Callable[[F], F]:
    """The options of the table that belong to these scopes, as flags."""

    def decorate(function: F) -> F:
        for option in reversed([o for o in options() if o.scope in scopes]):
            function = _flag(option)(function)
        return function

    return decorate


def _flag(option: Option) -> Callable[[F], F]:
    """None stands for "not given" everywhere, so that a configuration file can speak."""
    names = (option.flag.replace(" ", ""), option.field)
    match option.kind:
        case "switch":
            return click.option(*names, default=None, help=option.help)
        case "word":
            words = click.Choice(option.words)
            help_ = f"{option.help}  [default: {option.default}]"
            return click.option(*names, type=words, default=None, help=help_)
        case "file":
            return click.option(*names, default=None, metavar="FILE", help=option.help)
        case "codes":
            help_ = f"{option.help} Several with commas, or the option again."
            return click.option(*names, multiple=True, metavar="CODES", help=help_)
        case "patterns" | "files":
            metavar = "PATTERN" if option.kind == "patterns" else "FILE"
            help_ = f"{option.help} Give the option again for another."
            return click.option(*names, multiple=True, metavar=metavar, help=help_)
        case _:
            assert_never(option.kind)


# --- commands


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--traceback", is_flag=True, help="Show where an error came from.")
@click.version_option(__version__, prog_name=PROGRAM)
def cli(**_: Any) -> None:
    """Finds Stripe calls whose idempotency key does not survive a second run of the same charge."""


@cli.command()
@click.argument("paths", nargs=-1)
@_options("everywhere", "files", "check")
def check(paths: tuple[str, ...], **given: Any) -> int:
    """Names every Stripe call whose key is made anew when the code runs again."""
    from stripe_idem_lint import app
    from stripe_idem_lint.report.base import worst
    from stripe_idem_lint.report.progress import bar

    settings = load_settings(given, paths)
    with bar() as progress:
        report = app.check(paths, settings, progress)
    _emit(lambda out: _write(report, settings, out))
    found = worst(report)
    if settings.fail_on == "never" or found is None:
        return 0
    return 1 if found >= Severity[settings.fail_on.upper()] else 0


def _write(report: Report, settings: Settings, out: TextIO) -> None:
    least = Severity[settings.min_severity.upper()]
    match settings.output_format:
        case "text":
            from stripe_idem_lint.report import text

            text.write(report, least, out, settings.show_unknown)
        case "json":
            from stripe_idem_lint.report import json

            out.write(json.render(report, settings.show_unknown))
        case "sarif":
            from stripe_idem_lint.report import sarif

            out.write(sarif.render(report))
        case "github":
            from stripe_idem_lint.report import github

            out.write(github.render(report, least))
        case "gitlab":
            from stripe_idem_lint.report import gitlab

            out.write(gitlab.render(report, least))
        case _:
            assert_never(settings.output_format)


@cli.command()
@_options("everywhere")
def rules(**given: Any) -> int:
    """Lists the rules."""
    from stripe_idem_lint import app
    from stripe_idem_lint.report.explain import listed

    found = app.rules(load_settings(given))
    _emit(lambda out: out.write(listed(found)))
    return 0


@cli.command()
@click.argument("code")
def explain(code: str) -> int:
    """Shows the page of a rule, by code or name."""
    from stripe_idem_lint import app
    from stripe_idem_lint.report.explain import write_page

    rule = app.explain(code)
    _emit(lambda out: write_page(rule, out))
    return 0


@cli.command()
@click.argument("target", metavar="PATH:LINE")
@click.argument("paths", nargs=-1)
@_options("everywhere", "files")
def why(target: str, paths: tuple[str, ...], **given: Any) -> int:
    """Tells of any Stripe call, safe ones too, where its key was born and what runs it again.

    PATHS is the program that the call belongs to, the working directory by default.
    """
    from stripe_idem_lint import app

    said = app.why(target, paths or (".",), load_settings(given, paths))
    _emit(lambda out: out.write(said))
    return 0


@cli.command()
@click.argument("paths", nargs=-1)
@click.option(
    "--output-format",
    "form",
    type=click.Choice(["text", "csv", "json"]),
    default="text",
    help="How the table is written.  [default: text]",
)
@_options("everywhere", "files")
def audit(paths: tuple[str, ...], form: str, **given: Any) -> int:
    """Lists every Stripe write of the program with its key, its contexts and the verdict."""
    from stripe_idem_lint import app
    from stripe_idem_lint.report import table

    rows = app.audit(paths, load_settings(given, paths))
    render = {"text": table.as_text, "csv": table.as_csv, "json": table.as_json}[form]
    _emit(lambda out: out.write(render(rows)))
    return 0


@cli.command()
@click.argument("stage", type=click.Choice(["lower", "link", "solve"]))
@click.argument("path")
@_options("everywhere")
def debug(stage: str, path: str, **given: Any) -> int:
    """Prints what a stage of the analysis made of a file."""
    from stripe_idem_lint import app

    said = app.debug(stage, path, load_settings(given, (path,)))
    _emit(lambda out: out.write(said))
    return 0
