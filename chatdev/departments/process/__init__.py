"""The department of processes: they are proposed, run, counted in a pool, and mined for what worked."""

from chatdev.department import Command, Department

department = Department(
    name="process",
    tools={
        "process.check": "chatdev.departments.process.process_company:check",
        "process.choose": "chatdev.departments.process.process_company:choose",
        "process.recall": "chatdev.departments.process.process_company:recall",
    },
    commands={
        "process": Command("chatdev.departments.process.commands:command",
                           "Develop software by proposed processes, and learn from those that worked."),
    },
    mcp={"process_mine": "chatdev.departments.process.mcp_tools:mine"},
    boards="chatdev.departments.process.mcp_tools:boards",
    views="chatdev.departments.process.process_company:views",
)
