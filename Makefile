# `make` alone says what there is.
.DEFAULT_GOAL := help
.PHONY: help setup demo test long lint docs benchmarks lock

help:  ## this list
	@sed -n 's/^\([a-z]*\):.*## /\1	/p' $(MAKEFILE_LIST) | expand -t 12

setup:  ## install and build all that benchbrief and its tests need (see tools/setup.sh --help)
	@tools/setup.sh all

demo:  ## set up what is needed, run examples/quickstart.bench, and write its brief
	@tools/setup.sh demo
	.venv/bin/bench run --wait examples/quickstart.bench

# Each process would compile all libraries' and tests' sources by itself.
unexport PYTHONDONTWRITEBYTECODE

test: setup  ## set up, lint, and run the test suite (PYTEST="-k name" for a part)
	@tools/check $(PYTEST)

long: setup  ## run the tests that take long: more kills, more faults, more engines (nightly, and before a release)
	@tools/check --long $(PYTEST)

lint:  ## ruff (rules and format), shellcheck and mypy
	@tools/setup.sh python
	.venv/bin/ruff check .
	.venv/bin/ruff format --check --quiet .
	tools/check-shell
	.venv/bin/mypy

docs:  ## write docs/reference anew, from the checker's tables, and the tables of the grammar
	@tools/setup.sh python
	.venv/bin/python -m benchbrief.dsl.syntax.grammar_tables
	.venv/bin/python -m tools.reference

benchmarks: setup  ## measure benchbrief itself
	@tools/setup.sh peers
	.venv/bin/python -m benchmarks

# The versions that everyone gets. No registry's address is written: each user's own settings choose it.
lock:  ## renew requirements*.txt from pyproject.toml
	@tools/setup.sh python
	tools/lock
