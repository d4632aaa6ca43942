"""All model files together, indexed for the questions that the engine asks.

Every question takes dotted names as a program would import them, is answered from memory the second
time, and has an empty answer rather than an exception. Rows are handed out as the files hold them:
whether an option switches a context off is for the engine to judge.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from itertools import chain
from typing import TYPE_CHECKING, Protocol, TypeVar

from stripe_idem_lint.models.frozen import digest, freeze, thaw
from stripe_idem_lint.models.index import ItemIndex, NameIndex, PathIndex
from stripe_idem_lint.models.lineage import Lineage
from stripe_idem_lint.models.schema import (
    ContextModel,
    EdgeModel,
    EntryModel,
    GuardModel,
    HttpClient,
    LockModel,
    ModelFile,
    ParameterModel,
    RecordModel,
    Returns,
    Service,
    SinkModel,
    TransactionModel,
    ValueModel,
    Words,
)

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

T = TypeVar("T")
Row = TypeVar("Row")


class Memory(Protocol):
    """Something that keeps bytes between runs; forgetting is allowed."""

    def get(self, key: str) -> bytes | None: ...

    def put(self, key: str, value: bytes) -> None: ...


def load_catalog(
    packs: Sequence[Traversable],
    own: Sequence[tuple[str, str]] = (),
    memory: Memory | None = None,
) -> Catalog:
    """Read the models of rule packs, and a team's own.

    Args:
        packs: Package folders; every `.toml` anywhere below their `models` folder is read.
        own: Label and text of each of the team's files; they win over the packs.
        memory: Where the packs' files are kept in checked form; parsing them is ten times slower.

    Raises:
        ModelError: One of the files is wrong.
    """
    texts = [text for pack in packs for text in _texts(pack / "models", f"{pack.name}/models")]
    return Catalog(_remembered(texts, memory), _checked(own))


def _remembered(texts: Sequence[tuple[str, str]], memory: Memory | None) -> list[ModelFile]:
    if memory is None:
        return _checked(texts)
    key = digest(texts)
    kept = memory.get(key)
    files = thaw(kept) if kept is not None else None
    if files is None:
        files = _checked(texts)
        memory.put(key, freeze(files))
    return files


def _checked(texts: Sequence[tuple[str, str]]) -> list[ModelFile]:
    if not texts:
        return []
    # Imported here: with a memory, most runs neither parse TOML nor need what checks it.
    from stripe_idem_lint.models.load import load_file

    return [load_file(label, text) for label, text in texts]


def _texts(folder: Traversable, label: str) -> Iterator[tuple[str, str]]:
    if not folder.is_dir():
        return
    for entry in sorted(folder.iterdir(), key=lambda each: each.name):
        if entry.is_dir():
            yield from _texts(entry, f"{label}/{entry.name}")
        elif entry.name.endswith(".toml"):
            yield f"{label}/{entry.name}", entry.read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Verb:
    """A method that models name on a class: found by its own name when the receiver is unknown."""

    context: ContextModel
    roots: frozenset[str]


class Catalog:
    """What the model files say.

    Args:
        packs: The files of the rule packs.
        own: The team's files: what they say about a name hides what the packs say about it.

    Attributes:
        service: What is said about the service itself.
        words: What programmers call things, of all files together.
        saves: Methods that store a record; `reloads`, `dumps` likewise.
        identities: Attributes that a stored row gets with its number.
        creators: Routes from a manager that make a row (`objects.create`); `replacers` write over one.
        replaced_by: The arguments that hold what a found row gets.
        libraries: The import roots that models describe.
        resources: What the sinks are methods of; `resource_words` the last word of each.
        verbs: The method names of sinks and of requests.
        routes: The attributes of a client that are services (`payment_intents`), and the methods that
            are sinks, sorted.
    """

    def __init__(self, packs: Sequence[ModelFile], own: Sequence[ModelFile] = ()) -> None:
        self.files: tuple[ModelFile, ...] = (*own, *packs)
        self._levels = (tuple(own), tuple(packs))
        self._lineage = Lineage(
            chain.from_iterable(file.alias for file in self.files),
            chain.from_iterable(file.class_ for file in self.files),
        )
        context = self._context
        self._decorators = context(lambda row: row.decorator)
        self._calls = context(lambda row: row.call)
        self._loops = context(lambda row: row.loop)
        self._enters = context(lambda row: row.enter)
        self._insides = context(lambda row: row.inside)
        self._assigned = context(lambda row: row.attribute)
        self._methods = context(lambda row: row.method_base)
        self._shapes = tuple(
            row for file in self.files for row in file.context if row.function is not None
        )
        self._decorator_verbs = self._verbs(lambda row: row.decorator)
        self._call_verbs = self._verbs(lambda row: row.call)
        self._inside_verbs = self._verbs(lambda row: row.inside)
        self._loop_verbs = self._verbs(lambda row: row.loop)
        self._edges = self._index(lambda file: file.edge, lambda row: row.call)
        self._index_values()
        self._index_marks()
        self._index_service()
        self._index_words()

    def _index_values(self) -> None:
        self._returns_call = self._index(lambda file: file.returns, lambda row: row.call)
        self._returns_attribute = self._index(lambda file: file.returns, lambda row: row.attribute)
        self._returns_loop = self._index(lambda file: file.returns, lambda row: row.loop)
        self._value_calls = self._index(lambda file: file.value, _value_call_names)
        self._value_attributes = self._index(lambda file: file.value, lambda row: row.attribute)
        self._items = ItemIndex(self._rows(lambda file: file.value, lambda row: row.item))
        self._derived = self._methods_of_any_value(lambda row: True)
        self._cutting = self._methods_of_any_value(lambda row: row.cuts)
        self._records = self._index(
            lambda file: file.record, lambda row: (*row.base, *row.decorator)
        )
        self._record_fields = self._index(lambda file: file.record, lambda row: row.field)

    def _index_marks(self) -> None:
        self._locks = self._index(lambda file: file.lock, lambda row: row.call)
        self._lock_queries = [
            (re.compile(row.sql, re.IGNORECASE), row)
            for file in self.files
            for row in file.lock
            if row.sql
        ]
        self._transactions = self._index(lambda file: file.transaction, lambda row: row.call)
        self._guard_decorators = self._index(lambda file: file.guard, lambda row: row.decorator)
        self._guard_calls = self._index(lambda file: file.guard, lambda row: row.call)
        self._parameters = self._index(lambda file: file.parameter, lambda row: row.call)
        self._memos = self._index(lambda file: file.memo, lambda row: row.decorator)
        self._noreturns = self._index(lambda file: file.noreturn, lambda row: row.call)
        self._suppress = self._index(lambda file: file.suppress, lambda row: row.call)
        self._work = self._index(lambda file: file.work, lambda row: row.call)
        self._entries = self._index(lambda file: file.entry, lambda row: row.decorator)
        self._entry_methods = self._index(lambda file: file.entry, lambda row: row.method_base)

    def _index_service(self) -> None:
        self._sinks = self._index(lambda file: file.sink, lambda row: row.call)
        self._sink_paths = PathIndex(
            (row.path, row) for file in self.files for row in file.sink if row.path
        )
        self._http = self._index(lambda file: file.http, lambda row: (*row.call, *row.method_call))
        described = (file.service for file in self.files if file.service != Service())
        self.service: Service = next(described, Service())
        self.words = Words(
            *(
                tuple(chain.from_iterable(getattr(file.words, each.name) for file in self.files))
                for each in fields(Words)
            )
        )

    def _index_words(self) -> None:
        records = [row for file in self.files for row in file.record]
        rows = [record for record in records if record.row]
        self.saves = frozenset(name for record in records for name in record.save)
        self.reloads = frozenset(name for record in records for name in record.reload)
        self.dumps = frozenset(name for record in records for name in record.dump)
        self.identities = frozenset(name for record in rows for name in record.identity)
        self.creators = frozenset(name for row in rows for name in row.create if "." in name)
        self.replacers = frozenset(name for row in rows for name in row.replace if "." in name)
        self.replaced_by = frozenset(row.find_defaults for row in rows if row.find_defaults)
        self.libraries = frozenset(root for file in self.files for root in file.library.imports)
        sinks = [name for file in self.files for row in file.sink for name in row.call]
        requests = [
            name
            for file in self.files
            for row in file.http
            for name in (*row.call, *row.method_call)
        ]
        self.resources = frozenset(name.rpartition(".")[0] for name in sinks)
        self.resource_words = frozenset(name.rpartition(".")[2] for name in self.resources)
        self.verbs = frozenset(name.rpartition(".")[2] for name in (*sinks, *requests))
        self.routes = (
            tuple(sorted(word for word in self.resource_words if word.islower())),
            tuple(sorted({name.rpartition(".")[2] for name in sinks})),
        )

    # Names

    def canonical(self, name: str) -> str:
        """The name that the models use for a thing, whichever one the program imports."""
        return self._lineage.canonical(name)

    def bases(self, name: str) -> tuple[str, ...]:
        """The known bases of a library class, transitive, nearest first."""
        return self._lineage.bases(name)

    def is_subclass(self, name: str, base: str) -> bool:
        """The class is `base`, or known to derive from it; exceptions are classes like others."""
        return self._lineage.is_subclass(name, base)

    # What runs code again

    def decorators(self, name: str) -> tuple[ContextModel, ...]:
        """Contexts that this decorator makes."""
        return self._decorators.find(name)

    def calls(self, name: str) -> tuple[ContextModel, ...]:
        """Contexts that this callable makes of a function given to it."""
        return self._calls.find(name)

    def loops(self, name: str) -> tuple[ContextModel, ...]:
        """Contexts that iterating over this call or instance makes of the loop's body."""
        return self._loops.find(name)

    def enters(self, name: str) -> tuple[ContextModel, ...]:
        """Contexts that `with` this makes of its body."""
        return self._enters.find(name)

    def insides(self, name: str) -> tuple[ContextModel, ...]:
        """Contexts that a call of this makes of the loop or function around it."""
        return self._insides.find(name)

    def assigned(self, name: str) -> tuple[ContextModel, ...]:
        """Contexts that this attribute makes of a function assigned to it."""
        return self._assigned.find(name)

    def methods(self, base_name: str, method: str) -> tuple[ContextModel, ...]:
        """Contexts that a method is because its class derives from a library class."""
        rows = self._methods.find(base_name)
        return tuple(row for row in rows if _named(method, row.method_names))

    def shapes(self) -> tuple[ContextModel, ...]:
        """Contexts known by the looks of the function alone."""
        return self._shapes

    def unresolved_decorators(
        self, method_name: str, imports: frozenset[str]
    ) -> tuple[ContextModel, ...]:
        """Contexts of `@something.method_name` where `something` could not be resolved.

        Args:
            imports: The import roots of the file. Rows with a `path_argument` come in any case:
                their first argument decides.
        """
        verbs = self._decorator_verbs.get(method_name, ())
        return _unique(
            verb.context for verb in verbs if verb.context.path_argument or verb.roots & imports
        )

    def unresolved_calls(
        self, method_name: str, imports: frozenset[str]
    ) -> tuple[ContextModel, ...]:
        """The same for `something.method_name(function)`."""
        return _imported(self._call_verbs.get(method_name, ()), imports)

    def unresolved_insides(
        self, method_name: str, imports: frozenset[str]
    ) -> tuple[ContextModel, ...]:
        """The same for `something.method_name()` that makes a context of what is around it."""
        return _imported(self._inside_verbs.get(method_name, ()), imports)

    def unresolved_loops(
        self, method_name: str, imports: frozenset[str]
    ) -> tuple[ContextModel, ...]:
        """The same for `for x in something.method_name():`."""
        return _imported(self._loop_verbs.get(method_name, ()), imports)

    def edge(self, name: str) -> EdgeModel | None:
        """A callable that calls the function given to it, once."""
        return self._edges.first(name)

    # What values are

    def returns_call(self, name: str) -> tuple[Returns, ...]:
        """What a call of this gives."""
        return self._returns_call.find(name)

    def returns_attribute(self, name: str) -> tuple[Returns, ...]:
        """What this attribute, dotted behind its class, gives."""
        return self._returns_attribute.find(name)

    def returns_loop(self, name: str) -> tuple[Returns, ...]:
        """What each item is when this is iterated over."""
        return self._returns_loop.find(name)

    def value_call(self, name: str) -> tuple[ValueModel, ...]:
        """Kinds that a call of this gives; methods of any value are asked by `derived_method`."""
        return self._value_calls.find(name)

    def value_attribute(self, name: str) -> tuple[ValueModel, ...]:
        """Kinds of this attribute, dotted behind its class."""
        return self._value_attributes.find(name)

    def derived_method(self, method: str) -> bool:
        """The method gives a pure function of its object and arguments, whatever the object is."""
        return method in self._derived

    def cutting_method(self, method: str) -> bool:
        """The method cuts a clock to a window of a minute or longer."""
        return method in self._cutting

    def match_item(self, path: tuple[str, ...]) -> ValueModel | None:
        """The kind of what an access path leads to.

        Args:
            path: Steps in order, such as `(".request", ".headers", "[X-Request-ID]")`; a call
                `.get("X")` is the step `[X]`.
        """
        return self._items.find(path)

    def record(self, name: str) -> RecordModel | None:
        """What the instances of classes with this base or decorator are."""
        return self._records.first(name)

    def record_field(self, name: str) -> RecordModel | None:
        """The record whose fields a call of this declares."""
        return self._record_fields.first(name)

    # What narrows, ends or feeds a run

    def lock(self, name: str) -> LockModel | None:
        """The lock that a call of this makes or takes."""
        return self._locks.first(name)

    def lock_sql(self, text: str) -> LockModel | None:
        """The lock that a query takes."""
        return next((row for query, row in self._lock_queries if query.search(text)), None)

    def transaction(self, name: str) -> TransactionModel | None:
        """The transaction that `with` this, or decorating with it, opens."""
        return self._transactions.first(name)

    def guard_decorator(self, name: str) -> GuardModel | None:
        """A decorator that narrows the window of a second run."""
        return self._guard_decorators.first(name)

    def guard_call(self, name: str) -> GuardModel | None:
        """A call that narrows the window of a second run."""
        return self._guard_calls.first(name)

    def parameter(self, name: str) -> ParameterModel | None:
        """Where the value of a parameter with this default comes from."""
        return next(iter(self._parameters.find(name)), None)

    def memo(self, name: str) -> bool:
        """The decorator keeps results in one process."""
        return bool(self._memos.find(name))

    def noreturn(self, name: str) -> bool:
        """A call of this never comes back."""
        return bool(self._noreturns.find(name))

    def noreturns(self) -> frozenset[str]:
        """Everything of which a call never comes back."""
        return frozenset(name for file in self.files for row in file.noreturn for name in row.call)

    def suppresses(self, name: str) -> bool:
        """The body of `with name(…)` does not raise the exceptions it is given."""
        return bool(self._suppress.find(name))

    def work(self, name: str) -> bool:
        """A call of this gives stored work."""
        return bool(self._work.find(name))

    def entry_decorator(self, name: str) -> EntryModel | None:
        """The decorator makes a program that a person or cron starts."""
        return self._entries.first(name)

    def entry_method(self, base: str, method: str) -> EntryModel | None:
        """The method is such a program because its class derives from `base`."""
        rows = self._entry_methods.find(base)
        return next((row for row in rows if _named(method, row.method_names)), None)

    # The service

    def sink(self, name: str) -> SinkModel | None:
        """The call that makes the service change something."""
        return self._sinks.first(name)

    def sink_below(self, path: tuple[str, ...]) -> tuple[str, SinkModel] | None:
        """The sink that attributes lead to from something unknown, with its name.

        Args:
            path: Their names in order: `("_gateway", "stripe", "Charge", "create")`, which goes
                through the library, or `("client", "v1", "charges", "create")`, through a client.
        """
        module, _, _ = self.service.client.rpartition(".")
        for number, word in enumerate(path):
            rest = ".".join(path[number + 1 :])
            starts: list[str] = [module, self.service.client] if word == module else []
            if word in self.service.versions:
                starts = [f"{self.service.client}.{word}"]
            for start in starts:
                sink = self.sink(f"{start}.{rest}")
                if sink is not None:
                    return f"{starts[0]}.{rest}", sink
        return None

    def sink_path(self, path: str) -> SinkModel | None:
        """The same for a POST to a path, `{}` standing for what is not known (`/v1/payouts/{}`)."""
        return self._sink_paths.find(path)

    def http_call(self, name: str) -> HttpClient | None:
        """The client library whose request a call of this sends."""
        return self._http.first(name)

    def sink_words(self) -> frozenset[bytes]:
        """Words of which a file that holds a sink has one: import roots, hosts, the key's names, and
        the methods of a team's own rows whose owner is not told."""
        roots = {_root_word(name) for file in self.files for row in file.sink for name in row.call}
        told = (*self.service.hosts, self.service.key_header, self.service.key_parameter)
        return frozenset(word.encode() for word in {*roots, *told} if word)

    # Building

    def _rows(
        self, table: Callable[[ModelFile], tuple[Row, ...]], names: Callable[[Row], Iterable[str]]
    ) -> list[list[tuple[Iterable[str], Row]]]:
        return [
            [(names(row), row) for file in level for row in table(file)] for level in self._levels
        ]

    def _index(
        self, table: Callable[[ModelFile], tuple[Row, ...]], names: Callable[[Row], Iterable[str]]
    ) -> NameIndex[Row]:
        lineage = self._lineage
        return NameIndex(self._rows(table, names), lineage.canonical, lineage.readings)

    def _methods_of_any_value(self, wanted: Callable[[ValueModel], bool]) -> frozenset[str]:
        return frozenset(
            name.removeprefix("*.")
            for file in self.files
            for row in file.value
            for name in row.call
            if _is_derived_method(row, name) and wanted(row)
        )

    def _context(self, names: Callable[[ContextModel], Iterable[str]]) -> NameIndex[ContextModel]:
        return self._index(lambda file: file.context, names)

    def _verbs(self, names: Callable[[ContextModel], Iterable[str]]) -> dict[str, tuple[Verb, ...]]:
        found: dict[str, tuple[Verb, ...]] = {}
        for file in self.files:
            roots = frozenset(each.partition(".")[0] for each in file.library.imports)
            for row in file.context:
                for method in dict.fromkeys(filter(None, map(_method_of, names(row)))):
                    found[method] = (*found.get(method, ()), Verb(row, roots))
        return found


def _method_of(name: str) -> str:
    """`post` of `fastapi.FastAPI.post`; nothing of `tenacity.retry`, which is no method."""
    owner, _, method = name.rpartition(".")
    cls = owner.rpartition(".")[2]
    return method if cls[:1].isupper() or cls == "*" else ""


def _value_call_names(row: ValueModel) -> tuple[str, ...]:
    return tuple(name for name in row.call if not _is_derived_method(row, name))


def _is_derived_method(row: ValueModel, name: str) -> bool:
    return row.kind == "derived" and name.startswith("*.")


def _root_word(name: str) -> str:
    """What a file that calls this must contain; for `*.charge_card` only the method is certain."""
    root, _, rest = name.partition(".")
    return rest.rpartition(".")[2] if "*" in root else root


def _named(method: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(method, pattern) for pattern in patterns)


def _imported(verbs: Iterable[Verb], imports: frozenset[str]) -> tuple[ContextModel, ...]:
    return _unique(verb.context for verb in verbs if verb.roots & imports)


def _unique(rows: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(rows))
