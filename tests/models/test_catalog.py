"""What the engine gets when it asks for a name: aliases, bases, patterns, unresolved receivers."""

from __future__ import annotations

from importlib.resources.abc import Traversable
from pathlib import Path

import pytest

from stripe_idem_lint.models.catalog import Catalog, load_catalog
from stripe_idem_lint.models.load import load_file

QUEUE = """
[library]
name = "queue-lib"
imports = ["queuelib"]
[[alias]]
name = "queuelib.Queue"
also = ["queuelib.core.base.Queue", "queuelib.current"]
[[alias]]
name = "queuelib"
also = ["queuelib.compat"]
[[class]]
name = "queuelib.RedisQueue"
bases = "queuelib.Queue"
[[class]]
name = "queuelib.FastRedisQueue"
bases = ["queuelib.RedisQueue", "queuelib.Fast"]
[[class]]
name = "queuelib.Lost"
bases = "ConnectionError"
[[class]]
name = "ConnectionError"
bases = "OSError"
[[context]]
category = "task"
decorator = ["queuelib.Queue.task", "queuelib.task"]
[[context]]
category = "schedule"
decorator = "queuelib.Queue.task"
on_by = "every="
[[context]]
category = "message"
inside = "queuelib.Queue.poll"
[[context]]
category = "message"
loop = "queuelib.Queue.stream"
[[context]]
category = "retry"
call = "queuelib.Queue.ensure"
callable = "0"
[[context]]
category = "transaction"
enter = "queuelib.again"
[[context]]
category = "http"
method = {base = "queuelib.View", names = ["post", "on_*"]}
[[context]]
category = "http"
decorator = "queuelib.Web.post"
path_argument = "^/"
[[context]]
category = "task"
attribute = "*.WorkerSettings.functions"
[[context]]
category = "serverless"
function = {parameters = ["event", "context"]}
[[edge]]
call = "queuelib.run"
[[returns]]
gives = "queuelib.Message"
call = "queuelib.Queue.poll"
loop = "queuelib.Queue.stream"
attribute = "queuelib.Queue.last"
[[value]]
kind = "derived"
call = ["*.encode", "builtins.str"]
[[value]]
kind = "derived"
cuts = true
call = "*.date"
[[value]]
kind = "fresh"
call = ["uuid.uuid4", "queuelib.Queue.draw_*", "*.objects.draw"]
[[value]]
kind = "delivery"
scope = "message"
attribute = "queuelib.Queue.request.id"
[[value]]
kind = "delivery"
scope = "hop"
item = ["headers[X-Request-ID]", "auth[jti]", "session.key"]
[[record]]
base = "queuelib.Model"
field = "queuelib.fields.*Field"
[[record]]
decorator = "queuelib.record"
[[lock]]
call = "queuelib.Queue.lock"
[[lock]]
sql = 'pg_try_advisory_lock'
[[transaction]]
call = "queuelib.atomic"
[[guard]]
decorator = "queuelib.once"
call = "queuelib.claim"
[[memo]]
decorator = "functools.cache"
[[noreturn]]
call = "sys.exit"
[[work]]
call = ["csv.reader", "*.fetchall"]
[[entry]]
decorator = "queuelib.command"
[[entry]]
method = {base = "queuelib.Command", names = "handle"}
[[sink]]
call = "pay.Charge.create"
effect = "money"
path = "/v1/charges"
[[sink]]
call = "pay.Invoice.update"
effect = "other"
path = "/v1/invoices/{}"
[[sink]]
call = "pay.Invoice.preview"
effect = "guarded"
path = "/v1/invoices/create_preview"
[[http]]
call = "web.Client.post"
method_call = "web.request"
[service]
hosts = "api.pay.example"
"""


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog([load_file("queue.toml", QUEUE)])


def categories(rows: tuple[object, ...]) -> list[str]:
    return [getattr(row, "category", "") for row in rows]


def test_an_alias_holds_for_the_name_and_for_what_stands_behind_it(catalog: Catalog) -> None:
    assert catalog.canonical("queuelib.core.base.Queue") == "queuelib.Queue"
    assert catalog.canonical("queuelib.core.base.Queue.task") == "queuelib.Queue.task"
    assert catalog.canonical("queuelib.compat.current.task") == "queuelib.Queue.task"
    assert catalog.canonical("queuelib.core.basement") == "queuelib.core.basement"
    assert categories(catalog.decorators("queuelib.core.base.Queue.task")) == ["task", "schedule"]


def test_an_alias_below_its_own_name_is_left_alone() -> None:
    text = '[library]\nname = "a"\nimports = "a"\n[[alias]]\nname = "a.b"\nalso = "a"\n'
    catalog = Catalog([load_file("a.toml", text)])
    assert catalog.canonical("a.c") == "a.b.c"
    assert catalog.canonical("a.b.c") == "a.b.c"


def test_aliases_in_a_circle_end() -> None:
    text = '[library]\nname = "a"\nimports = "a"\n'
    text += '[[alias]]\nname = "a"\nalso = "b"\n[[alias]]\nname = "b"\nalso = "a"\n'
    assert Catalog([load_file("a.toml", text)]).canonical("a.x") in {"a.x", "b.x"}


def test_a_name_of_python_itself_needs_no_prefix(catalog: Catalog) -> None:
    assert catalog.canonical("str") == "builtins.str"
    assert catalog.value_call("str") == catalog.value_call("builtins.str") != ()


def test_bases_are_transitive_and_nearest_first(catalog: Catalog) -> None:
    assert catalog.bases("queuelib.FastRedisQueue") == (
        "queuelib.RedisQueue",
        "queuelib.Fast",
        "queuelib.Queue",
    )
    assert catalog.is_subclass("queuelib.FastRedisQueue", "queuelib.core.base.Queue")
    assert catalog.is_subclass("queuelib.Queue", "queuelib.Queue")
    assert not catalog.is_subclass("queuelib.Queue", "queuelib.RedisQueue")


def test_an_exception_is_known_by_the_built_in_ones_above_it(catalog: Catalog) -> None:
    assert catalog.is_subclass("queuelib.Lost", "OSError")
    assert not catalog.is_subclass("queuelib.Lost", "ValueError")


def test_a_method_of_a_base_is_found_on_the_class(catalog: Catalog) -> None:
    assert categories(catalog.decorators("queuelib.FastRedisQueue.task")) == ["task", "schedule"]
    assert categories(catalog.insides("queuelib.RedisQueue.poll")) == ["message"]
    assert catalog.lock("queuelib.RedisQueue.lock") is not None
    assert catalog.value_attribute("queuelib.RedisQueue.request.id")[0].scope == "message"


def test_every_how_has_its_question(catalog: Catalog) -> None:
    assert categories(catalog.loops("queuelib.Queue.stream")) == ["message"]
    assert categories(catalog.calls("queuelib.Queue.ensure")) == ["retry"]
    assert categories(catalog.enters("queuelib.again")) == ["transaction"]
    assert categories(catalog.assigned("app.worker.WorkerSettings.functions")) == ["task"]
    assert categories(catalog.shapes()) == ["serverless"]
    assert categories(catalog.methods("queuelib.View", "on_post")) == ["http"]
    assert catalog.methods("queuelib.View", "get") == ()


def test_what_the_models_do_not_know_has_an_empty_answer(catalog: Catalog) -> None:
    assert catalog.decorators("app.tasks.own") == ()
    assert catalog.bases("app.Own") == ()
    assert catalog.edge("app.own") is None
    assert catalog.sink("pay.Charge.retrieve") is None
    assert catalog.record("app.Base") is None
    assert not catalog.noreturn("app.stop")


def test_a_star_stays_inside_one_part_and_a_leading_one_takes_any_receiver(
    catalog: Catalog,
) -> None:
    assert catalog.value_call("queuelib.RedisQueue.draw_id")[0].kind == "fresh"
    assert catalog.value_call("queuelib.Queue.draw_id.hex") == ()
    assert catalog.value_call("shop.models.Order.objects.draw")[0].kind == "fresh"
    assert catalog.value_call("objects.draw") == ()
    assert catalog.work("shop.db.cursor.fetchall")
    assert not catalog.work("fetchall")


def test_methods_of_any_value_are_asked_by_their_name_alone(catalog: Catalog) -> None:
    assert catalog.derived_method("encode")
    assert catalog.derived_method("date")
    assert catalog.cutting_method("date")
    assert not catalog.cutting_method("encode")
    assert not catalog.derived_method("draw")
    assert catalog.value_call("shop.Order.encode") == ()


def test_an_item_is_known_by_the_end_of_its_path_in_any_case(catalog: Catalog) -> None:
    found = catalog.match_item((".request", ".headers", "[x-request-id]"))
    assert found is not None
    assert found.scope == "hop"
    assert catalog.match_item((".auth", "[jti]")) is not None
    assert catalog.match_item((".session", ".key")) is not None
    assert catalog.match_item((".session", "[key]")) is None
    assert catalog.match_item(("[X-Request-ID]",)) is None
    assert catalog.match_item(()) is None


def test_an_unresolved_receiver_counts_where_the_library_is_imported(catalog: Catalog) -> None:
    here, elsewhere = frozenset({"queuelib", "os"}), frozenset({"os"})
    assert categories(catalog.unresolved_decorators("task", here)) == ["task", "schedule"]
    assert catalog.unresolved_decorators("task", elsewhere) == ()
    assert categories(catalog.unresolved_insides("poll", here)) == ["message"]
    assert catalog.unresolved_insides("poll", elsewhere) == ()
    assert categories(catalog.unresolved_calls("ensure", here)) == ["retry"]
    assert categories(catalog.unresolved_loops("stream", here)) == ["message"]


def test_a_route_on_an_unresolved_receiver_is_left_to_its_path(catalog: Catalog) -> None:
    assert categories(catalog.unresolved_decorators("post", frozenset())) == ["http"]


def test_a_function_of_a_module_is_no_method_of_an_unresolved_receiver(catalog: Catalog) -> None:
    assert catalog.unresolved_calls("run", frozenset({"queuelib"})) == ()


def test_returns_are_asked_by_call_attribute_and_loop(catalog: Catalog) -> None:
    assert catalog.returns_call("queuelib.RedisQueue.poll")[0].gives == "queuelib.Message"
    assert catalog.returns_attribute("queuelib.Queue.last")[0].gives == "queuelib.Message"
    assert catalog.returns_loop("queuelib.Queue.stream")[0].gives == "queuelib.Message"


def test_records_locks_guards_and_entries_are_found(catalog: Catalog) -> None:
    assert catalog.record("queuelib.Model") is not None
    assert catalog.record("queuelib.record") is not None
    assert catalog.record_field("queuelib.fields.CharField") is not None
    assert catalog.lock_sql("SELECT PG_TRY_ADVISORY_LOCK(%s)") is not None
    assert catalog.lock_sql("select 1") is None
    assert catalog.transaction("queuelib.atomic") is not None
    assert catalog.guard_decorator("queuelib.once") is not None
    assert catalog.guard_call("queuelib.claim") is not None
    assert catalog.memo("functools.cache")
    assert catalog.noreturn("sys.exit")
    assert catalog.entry_decorator("queuelib.command") is not None
    assert catalog.entry_method("queuelib.Command", "handle") is not None
    assert catalog.entry_method("queuelib.Command", "run") is None


def test_a_path_with_more_literal_parts_goes_first(catalog: Catalog) -> None:
    def effect(path: str) -> str | None:
        sink = catalog.sink_path(path)
        return sink.effect if sink else None

    assert effect("/v1/invoices/create_preview") == "guarded"
    assert effect("/v1/invoices/in_42") == "other"
    assert effect("/v1/invoices/{}") == "other"
    assert effect("/v1/charges?expand=x") == "money"
    assert effect("/v1/charges/") == "money"
    assert effect("/v1/charges/ch_1") is None
    assert effect("/v1/{}") is None


def test_clients_are_known_by_their_calls(catalog: Catalog) -> None:
    assert catalog.http_call("web.Client.post") is not None
    assert catalog.http_call("web.request") is not None


def test_words_are_in_every_file_that_can_hold_a_sink(catalog: Catalog) -> None:
    assert catalog.sink_words() == frozenset({b"pay", b"api.pay.example"})


def test_a_teams_own_row_hides_the_packs_row_about_the_same_name() -> None:
    own = '[library]\nname = "own"\nimports = "shop"\n[[context]]\ncategory = "retry"\n'
    own += 'decorator = "queuelib.Queue.task"\n[[sink]]\ncall = "*.charge_card"\neffect = "money"\n'
    catalog = Catalog([load_file("queue.toml", QUEUE)], [load_file("own.toml", own)])
    assert categories(catalog.decorators("queuelib.Queue.task")) == ["retry"]
    assert categories(catalog.decorators("queuelib.task")) == ["task"]
    assert catalog.sink("shop.gateway.charge_card") is not None
    assert b"charge_card" in catalog.sink_words()


def test_packs_are_read_with_all_folders_below_models(tmp_path: Path) -> None:
    models = tmp_path / "models" / "deep" / "deeper"
    models.mkdir(parents=True)
    (models / "queue.toml").write_text(QUEUE, encoding="utf-8")
    (models / "notes.md").write_text("not a model", encoding="utf-8")
    pack: Traversable = tmp_path
    catalog = load_catalog([pack])
    assert [file.path for file in catalog.files] == [
        f"{tmp_path.name}/models/deep/deeper/queue.toml"
    ]
    assert load_catalog([pack / "models" / "deep"]).files == ()


def test_a_sink_is_known_by_the_attributes_that_lead_to_it() -> None:
    text = """
[library]
name = "pay"
imports = "pay"
[[alias]]
name = "pay.Client"
also = "pay.Client.v1"
[[sink]]
call = ["pay.Charge.create", "pay.Client.charges.create"]
effect = "money"
[service]
client = "pay.Client"
versions = "v1"
"""
    catalog = Catalog([load_file("pay.toml", text)])

    def name(*path: str) -> str:
        found = catalog.sink_below(path)
        return found[0] if found is not None else ""

    assert name("gateway", "pay", "Charge", "create") == "pay.Charge.create"
    assert name("app", "pay", "charges", "create") == "pay.charges.create"
    assert name("client", "v1", "charges", "create") == "pay.Client.v1.charges.create"
    assert name("client", "charges", "create") == ""
    assert name("pay", "Charge", "list") == ""


def test_the_words_of_all_files_count() -> None:
    head = '[library]\nname = "own"\nimports = "shop"\n[words]\n'
    files = [
        load_file("a.toml", f'{head}done = "paid"\n'),
        load_file("b.toml", f'{head}done = "ok"\n'),
    ]
    assert Catalog(files[:1], files[1:]).words.done == ("ok", "paid")
