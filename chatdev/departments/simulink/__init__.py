"""The department of block diagrams: pictures, texts and models of Simulink, with or without MATLAB."""

from chatdev.department import Command, Department

department = Department(
    name="simulink",
    tools={
        "simulink.blocks": "chatdev.departments.simulink.views:blocks",
        "simulink.build": "chatdev.departments.simulink.company_tools:build",
        "simulink.change": "chatdev.departments.simulink.company_tools:change",
        "simulink.check": "chatdev.departments.simulink.checks:check",
        "simulink.deliver": "chatdev.departments.simulink.company_tools:deliver",
        "simulink.describe": "chatdev.departments.simulink.company_tools:describe",
        "simulink.execute": "chatdev.departments.simulink.execute:execute",
        "simulink.given": "chatdev.departments.simulink.company_tools:read_inputs",
        "simulink.guide": "chatdev.departments.simulink.company_tools:guide",
        "simulink.investigation": "chatdev.departments.simulink.company_tools:investigation",
        "simulink.judge": "chatdev.departments.simulink.company_tools:judge",
        "simulink.principles": "chatdev.departments.simulink.company_tools:principles",
        "simulink.program": "chatdev.departments.simulink.company_tools:program",
        "simulink.requested": "chatdev.departments.simulink.company_tools:list_requested",
        "simulink.review": "chatdev.departments.simulink.company_tools:review",
        "simulink.route": "chatdev.departments.simulink.company_tools:route",
        "simulink.simulate": "chatdev.departments.simulink.experiment:simulate_built",
    },
    commands={
        "simulink": Command("chatdev.departments.simulink.commands:command",
                            "Check, draw, simulate and compare block diagrams, without any model."),
    },
    mcp={"simulink_check": "chatdev.departments.simulink.commands:check_for_agents"},
    data_sets={
        "simulink": Command("chatdev.departments.simulink.eval_command:command",
                            "Run companies on pictures or descriptions of block diagrams."),
    },
    columns="chatdev.departments.simulink.evaluation:COLUMNS",
    checks="chatdev.departments.simulink.execute:matlab_probes",
    views="chatdev.departments.simulink.company_tools:views",
)
