"""A file of Simulink as one tree, whatever its form: .slx with its systems within one another or one part each, .mdl as
a package in one text, and .mdl in the classic grammar in any encoding."""

from __future__ import annotations

import codecs
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element, fromstring, tostring

from chatdev.departments.simulink.files.package import Package, is_archive, is_text_package
from chatdev.departments.simulink.files.sections import (
    parse_sections,
    parse_xml,
    set_value,
    value,
    values,
    write_sections,
    write_xml,
)
from chatdev.errors import ConfigError

MODEL_PART = "simulink/blockdiagram.xml"
_ROOTS = ("Model", "Library", "Subsystem")
_ENCODING = re.compile(rb'SavedCharacterEncoding\s+"([^"]{1,40})"')
_ENCODINGS = re.compile(r"utf-?8|us-?ascii|iso-?8859-?\d+|latin-?1|windows-\w+|cp\d+|ibm\d+|shift[-_]?jis|euc[-_]\w+|"
                        r"gb\w+|big5\w*|koi8[-_]\w|mac\w*", re.IGNORECASE)
_BY_ICU_NAME = {"ibm-5348_p100-1997": "cp1252", "windows-31j": "cp932", "ibm-943_p15a-2003": "cp932",
                "windows-949": "cp949", "ibm-1363_p11b-1998": "cp949", "windows-936": "cp936",
                "ibm-1386_p100-2001": "cp936", "shift_jis": "cp932", "us-ascii": "utf-8"}
_SETTINGS = {"StartTime": ("0.0", "0", "0.000000"), "StopTime": ("10.0", "10"), "Solver": ("VariableStepAuto",),
             "FixedStep": ("auto",), "MaxStep": ("auto",), "MinStep": ("auto",), "InitialStep": ("auto",),
             "RelTol": ("1e-3", "auto"), "AbsTol": ("auto",)}
"""What of a model's configuration is a setting of the simulation, and the values that Simulink has anyway."""
_CONFIGURATION = "Simulink.SolverCC"


def settings_of(said: Mapping[str, str]) -> dict[str, str]:
    """Of all that a configuration says, the settings of the simulation that are not Simulink's own."""
    return {name: said[name] for name, plain in _SETTINGS.items() if said.get(name) and said[name] not in plain}


@dataclass(slots=True)
class ModelTree:
    """The tree of a file. `roots` are those of its parts by their paths (of the one text, ""); `notes` say what had to
    be guessed. Changed trees are written by `data`."""

    model: Element
    roots: dict[str, Element]
    package: Package | None = None
    encoding: str = "utf-8"
    notes: list[str] = field(default_factory=list)
    release: str = ""
    _targets: dict[str, str] = field(default_factory=dict)
    _used: set[str] = field(default_factory=set)

    @classmethod
    def read(cls, data: bytes, place: str) -> ModelTree:
        """The tree of a file. Raises ConfigError, which begins with `place`."""
        if is_archive(data) or is_text_package(data):
            return cls._read_package(Package.read(data, place), place)
        return cls._read_classic(data, place)

    @property
    def is_classic(self) -> bool:
        """Whether the file is in the classic grammar, which names blocks where the others number them."""
        return self.package is None

    @classmethod
    def _read_package(cls, package: Package, place: str) -> ModelTree:
        main = next((path for path, kind in package.targets("", place).values() if kind == "blockDiagram"), MODEL_PART)
        if main not in package.parts:
            raise ConfigError(f"{place}: no model: the part {main} is missing; save it anew in Simulink")
        root = parse_xml(package.parts[main], f"{place}: {main}")
        model = next((one for one in root.iter() if one.tag in _ROOTS), None)
        if model is None:
            raise ConfigError(f"{place}: {main}: no {', '.join(_ROOTS)}; save it anew in Simulink")
        tree = cls(model, {main: root}, package, release=_release_of(package, place))
        folder = posixpath.dirname(main)
        tree._targets = {name: path for name, (path, _) in package.targets(main, place).items()}
        systems = f"{folder}/systems/"
        for path in package.parts:
            if path.startswith(systems) and path.endswith(".xml"):
                tree.roots[path] = parse_xml(package.parts[path], f"{place}: {path}")
                tree._targets.setdefault(path.removeprefix(systems).removesuffix(".xml"), path)
        return tree

    @classmethod
    def _read_classic(cls, data: bytes, place: str) -> ModelTree:
        if b"\0" in data[:4096]:
            raise ConfigError(f"{place}: neither a .slx package nor a text; save it anew in Simulink")
        text, encoding, notes = _decode(data)
        if not re.search(r"^\s*(?:Model|Library|Subsystem)\s*\{", text, re.MULTILINE):
            raise ConfigError(f"{place}: no model of Simulink: it holds no `Model {{`; other programs write .mdl, too")
        root = parse_sections(text, place)
        model = next((one for one in root if one.tag in _ROOTS), None)
        if model is None:
            raise ConfigError(f"{place}: no model of Simulink: {', '.join(_ROOTS)} is no section of the file")
        return cls(model, {"": root}, encoding=encoding, notes=notes,
                   release=f"version {value(model, 'Version') or '?'}")

    def system(self, holder: Element, place: str) -> Element | None:
        """The system in the model or in a block. Raises ConfigError where it is missing, or that of two."""
        found = next((one for one in holder if one.tag == "System"), None)
        if found is None or (name := found.get("Ref")) is None:
            return found
        path = self._targets.get(name, "")
        if path not in self.roots or path in self._used:
            what = "is that of another block, too" if path in self._used else "is missing"
            raise ConfigError(f"{place}: the system {name!r:.80} {what}; save the model anew in Simulink")
        self._used.add(path)
        return self.roots[path]

    def defaults(self) -> dict[str, dict[str, str]]:
        """What the file says blocks have of which it says nothing, by their block types."""
        roots = [*self.roots.values()]
        if self.package and (part := self.package.parts.get("simulink/bddefaults.xml")):
            roots.append(parse_xml(part, "simulink/bddefaults.xml"))
        found = dict[str, dict[str, str]]()
        for root in roots:
            for section in root.iter("BlockParameterDefaults"):
                found |= {value(one, "BlockType") or "": values(one) for one in section if one.tag == "Block"}
        return found

    def settings(self) -> dict[str, str]:
        """The settings of the simulation that are not Simulink's own."""
        found = dict[str, str]()
        for section in self._configurations():
            said = values(section)
            said["Solver"] = said.get("SolverName") or said.get("Solver", "")
            found = {**settings_of(said), **found}
        return found

    def set_settings(self, settings: dict[str, str | None]) -> None:
        """Write settings where the file has them, else as values of the model; None takes one away."""
        section = self._configurations()[0]
        for name, text in settings.items():
            if name in _SETTINGS:
                key = "SolverName" if name == "Solver" and value(section, "SolverName") is not None else name
                set_value(section, key, text if text is not None else _SETTINGS[name][0])

    def _configurations(self) -> list[Element]:
        """The sections that say how the model is simulated, the active one first."""
        if self.package and "simulink/configSet0.xml" in self.package.parts:
            self.roots.setdefault("simulink/configSet0.xml", parse_xml(
                self.package.parts["simulink/configSet0.xml"], "simulink/configSet0.xml"))
        found = [one for root in self.roots.values() for one in root.iter()
                 if one.tag == _CONFIGURATION or one.get("ClassName") == _CONFIGURATION]
        return [*found, self.model]

    def data(self, original: bytes) -> bytes:
        """The file with its changed trees. Raises ConfigError for what its encoding cannot hold."""
        if self.package is None:
            return self._classic_data(original)
        package = self.changed_package()
        return package.text() if is_text_package(original) else package.zip()

    def changed_package(self) -> Package:
        """The package with its changed parts."""
        assert self.package is not None  # a classic file has none
        return self.package.with_parts({path: write_xml(root) for path, root in self.roots.items()
                                        if tostring(root) != tostring(fromstring(self.package.parts[path]))})

    def _classic_data(self, original: bytes) -> bytes:
        text = write_sections(self.roots[""])
        if b"\r\n" in original[:4096]:
            text = text.replace("\n", "\r\n")
        try:
            return text.encode(self.encoding)
        except UnicodeEncodeError as error:
            raise ConfigError(f"the file's encoding ({self.encoding}) has no {error.object[error.start]!r}; write it "
                              "with other characters, or as .slx") from None



def _release_of(package: Package, place: str) -> str:
    part = package.parts.get("metadata/mwcoreProperties.xml")
    if part is None:
        return ""
    said = (one.text or "" for one in parse_xml(part, place) if one.tag.endswith("matlabRelease"))
    return next(said, "")


def _decode(data: bytes) -> tuple[str, str, list[str]]:
    """The text of a file, its encoding, and what had to be guessed."""
    said = _ENCODING.search(data)
    name = said[1].decode("ascii", "replace").lower() if said else "utf-8"
    name = _BY_ICU_NAME.get(name, name)
    notes = list[str]()
    if not _ENCODINGS.fullmatch(name):
        notes.append(f"the encoding {name!r:.60} is not known here; UTF-8 is tried")
        name = "utf-8"
    for encoding in dict.fromkeys((name, "utf-8", "cp1252", "latin-1")):
        try:
            codecs.lookup(encoding)
            text = data.decode("utf-8-sig" if encoding == "utf-8" else encoding)
        except (LookupError, UnicodeDecodeError):
            continue
        if encoding != name and said:
            notes.append(f"the file is not in {name}, as it says; it is read as {encoding}")
        return text.replace("\r\n", "\n"), encoding, notes
    raise AssertionError  # latin-1 reads all
