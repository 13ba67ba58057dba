"""The department of programmable logic controllers: Structured Text that is checked, run and proved."""

from chatdev.department import Command, Department

department = Department(
    name="plc",
    tools={
        "plc.check": "chatdev.departments.plc.verdicts:check",
        "plc.interface": "chatdev.departments.plc.interface:interface",
        "plc.judge": "chatdev.departments.plc.verdicts:judge",
        "plc.keep": "chatdev.departments.plc.verdicts:keep",
        "plc.mend": "chatdev.departments.plc.verdicts:mend",
        "plc.properties": "chatdev.departments.plc.interface:properties",
        "plc.propose": "chatdev.departments.plc.interface:propose",
        "plc.report": "chatdev.departments.plc.verdicts:report",
        "plc.verify": "chatdev.departments.plc.verdicts:verify_answer",
    },
    commands={
        "plc": Command("chatdev.departments.plc.commands:command",
                       "Check, run and verify PLC programs in Structured Text (IEC 61131-3)."),
    },
    mcp={
        "plc_check": "chatdev.departments.plc.mcp_tools:check",
        "plc_explain": "chatdev.departments.plc.mcp_tools:explain",
        "plc_verify": "chatdev.departments.plc.mcp_tools:verify",
    },
    data_sets={
        "plc": Command("chatdev.departments.plc.eval_command:command",
                       "Run companies on tasks for logic controllers and verify their Structured Text."),
    },
    columns="chatdev.departments.plc.agents4plc:COLUMNS",
    views="chatdev.departments.plc.verdicts:views",
)
