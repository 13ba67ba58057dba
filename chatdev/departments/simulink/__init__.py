"""The department of block diagrams: pictures, texts and models of Simulink, with or without MATLAB."""

from chatdev.department import Command, Department

department = Department(
    name="simulink",
    tools={
        "simulink.blocks": "chatdev.departments.simulink.views:blocks",
        "simulink.check": "chatdev.departments.simulink.check_tool:check",
    },
    commands={
        "simulink": Command("chatdev.departments.simulink.commands:command",
                            "Check, draw and compare block diagrams, without any model."),
    },
)
