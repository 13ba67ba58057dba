"""Readers of what process analysts bring: event logs, models in BPMN, and process trees in words."""

from __future__ import annotations

from contextlib import suppress

from chatdev.departments.process.bpmn import parse_bpmn, write_bpmn
from chatdev.departments.process.chart import draw_flow
from chatdev.departments.process.conformance import find_difference
from chatdev.departments.process.event_log import LogChoice
from chatdev.departments.process.log_files import read_log
from chatdev.errors import ConfigError
from tests.fuzz.readers.reader import Reader, is_short, write

EVENT = ('<event><string key="concept:name" value="a№"/><date key="time:timestamp" value="2026-01-02T03:04:05Z"/>'
         '<string key="lifecycle:transition" value="complete"/></event>')
XES = ["<trace>", "</trace>", EVENT, "<event>", "</event>", '<string key="concept:name" value="b"/>', "<list>",
       "</list>", '<string key="lifecycle:transition" value="start"/>', '<int key="', '" value="', '"/>', "&#1;",
       "&lt;", "<!--", "-->", "<![CDATA[", "]]>", "<!DOCTYPE log>", "é", "\0"]
TABLE = ["1", "2", "№", ",", ";", "\t", "|", '"', '""', "\n", "\r", "a", "b", "2026-01-02", "3/4/2026",
         "13/4/26 9:00 PM", "1e400", "-1", "case", "activity", "time", "start", "complete", "\ufeff", "é", "\udc80",
         "\0"]
OCEL = ['{"id": "o№", "type": "order"}', ", ", '], "events": [', '{"id": "e", "type": "a", "time": "2026-01-02", '
        '"relationships": [{"objectId": "o1", "qualifier": ""}]}', '"time": 1e999', "{", "}", "[", "]", "null", '"']
OCEL_XML = ['<object id="o№" type="order">', "</object>", "<objects>", "</objects>", "<events>", "</events>",
            '<event id="e№" type="a" time="2026-01-02">', "</event>", '<relationship object-id="o1"/>',
            '<list key="omap">', "</list>", '<string key="type" value="order"/>',
            '<string key="object-id" value="o1"/>', "<!DOCTYPE log>", "\0"]
BPMN = ['<startEvent id="s"/>', '<endEvent id="e"/>', '<task id="t№" name="A"/>', '<exclusiveGateway id="x№"/>',
        '<parallelGateway id="p№"/>', '<inclusiveGateway id="i№"/>',
        '<sequenceFlow id="f№" sourceRef="s" targetRef="x1"/>',
        '<sequenceFlow id="g№" sourceRef="x1" targetRef="e"/>', '<sequenceFlow id="h№" sourceRef="x1" targetRef="x1"/>',
        "<subProcess>", "</subProcess>", "<documentation>", "</documentation>", "&#0;", "<!ENTITY", "é"]
DEFINITIONS = ('<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="p">{}</process>'
               "</definitions>")


def event_log(name: str, text: str) -> None:
    """An event log as a file of this name."""
    try:
        log = read_log(write(name, text), LogChoice(case="order" if "ocel" in name else None))
    except ConfigError as error:
        is_short(error)
        return
    assert log.cases
    assert log.events >= log.activities.total() - log.unfinished


def bpmn(text: str) -> None:
    """A model as a file, which is written and read as the same."""
    try:
        tree = parse_bpmn(text.encode("utf-8", "surrogatepass"))
    except ConfigError as error:
        is_short(error)
        return
    with suppress(ConfigError):  # names that are called the same when they are written
        assert find_difference(tree, parse_bpmn(write_bpmn(draw_flow(tree)).encode())) is None


READERS = {
    "event log": Reader(lambda text: event_log("log.xes", text), XES, ("{}", "<log>{}</log>",
                                                                       "<log><trace>{}</trace></log>")),
    "table of events": Reader(lambda text: event_log("log.csv", text), TABLE, ("{}", "case,activity,time\n{}")),
    "events of objects": Reader(lambda text: event_log("log.jsonocel", text), OCEL, ("{}", '{"objects": [{}]}')),
    "events of objects in XML": Reader(lambda text: event_log("log.xmlocel", text), OCEL_XML,
                                       ("{}", "<log>{}</log>", "<log><objects>{}</objects></log>")),
    "process model": Reader(bpmn, BPMN, ("{}", DEFINITIONS)),
}
