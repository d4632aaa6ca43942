"""What machines read: JSON, SARIF, GitHub, GitLab, CSV; each valid, complete and the same twice."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from report.samples import FINDING, NOTICE, PROBLEM, RULE, SINK, changed, empty, report
from stripe_idem_lint.core.finding import Severity, Step
from stripe_idem_lint.core.problem import NOTICES
from stripe_idem_lint.core.span import Span
from stripe_idem_lint.report import github, gitlab, sarif, table
from stripe_idem_lint.report import json as json_report
from stripe_idem_lint.report.base import AuditRow, Report, RuleInfo, notice_rules, worst
from stripe_idem_lint.report.cells import width

DATA = Path(__file__).parent / "data"
NASTY = changed(
    message='Quotes " \\ and\nlines, 100% :: é 表 \udce9',
    span=Span("dir with space/a,b:c%é\udce9.py", 1, 1, 2, 1),
    help="x\r\ny",
    trace=(Step("born", Span("a b.py", 1, 1, 1, 2, "a\nb"), "n\udce9"),),
)
REPORTS = {
    "one": report(),
    "none": empty(),
    "problem": empty(problems=(PROBLEM,)),
    "info": report(NOTICE),
    "nasty": report(NASTY, problems=(PROBLEM,)),
    "bare": report(changed(origin=None, context=None, trace=(), help="", notes=(), fingerprint="")),
    "many": report(FINDING, FINDING, NOTICE, problems=(PROBLEM, PROBLEM)),
}
each_report = pytest.mark.parametrize("found", REPORTS.values(), ids=REPORTS.keys())


def schema(name: str) -> Any:
    return json.loads((DATA / name).read_text(encoding="utf-8"))


def as_written(text: str) -> Any:
    """What a reader of the output gets: it is written as UTF-8, with `?` for what is no text."""
    return json.loads(text.encode("utf-8", "replace"))


def sarif_run(found: Report) -> Any:
    (run,) = as_written(sarif.render(found))["runs"]
    return run


# --- JSON


def test_json_has_the_documented_form() -> None:
    document = as_written(json_report.render(report(problems=(PROBLEM,))))
    assert document == {
        "version": 1,
        "findings": [
            {
                "code": "SIL103",
                "name": "fresh-key-in-handler",
                "severity": "error",
                "message": "The key is made anew on every run of a handler",
                "path": "billing/gateway.py",
                "line": 42,
                "column": 12,
                "end_line": 42,
                "end_column": 74,
                "origin": {
                    "kind": "fresh",
                    "path": "billing/gateway.py",
                    "line": 41,
                    "column": 22,
                    "text": "uuid4()",
                },
                "context": {
                    "category": "http",
                    "name": "app.post('/pay')",
                    "path": "billing/views.py",
                    "line": 12,
                },
                "trace": [
                    {
                        "role": step.role,
                        "path": step.span.path,
                        "line": step.span.line,
                        "column": step.span.column,
                        "text": step.span.text,
                        "note": step.note,
                    }
                    for step in FINDING.trace
                ],
                "help": FINDING.help,
                "notes": list(FINDING.notes),
                "fingerprint": "0123456789abcdef",
            }
        ],
        "errors": [
            {
                "code": "SIL900",
                "name": "not-analysed",
                "severity": "warning",
                "path": "billing/old.py",
                "line": 3,
                "column": 7,
                "reason": PROBLEM.reason,
            }
        ],
        "summary": {"files": 12, "parsed": 4, "calls": 3},
    }


def test_json_says_null_where_there_is_no_birth_or_context() -> None:
    (finding,) = as_written(json_report.render(REPORTS["bare"]))["findings"]
    assert finding["origin"] is None
    assert finding["context"] is None


def test_json_counts_unknown_reasons_on_request() -> None:
    found = empty(unknown=(("a file", 2),))
    assert "unknown" not in as_written(json_report.render(found))
    document = as_written(json_report.render(found, show_unknown=True))
    assert document["unknown"] == [{"reason": "a file", "count": 2}]


# --- SARIF


@each_report
def test_sarif_is_valid_by_the_official_schema(found: Report) -> None:
    validator = jsonschema.Draft4Validator(schema("sarif-2.1.0-rtm.5.json"))
    assert list(validator.iter_errors(as_written(sarif.render(found)))) == []


def test_sarif_gives_each_result_its_place_level_and_rule() -> None:
    run = sarif_run(report(FINDING, NOTICE))
    first, second = run["results"]
    assert first["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "billing/gateway.py"},
        "region": {"startLine": 42, "startColumn": 12, "endLine": 42, "endColumn": 74},
    }
    assert (first["level"], second["level"]) == ("error", "note")
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert run["columnKind"] == "unicodeCodePoints"


def test_sarif_shows_two_flows_that_end_at_the_call() -> None:
    (result,) = sarif_run(report())["results"]
    key, again = result["codeFlows"]
    assert [flow["message"]["text"] for flow in (key, again)] == ["the key", "the re-execution"]

    def steps(flow: Any) -> list[tuple[str, int]]:
        (thread,) = flow["threadFlows"]
        places = [entry["location"] for entry in thread["locations"]]
        return [
            (place["message"]["text"], place["physicalLocation"]["region"]["startLine"])
            for place in places
        ]

    assert steps(key) == [
        ("born: uuid4", 41),
        ("passed: key not given", 18),
        ("sent to Stripe", 42),
    ]
    assert steps(again) == [
        ("run again: a client, proxy or user sends the request again", 12),
        ("sent to Stripe", 42),
    ]


def test_sarif_fingerprints_do_not_depend_on_lines() -> None:
    moved = changed(span=Span("billing/gateway.py", 90, 1, 91, 2))
    prints = [
        sarif_run(report(finding))["results"][0]["partialFingerprints"]
        for finding in (FINDING, moved)
    ]
    assert prints[0] == prints[1] == {"stripeIdem/v1": "0123456789abcdef"}


def test_sarif_describes_the_rules_and_the_codes_of_the_linter() -> None:
    rules = sarif_run(empty())["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["SIL103", *(notice.code for notice in NOTICES)]
    assert rules[0]["shortDescription"]["text"] == RULE.summary
    assert rules[0]["fullDescription"]["text"] == "Stripe makes a second charge."
    assert rules[0]["help"]["markdown"] == RULE.page.strip()
    assert "helpUri" not in rules[0]
    web = RuleInfo("SIL103", "a-rule", "It finds.", False, "", "https://example.org/SIL103")
    (rule, *_) = sarif_run(empty(rules=(web,)))["tool"]["driver"]["rules"]
    assert rule["helpUri"] == "https://example.org/SIL103"
    assert rule["defaultConfiguration"] == {"enabled": False}


def test_sarif_notes_what_was_not_analysed() -> None:
    (invocation,) = sarif_run(empty(problems=(PROBLEM,)))["invocations"]
    (note,) = invocation["toolExecutionNotifications"]
    assert note["level"] == "warning"
    assert note["associatedRule"]["id"] == "SIL900"
    assert PROBLEM.reason in note["message"]["text"]
    assert invocation["executionSuccessful"] is True


def test_sarif_paths_are_relative_references() -> None:
    (result,) = sarif_run(report(NASTY))["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "dir%20with%20space/a%2Cb%3Ac%25%C3%A9%E9.py"


# --- GitHub

_COMMAND = re.compile(r"::(?P<level>\w+) (?P<properties>[^:]*)::(?P<message>.*)")


def commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    """As the runner reads them: level, properties, message."""

    def plain(escaped: str) -> str:
        for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
            escaped = escaped.replace(code, char)
        return escaped

    read = []
    for line in text.splitlines():
        match = _COMMAND.fullmatch(line)
        assert match is not None, line
        pairs = (pair.partition("=") for pair in match["properties"].split(","))
        properties = {name: plain(value) for name, _, value in pairs}
        read.append((match["level"], properties, plain(match["message"])))
    return read


def test_github_annotates_the_call_with_all_evidence() -> None:
    ((level, properties, message),) = commands(github.render(report(), Severity.WARNING))
    assert level == "error"
    assert properties == {
        "file": "billing/gateway.py",
        "line": "42",
        "endLine": "42",
        "col": "12",
        "endColumn": "74",
        "title": "SIL103 fresh-key-in-handler",
    }
    assert message.splitlines() == [
        "The key is made anew on every run of a handler",
        "born: billing/gateway.py:41  uuid4()",
        "passed: billing/views.py:18  charge(order)  (key not given)",
        f'run again: billing/views.py:12  @app.post("/pay")  ({FINDING.trace[2].note})',
        "second run: another key, so Stripe makes a second charge beside the first",
        f"help: {FINDING.help}",
    ]


def test_github_reads_columns_of_one_line_only() -> None:
    long = changed(span=Span("a.py", 3, 5, 7, 2))
    ((_, properties, _),) = commands(github.render(report(long), Severity.INFO))
    assert properties == {
        "file": "a.py",
        "line": "3",
        "endLine": "7",
        "title": "SIL103 fresh-key-in-handler",
    }


@each_report
def test_github_text_cannot_break_out_of_its_command(found: Report) -> None:
    for _, properties, message in commands(github.render(found, Severity.INFO)):
        assert "\r" not in message
        assert properties["title"].startswith("SIL")


def test_github_keeps_the_characters_of_a_message() -> None:
    ((_, properties, message),) = commands(github.render(report(NASTY), Severity.INFO))
    assert message.startswith('Quotes " \\ and\\nlines, 100% :: é 表 \\udce9')
    assert properties["file"] == "dir with space/a,b:c%é\\udce9.py"


def test_github_shows_the_worst_first_and_info_as_notices() -> None:
    found = report(NOTICE, changed(severity=Severity.WARNING), FINDING, problems=(PROBLEM,))
    levels = [level for level, _, _ in commands(github.render(found, Severity.INFO))]
    assert levels == ["error", "warning", "notice", "warning"]
    assert len(commands(github.render(found, Severity.WARNING))) == 3
    assert len(commands(github.render(found, Severity.ERROR))) == 1


# --- GitLab


@each_report
def test_gitlab_is_valid_and_its_fingerprints_are_unique(found: Report) -> None:
    entries = as_written(gitlab.render(found, Severity.INFO))
    jsonschema.Draft202012Validator(schema("gitlab-code-quality.json")).validate(entries)
    prints = [entry["fingerprint"] for entry in entries]
    assert len(prints) == len(set(prints))


def test_gitlab_says_what_and_where() -> None:
    entry, problem = as_written(gitlab.render(report(problems=(PROBLEM,)), Severity.WARNING))
    assert entry["check_name"] == "fresh-key-in-handler"
    assert entry["severity"] == "critical"
    assert entry["location"] == {"path": "billing/gateway.py", "lines": {"begin": 42, "end": 42}}
    assert FINDING.message in entry["description"]
    assert FINDING.help in entry["description"]
    assert (problem["check_name"], problem["severity"]) == ("not-analysed", "major")


def test_gitlab_fingerprints_do_not_depend_on_lines() -> None:
    moved = changed(span=Span("billing/gateway.py", 90, 1, 91, 2))
    one, two = (
        as_written(gitlab.render(report(finding), Severity.INFO))[0]["fingerprint"]
        for finding in (FINDING, moved)
    )
    assert one == two


def test_gitlab_leaves_out_what_is_below_the_severity() -> None:
    assert as_written(gitlab.render(report(NOTICE), Severity.WARNING)) == []


# --- the audit's table

ROW = AuditRow(
    "billing/gateway.py",
    42,
    "stripe.PaymentIntent.create",
    "money",
    "given",
    ("fresh uuid4()", "stable order.id"),
    ("http app.post('/pay')",),
    "error SIL103",
)
WIDE = AuditRow("表/a.py", 1, "x" * 100, "other", "none", (), (), '=HYPERLINK("http://x")\x1b[2J')


def test_csv_is_complete_and_reads_back() -> None:
    lines = list(csv.reader(io.StringIO(table.as_csv([ROW, WIDE]))))
    assert lines[0] == list(table.COLUMNS)
    assert lines[1] == [
        "billing/gateway.py:42",
        "stripe.PaymentIntent.create",
        "money",
        "given",
        "fresh uuid4(), stable order.id",
        "http app.post('/pay')",
        "error SIL103",
    ]
    assert lines[2][1] == "x" * 100


def test_csv_holds_no_formulas() -> None:
    lines = list(csv.reader(io.StringIO(table.as_csv([WIDE]))))
    assert lines[1][6].startswith("'=HYPERLINK")


def test_the_table_as_json_holds_every_field() -> None:
    document = as_written(table.as_json([ROW]))
    assert document["version"] == 1
    (call,) = document["calls"]
    assert call["line"] == 42
    assert call["origins"] == ["fresh uuid4()", "stable order.id"]


def test_the_table_as_text_is_aligned_cut_and_harmless() -> None:
    text = table.as_text([ROW, WIDE])
    head, first, second = text.splitlines()
    starts = [line[: line.index(word)] for line, word in ((head, "effect"), (first, "money"))]
    starts.append(second[: second.index("other")])
    assert len({width(start) for start in starts}) == 1
    assert "…" in second
    assert "\x1b" not in text
    assert table.as_text([]) == "no Stripe write found\n"


# --- what they share


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (empty(), None),
        (report(NOTICE), Severity.INFO),
        (empty(problems=(PROBLEM,)), Severity.WARNING),
        (report(NOTICE, problems=(PROBLEM,)), Severity.WARNING),
        (report(FINDING, NOTICE), Severity.ERROR),
    ],
)
def test_the_worst_of_a_run(found: Report, expected: Severity | None) -> None:
    assert worst(found) is expected


def test_the_codes_of_the_linter_have_pages() -> None:
    assert [rule.code for rule in notice_rules()] == ["SIL900", "SIL901", "SIL902"]
    assert all(rule.summary and rule.page for rule in notice_rules())


@each_report
def test_every_form_is_the_same_twice(found: Report) -> None:
    for _ in range(2):
        assert json_report.render(found) == json_report.render(found)
        assert sarif.render(found) == sarif.render(found)
        assert github.render(found, Severity.INFO) == github.render(found, Severity.INFO)
        assert gitlab.render(found, Severity.INFO) == gitlab.render(found, Severity.INFO)


def test_places_of_the_samples_are_those_of_the_sources() -> None:
    """The samples say what their own source says, so that the tests above mean something."""
    line = report().sources[SINK.path][SINK.line - 1]
    assert line[SINK.column - 1 :].startswith("stripe.PaymentIntent.create")
