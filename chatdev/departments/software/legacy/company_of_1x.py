"""`chatdev import`: a company of ChatDev 1.x (ChatChainConfig.json, PhaseConfig.json, RoleConfig.json) as one of ours,
with an account of what became of everything in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any, Literal, TypeVar

import click
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from chatdev.cli.company_commands import make_folder, refuse_company_name
from chatdev.cli.outcome import report_outcome
from chatdev.config.phases import SOLUTION_MARKER
from chatdev.config.templates import compile_expression
from chatdev.config.yaml_nodes import dotted_path, name_hint
from chatdev.errors import ConfigError
from chatdev.paths import bundled_table, read_named
from chatdev.safe_text import load_json, sanitize

CHAIN, PHASES, ROLES = FILES = ("ChatChainConfig.json", "PhaseConfig.json", "RoleConfig.json")
Outcome = Literal["taken", "changed", "lost"]
_MARKER = re.compile(r"<INFO>")
_DEFAULT = "Default"  # whose file 1.x takes for one that is missing
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_FILE_FORM = re.compile(r"\bFILENAME\b")
_RESERVED = {"task", "inputs", "software", "feedback"}


M = TypeVar("M", bound=BaseModel)


class _Lenient(BaseModel):
    """What 1.x reads; further keys are told of."""

    model_config = ConfigDict(extra="allow", hide_input_in_errors=True)


class ChainItem(_Lenient):
    """An entry of the chain: a simple phase, or a composed one with its simple phases."""

    phase: str = Field(min_length=1)
    phaseType: Literal["SimplePhase", "ComposedPhase"] = "SimplePhase"
    max_turn_step: int = -1
    need_reflect: bool = False
    cycleNum: int = Field(1, ge=1)
    Composition: list[ChainItem] = Field([])


class ChatChain(_Lenient):
    """ChatChainConfig.json; flags are the texts "True" and "False", or truth values."""

    chain: list[ChainItem] = Field(min_length=1)
    background_prompt: str = ""
    recruitments: list[str] = Field([])


class PhasePrompt(_Lenient):
    """An entry of PhaseConfig.json."""

    assistant_role_name: str
    user_role_name: str
    phase_prompt: list[str]


@dataclass(frozen=True, slots=True)
class Note:
    """What became of something: `where` it stood, and what is there now."""

    outcome: Outcome
    where: str
    text: str


@dataclass(slots=True)
class ImportedCompany:
    """The company as a mapping, as its YAML is, and what became of everything."""

    company: dict[str, Any]
    notes: list[Note] = field(default_factory=list)

    def notes_of(self, outcome: Outcome) -> list[Note]:
        """The notes of one kind, each once."""
        return list(dict.fromkeys(note for note in self.notes if note.outcome == outcome))


def import_company(folder: Path, name: str) -> ImportedCompany:
    """The company in `folder`, to be called `name`. Raises ConfigError, with file and field, for a file that is missing
    or cannot be read, and for phases and roles that are used and nowhere declared."""
    chain = _validate(ChatChain, _mapping(folder, CHAIN), folder, CHAIN, "")
    prompts = {key: _validate(PhasePrompt, value, folder, PHASES, key)
               for key, value in _mapping(folder, PHASES).items()}
    roles = {key: _lines(value, folder, ROLES, key) for key, value in _mapping(folder, ROLES).items()}
    return _Import(name, chain, prompts, roles).company()


def is_company_of_1x(folder: Path) -> bool:
    """Whether the folder holds the chain of a company of ChatDev 1.x."""
    return (folder / CHAIN).is_file()


# Reading.


def _place(folder: Path, name: str) -> Path:
    """The file, or that of the default company beside the folder, as 1.x takes it."""
    for place in (folder / name, folder.parent / _DEFAULT / name):
        if place.is_file():
            return place
    raise ConfigError(f"{folder / name} is missing, and there is none in {folder.parent / _DEFAULT} either, where "
                      f"ChatDev 1.x looks next; copy the {name} that belongs to this company into its folder")


def _mapping(folder: Path, name: str) -> dict[str, Any]:
    place = _place(folder, name)
    try:
        found = load_json(read_named(place).decode("utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"cannot read {place}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{place} is not UTF-8 text (its byte {error.start}); convert it to UTF-8") from None
    except json.JSONDecodeError as error:
        raise ConfigError(f"{place}:{error.lineno}: not JSON: {error.msg}; mend the line (a comma too many?)") from None
    except ValueError as error:
        raise ConfigError(f"{place}: not JSON that can be used: {error}") from None
    if not isinstance(found, dict):
        raise ConfigError(f"{place} holds no mapping; is it a configuration of ChatDev 1.x?")
    return found


def _validate(kind: type[M], value: Any, folder: Path, name: str, above: str) -> M:
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        lines = (f"{_place(folder, name)}: {dotted_path((*filter(None, [above]), *one['loc']))}: {one['msg']}"
                 for one in error.errors())
        raise ConfigError("\n".join(lines)) from None


def _lines(value: Any, folder: Path, name: str, role: str) -> list[str]:
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return value
    raise ConfigError(f"{_place(folder, name)}: {role}: a role is a list of texts")


# Turning.


@cache
def _table() -> Mapping[str, Mapping[str, Any]]:
    found: Mapping[str, Mapping[str, Any]] = bundled_table(Path(__file__).with_name("legacy.yaml"))
    return found


class _Import:
    """Builds the mapping of the new company, and notes as it goes."""

    def __init__(self, name: str, chain: ChatChain, prompts: Mapping[str, PhasePrompt],
                 roles: Mapping[str, list[str]]) -> None:
        self.name, self.chain, self.prompts = name, chain, prompts
        self.roles = roles
        self.role_names = _distinct(roles)
        self.phase_names = _distinct(prompts)
        self.phases: dict[str, dict[str, Any]] = {}
        self.notes: list[Note] = []
        self.certain: set[str] = {"task", "software"}
        """The names that an earlier step has written, whatever happened."""
        self.possible = {self._writes(phase) for phase in prompts} | {"written", "test"}

    def company(self) -> ImportedCompany:
        steps = [step for n, item in enumerate(self.chain.chain) for step in self._steps(item, f"chain.{n}")]
        self._flags()
        used = {role for phase in self.phases.values() for role in (phase["instructor"], phase["assistant"])}
        company: dict[str, Any] = {
            "company": self.name, "about": "Imported from ChatDev 1.x.", "source": "ChatDev 1.x",
            "background": self._text(self.chain.background_prompt, "background_prompt", {}, set()),
            "inputs": {"task": {"about": "What to build.", "required": True}},
            "roles": {self.role_names[title]: self._role(title) for title in self.roles
                      if self.role_names[title] in used},
            "phases": self.phases,
            **({"changes": True} if self._flag("incremental_develop") else {}),
            "chain": [*steps, {"tool": "software.run", "writes": "test"}], "success": "test.passed"}
        for title in self.roles:
            if self.role_names[title] not in used:
                self._note("lost", f"{ROLES} {title}", "in no phase of the chain")
        return ImportedCompany(company, self.notes)

    def _note(self, outcome: Outcome, where: str, text: str) -> None:
        self.notes.append(Note(outcome, where, text))

    def _flag(self, name: str) -> bool:
        return str((self.chain.model_extra or {}).get(name, False)).lower() == "true"

    def _flags(self) -> None:
        for name in self.chain.model_extra or {}:
            known = _table()["flags"].get(name)
            if known is None:
                self._note("lost", f"{CHAIN} {name}", "unknown to ChatDev 1.x")
            elif self._flag(name) and (text := known.get("lost")):
                self._note("lost", f"{CHAIN} {name}", text)
            elif self._flag(name) and (text := known.get("note")):
                self._note("changed", f"{CHAIN} {name}", text)

    def _role(self, title: str) -> dict[str, Any]:
        lines = [line for line in self.roles[title] if line.strip() != "{chatdev_prompt}"]
        prompt = self._text("\n".join(lines), f"{ROLES} {title}", {}, set())
        self._note("taken", f"{ROLES} {title}", f"roles.{self.role_names[title]}")
        return {"title": title, "prompt": prompt}

    def _steps(self, item: ChainItem, where: str) -> Iterator[dict[str, Any]]:
        """The steps of an entry of the chain, phases of it declared."""
        self._note_extra(item, where)
        if item.phaseType == "SimplePhase":
            yield self._phase_step(item, f"{where} {item.phase}")
            self.certain.add(self._writes(item.phase))
            return
        known = _table()["composed"].get(item.phase)
        place = f"{CHAIN} {item.phase}"
        if known is None:
            self._note("changed", place, f"a class of somebody's own, which is not read: its phases are repeated "
                                         f"{item.cycleNum} times; add `until` if it ended earlier")
        known = known or {}
        if note := known.get("note"):
            self._note("changed", place, note)
        if any(inner.phaseType == "ComposedPhase" for inner in item.Composition) or not item.Composition:
            raise ConfigError(f"{CHAIN}: {where}.Composition: a composed phase consists of simple phases, one or "
                              "more; 1.x knows no other")
        once = "its phases, one after the other" if item.cycleNum == 1 else f"repeat, at most {item.cycleNum}"
        self._note("taken", place, f"one phase of {item.cycleNum} rounds" if known.get("rounds") else once)
        yield from self._loop(item, known, where)

    def _loop(self, item: ChainItem, known: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
        first, before = known.get("first", []), self.certain
        until = self._until(item, known, first)
        self.certain = before | {step["writes"] for step in first}
        inner = []
        for n, one in enumerate(item.Composition):
            self._note_extra(one, f"{where}.Composition.{n}")
            if known.get("rounds"):  # the rounds of one dialogue, in 1.x each a phase of one answer
                one = one.model_copy(update={"max_turn_step": item.cycleNum})
            inner.append(self._phase_step(one, f"{where}.Composition.{n} {one.phase}"))
            self.certain = self.certain | {self._writes(one.phase)}
        self.certain = before
        body = [*first, *({**step, "when": f"not {until}"} if first and until else step for step in inner)]
        if item.cycleNum == 1 or known.get("rounds"):
            yield from body
        else:
            yield {"repeat": {**({"until": until} if until else {}), "max": item.cycleNum, "steps": body}}

    def _until(self, item: ChainItem, known: Mapping[str, Any], first: Sequence[Mapping[str, str]]) -> str | None:
        """What ends a loop; None where no step of it writes what that is about."""
        until: str | None = known.get("until")
        there = {*(step["writes"] for step in first), *(self._writes(one.phase) for one in item.Composition)}
        if until is None or compile_expression(until).names <= there:
            return until
        why = f"none of its phases leaves what ends it in 1.x; it goes round {item.cycleNum} times"
        self._note("changed", f"{CHAIN} {item.phase}", why)
        return None

    def _note_extra(self, item: ChainItem, where: str) -> None:
        for key in item.model_extra or {}:
            self._note("lost", f"{CHAIN} {where}.{key}", "unknown to ChatDev 1.x")

    def _phase_step(self, item: ChainItem, where: str) -> dict[str, Any]:
        if item.phase not in self.prompts:
            raise ConfigError(f"{CHAIN}: {where}: {PHASES} has no such phase; {name_hint(item.phase, self.prompts)}")
        name = self.phase_names[item.phase]
        rounds = item.max_turn_step if item.max_turn_step > 0 else 10
        if name not in self.phases:
            self.phases[name] = self._phase(item.phase, rounds)
            return {"phase": name}
        return {"phase": name} if self.phases[name]["rounds"] == rounds else {"phase": name, "rounds": rounds}

    def _phase(self, key: str, rounds: int) -> dict[str, Any]:
        prompt, known = self.prompts[key], self._known(key)
        where, reads = f"{PHASES} {key}", set[str]()
        titles = {"instructor": prompt.user_role_name, "assistant": prompt.assistant_role_name}
        for role in titles.values():
            if role not in self.roles:
                raise ConfigError(f"{where}: {ROLES} has no role {role!r}; {name_hint(role, self.roles)}")
        opening = self._text("\n".join(prompt.phase_prompt), where, titles, reads)
        if key not in _table()["phases"]:
            self._note("changed", where, "a class of somebody's own, which is not read: the phase writes "
                                         f"{self._writes(key)!r}, and reads what its prompt names; mend that")
        if note := known.get("note"):
            self._note("changed", where, note)
        self._note("taken", where, f"phases.{self.phase_names[key]}")
        return {
            "about": known.get("about", f"{key}, as in ChatDev 1.x."),
            **{side: self.role_names[title] for side, title in titles.items()},
            "reads": sorted(name if name in self.certain else f"{name}?" for name in reads | {"task"}),
            "writes": self._writes(key),
            **self._solution(key),
            **{option: known[option] for option in ("opens", "concludes") if option in known},
            "rounds": rounds, "opening": opening}

    def _solution(self, key: str) -> dict[str, Any]:
        """The form of what a phase leaves; where files are there already, they stay if it leaves none."""
        if self._writes(key) != "software":
            return {}
        as_file = {"as_file": self._known(key)["as_file"]} if "as_file" in self._known(key) else {}
        return {"solution": {"form": "files", **as_file}, **({} if key == "Coding" else {"on_no_solution": "keep"})}

    def _known(self, key: str) -> Mapping[str, Any]:
        """What the class of a phase does; of one that is unknown, what its prompt tells."""
        if known := _table()["phases"].get(key):
            return known  # type: ignore[no-any-return]  # of the table
        writes_files = _FILE_FORM.search("\n".join(self.prompts[key].phase_prompt)) is not None
        return {"form": "files"} if writes_files else {}

    def _writes(self, key: str) -> str:
        known = self._known(key) if key in self.prompts else {}
        if "form" in known or "as_file" in known:
            return "software"
        name = str(known.get("writes", self.phase_names.get(key, "")))
        return f"{name}_text" if name in _RESERVED else name

    def _text(self, text: str, where: str, titles: Mapping[str, str], reads: set[str]) -> str:
        """A text of `str.format` as a template; the names that it reads are added to `reads`."""
        if _MARKER.search(text):
            self._note("changed", where, f"<INFO> is {SOLUTION_MARKER}")
        found, literal = "", ""
        for more, name in self._parts(_MARKER.sub(SOLUTION_MARKER, text), where):
            literal += more
            if name is not None:
                found += _literal(literal) + self._placeholder(name, where, titles, reads)
                literal = ""
        return (found + _literal(literal)).strip()

    def _parts(self, text: str, where: str) -> list[tuple[str, str | None]]:
        try:
            return [(literal, name) for literal, name, _, _ in Formatter().parse(text)]
        except ValueError:  # 1.x would fail at it when the phase begins
            self._note("changed", where, "a single brace, which 1.x cannot read, is taken as it stands")
            pieces = re.split(r"\{(\w+)\}", text)
            return [*zip(pieces[::2], [*pieces[1::2], None], strict=True)]

    def _placeholder(self, name: str, where: str, titles: Mapping[str, str], reads: set[str]) -> str:
        known = _table()["placeholders"].get(name) or self._left_by_phase(name)
        if not known:
            self._note("lost", where, f"{{{name}}} is filled by a class of somebody's own; it stays as text")
            return _literal(f"{{{name}}}")
        if note := known.get("note"):
            self._note("changed", where, f"{{{name}}}: {note}")
        if "role" in known:
            return _literal(titles.get(known["role"], ""))
        if "flag" in known and not self._flag(known["flag"]):
            return ""
        return self._reading(known, reads)

    def _left_by_phase(self, name: str) -> Mapping[str, Any]:
        """What stands for a placeholder with the name of a phase; empty for another one."""
        own = next((self._writes(key) for key in self.prompts if name in (key, self.phase_names[key])), None)
        if own is None:
            return {}
        return {"text": "{{ software | listing }}" if own == "software" else f"{{{{ {own} }}}}", "reads": own}

    def _reading(self, known: Mapping[str, Any], reads: set[str]) -> str:
        """The text of a placeholder; empty where no phase of this company can have written what it reads."""
        text, name = str(known["text"]), known.get("reads")
        if name is None:
            return text
        if name not in self.possible | {"software"}:
            return ""
        reads.add(name)
        return text if name in self.certain else text.replace(" }}", f' if {name} else "" }}}}')


def _literal(text: str) -> str:
    """A text that a template shows as it stands, whatever comes behind it."""
    return re.sub(r"\{(?=[{%#]|\Z)", '{{ "{" }}', text)


def _distinct(titles: Mapping[str, Any] | Sequence[str]) -> dict[str, str]:
    """A name of our kind for each title: `CodeReview` and `Code Reviewer` as words with underscores."""
    found: dict[str, str] = {}
    for n, title in enumerate(titles):
        name = "_".join(word.lower() for word in _WORD.findall(title)) or f"unnamed_{n + 1}"
        name = name if not name[0].isdigit() else f"n{name}"
        while name in found.values():
            name = f"{name}_{n + 1}"
        found[title] = name
    return found


# `chatdev import`: a company of ChatDev 1.x as a company of ours, and an account of what became of it.

_HEADINGS = {"taken": "Taken", "changed": "Not as in 1.x", "lost": "Left out"}


@click.command("import")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--name", help="Name of the new company. [default: the name of DIR]")
@click.option("--to", type=click.Path(path_type=Path), help="Where to write it. [default: company_config/NAME]")
@report_outcome
def command(folder: Path, name: str | None, to: Path | None) -> int:
    """Turn a company of ChatDev 1.x into one of ours. DIR holds ChatChainConfig.json, PhaseConfig.json and
    RoleConfig.json; one of the last two that is missing is taken from the folder Default beside it.

    What became of everything is printed and kept beside the new company, in import.md.
    """
    import yaml

    from chatdev.config.yaml_nodes import Dumper
    from chatdev.runner.api import Company

    if not is_company_of_1x(folder):
        raise ConfigError(f"{folder} holds no {CHAIN}; give the folder of a company of ChatDev 1.x, such as "
                          "CompanyConfig/Default")
    name = name or re.sub(r"[^a-z0-9_-]+", "-", folder.resolve().name.lower()).strip("-")
    refuse_company_name(name)
    to = to or Path("company_config") / name
    found = import_company(folder, name)
    problems: Sequence[str] = ()
    try:
        problems = Company.load(found.company).warnings
    except ConfigError as error:
        problems = str(error).splitlines()
    phases = {key: {**phase, "opening": {"file": f"prompts/{key}.j2"}}
              for key, phase in found.company["phases"].items()}
    text = yaml.dump({**found.company, "phases": phases}, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=110)
    report = describe_import(found, folder)
    make_folder(to, {"company.yaml": f"# Imported from {folder.name} of ChatDev 1.x; import.md says what became of "
                                     f"what.\n{text}", "import.md": report,
                     **{f"prompts/{key}.j2": f"{phase['opening']}\n"
                        for key, phase in found.company["phases"].items()}})
    click.echo(f"\n{sanitize(report)}")
    for problem in problems:
        click.echo(sanitize(f"to mend: {problem}"))
    named = name if to == Path("company_config") / name else str(to)
    click.echo(sanitize(f'next: chatdev check {named} --graph, then chatdev run --company {named} "…"'))
    return 1 if problems else 0


def describe_import(found: ImportedCompany, folder: Path) -> str:
    """What became of everything, in Markdown."""
    sections = [f"# {found.company['company']}: imported from {folder.name} of ChatDev 1.x"]
    for outcome in ("taken", "changed", "lost"):
        if notes := found.notes_of(outcome):
            rows = "\n".join(f"- {where}: {text}" for where, text in _group(notes))
            sections.append(f"## {_HEADINGS[outcome]}\n\n{rows}")
    return "\n\n".join(sections) + "\n"


def _group(notes: Sequence[Note]) -> list[tuple[str, str]]:
    """What is said, each once, with the places of which it is true."""
    places: dict[str, list[str]] = {}
    for note in notes:
        places.setdefault(note.text, []).append(note.where)
    return [(_join(where), text) for text, where in places.items()]


def _join(where: Sequence[str]) -> str:
    """`PhaseConfig.json Coding, Manual`: a file is named once."""
    found, last = [], ""
    for place in where:
        file, _, rest = place.partition(" ")
        found.append(rest if file == last and rest else place)
        last = file
    return ", ".join(found)
