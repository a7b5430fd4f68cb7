"""Kinds of values of run options: each knows its params, its check and its argument.

A value comes in three ways: as params of a form or an API, which Airflow hands on as JSON;
as texts of a command line; as the argument of a step. It is judged by one check.
"""

from __future__ import annotations

import argparse
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import (
    Any,
    Callable,
    ClassVar,
    Dict,
    Generic,
    List,
    Mapping,
    Optional,
    Protocol,
    Tuple,
    TypeVar,
    Union,
)

from lake_spec.diagnostics.diagnostic import shown
from lake_spec.diagnostics.suggestions import did_you_mean

T = TypeVar("T")


class RunForm(Protocol):
    """A DAG as those see it who start its runs: what these can be asked for."""

    @property
    def dag_id(self) -> str:
        """Its id."""

    @property
    def kind(self) -> str:
        """Its kind, such as `incremental`."""

    @property
    def domain(self) -> str:
        """The name of its domain."""

    @property
    def tables(self) -> Tuple[str, ...]:
        """Its tables, in their order."""

    @property
    def params(self) -> Tuple[str, ...]:
        """The params that its runs accept."""

    @property
    def reads_files(self) -> bool:
        """True if its runs look for landing files."""


Words = Union[str, Callable[[RunForm], str]]
"""A description, perhaps another one for each DAG."""


@dataclass(frozen=True)
class FormField:
    """A param as a form shows it: its default, JSON Schema and description."""

    default: Any
    schema: Mapping[str, Any]
    description: str
    examples: Optional[List[str]] = None


class Value(ABC, Generic[T]):
    """A kind of values; `unset` is that of a run which does not ask for it."""

    unset: ClassVar[Any] = None
    is_needed: bool = False
    """Whether runs that accept it cannot do without it."""
    description: Words

    @abstractmethod
    def types(self, name: str) -> Dict[str, str]:
        """Return its params with their JSON types, for an option of that name."""

    @abstractmethod
    def fields(self, name: str, form: RunForm) -> Dict[str, FormField]:
        """Return the fields of its params in the form of a DAG."""

    @abstractmethod
    def checked(
        self, name: str, params: Mapping[str, Any], form: RunForm, faults: List[str]
    ) -> T:
        """Return the value of a run; what cannot be is added to `faults`."""

    @abstractmethod
    def to_arguments(self, argument: str, value: T) -> List[str]:
        """Return a value as arguments of a step."""

    @abstractmethod
    def argument_settings(self) -> Dict[str, Any]:
        """Return what a parser of arguments needs to read it (`add_argument`)."""


@dataclass(frozen=True)
class Switch(Value[bool]):
    """Something that a run does or does not."""

    description: Words
    unset = False

    def types(self, name: str) -> Dict[str, str]:
        """Return its one param."""
        return {name: "boolean"}

    def fields(self, name: str, form: RunForm) -> Dict[str, FormField]:
        """Return a switch."""
        words = _words(self.description, form)
        return {name: FormField(False, {"type": "boolean"}, words)}

    def checked(
        self, name: str, params: Mapping[str, Any], form: RunForm, faults: List[str]
    ) -> bool:
        """Return whether it is on; only true and false are accepted."""
        return is_on(name, params, faults)

    def to_arguments(self, argument: str, value: bool) -> List[str]:
        """Return the argument alone."""
        return [argument]

    def argument_settings(self) -> Dict[str, Any]:
        """Read an argument without a value."""
        return {"action": "store_true"}


@dataclass(frozen=True)
class TextRule:
    """What a text must be; `hint` says what to give, as a sentence.

    A text that is not `is_shown` stands in no message: it may be a secret by mistake.
    """

    fits: Callable[[str], bool]
    hint: str
    pattern: Optional[str] = None
    """The whole of it as a regular expression, where one says it: forms refuse others."""
    is_shown: bool = True

    def fault(self, value: Any) -> Optional[str]:
        """Return what is wrong with a value; None if nothing is."""
        if isinstance(value, str) and self.fits(value):
            return None
        return f"got {self.shown(value)}. {self.hint}"

    def shown(self, value: Any) -> str:
        """Format a value for a message, if it may be shown."""
        is_told = self.is_shown or value is None
        return shown(value) if is_told else "a value of another form"

    def from_argument(self, text: str) -> str:
        """Read the value of an argument."""
        if (fault := self.fault(text)) is not None:
            raise argparse.ArgumentTypeError(fault)
        return text


@dataclass(frozen=True)
class Text(Value[Optional[str]]):
    """One text; a run without it has none, unless it `is_needed`."""

    rule: TextRule
    description: Words
    is_needed: bool = False

    def types(self, name: str) -> Dict[str, str]:
        """Return its one param."""
        return {name: "string"}

    def fields(self, name: str, form: RunForm) -> Dict[str, FormField]:
        """Return a field of text, which may be left empty."""
        schema: Dict[str, Any] = {"type": ["null", "string"]}
        if self.rule.pattern:
            schema["pattern"] = f"^(?:{self.rule.pattern})$"
        return {name: FormField(None, schema, _words(self.description, form))}

    def checked(
        self, name: str, params: Mapping[str, Any], form: RunForm, faults: List[str]
    ) -> Optional[str]:
        """Return the text; None without one."""
        value = params.get(name)
        if value is None and not self.is_needed:
            return None
        if (fault := self.rule.fault(value)) is not None:
            faults.append(f"{name}: {fault}")
            return None
        return str(value)

    def to_arguments(self, argument: str, value: Optional[str]) -> List[str]:
        """Return one word, for the text may begin with a dash."""
        return [f"{argument}={value}"]

    def argument_settings(self) -> Dict[str, Any]:
        """Read a text of the form."""
        return {"type": self.rule.from_argument}


@dataclass(frozen=True)
class Texts(Value[Tuple[str, ...]]):
    """Texts in their order, each once: an argument for each, or all as one of JSON."""

    rule: TextRule
    description: Words
    most: Optional[int] = 100
    """How many a run may have; None where only the length of a step limits them."""
    instead: str = "Start another run for the others."
    """What to do with more of them."""
    is_json: bool = False
    may_be_null: bool = False
    """Whether the form leaves it empty by null, as it did from the beginning."""
    unset = ()

    def types(self, name: str) -> Dict[str, str]:
        """Return its one param."""
        return {name: "array"}

    def fields(self, name: str, form: RunForm) -> Dict[str, FormField]:
        """Return a field with a text in each line, which may be left empty."""
        kind = ["null", "array"] if self.may_be_null else "array"
        schema = {"type": kind, "items": {"type": "string"}}
        default: Optional[List[str]] = None if self.may_be_null else []
        words = _words(self.description, form)
        words += f" Up to {self.most:,}." if self.most else ""
        return {name: FormField(default, schema, words)}

    def checked(
        self, name: str, params: Mapping[str, Any], form: RunForm, faults: List[str]
    ) -> Tuple[str, ...]:
        """Return the texts; none without a value."""
        values = params.get(name)
        found = self._faults([] if values is None else values)
        faults += [f"{name}: {each}" for each in found]
        return () if found or values is None else tuple(dict.fromkeys(values))

    def _faults(self, values: Any) -> List[str]:
        if not isinstance(values, (list, tuple)):
            return [f"got {self.rule.shown(values)}, not a list. {self.rule.hint}"]
        if self.most and len(values) > self.most:
            return [
                f"got {len(values):,} values; a run allows {self.most:,}. {self.instead}"
            ]
        return [fault for each in values if (fault := self.rule.fault(each))]

    def to_arguments(self, argument: str, value: Tuple[str, ...]) -> List[str]:
        """Return an argument for each text, or one for all."""
        if self.is_json:
            return [argument, json.dumps(value)]
        return [f"{argument}={each}" for each in value]

    def argument_settings(self) -> Dict[str, Any]:
        """Read one text of the form, again and again, or the list as JSON."""
        if self.is_json:
            return {"type": self._from_json, "default": ()}
        each = {"type": self.rule.from_argument, "default": ()}
        return {**each, "action": _Appended}

    def _from_json(self, text: str) -> Tuple[str, ...]:
        try:
            values = json.loads(text)
        except ValueError:
            values = text
        if faults := self._faults(values):
            raise argparse.ArgumentTypeError(faults[0])
        return tuple(values)


class _Appended(argparse.Action):
    """Adds a value to the tuple of those before it."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: Optional[str] = None,
    ) -> None:
        setattr(namespace, self.dest, (*getattr(namespace, self.dest), values))


@dataclass(frozen=True)
class TableNames(Value[Tuple[str, ...]]):
    """Tables of the DAG, in its order; all of them where none is named.

    A form offers the names as `examples`, never as an `enum`: Airflow checks params again
    before each task, and a run whose table was taken out of the specs meanwhile could not
    end its cluster.
    """

    description: Words
    rule: TextRule
    unset = ()

    def types(self, name: str) -> Dict[str, str]:
        """Return its one param."""
        return {name: "array"}

    def fields(self, name: str, form: RunForm) -> Dict[str, FormField]:
        """Return a list to choose from, with all tables chosen."""
        names, words = list(form.tables), _words(self.description, form)
        return {name: FormField(names, {"type": "array"}, words, examples=names)}

    def checked(
        self, name: str, params: Mapping[str, Any], form: RunForm, faults: List[str]
    ) -> Tuple[str, ...]:
        """Return the tables in the order of the DAG; names of no table are refused."""
        values, tables = params.get(name), form.tables
        if values is None:
            return tables
        if not isinstance(values, (list, tuple)) or not values:
            faults.append(
                f"{name}: got {shown(values)}. Give a list of at least one of:"
                f" {', '.join(tables)}."
            )
            return ()
        for each in values:
            if each not in tables:
                hint = did_you_mean(str(each), tables).strip()
                hint = hint or f"Choose from: {', '.join(tables)}."
                faults.append(
                    f"{name}: {shown(each)} is not a table of {form.domain}. {hint}"
                )
        return tuple(each for each in tables if each in values)

    def to_arguments(self, argument: str, value: Tuple[str, ...]) -> List[str]:
        """Return one argument, `a,b`."""
        return [argument, ",".join(value)]

    def argument_settings(self) -> Dict[str, Any]:
        """Read names, `a,b`; whether there are such tables is the caller's to judge."""
        return {"type": self._from_argument, "default": (), "metavar": "A,B"}

    def _from_argument(self, text: str) -> Tuple[str, ...]:
        return tuple(map(self.rule.from_argument, text.split(",")))


@dataclass(frozen=True)
class SwitchedShare(Value[Optional[float]]):
    """A switch with a second param: of what share it is about, above 0, up to 1."""

    description: Words
    share_param: str
    of_share: str
    without: str
    """What a run without the switch would do, for who gives the share alone."""

    def types(self, name: str) -> Dict[str, str]:
        """Return the switch and the share."""
        return {name: "boolean", self.share_param: "number"}

    def fields(self, name: str, form: RunForm) -> Dict[str, FormField]:
        """Return a switch, and a number that is 1 at first."""
        schema = {"type": "number", "exclusiveMinimum": 0, "maximum": 1}
        return {
            **Switch(self.description).fields(name, form),
            self.share_param: FormField(1, schema, self.of_share),
        }

    def checked(
        self, name: str, params: Mapping[str, Any], form: RunForm, faults: List[str]
    ) -> Optional[float]:
        """Return the share; None where the switch is off."""
        share = params.get(self.share_param, 1)
        if not is_share(share):
            faults.append(
                f"{self.share_param}: got {shown(share)}. Give a number above 0, up to 1."
            )
            return None
        if is_on(name, params, faults):
            return float(share)
        if share != 1:
            faults.append(
                f"{self.share_param}: got {shown(share)} without {name}, which would "
                f"{self.without}. Add {name}=true."
            )
        return None

    def to_arguments(self, argument: str, value: Optional[float]) -> List[str]:
        """Return the share."""
        return [argument, f"{value:g}"]

    def argument_settings(self) -> Dict[str, Any]:
        """Read a share."""
        return {"type": _share}


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not is_share(share):
        raise argparse.ArgumentTypeError(
            f"got {shown(text)}. Give a number above 0, up to 1."
        )
    return share


def is_share(value: Any) -> bool:
    """Return whether a value is a number above 0, up to 1."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and 0 < value <= 1


def is_on(name: str, params: Mapping[str, Any], faults: List[str]) -> bool:
    """Return whether a switch is on; other values than true and false are faults."""
    value = params.get(name, False)
    if not isinstance(value, bool):
        faults.append(f"{name}: got {shown(value)}. Choose true or false.")
    return value is True


def _words(description: Words, form: RunForm) -> str:
    return description if isinstance(description, str) else description(form)
