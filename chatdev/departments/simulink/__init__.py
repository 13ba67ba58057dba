"""The department of block diagrams: pictures, texts and models of Simulink, with or without MATLAB."""

from chatdev.department import Department

department = Department(
    name="simulink",
    tools={
        "simulink.blocks": "chatdev.departments.simulink.views:blocks",
        "simulink.execute": "chatdev.departments.simulink.execute_tool:execute",
    },
    checks="chatdev.departments.simulink.backends:matlab_probes",
)
