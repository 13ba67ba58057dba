"""The department of block diagrams: pictures, texts and models of Simulink, with or without MATLAB."""

from chatdev.department import Command, Department

department = Department(
    name="simulink",
    tools={
        "simulink.blocks": "chatdev.departments.simulink.views:blocks",
        "simulink.check": "chatdev.departments.simulink.check_tool:check",
        "simulink.execute": "chatdev.departments.simulink.execute_tool:execute",
    },
    commands={
        "simulink": Command("chatdev.departments.simulink.commands:command",
                            "Check, draw and compare block diagrams, without any model."),
    },
    checks="chatdev.departments.simulink.backends:matlab_probes",
)
