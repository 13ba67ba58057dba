"""A company in the form of ChatDev 1.x, with words of our own: every kind of phase, and a class of somebody's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FORM = ["Each file looks like this:", "FILENAME", "```LANGUAGE", "CODE", "```"]
PHASES: dict[str, Any] = {
    "DemandAnalysis": ["Which kind of product is \"{task}\"? As the {assistant_role}, say <INFO> and its name."],
    "LanguageChoose": ["In which language do we make this {modality}? Ideas: {ideas}"],
    "Coding": ["Write {task}, a {modality}, in {language}. {gui}", *FORM],
    "CodeComplete": ["The program:", "{codes}", "Unfinished: {unimplemented_file}", *FORM],
    "CodeReviewComment": ["Read this:", "{codes}", "One comment, or \"<INFO> Finished\"."],
    "CodeReviewModification": ["The program:", "{codes}", "Change it: {comments}", *FORM],
    "TestErrorSummary": ["The program:", "{codes}", "It says: {test_reports}. What is wrong?"],
    "TestModification": ["The program:", "{codes}", "Its faults: {error_summary}", *FORM],
    "EnvironmentDoc": ["Which packages does this load?", "{codes}"],
    "Manual": ["A manual for {task}. Packages: {requirements}"],
    "Naming": ["A name for {task}, as JSON: {{\"name\": {{% x %}}}} {unheard_of}"],
}
PAIRS = {"DemandAnalysis": ("Boss", "Planner"), "LanguageChoose": ("Boss", "Planner"), "Manual": ("Boss", "Planner"),
         "CodeReviewComment": ("Coder", "Code Reader"), "CodeReviewModification": ("Code Reader", "Coder")}
ROLES = {"Boss": ["{chatdev_prompt}", "You decide about {task}."], "Planner": ["{chatdev_prompt}", "You plan."],
         "Coder": ["{chatdev_prompt}", "You write code."], "Code Reader": ["You read code."],
         "Counselor": ["You sum up."]}


def simple(phase: str, turns: int = 1, **more: Any) -> dict[str, Any]:
    """An entry of the chain."""
    return {"phase": phase, "phaseType": "SimplePhase", "max_turn_step": turns, "need_reflect": "False", **more}


def composed(phase: str, cycles: int, *inner: str) -> dict[str, Any]:
    """A composed phase of simple ones."""
    return {"phase": phase, "phaseType": "ComposedPhase", "cycleNum": cycles, "Composition": [*map(simple, inner)]}


CHAIN: dict[str, Any] = {
    "chain": [simple("DemandAnalysis", -1), simple("LanguageChoose", 3), simple("Naming"), simple("Coding"),
              composed("CodeCompleteAll", 5, "CodeComplete"),
              composed("CodeReview", 3, "CodeReviewComment", "CodeReviewModification"),
              composed("Test", 3, "TestErrorSummary", "TestModification"), simple("EnvironmentDoc"), simple("Manual")],
    "recruitments": list(ROLES), "background_prompt": "We make small programs.", "gui_design": "False",
    "git_management": "True", "web_spider": "True", "with_memory": "False", "novelty": "True"}


def write_company(folder: Path, **files: Any) -> Path:
    """The three files of the company in a folder, some of them replaced: `chain`, `phases` and `roles`; None: not
    there."""
    phases = {name: {"user_role_name": PAIRS.get(name, ("Boss", "Coder"))[0],
                     "assistant_role_name": PAIRS.get(name, ("Boss", "Coder"))[1], "phase_prompt": prompt}
              for name, prompt in PHASES.items()}
    folder.mkdir(parents=True, exist_ok=True)
    for key, name, value in (("chain", "ChatChainConfig.json", CHAIN), ("phases", "PhaseConfig.json", phases),
                             ("roles", "RoleConfig.json", ROLES)):
        text = files.get(key, value)
        if text is not None:
            (folder / name).write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
    return folder
