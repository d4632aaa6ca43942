"""The command line: options in, exit code out. No logic, and nothing slow imported before it is needed.

Exit codes: 0 nothing at or above `--fail-on`, 1 findings, 2 usage, configuration or internal error.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from stripe_idem_lint import __version__
from stripe_idem_lint.core.config import Option, Settings, load_settings, options
from stripe_idem_lint.core.errors import LintError
from stripe_idem_lint.core.finding import Severity

F = TypeVar("F", bound=Callable[..., Any])


def main() -> None:
    """Entry point of `stripe-idem-lint`."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    try:
        code = cli.main(standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        code = 2
    except click.Abort:
        code = 2
    except LintError as error:
        click.echo(f"stripe-idem-lint: {error}", err=True)
        code = 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except Exception as error:  # noqa: BLE001 - the last resort: said with exit code 2
        code = _internal(error)
    sys.exit(code if isinstance(code, int) else 0)


def _internal(error: Exception) -> int:
    """An unexpected error: where, and what to do."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    click.echo(
        f"stripe-idem-lint: internal error in {Path(frame.filename).name}:{frame.lineno}: {error!r}",
        err=True,
    )
    click.echo(
        "please report it, with the output of the same command under STRIPE_IDEM_TRACEBACK=1",
        err=True,
    )
    if os.environ.get("STRIPE_IDEM_TRACEBACK"):
        traceback.print_exception(error)
    return 2


def _options(*scopes: str) -> Callable[[F], F]:
    """The options of the table that belong to these scopes, as flags."""

    def decorate(function: F) -> F:
        for option in reversed([o for o in options() if o.scope in scopes]):
            function = _flag(option)(function)
        return function

    return decorate


def _flag(option: Option) -> Callable[[F], F]:
    names = (option.flag.replace(" ", ""), option.field)
    match option.kind:
        case "switch":
            return click.option(*names, default=None, help=option.help)
        case "word":
            help_ = f"{option.help} [default: {option.default}]"
            return click.option(*names, type=click.Choice(option.words), default=None, help=help_)
        case "file":
            return click.option(*names, default=None, metavar="FILE", help=option.help)
        case kind:
            help_ = f"{option.help} Several with commas, or the option again."
            return click.option(
                *names, multiple=True, metavar=kind.upper(), callback=_split, help=help_
            )


def _split(
    context: click.Context, parameter: click.Parameter, value: tuple[str, ...]
) -> tuple[str, ...] | None:
    return tuple(part.strip() for item in value for part in item.split(",") if part.strip()) or None


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="stripe-idem-lint")
def cli() -> None:
    """Finds Stripe calls whose idempotency key does not survive a second execution of the same charge."""


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
    least = Severity[settings.min_severity.upper()]
    match settings.output_format:
        case "json":
            from stripe_idem_lint.report import json

            click.echo(json.render(report, settings.show_unknown), nl=False)
        case "sarif":
            from stripe_idem_lint.report import sarif

            click.echo(sarif.render(report), nl=False)
        case "github":
            from stripe_idem_lint.report import github

            click.echo(github.render(report, least), nl=False)
        case "gitlab":
            from stripe_idem_lint.report import gitlab

            click.echo(gitlab.render(report, least), nl=False)
        case _:
            _text(report, least, settings)
    found = worst(report)
    if settings.fail_on == "never" or found is None:
        return 0
    return 1 if found >= Severity[settings.fail_on.upper()] else 0


def _text(report: Any, least: Severity, settings: Settings) -> None:
    from rich.console import Console

    from stripe_idem_lint.report import text

    text.write(report, least, Console(), settings.show_unknown)


@cli.command()
@_options("everywhere")
def rules(**given: Any) -> int:
    """Lists the rules."""
    from stripe_idem_lint import app

    for rule in app.rules(load_settings(given)):
        click.echo(
            f"{rule.code}  {rule.name:<30}  {rule.summary}{'' if rule.default else '  (off by default)'}"
        )
    return 0


@cli.command()
@click.argument("code")
def explain(code: str) -> int:
    """Shows the page of a rule, by code or name."""
    from stripe_idem_lint import app

    rule = app.explain(code)
    click.echo(f"# {rule.code} {rule.name}\n\n{rule.summary}\n\n{rule.page.strip()}")
    return 0


@cli.command()
@click.argument("target", metavar="PATH:LINE")
@click.argument("paths", nargs=-1)
@_options("everywhere", "files")
def why(target: str, paths: tuple[str, ...], **given: Any) -> int:
    """Tells for any Stripe call, safe ones too, where its key was born and what runs it again."""
    from stripe_idem_lint import app

    click.echo(app.why(target, paths or (".",), load_settings(given, paths)), nl=False)
    return 0


@cli.command()
@click.argument("paths", nargs=-1)
@click.option(
    "--output-format",
    "form",
    type=click.Choice(["text", "csv", "json"]),
    default="text",
    help="How the table is printed.",
)
@_options("everywhere", "files")
def audit(paths: tuple[str, ...], form: str, **given: Any) -> int:
    """Lists every Stripe write of the program with its key, its contexts and the verdict."""
    from stripe_idem_lint import app
    from stripe_idem_lint.report import table

    rows = app.audit(paths, load_settings(given, paths))
    render = {"text": table.as_text, "csv": table.as_csv, "json": table.as_json}[form]
    click.echo(render(rows), nl=False)
    return 0


@cli.command()
@click.argument("stage", type=click.Choice(["lower", "link", "solve"]))
@click.argument("path")
@_options("everywhere")
def debug(stage: str, path: str, **given: Any) -> int:
    """Prints what a stage of the analysis made of a file."""
    from stripe_idem_lint import app

    click.echo(app.debug(stage, path, load_settings(given)), nl=False)
    return 0
