"""The tools of the company `simugen` beside those that look blocks up and run programs: what the user hands in, what
the investigators agree on, what the builder's program made of it, and what is handed over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chatdev.departments.simulink.agreement import (
    agreed_model,
    parse_model,
    read_given,
    settle,
    settle_block,
    settled_type,
    to_investigation,
)
from chatdev.departments.simulink.catalogue import catalogue
from chatdev.departments.simulink.change import change_model, list_differences
from chatdev.departments.simulink.checks import (
    check_diagram,
    check_investigation,
    judge_findings,
    read_investigation,
    sort_findings,
)
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, Wire
from chatdev.departments.simulink.difference import compare
from chatdev.departments.simulink.execute import MODEL_FILE, execute
from chatdev.departments.simulink.experiment import (
    Experiment,
    data_files,
    experiment_of,
    read_acceptance,
    summarise,
    verdict_of,
)
from chatdev.departments.simulink.layout import place
from chatdev.departments.simulink.painter import draw
from chatdev.departments.simulink.parts import CHECKS, DiagramFinding, make_parts
from chatdev.departments.simulink.views import describe_blocks, list_names, tabulate_blocks, write_program
from chatdev.errors import ToolError
from chatdev.paths import bundled_folder
from chatdev.tools.base import ToolContext, Verdict, render_file, tool

if TYPE_CHECKING:
    from chatdev.web.views import RunView

PROGRAM_FILE, PICTURE_FILE, REPORT_FILE = "build_model.py", "model.svg", "report.md"
WORDING = Path(__file__).with_name("wording")
_SOURCES = ("picture", "task", "explanation", "list", "model")
WRITERS = ("builder", "agents", "tool")
"""Who may write the program."""
_MOST = 30  # differences that agents read
_ACCEPTANCE = ("signal", "figure", "wanted", "got", "when", "holds")


@tool(name="simulink.given", pure=True)
def read_inputs(context: ToolContext) -> dict[str, Any]:
    """Read what the user hands in beside a picture and words: `investigation` of a model or a list of blocks with
    connections, `model` (the text form of the model that is to be changed), `blocks` of a list without connections.
    A file that cannot be read ends the run before a model is paid."""
    inputs = context.inputs
    if not any(inputs.get(name) for name in _SOURCES):
        raise ToolError("there is nothing to make a model of: describe it in words, or give --input picture=FILE, "
                        "list=FILE or model=FILE")
    writer = inputs.get("writer") or WRITERS[0]
    if writer not in WRITERS:
        raise ToolError(f"the input `writer` is {writer!r}; it is one of: {', '.join(WRITERS)}")
    read_acceptance(inputs)
    found: dict[str, Any] = {"investigation": None, "model": "", "blocks": [], "by_agents": writer != "tool"}
    if text := inputs.get("model"):
        if not (inputs.get("task") or inputs.get("explanation")):
            raise ToolError("there is a model, but no request: say what is to be changed")
        model = parse_model(str(text), "model")
        return {**found, "investigation": to_investigation(model), "model": model.text(),
                "by_agents": writer == "agents"}
    if text := inputs.get("list"):
        listed = read_given(str(text), "list")
        return {**found, **({"investigation": listed} if listed.get("connections") else {"blocks": listed["blocks"]})}
    return found


@tool(pure=True)
def guide(context: ToolContext) -> dict[str, Any]:
    """What agents need to know: `names` of all blocks (with their looks where there is a picture), and the `functions`
    and the shape of a `program` that builds a model."""
    folder = bundled_folder("company_config") / "simugen" / "knowledge"
    return {"names": list_names(looks=bool(context.inputs.get("picture"))),
            "functions": render_file(folder / "functions.j2"),
            "program": render_file(folder / "program.j2", model="model_name")}


@tool(reads=("seen?", "given?"), name="simulink.requested", pure=True)
def list_requested(context: ToolContext) -> list[dict[str, Any]]:
    """The blocks that are to be described: those that were seen, those of the user's list or model. Ends the run where
    the picture shows no block diagram."""
    seen, known = context.values.get("seen"), context.values.get("given") or {}
    if not seen:
        return list((known.get("investigation") or known)["blocks"])
    if not seen["diagram"]:
        why = seen["why"] or "no reason"
        raise ToolError(f"there is no block diagram to build, says the Investigator: {why}; give a picture of one, or "
                        "describe it in words")
    if not seen["blocks"]:
        raise ToolError("the Investigator found no block; give a sharper picture, or describe the model in words")
    return list(seen["blocks"])


@tool(reads=("change?", "given"), name="simulink.change")
def change(context: ToolContext) -> Verdict:
    """Carry out the change that the Investigator asks for: what it touches, and what of it is impossible."""
    before = _given_model(context)
    if before is None:
        return Verdict(False, "there is no model to change", 0.0)
    asked = context.values.get("change")
    asked = asked.get("change", asked) if isinstance(asked, Mapping) else asked
    made = change_model(before, asked)
    lines = list_differences(before, made.model)
    evidence = {"change": asked, "investigation": to_investigation(made.model), "touched": made.touched}
    report = render_file(WORDING / "changes.j2", problems=made.problems, differences=lines)
    return Verdict(bool(lines) and not made.problems, report, -float(len(made.problems)), evidence)


@tool(reads=("investigation?", "given?", "change?"))
def investigation(context: ToolContext) -> Any:
    """The investigation as it goes on, with every display name as its block: that of the changed model, the one that
    agents wrote, or the user's list, whichever the step reads."""
    sources = [context.values.get("change"), context.values, context.values.get("given")]
    found = [one["investigation"] for one in sources if isinstance(one, Mapping) and one.get("investigation")]
    return settle(found[0]) if found else {}


@tool(reads=("investigation",), pure=True)
def describe(context: ToolContext) -> str:
    """What is known of the blocks of the investigation."""
    blocks = context.values["investigation"].get("blocks") or []
    types = [one.get("type") for one in blocks if isinstance(one, Mapping)]
    return describe_blocks([kind for kind in types if isinstance(kind, str)])


@tool(reads=("investigation?", "requested_blocks?", "given?", "change?", "fault?"))
def review(context: ToolContext) -> Verdict:
    """Review the investigation: the eight checks (block list, extra blocks, format, parameters, duplicates, port types,
    complete ports, nets), the list of blocks that was made first (until what was built shows a fault, which may be of
    that list), and that only what was asked for is changed."""
    findings = _findings(context)
    first = min((CHECKS.index(one.check) for one in findings if one.severity == "error"), default=len(CHECKS))
    verdict = judge_findings(findings)
    return replace(verdict, score=(first + verdict.score) / (len(CHECKS) + 1))  # what comes first is mended first


@tool(reads=("software", "investigation?", "given?"))
def build(context: ToolContext) -> Verdict:
    """Run the program, and hold what it builds against what was agreed on."""
    return _build(context)


@tool(reads=("investigation?", "given?"), writes_files=True)
def program(context: ToolContext) -> dict[str, Any]:
    """Write the program that builds the model that was agreed on."""
    model = agreed_model(context.values.get("investigation"), _given_model(context))
    return {"files": {PROGRAM_FILE: write_program(model)}}


@tool(reads=("located?", "executed?"))
def route(context: ToolContext) -> dict[str, str]:
    """Who mends a fault: `where` is code (also where the locator had no answer), investigation, or empty where nobody
    was asked. A program that builds what was agreed on has no fault of its own."""
    located, executed = context.values.get("located"), context.values.get("executed")
    found = {"where": "code", **located} if isinstance(located, Mapping) else {}
    if found.get("where") == "code" and isinstance(executed, Mapping) and executed.get("passed"):
        found = {"where": "investigation"}
    return {name: str(found.get(name) or "") for name in ("where", "why", "fix")}


@tool(reads=("software", "investigation?", "given?", "executed?"), writes_files=True)
def deliver(context: ToolContext) -> dict[str, Any]:
    """Hand the model over: its text form, its picture, the data and the plot of its simulation, and all in the report,
    with what was changed in a given one."""
    before, built = _given_model(context), _built_model(context.values.get("executed"))
    agreed = context.values.get("investigation")
    if built is None and not agreed:
        return {"files": {}}
    wanted = agreed_model(agreed, before)
    model = place(_with_places(built, wanted) if built else wanted)
    changes = compare(before, replace(model, about=before.about)).lines() if before else None
    files = {MODEL_FILE: model.text(), PICTURE_FILE: draw(model)}
    found, rows = None, list[Any]()
    if built:
        found = experiment_of(context.inputs, context.values["executed"]["files"][MODEL_FILE])
        files, rows = files | data_files(found), list(summarise(found))
    text = context.software.get(REPORT_FILE, b"").decode("utf-8", "replace").rstrip()
    if text or found or before:
        added = render_file(WORDING / "delivery.j2", name=model.name, changes=changes, found=found, rows=rows,
                            files=files)
        files[REPORT_FILE] = f"{text}\n\n{added}\n".lstrip()
    return {"files": files}


@tool(reads=("investigation",))
def principles(context: ToolContext) -> str:
    """What the blocks of the model do, as a table for the report."""
    parts = make_parts(agreed_model(context.values["investigation"]), catalogue())
    return tabulate_blocks(part.kind for part in parts.values() if part.kind)


@tool(reads=("software", "investigation?", "requested_blocks?", "given?", "change?"))
def judge(context: ToolContext) -> Verdict:
    """Judge the model: the program builds it without an error, it is what was agreed on, the checks find no error, and
    it simulates and meets its acceptance. Where a block's ports are known to nobody, MATLAB built what cannot be seen
    here, or what is wanted cannot be simulated, nothing confirms it."""
    built, changed = _build(context), context.values.get("change")
    if isinstance(changed, Mapping) and changed.get("passed") is False:
        return Verdict(False, f"The change was not carried out.\n{changed.get('report')}", 0.5, built.evidence)
    model = _built_model(built.to_dict())
    if not built.passed or model is None:
        return Verdict(built.passed, built.report, built.score, built.evidence, judged=not built.passed)
    checked = judge_findings(_findings(context) if context.values.get("investigation") else check_diagram(model))
    if not checked.passed:
        return Verdict(False, checked.report, 0.5, built.evidence)
    return _judge_behaviour(model, built, experiment_of(context.inputs, built.evidence["files"][MODEL_FILE]))


def _with_places(built: Diagram, wanted: Diagram) -> Diagram:
    places = {name: block.position for name, block in wanted.blocks.items() if block.position}
    return replace(built, about=wanted.about).with_positions(places)


def _judge_behaviour(model: Diagram, built: Verdict, found: Experiment) -> Verdict:
    """The verdict on a model that builds and has no error, by what simulating it gave."""
    seen = verdict_of(found)
    evidence = {**built.evidence, **seen.evidence}
    if not found.passed:
        return Verdict(False, f"It builds.\n{seen.report}", 0.6 + 0.3 * seen.score, evidence)
    unknown = [part.name for part in make_parts(model, catalogue()).values() if part.ports is None]
    report = render_file(WORDING / "built.j2", said=built.report, differences=(), more=0, found=found, unknown=unknown)
    return Verdict(True, report, 1.0, evidence, judged=not unknown and not found.is_open)


def _build(context: ToolContext) -> Verdict:
    """What the executor says, and whether the model is the one that was agreed on."""
    ran: Verdict = execute.function(context)
    agreed, built = context.values.get("investigation"), _built_model(ran.to_dict())
    lines = list_differences(agreed_model(agreed, _given_model(context)), built) if agreed and built else []
    report = render_file(WORDING / "built.j2", said=ran.report, differences=lines[:_MOST], more=len(lines[_MOST:]),
                         found=None)
    score = ran.score if not lines else 0.99 / (1 + len(lines) / 100) if ran.passed else ran.score
    return Verdict(ran.passed and not lines, report, score, {**ran.evidence, "ran": ran.passed, "differences": lines})


def _findings(context: ToolContext) -> list[DiagramFinding]:
    values = context.values
    changed, first = values.get("change"), None if values.get("fault") else values.get("requested_blocks")
    is_change = isinstance(changed, Mapping) and bool(changed.get("investigation"))
    return review_investigation(
        values.get("investigation"), first if isinstance(first, list) and not is_change else (),
        _given_model(context), changed.get("touched", ()) if isinstance(changed, Mapping) else ())


def _given_model(context: ToolContext) -> Diagram | None:
    """The model that is to be changed."""
    text = (context.values.get("given") or {}).get("model")
    return parse_model(text, "model") if text else None


def _built_model(executed: Any) -> Diagram | None:
    """The model that a program built, from the executor's verdict."""
    files = executed.get("files") if isinstance(executed, Mapping) else None
    text = files.get(MODEL_FILE) if isinstance(files, Mapping) else None
    return Diagram.parse(text, MODEL_FILE) if text else None


# What is wrong with an investigation: by the eight checks, by the first round, by what nobody asked to change.


def review_investigation(investigation: Any, seen: Sequence[Any] = (), given: Diagram | None = None,
                         touched: Sequence[str] = ()) -> list[DiagramFinding]:
    """What is wrong by the eight checks, by the list of blocks that were `seen` first, and by the `given` model, of
    which only the blocks that are `touched` may change."""
    value = settle(investigation)
    model = read_investigation(value).model
    first = {str(one.get("name")): str(settle_block(one).get("type")) for one in seen if isinstance(one, Mapping)}
    return sort_findings([*check_investigation(value), *(_compare_lists(first, model) if first else ()),
                          *(_find_unasked(given, model, {*given.blocks} - {*touched}) if given else ())])


def _compare_lists(first: Mapping[str, str], model: Diagram) -> Iterator[DiagramFinding]:
    """Blocks of the first list that are not there, and blocks that it does not have; one may have got another name."""
    types = {name: settled_type(block) for name, block in model.blocks.items()}
    before, now = Counter(first.values()), Counter(types.values())
    for name, kind in first.items():
        if name not in types and now[kind] < before[kind]:
            yield DiagramFinding("block list", "warning", f"the block {name} ({kind}) of the first list is missing",
                                 "add it with its connections, unless the picture does not show it", block=name)
    for name, kind in types.items():
        if name not in first and now[kind] > before[kind]:
            yield DiagramFinding("extra blocks", "warning", f"the first list has no block {name}",
                                 "remove it, unless the picture shows it", block=name)


def _find_unasked(given: Diagram, model: Diagram, kept: set[str]) -> Iterator[DiagramFinding]:
    """What is not as it was of the blocks that are to be kept and the lines between them."""
    for name, block in given.blocks.items():
        if name in kept and _meaning(model.blocks.get(name)) != _meaning(block):
            what = "changed" if name in model.blocks else "gone"
            yield DiagramFinding("block list", "error", f"the block {name} is {what}, and nobody asked for that",
                                 f"give it back: {_write(name, block)}", block=name)
    before, now = _lines_between(kept, given), _lines_between(kept, model)
    for key, wire in {**before, **now}.items():
        if key not in now or key not in before:
            what, fix = ("gone", "give it back") if key in before else ("new", "remove it")
            yield DiagramFinding("block list", "error", f"the connection is {what}, and nobody asked for that", fix,
                                 connection=str(wire))


def _lines_between(blocks: set[str], model: Diagram) -> dict[object, Wire]:
    return {frozenset(wire) if wire.is_physical else wire: wire for wire in model.wires
            if {end.block for end in wire} <= blocks}


def _meaning(block: DiagramBlock | None) -> tuple[str, dict[str, str]] | None:
    return (settled_type(block), dict(block.parameters)) if block else None


def _write(name: str, block: DiagramBlock) -> str:
    return f"{name} is {block.type}" + (f" with {dict(block.parameters)}" if block.parameters else "")


def views(_folder: Path, values: Mapping[str, Any]) -> Iterator[RunView]:
    """What the web view shows: the block diagram that was delivered, or else what the agents agreed on; and in what it
    differs from the given one."""
    from chatdev.web.views import RunView  # brings the runner with it, which programs without a run do without

    files = (values.get("simulink.deliver") or {}).get("files") or {}
    agreed = values.get("simulink.investigation")
    if text := files.get(MODEL_FILE):
        yield _diagram_view("The model", Diagram.parse(text, MODEL_FILE))
    elif agreed:
        yield _diagram_view("What the agents agreed on", place(agreed_model(agreed, None)))
    judged = values.get("simulink.judge") or {}
    yield from _acceptance_view(judged if judged.get("acceptance") else values.get("simulink.simulate") or {})
    if differences := judged.get("differences"):
        rows = [(str(one),) for one in differences]
        yield RunView("Differences from what was agreed on", table=[("difference",), *rows])


def _acceptance_view(judged: Mapping[str, Any]) -> Iterator[RunView]:
    from chatdev.web.views import RunView

    if rows := judged.get("acceptance"):
        cells = [(*map(_cell, (one.get(key) for key in _ACCEPTANCE[:-1])), "yes" if one.get("passed") else "no")
                 for one in rows]
        yield RunView("Acceptance", table=[_ACCEPTANCE, *cells], about=str(judged.get("message") or ""))


def _cell(value: Any) -> str:
    return "–" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _diagram_view(title: str, model: Diagram) -> RunView:
    from chatdev.web.views import RunView

    size = f"{len(model.blocks)} blocks, {len(model.wires)} connections"
    return RunView(title, picture=draw(model).encode(), about=size)
