"""Files with an empty model, from which new ones are made: of all that Simulink writes only what it needs, as far as
that is known."""

from __future__ import annotations

import uuid
from pathlib import PurePosixPath
from xml.etree.ElementTree import Element, SubElement

from chatdev.departments.simulink.diagram import Diagram
from chatdev.departments.simulink.files.model_tree import MODEL_PART, ModelTree
from chatdev.departments.simulink.files.package import Package, content_types, relationships
from chatdev.departments.simulink.files.sections import add_section, set_value

_MATHWORKS = "http://schemas.mathworks.com/"
_CORE = "http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties"
_RELEASE = "R2024b"
_VERSION = "8.0"  # of a new file in the classic grammar: R2012b, the last release that wrote nothing else
_SETTINGS = {"StartTime": "0.0", "StopTime": "10.0", "Solver": "VariableStepAuto"}


def new_classic(model: Diagram) -> ModelTree:
    """An empty model in the classic grammar."""
    root = Element("File")
    top = add_section(root, "Model", {"Name": model.name})
    set_value(top, "Version", _VERSION, "word")
    set_value(top, "SavedCharacterEncoding", "UTF-8")
    if model.settings:
        rows = _array(top, "Simulink.ConfigSet", "ConfigurationSets")
        solver = _array(rows, "Simulink.SolverCC", "Components")
        for name, text in _SETTINGS.items():
            set_value(solver, name, text)
    add_section(top, "System", {"Name": model.name})
    return ModelTree(top, {"": root})


def _array(parent: Element, tag: str, name: str) -> Element:
    """A list of one object, as the classic grammar writes it."""
    rows = add_section(parent, "Array", {"Type": "Handle"})
    set_value(rows, "Dimension", "1", "word")
    made = add_section(rows, tag, {"Name": "Configuration"} if tag.endswith("ConfigSet") else {})
    SubElement(rows, "P", {"Name": "PropName"}).text = name
    return made


def new_package(model: Diagram) -> ModelTree:
    """The parts that a model needs, with an empty system."""
    folder = str(PurePosixPath(MODEL_PART).parent)
    system = f"{folder}/systems/system_root.xml"
    parts = {
        "[Content_Types].xml": content_types({
            "metadata/coreProperties.xml": "application/vnd.openxmlformats-package.core-properties+xml",
            "metadata/mwcoreProperties.xml": "application/vnd.mathworks.package.coreProperties+xml",
            **({f"{folder}/configSet0.xml": "application/vnd.mathworks.simulink.configSet+xml",
                f"{folder}/configSetInfo.xml": "application/vnd.mathworks.simulink.configSetInfo+xml"}
               if model.settings else {})}),
        "_rels/.rels": relationships({
            "blockDiagram": (MODEL_PART, f"{_MATHWORKS}simulink/2010/relationships/blockDiagram"),
            **({"configSetInfo": (f"{folder}/configSetInfo.xml",
                                  f"{_MATHWORKS}simulink/2014/relationships/configSetInfo")} if model.settings else {}),
            "rId1": ("metadata/mwcoreProperties.xml", f"{_MATHWORKS}package/2012/relationships/coreProperties"),
            "rId2": ("metadata/coreProperties.xml", _CORE)}),
        "metadata/coreProperties.xml": _CORE_PROPERTIES,
        "metadata/mwcoreProperties.xml": _MW_PROPERTIES,
        f"{folder}/_rels/blockdiagram.xml.rels": relationships({
            "system_root": ("systems/system_root.xml", f"{_MATHWORKS}simulink/2010/relationships/system")})}
    if model.settings:
        parts |= {f"{folder}/configSet0.xml": _CONFIGURATION, f"{folder}/configSetInfo.xml": _CONFIGURATION_INFO,
                  f"{folder}/_rels/configSetInfo.xml.rels": relationships({
                      "configSet0": ("configSet0.xml", f"{_MATHWORKS}simulink/2014/relationships/configSet")})}
    number = uuid.uuid5(uuid.NAMESPACE_URL, model.text())  # the same model gives the same bytes
    main = (f'<ModelInformation Version="1.0"><Model><P Name="ModelUUID">{number}</P><System Ref="system_root"/>'
            "</Model></ModelInformation>").encode()
    package = Package({**parts, MODEL_PART: main, system: b"<System/>"})
    return ModelTree.read(package.zip(), "the new file")


_CORE_PROPERTIES = (
    b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<cp:coreProperties '
    b'xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties">\n'
    b"  <cp:category>model</cp:category>\n  <cp:version>%s</cp:version>\n</cp:coreProperties>\n" % _RELEASE.encode())
_MW_PROPERTIES = (
    b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<mwcoreProperties '
    b'xmlns="http://schemas.mathworks.com/package/2012/coreProperties">\n'
    b"  <contentType>application/vnd.mathworks.simulink.model</contentType>\n"
    b"  <contentTypeFriendlyName>Simulink Model</contentTypeFriendlyName>\n"
    b"  <matlabRelease>%s</matlabRelease>\n</mwcoreProperties>\n" % _RELEASE.encode())
_CONFIGURATION = (
    b'<?xml version="1.0" encoding="utf-8"?>\n<ConfigSet>\n  <Object ClassName="Simulink.ConfigSet">\n'
    b'    <Array PropName="Components" Type="Handle" Dimension="1*1">\n      <Object ClassName="Simulink.SolverCC">\n'
    b'        <P Name="StartTime">0.0</P>\n        <P Name="StopTime">10.0</P>\n'
    b'        <P Name="SolverName">VariableStepAuto</P>\n      </Object>\n    </Array>\n'
    b'    <P Name="Name">Configuration</P>\n  </Object>\n</ConfigSet>\n')
_CONFIGURATION_INFO = (
    b'<?xml version="1.0" encoding="utf-8"?>\n<ConfigSetInfo>\n'
    b'  <ConfigSet PartName="/simulink/configSet0.xml" Active="true">Configuration</ConfigSet>\n</ConfigSetInfo>\n')
