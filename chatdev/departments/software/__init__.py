"""The department of software: programs in many languages, started, tried and measured."""

from chatdev.department import Command, Department

department = Department(
    name="software",
    tools={
        "software.baseline": "chatdev.departments.software.guard:baseline",
        "software.compiles": "chatdev.departments.software.reading.static:compiles",
        "software.complete": "chatdev.departments.software.reading.static:complete",
        "software.examples": "chatdev.departments.software.trial.plan:examples",
        "software.given": "chatdev.departments.software.run:prior_faults",
        "software.guard": "chatdev.departments.software.guard:guard",
        "software.language": "chatdev.departments.software.request:language",
        "software.mend": "chatdev.departments.software.reading.static:mend",
        "software.modality": "chatdev.departments.software.request:modality",
        "software.packages": "chatdev.departments.software.reading.static:packages",
        "software.read": "chatdev.departments.software.workbench:read",
        "software.run": "chatdev.departments.software.run:run",
        "software.search": "chatdev.departments.software.workbench:search",
        "software.test": "chatdev.departments.software.workbench:test",
        "software.tree": "chatdev.departments.software.workbench:tree",
        "software.try": "chatdev.departments.software.workbench:try_start",
        "software.use": "chatdev.departments.software.run:use",
    },
    commands={
        "import": Command("chatdev.departments.software.legacy.company_of_1x:command",
                          "Turn a company of ChatDev 1.x into one of ours."),
        "play": Command("chatdev.departments.software.play_command:command",
                        "Start finished software in the sandbox."),
    },
    data_sets={
        "srdd": Command("chatdev.departments.software.evaluation.srdd:command",
                        "Run companies on software requirements and measure what they make."),
    },
    tasks="chatdev.departments.software.evaluation.srdd:open_tasks",
    columns="chatdev.departments.software.evaluation.quality:COLUMNS",
    checks="chatdev.departments.software.toolchains.project:probes",
)
