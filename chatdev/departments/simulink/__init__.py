"""The department of block diagrams: pictures, texts and models of Simulink, with or without MATLAB."""

from chatdev.department import Command, Department

department = Department(
    name="simulink",
    tools={
        "simulink.blocks": "chatdev.departments.simulink.views:blocks",
    },
    data_sets={
        "simulink": Command("chatdev.departments.simulink.eval_command:command",
                            "Run companies on pictures or descriptions of block diagrams."),
    },
    columns="chatdev.departments.simulink.evaluation:COLUMNS",
)
