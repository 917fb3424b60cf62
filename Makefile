# make diagrams   sets up everything on a fresh machine, then draws specs/ into diagrams/
# make help       lists the rest

SHELL := bash
.DELETE_ON_ERROR:
MAKEFLAGS   += --no-builtin-rules --no-print-directory
.DEFAULT_GOAL := diagrams

VENV    ?= .venv
BIN     := $(VENV)/bin
PY      := $(BIN)/python
STAMPS  := $(VENV)/stamps
PIP     := $(PY) -m pip install --quiet --disable-pip-version-check
export VENV_PYTHON := $(PY)

# Which formats `make diagrams` writes; svg alone is committed.
FORMATS ?= svg
# More options for pytest, e.g.  make test ARGS="-k shapes"
ARGS    ?=
# How many inputs `make fuzz` tries.
N       ?= 1000

.PHONY: diagrams docs site setup test test-all lint types fuzz bench accept locks release-check clean help

## diagrams: draw specs/ into diagrams/, only what changed (FORMATS=svg,pdf,png for more)
diagrams: $(STAMPS)/run $(STAMPS)/cairo
	@$(PY) -m transformer_diagrams.figures specs diagrams --formats "$(FORMATS)" --prune

## docs: renew the tables and listings in README.md and docs/ that the code itself can say
docs: $(STAMPS)/run
	@$(PY) -m transformer_diagrams.docs

## setup: the virtual environment, the locked libraries, the test tools
setup: $(STAMPS)/run $(STAMPS)/dev

## site: the gallery as plain files in site/: figures, counts, texts with live figures
site: $(STAMPS)/run $(STAMPS)/dev
	@$(PY) -m transformer_diagrams gallery -o site

## test: the tests in parallel, of long tables a few cases (installs Chromium, poppler and Cairo)
test: $(STAMPS)/run $(STAMPS)/dev $(STAMPS)/tools
	@$(PY) -m pytest -n auto --dist worksteal $(ARGS)

## test-all: every test, as .ci/run does: the largest inputs and the whole tables too
test-all: $(STAMPS)/run $(STAMPS)/dev $(STAMPS)/tools
	@$(PY) -m pytest -n auto --dist worksteal -m "" $(ARGS)

## lint: ruff over the code, its form and its habits; vulture: nothing in it is unused
lint: $(STAMPS)/dev
	@$(PY) -m ruff check .
	@$(PY) -m vulture

## types: mypy --strict over the package
types: $(STAMPS)/run $(STAMPS)/dev
	@$(PY) -m mypy

## fuzz: N mutated specs through every stage (N=1000): no foreign exception, no hang
fuzz: $(STAMPS)/run $(STAMPS)/dev
	@$(PY) tests/fuzz/run.py --count $(N)

## bench: ratios of time and memory, all measured in one run; our layout beside ELK's and dot's
bench: $(STAMPS)/run $(STAMPS)/dev
	@$(PY) benchmarks/bench.py
	@$(PY) benchmarks/rivals.py

## accept: redraw, and stage the figures that moved for the next commit, after a look at them
accept: diagrams
	@git add --all -- diagrams
	@git --no-pager diff --cached --stat -- diagrams

## locks: renew the locks from pyproject.toml (make locks UP=--upgrade moves their versions)
UP   ?=
LOCK  = $(BIN)/uv pip compile $(UP) --quiet --universal --python-version 3.11 --generate-hashes \
        --no-annotate --custom-compile-command "make locks" pyproject.toml
locks: $(STAMPS)/venv
	@$(PIP) uv
	@$(LOCK) --extra arabic --extra site --group build -o requirements.lock
	@$(LOCK) --all-extras --group build -c requirements.lock -o requirements-dev.lock

## release-check: build the wheel and the sdist, install them in empty environments, and draw
release-check: $(STAMPS)/dev
	@.ci/release-check $(PY)

## clean: remove everything made except diagrams/
clean:
	@rm -rf $(VENV) build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis .cache tests/output
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

## help: this list
help:
	@sed -n 's/^## \([a-z-]*\): /  make \1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 22

# --- what the verbs above stand on; each is made once, and again when its lock changes

# A python3 of a version that the lock serves: $(PYTHON) when given, else the first that fits.
$(STAMPS)/venv:
	@found=""; \
	for candidate in $(PYTHON) python3 python3.13 python3.12 python3.11; do \
	  if "$$candidate" -c 'import sys; sys.exit(not ((3, 11) <= sys.version_info[:2] <= (3, 13)))' 2>/dev/null; \
	  then found="$$candidate"; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "no Python 3.11, 3.12 or 3.13 was found; install one, or name it:  make PYTHON=/path/to/python3.12" >&2; \
	  exit 1; \
	fi; \
	if ! [ -x $(PY) ]; then \
	  VENV_PYTHON="$$found" .ci/need venv || exit 1; \
	  echo "making $(VENV) with $$($$found --version)"; \
	  "$$found" -m venv $(VENV) || exit 1; \
	fi; \
	mkdir -p $(STAMPS) && touch $@

$(STAMPS)/run: $(STAMPS)/venv requirements.lock pyproject.toml
	@echo "installing the locked libraries"
	@$(PIP) -r requirements.lock
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(STAMPS)/dev: $(STAMPS)/run requirements-dev.lock
	@echo "installing the test tools"
	@$(PIP) -r requirements-dev.lock
	@touch $@

# EPS and PS are written with the Cairo library of the system: installed where that is possible
# without a question, else told once; everything else is drawn without it.
$(STAMPS)/cairo: | $(STAMPS)/run
	@.ci/need cairo || echo "SVG, PNG and PDF are made all the same; only EPS and PS need Cairo" >&2
	@touch $@

# The tests look at figures with other programs' eyes: a browser, poppler's PDF reader, CairoSVG.
# Where poppler or Cairo cannot be had, their tests are skipped.
$(STAMPS)/tools: $(STAMPS)/run $(STAMPS)/dev
	@if .ci/need cairo chromium poppler; then touch $@; else \
	  echo "without them the tests that need them are skipped" >&2; fi
