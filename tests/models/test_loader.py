"""A wrong model file is refused with file, table, key and the word that was probably meant."""

from __future__ import annotations

from dataclasses import fields

import pytest

from stripe_idem_lint.core.errors import ModelError
from stripe_idem_lint.models.load import load_file
from stripe_idem_lint.models.schema import Catches, FunctionShape, ModelFile

HEAD = '[library]\nname = "billing"\nimports = "billing"\n'


def load(text: str) -> ModelFile:
    return load_file("billing.toml", HEAD + text)


def error_of(text: str) -> ModelError:
    with pytest.raises(ModelError) as caught:
        load_file("billing.toml", text)
    return caught.value


def test_a_table_becomes_a_row_with_its_defaults() -> None:
    (row,) = load('[[context]]\ncategory = "task"\ndecorator = ["billing.job"]\n').context
    assert row.category == "task"
    assert row.decorator == ("billing.job",)
    assert row.arguments == "rest"
    assert row.catches is None
    assert row.library == "billing"


def test_a_single_text_stands_for_a_list_of_one() -> None:
    file = load('[[work]]\ncall = "billing.due"\n')
    assert file.work[0].call == ("billing.due",)
    assert file.library.imports == ("billing",)


def test_method_is_spread_over_base_and_names() -> None:
    text = '[[context]]\ncategory = "http"\n'
    text += 'method = {base = "billing.View", names = ["post", "put"]}\n'
    (row,) = load(text).context
    assert (row.method_base, row.method_names) == (("billing.View",), ("post", "put"))


def test_nested_tables_become_their_own_classes() -> None:
    text = """
        [[context]]
        category = "retry"
        decorator = "billing.again"
        catches = {argument = ["on", "0"], default = []}
        [[context]]
        category = "serverless"
        function = {parameters = ["event", "context"], uncalled = true}
    """
    again, handler = load(text).context
    assert again.catches == Catches(argument=("on", "0"), default=())
    assert handler.function == FunctionShape(parameters=("event", "context"), uncalled=True)


def test_tables_of_texts_keep_their_order() -> None:
    text = '[[returns]]\ngives = "a.B"\ncall = "a.make"\nwhen = {"1" = "x", "0" = "y"}\n'
    assert load(text).returns[0].when == (("1", "x"), ("0", "y"))


def test_every_table_of_the_schema_can_be_written() -> None:
    """The loader has no list of its own, so a new table of the schema needs nothing here."""
    repeated = {each.name.rstrip("_") for each in fields(ModelFile)} - {
        "path",
        "library",
        "service",
        "words",
    }
    for table in sorted(repeated):
        message = str(error_of(f"{HEAD}[{table}]\n"))
        assert f"written [[{table}]]" in message
    assert "unknown key" in str(error_of(f"{HEAD}[service]\nhost = []\n"))


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        ("not toml", "billing.toml: ", "not valid TOML"),
        ('[library]\nname = "billing"\n', "billing.toml: library.imports: ", "missing"),
        ("[[work]]\ncall = 'a.b'\n", "billing.toml: library: ", "missing"),
        (HEAD + "[[contxt]]\n", "billing.toml: contxt: ", "did you mean context?"),
        (HEAD + "[context]\n", "billing.toml: context: ", "[[context]]"),
        (HEAD + "work = 1\n", "billing.toml: library.work: ", "unknown key"),
        ("library = 1\n", "billing.toml: library: ", "[library]"),
    ],
)
def test_a_wrong_file_or_table_is_named(text: str, place: str, hint: str) -> None:
    message = str(error_of(text))
    assert message.startswith(place)
    assert hint in message


@pytest.mark.parametrize(
    ("row", "key", "hint"),
    [
        ("decorater = 'a.b'", "decorater", "did you mean decorator?"),
        ("decorator = 'a.b'\ncategory = 'tsk'", "category", "did you mean task?"),
        ("decorator = 'a.b'\nlibrary = 'x'", "library", "unknown key"),
        ("decorator = 1", "decorator", "a list of texts"),
        ("decorator = ['a.b', 1]", "decorator", "must be a text"),
        ("decorator = 'a b'", "decorator", "no dotted name"),
        ("decorator = 'a.b'\nplain = 'yes'", "plain", "true or false"),
        ("decorator = 'a.b'\narguments = 'reast'", "arguments", "did you mean rest?"),
        ("decorator = 'a.b'\nraised_by = 'acks_late'", "raised_by", "no option test"),
        ("decorator = 'a.b'\npath_argument = '('", "path_argument", "no regular expression"),
        ("decorator = 'a.b'\nparameters = ['x']", "parameters", "a table of texts"),
        ("decorator = 'a.b'\nloop = 'a.c'", "loop", "only one of"),
        ("plain = true", "", "needs one of decorator, call, loop"),
        ("call = 'a.b'", "callable", "both or neither"),
        ("decorator = 'a.b'\ncallable = '0'", "callable", "both or neither"),
        ("method = {base = 'a.B'}", "method.names", "missing"),
        ("method = {base = 'a.B', name = 'x'}", "method.name", "did you mean names?"),
        ("method = 'a.B'", "method", "{base = …, names = …}"),
        ("method_base = 'a.B'", "method_base", "{base = …, names = …}"),
        (
            "decorator = 'a.b'\ncatches = {argumnt = 'on'}",
            "catches.argumnt",
            "did you mean argument?",
        ),
        ("decorator = 'a.b'\ncatches = 'on'", "catches", "must be a table"),
        ("function = {uncaled = true}", "function.uncaled", "did you mean uncalled?"),
    ],
)
def test_a_wrong_context_is_named_with_its_number_and_key(row: str, key: str, hint: str) -> None:
    good = "[[context]]\ncategory = 'http'\ndecorator = 'a.b'\n"
    category = "" if "category" in row else "category = 'task'\n"
    message = str(error_of(f"{HEAD}{good}[[context]]\n{category}{row}\n"))
    place = "billing.toml: context[2]" + (f".{key}" if key else "")
    assert message.startswith(f"{place}: ")
    assert hint in message


@pytest.mark.parametrize(
    ("table", "key", "hint"),
    [
        ("[[value]]\nkind = 'frehs'\ncall = 'a.b'", "value[1].kind", "did you mean fresh?"),
        ("[[value]]\nkind = 'fresh'", "value[1]", "needs one of call, attribute, item"),
        ("[[value]]\nkind = 'delivery'\ncall = 'a.b'", "value[1].scope", "message or hop"),
        (
            "[[value]]\nkind = 'clock'\nscope = 'hop'\ncall = 'a.b'",
            "value[1].scope",
            "only with it",
        ),
        ("[[value]]\nkind = 'delivery'\nscope = 'hopp'\nitem = 'a'", "value[1].scope", "mean hop?"),
        ("[[value]]\ncall = 'a.b'", "value[1].kind", "missing"),
        ("[[sink]]\ncall = 'a.b'\neffect = 'monye'", "sink[1].effect", "did you mean money?"),
        ("[[sink]]\neffect = 'money'", "sink[1].call", "missing"),
        ("[[edge]]\ncall = 'a.b'\ngives = 'futures'", "edge[1].gives", "did you mean future?"),
        ("[[lock]]\nlimit = 'timeout='", "lock[1]", "needs one of call, sql"),
        ("[[lock]]\nsql = '('", "lock[1].sql", "no regular expression"),
        ("[[record]]\nrow = true", "record[1]", "needs one of base, decorator"),
        ("[[entry]]\n", "entry[1]", "needs one of decorator, method"),
        ("[[guard]]\nwhy = 'x'", "guard[1]", "needs one of decorator, call"),
        ("[[http]]\nurl = '0'", "http[1]", "needs one of call, method_call"),
        ("[[alias]]\nname = 'a.b'", "alias[1].also", "missing"),
        ("[[class]]\nname = 'a.B'", "class[1].bases", "missing"),
        ("[[memo]]\ndecorators = 'a.b'", "memo[1].decorators", "did you mean decorator?"),
    ],
)
def test_a_wrong_row_of_any_table_is_named(table: str, key: str, hint: str) -> None:
    message = str(error_of(f"{HEAD}{table}\n"))
    assert message.startswith(f"billing.toml: {key}: ")
    assert hint in message
