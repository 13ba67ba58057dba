# The commands of README.md. `make` alone lists them.
.PHONY: help setup run verilog plc process demo test check prove findings dist site clean
.DEFAULT_GOAL := help

help:
	@echo 'make run TASK="…" [NAME=…] [MODEL=…] [SANDBOX=none]   set up what is needed and build the software'
	@echo 'make verilog [EXAMPLE=alu] [MODEL=…]  set up iverilog and let verilogcoder design one of its examples'
	@echo 'make plc [EXAMPLE=…] [MODEL=…]         set up z3 and let agents4plc make and prove one of its examples'
	@echo 'make process                          mine, draw and describe the processes that the company top comes with: no model'
	@echo 'make demo                             watch two recorded runs: no model, no key, ten seconds each'
	@echo 'make test [MODEL=1]                   set up and pass the tests; MODEL=1: with the local model too'
	@echo 'make check                            ruff and mypy'
	@echo 'make prove                            every study that asks no model, and the figures of its pages in docs/: over an hour'
	@echo 'make findings                         run findings/*.sh and say which of them changed: no part of the tests, needs the network'
	@echo 'make dist                             build the sdist and the wheel into dist/, and check them'
	@echo 'make site                             build the documentation as a site into site/'
	@echo 'make setup                            only set up'
	@echo 'make clean                            remove what was built, but not the warehouse'

setup:
	@scripts/setup run

# The values go through the environment, so that quotes, dollars and blanks in them stay as they are.
run: export RUN_TASK = $(value TASK)
run: export RUN_NAME = $(value NAME)
run: export RUN_MODEL = $(value MODEL)
run: export RUN_SANDBOX = $(value SANDBOX)
run:
	@scripts/run

verilog plc: export RUN_EXAMPLE = $(value EXAMPLE)
verilog plc: export RUN_MODEL = $(value MODEL)
verilog:
	@scripts/example verilogcoder

plc:
	@scripts/example agents4plc

process:
	@scripts/process

demo:
	@scripts/demo

test: export TEST_MODEL = $(value MODEL)
test:
	@scripts/test

check:
	@scripts/check

prove:
	@scripts/prove

findings:
	@scripts/findings

dist:
	@scripts/dist

site:
	@scripts/site

clean:
	rm -rf .venv build dist site *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
