"""The vocabulary of the model files: what a library's names mean to the analysis.

A model file is TOML and describes one library. The engine knows the words of this page and no
library; every name of a library stands in a model file. Dotted names are the ones a program can
import (`celery.shared_task`); a method is named after its class (`celery.Celery.task`), and a name
of Python's own is `builtins.hash` or `hash`. `*` stands for any run of characters inside one dotted
part (`django.db.models.*Field`); a leading `*.` for any receiver (`*.fetchall`).

*Options.* An option test (`raised_by`, `off_by`, `on_by`, …) is one of
  "acks_late=True"    the keyword is given with this literal or dotted name (or a call of it);
  "autoretry_for="    the keyword is given, with anything but None, False, 0 or an empty list;
  "0="                the same for the argument at a position;
  "call:self.retry"   the body calls this (`self` stands for the task instance); for a `call`
                      context, the body of the function that makes the call.
Options are looked for where the context gets them: on the decorator, on the call, on the call that
made the instance (`Retrying(…)` for `for attempt in retrying`), and for `method` among the
attributes of the class.

The loader derives tables and keys from these classes: a field is a key, a field without a default
is required, and the annotation says what the value may be. `method_base` and `method_names` are
written `method = {base = …, names = …}`, and a single string may stand for a list of one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Literal


class Form(Enum):
    """What the text in a field is, beyond being text: the loader checks it, tests verify names."""

    SUBJECT = "the dotted names that the row is about"
    DOTTED = "dotted names that the row refers to"
    OPTION = "option tests"
    REGEX = "a regular expression"
    FILLED = "not a key: the loader fills it in"


Subjects = Annotated[tuple[str, ...], Form.SUBJECT]
Dotted = Annotated[tuple[str, ...], Form.DOTTED]
OptionTests = Annotated[tuple[str, ...], Form.OPTION]
Regex = Annotated[str, Form.REGEX]
Pairs = tuple[tuple[str, str], ...]

Category = Literal[
    "retry",
    "transaction",
    "task",
    "message",
    "http",
    "webhook",
    "serverless",
    "tool",
    "workflow",
    "schedule",
    "recovery",
    "batch",
]
Kind = Literal["fresh", "clock", "window", "process", "attempt", "delivery", "stable", "derived"]
Scope = Literal["", "message", "hop"]
Effect = Literal["money", "payable", "guarded", "other"]
Arguments = Literal["rest", "packed", "none", "each"]
Gives = Literal["result", "future", "partial", "nothing"]
Style = Literal["resource", "service"]


@dataclass(frozen=True, slots=True)
class Library:
    """`[library]`, once per file.

    Attributes:
        name: The distribution on the package index.
        imports: The import roots. Names of methods on objects that cannot be resolved count only in
            files that import one.
        docs: A page of the library's documentation about retries or delivery.
    """

    name: str
    imports: tuple[str, ...]
    docs: str = ""


@dataclass(frozen=True, slots=True)
class Alias:
    """`[[alias]]`: other importable names of one thing (`celery.app.shared_task` is
    `celery.shared_task`).

    Attributes:
        name: The name that the rest of the models uses.
        also: The others.
    """

    name: Annotated[str, Form.DOTTED]
    also: Dotted


@dataclass(frozen=True, slots=True)
class Subclass:
    """`[[class]]`: an external class and its bases, so that methods named on a base are found on
    it.

    `huey.RedisHuey` with base `huey.Huey` finds `huey.Huey.task`.
    """

    name: Annotated[str, Form.SUBJECT]
    bases: Dotted


@dataclass(frozen=True, slots=True)
class Returns:
    """`[[returns]]`: what a call, an attribute or an iteration gives, where the name alone does not
    tell.

    A call of a capitalised name gives an instance of it without being listed.

    Attributes:
        call: Callables (`redis.Redis.from_url`, `boto3.client`).
        attribute: Attributes, dotted behind their class (`celery.Task.request`).
        loop: Things iterated over: the type of each item (`kafka.KafkaConsumer`).
        when: A literal that one argument must have, as `position or keyword = literal` (`0 =
            "sqs"`), else no match.
        gives: The dotted class of the result.
    """

    gives: str
    call: Subjects = ()
    attribute: Subjects = ()
    loop: Subjects = ()
    when: Pairs = ()


@dataclass(frozen=True, slots=True)
class Catches:
    """`catches = {…}` of a context: the exceptions that make it run again.

    Attributes:
        argument: Keyword (or position, as text) that holds the exception, a tuple of them, or a
            call of `through`.
        through: Predicates whose arguments are the exceptions (`tenacity.retry_if_exception_type`).
        default: What counts when the argument is not given.
    """

    argument: tuple[str, ...] = ()
    through: Dotted = ()
    default: Dotted = ("Exception",)


@dataclass(frozen=True, slots=True)
class FunctionShape:
    """`function = {…}` of a context: a function known by its looks alone.

    Attributes:
        names: Name patterns (`recover_*`); empty: any name.
        parameters: The exact parameter names; `*` for any name.
        first_parameter: The name of the first one.
        files: Patterns of the file's path (`*/views.py`, `*/views/*.py`).
        uncalled: True: only if no project code calls it.
    """

    names: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    first_parameter: str = ""
    files: tuple[str, ...] = ()
    uncalled: bool = False


@dataclass(frozen=True, slots=True)
class ContextModel:
    """`[[context]]`: something that runs code again. Exactly one of the *how* attributes is given.

    Attributes:
        category: `retry`, `transaction`, `task`, `message`, `http`, `webhook`, `serverless`,
            `tool`, `workflow`, `schedule`, `recovery` or `batch`.
        decorator: *how*: decorators, bare or called; methods of an instance too
            (`celery.Celery.task`).
        call: *how*: callables that get the function as an argument; see `callable`.
        loop: *how*: `for x in NAME(…):` or iterating an instance: the loop's body runs again.
        enter: *how*: `with NAME(…):` the body runs again.
        inside: *how*: a call of this (`poll`, `receive`) makes the loop around it, else the rest of
            the function, a context.
        attribute: *how*: a function, or a list of them, assigned to this attribute of an instance
            or in the body of a class (`paho.mqtt.client.Client.on_message`,
            `*.WorkerSettings.functions`).
        method: *how*: methods (`names`) of project classes that derive from one of `base`.
        function: *how*: by looks.
        callable: For `call`: position or keyword of the function (`"0"`, `"on_message_callback"`),
            first match counts; a list stands for each of its items, and a call (a coroutine, a
            signature) for the function that it calls.
        arguments: For `call`: how the function's own arguments travel: `rest` (behind it, and
            keywords), `packed` (see `packed_args`), `none` (the library brings its own), `each`
            (one item of the next argument).
        own_keywords: For `call` with `rest`: keywords that are the library's, not the function's.
        packed_args: Positions or keywords that hold the function's positional arguments, for
            `packed`, for `packed_calls`, and for `rest` where the library has both ways
            (`execute_activity(f, args=[…])`).
        packed_kwargs: The same for its keyword arguments.
        again: One clause that completes "…, so the code runs again when …": for people.
        plain: True: one level lower unless `raised_by` says otherwise (a task that acknowledges
            first).
        raised_by: Option tests: any of them makes it a full context.
        on_by: Option tests: without any of them it is no context at all.
        off_by: Option tests: any of them makes it no context.
        catches: The exceptions that make it run again; only for `retry`, `transaction` and tasks'
            own retries. None: it runs again whatever the call raised or returned.
        journaled: True: the library stores the result, so that what is drawn inside is stable for
            the code that called it (a durable step); inside, it is drawn anew on every try.
        parameters: Types of the function's parameters: name, or position as text, → dotted class.
            `"0"` with `bound_by` is the bound instance.
        bound_by: Option test: the function gets the instance as its first argument (`bind=True`):
            call arguments shift by one.
        calls: Method names on the decorated function that call it (`delay`, `send`): direct
            arguments.
        packed_calls: The same with `args=`/`kwargs=` (`apply_async`, `send_with_options`).
        path_argument: A regular expression that the first literal argument must match when the
            receiver is *unresolved* (`^/` for routes). Empty: an unresolved receiver matches only
            in files that import the library.
        library: The distribution that the file describes.
    """

    category: Category
    decorator: Subjects = ()
    call: Subjects = ()
    loop: Subjects = ()
    enter: Subjects = ()
    inside: Subjects = ()
    attribute: Subjects = ()
    method_base: Subjects = ()
    method_names: tuple[str, ...] = ()
    function: FunctionShape | None = None
    callable: tuple[str, ...] = ()
    arguments: Arguments = "rest"
    own_keywords: tuple[str, ...] = ()
    packed_args: tuple[str, ...] = ("args",)
    packed_kwargs: tuple[str, ...] = ("kwargs",)
    again: str = ""
    plain: bool = False
    raised_by: OptionTests = ()
    on_by: OptionTests = ()
    off_by: OptionTests = ()
    catches: Catches | None = None
    journaled: bool = False
    parameters: Pairs = ()
    bound_by: OptionTests = ()
    calls: tuple[str, ...] = ()
    packed_calls: tuple[str, ...] = ()
    path_argument: Regex = ""
    library: Annotated[str, Form.FILLED] = ""


@dataclass(frozen=True, slots=True)
class EdgeModel:
    """`[[edge]]`: a call that calls the function it is given, once, and adds no context
    (`asyncio.to_thread`).

    Attributes:
        call: The callables.
        callable: As in `[[context]]`.
        arguments: As in `[[context]]`.
        own_keywords: As in `[[context]]`.
        packed_args: As in `[[context]]`.
        packed_kwargs: As in `[[context]]`.
        gives: `result` (the function's), `future`, `partial` (a callable that remembers arguments),
            `nothing`.
        raises: Exceptions that the wait itself can raise although the call goes on
            (`Future.result` with a timeout).
    """

    call: Subjects
    callable: tuple[str, ...] = ("0",)
    arguments: Arguments = "rest"
    own_keywords: tuple[str, ...] = ()
    packed_args: tuple[str, ...] = ("args",)
    packed_kwargs: tuple[str, ...] = ("kwargs",)
    gives: Gives = "result"
    raises: Dotted = ()


@dataclass(frozen=True, slots=True)
class ValueModel:
    """`[[value]]`: what kind of value a name gives.

    Attributes:
        kind: `fresh`, `clock`, `window`, `process`, `attempt`, `delivery`, `stable` (also: kept
            over re-execution by the library), `derived` (a pure function: takes the worst of its
            arguments and of the object it is called on).
        call: Callables; methods as `class.method`. For `derived`, `*.method` names a method of any
            value (`*.encode`).
        attribute: Attributes behind a class (`celery.Task.request.id`); an item of that name too
            (`event["id"]`).
        item: Access paths on anything, as `attribute.attribute[key]` (`headers[X-Request-ID]`,
            matched without case).
        cuts: For `derived`: True: a clock that it is called on becomes a window (`.date()`,
            `.start_of("month")`).
        scope: For `delivery`: `message` (only a republish changes it) or `hop` (changes on each
            invocation, hop, session).
        when: As in `[[returns]]`.
        off_by: Option tests that make the row not apply (`random.Random` given a seed).
    """

    kind: Kind
    call: Subjects = ()
    attribute: Subjects = ()
    item: tuple[str, ...] = ()
    cuts: bool = False
    scope: Scope = ""
    when: Pairs = ()
    off_by: OptionTests = ()


@dataclass(frozen=True, slots=True)
class RecordModel:
    """`[[record]]`: classes whose instances have declared fields: ORM rows, pydantic models,
    dataclasses.

    Attributes:
        base: Base classes of the record classes.
        decorator: Decorators that make a class a record (`dataclasses.dataclass`).
        field: Calls that declare a field and may carry defaults (`django.db.models.*Field`,
            `dataclasses.field`).
        default: Keywords of a default that is a value, or a callable that makes one.
        default_factory: Keywords of a callable that makes the default.
        positional: True: the constructor takes the fields in order.
        row: True: instances are rows of a database: their identity is drawn when created, loaded
            ones are stable.
        identity: Attributes that are drawn when the row is created (`id`, `pk`).
        create: Ways to make a row, behind the class (`objects.create`).
        find_or_create: … that find it by the other arguments, else make it
            (`objects.get_or_create`); gives (row, bool).
        replace: … that write over it (`objects.update_or_create`); gives (row, bool).
        find_defaults: Keyword of those two that holds what is only written (`defaults`).
        load: Ways to make an instance from outside data: fields may be absent
            (`model_validate_json`).
        dump: Methods that give the fields as a dictionary (`model_dump`, `dict`).
        save: Methods that write the row (`save`); also methods of sessions and connections
            (`commit`).
        reload: Methods that read the row again (`refresh_from_db`).
    """

    base: Subjects = ()
    decorator: Subjects = ()
    field: Dotted = ()
    default: tuple[str, ...] = ()
    default_factory: tuple[str, ...] = ()
    positional: bool = False
    row: bool = False
    identity: tuple[str, ...] = ()
    create: tuple[str, ...] = ()
    find_or_create: tuple[str, ...] = ()
    replace: tuple[str, ...] = ()
    find_defaults: str = ""
    load: tuple[str, ...] = ()
    dump: tuple[str, ...] = ()
    save: tuple[str, ...] = ()
    reload: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LockModel:
    """`[[lock]]`: a lock or lease.

    Attributes:
        call: Callables that make or take it (`redis.Redis.lock`, `django.core.cache.cache.add`).
        on_by: Option tests: without any of them it is no lock (`nx=True`).
        limit: Option tests: with any of them the lock runs out by time; empty: always.
        endless: True: it never runs out by time; it ends with a connection, a session or a process.
        renewed_by: Option tests or `call:method` on the lock: renewed as long as the work runs.
        sql: A regular expression on a literal query that takes the lock (`pg_try_advisory_lock`).
    """

    call: Subjects = ()
    on_by: OptionTests = ()
    limit: OptionTests = ()
    endless: bool = False
    renewed_by: OptionTests = ()
    sql: Regex = ""


@dataclass(frozen=True, slots=True)
class TransactionModel:
    """`[[transaction]]`: `with NAME(…):` or `@NAME` holds writes back until its end.

    What is stored inside is not there for the next run when the call after it, still inside, fails.

    Attributes:
        call: The context managers and decorators (`django.db.transaction.atomic`).
        off_by: Option tests that make it none (`autocommit=True`).
    """

    call: Subjects
    off_by: OptionTests = ()


@dataclass(frozen=True, slots=True)
class GuardModel:
    """`[[guard]]`: narrows the window in which a second run charges again; lowers by one level,
    never silences."""

    decorator: Subjects = ()
    call: Subjects = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class MemoModel:
    """`[[memo]]`: decorators that keep results in one process (`functools.lru_cache`)."""

    decorator: Subjects


@dataclass(frozen=True, slots=True)
class ParameterModel:
    """`[[parameter]]`: a default that says where a parameter's value comes from (`fastapi.Header`).

    Attributes:
        call: The callables used as a default, or inside `Annotated[…]`.
        item: The attribute of a request that the value is an item of (`headers`); matched as in `[[value]]`.
        alias: Keyword that names the item; else the parameter's own name, `_` read as `-`.
    """

    call: Subjects
    item: str
    alias: str = ""


@dataclass(frozen=True, slots=True)
class NoReturn:
    """`[[noreturn]]`: calls that never come back (`sys.exit`, `flask.abort`)."""

    call: Subjects


@dataclass(frozen=True, slots=True)
class SuppressModel:
    """`[[suppress]]`: what swallows, in the body of its `with`, the exceptions it is called with."""

    call: Subjects


@dataclass(frozen=True, slots=True)
class Sources:
    """`[[work]]`: calls that give stored work: files, queries, queues (`csv.DictReader`,
    `*.fetchall`)."""

    call: Subjects


@dataclass(frozen=True, slots=True)
class EntryModel:
    """`[[entry]]`: programs that a person or cron starts (`click.command`); a batch context when
    they walk stored work."""

    decorator: Subjects = ()
    method_base: Subjects = ()
    method_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SinkModel:
    """`[[sink]]`: a call that makes the service change something.

    Attributes:
        call: Dotted callables: resource methods (`stripe.Charge.create`), methods of an instance or
            of its collections, named after its class (`stripe.Transfer.reversals.create`), and
            service methods (`stripe.StripeClient.charges.create`).
        effect: `money`, `payable`, `guarded` or `other`.
        money_if: Option tests on the parameters that raise `payable` or `guarded` to `money`
            (`confirm=True`, `amount=`).
        style: `resource` (parameters as keywords), `service` (params, options dictionaries).
        path: HTTP path pattern with `{}` for an id (`/v1/payment_intents/{}/capture`), for raw HTTP
            calls.
        keyed_by: Parameter that carries the key besides `idempotency_key` (`identifier`).
    """

    call: Subjects
    effect: Effect
    money_if: OptionTests = ()
    style: Style = "resource"
    path: str = ""
    keyed_by: str = ""


@dataclass(frozen=True, slots=True)
class HttpClient:
    """`[[http]]`: a client library through which raw requests to the service travel.

    Attributes:
        call: Callables that send POST (`requests.post`, `httpx.Client.post`).
        method_call: Callables whose method is an argument (`requests.request`).
        method: For those: position (as text) and keyword of the method.
        url: Position and keyword of the address; positions do not count `self`.
        headers: Keyword of the headers.
        body: Keywords of the body.
        base: Constructor keyword with the base address (`base_url`).
        session_headers: Attribute of the client that holds headers for all requests (`headers`).
        key: Keyword that carries the key itself, for clients that know of keys (`raw_request`).
        service: True: all its requests go to the service, so that an address is a path.
        raises: Exceptions of this library after the request may have been executed.
    """

    call: Subjects = ()
    method_call: Subjects = ()
    method: tuple[str, ...] = ("method",)
    url: tuple[str, ...] = ("url",)
    headers: str = "headers"
    body: tuple[str, ...] = ("data", "json")
    base: str = ""
    session_headers: str = ""
    key: str = ""
    service: bool = False
    raises: Dotted = ()


@dataclass(frozen=True, slots=True)
class Words:
    """`[words]`: what programmers call things, for code in which nothing surer can be known. The
    words of all files count.

    Attributes:
        done: Parts of names that a test before the call asks whether the work is done (`is_paid`,
            `status`): such a test narrows the window of a second run.
        key: Pieces of the names of parameters that take an idempotency key.
        log: First words of calls that only write a log line: a key that is read there is not used.
        remark: Keywords whose argument does not decide anything (`metadata`).
        mapping: Attributes of outside objects that are dictionaries wherever they occur (`headers`).
        store: Methods that write something down about what they are given (`execute`, `bulk_update`).
        take: Methods that take an item out of a queue or list.
        unique: Pieces of names by which a class says that a field's value stands in one row only
            (`unique=True`, `OneToOneField`, `UniqueConstraint`).
    """

    done: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    log: tuple[str, ...] = ()
    remark: tuple[str, ...] = ()
    mapping: tuple[str, ...] = ()
    store: tuple[str, ...] = ()
    take: tuple[str, ...] = ()
    unique: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Service:
    """`[service]`: the payment service itself; one file of the pack has it.

    Attributes:
        hosts: Host names of its API.
        client: The class whose attributes are the services.
        versions: Attributes of the client below which the services are found too, and which nothing
            but such a client has (`v1`).
        key_header: The header that carries the key.
        key_parameter: The keyword (`idempotency_key`).
        options: The services' second argument (`options`).
        executed: Exceptions after which a call may have been executed: a retry on them counts.
        refused: Exceptions that prove that it was not: a retry on only these does not count.
    """

    hosts: tuple[str, ...] = ()
    client: Annotated[str, Form.DOTTED] = ""
    versions: tuple[str, ...] = ()
    key_header: str = ""
    key_parameter: str = ""
    options: str = ""
    executed: Dotted = ()
    refused: Dotted = ()


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file, checked and typed: what the loader gives."""

    path: str
    library: Library
    alias: tuple[Alias, ...] = ()
    class_: tuple[Subclass, ...] = ()
    returns: tuple[Returns, ...] = ()
    context: tuple[ContextModel, ...] = ()
    edge: tuple[EdgeModel, ...] = ()
    value: tuple[ValueModel, ...] = ()
    record: tuple[RecordModel, ...] = ()
    lock: tuple[LockModel, ...] = ()
    transaction: tuple[TransactionModel, ...] = ()
    guard: tuple[GuardModel, ...] = ()
    memo: tuple[MemoModel, ...] = ()
    parameter: tuple[ParameterModel, ...] = ()
    noreturn: tuple[NoReturn, ...] = ()
    suppress: tuple[SuppressModel, ...] = ()
    work: tuple[Sources, ...] = ()
    entry: tuple[EntryModel, ...] = ()
    sink: tuple[SinkModel, ...] = ()
    http: tuple[HttpClient, ...] = ()
    service: Service = field(default_factory=Service)
    words: Words = field(default_factory=Words)
