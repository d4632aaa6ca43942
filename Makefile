# `make demo` and `make test` need Python 3.11 or newer, make and a package index, and nothing else:
# each makes its own environment. Stamp files keep a second run short.
#
#   .venv          tools, with the project installed from this checkout
#   .venvs/wheel   what the tests run in, with the project installed from the built wheel

PYTHON ?= python3
JOBS ?= 2
PYTEST_ARGS ?=
FUZZ_SECONDS ?= 180
COVERAGE_FLOOR ?= 90

VENV := .venv
WHEEL_VENV := .venvs/wheel
PY := $(VENV)/bin/python
WHEEL_BIN := $(WHEEL_VENV)/bin
PIP := -m pip --quiet --disable-pip-version-check

# A generator that can tell whether what it wrote is current (`--check`) is named here.
GENERATORS := $(wildcard tools/generate_docs.py tools/generate_assumptions.py)
GENERATORS += $(wildcard tools/generate_frameworks.py)

# Folders too: one that loses a file is newer than the wheel.
SOURCES := $(shell find stripe_idem_lint rules pytest_plugin -name __pycache__ -prune -o -print)

.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help demo test lint format types imports generated dist wheel-tests coverage \
	fuzz verify-models bench-real clean

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

demo: $(VENV)/.demo  ## Lint the example service and show its six findings
	@$(PY) tools/demo.py

test: lint format types imports generated wheel-tests coverage  ## Run all that CI runs

lint: $(VENV)/.dev  ## ruff check
	$(call step,ruff check)
	@$(VENV)/bin/ruff check .

format: $(VENV)/.dev  ## ruff format --check
	$(call step,ruff format --check)
	@$(VENV)/bin/ruff format --check .

types: $(VENV)/.dev  ## mypy --strict
	$(call step,mypy)
	@$(VENV)/bin/mypy

imports: $(VENV)/.dev  ## Who may import whom
	$(call step,import-linter)
	@$(VENV)/bin/lint-imports

generated: $(VENV)/.dev  ## Generated files are current
	$(call step,generated files)
	@for generator in $(GENERATORS); do \
		echo "$$generator --check"; $(PY) $$generator --check || exit 1; \
	done

dist: dist/.built  ## Build the sdist, and the wheel from it

dist/.built: $(VENV)/.dev $(SOURCES) pyproject.toml README.md LICENSE
	$(call step,build)
	@rm -rf dist
	@$(PY) -m build --quiet --no-isolation --outdir dist .
	@ls -l dist
	@touch $@

wheel-tests: $(WHEEL_VENV)/.installed  ## pytest against the built wheel
	$(call step,pytest against the wheel)
	@$(WHEEL_BIN)/coverage erase
	@STRIPE_IDEM_LINT_UNDER_TEST=wheel \
		$(WHEEL_BIN)/coverage run $(WHEEL_BIN)/pytest -n $(JOBS) $(PYTEST_ARGS)

coverage: $(WHEEL_VENV)/.installed  ## Coverage of the last test run
	$(call step,coverage)
	@$(WHEEL_BIN)/coverage combine --quiet
	@$(WHEEL_BIN)/coverage json --quiet -o .venvs/coverage.json
	@$(WHEEL_BIN)/python tools/report_coverage.py .venvs/coverage.json --fail-under $(COVERAGE_FLOOR)

fuzz: $(VENV)/.dev  ## Strange programs for FUZZ_SECONDS (180)
	FUZZ_SECONDS=$(FUZZ_SECONDS) $(VENV)/bin/pytest tests/fuzz -s $(PYTEST_ARGS)

verify-models: $(VENV)/.dev  ## Look up in the libraries themselves what the models say
	$(PY) tools/verify_models.py --cache .venvs/models

bench-real: $(VENV)/.dev  ## Lint released packages that talk to Stripe
	$(PY) benchmarks/real.py

clean:  ## Remove all that the other targets made
	rm -rf .venv .venvs dist .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache \
		.import_linter_cache .hypothesis

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer, please: make PYTHON=python3.13")'
	@$(PYTHON) -m venv $(VENV)
	@$(PY) $(PIP) install --upgrade pip

$(VENV)/.demo: $(PY) pyproject.toml
	@echo "Installing into $(VENV) ..."
	@$(PY) $(PIP) install --editable .
	@touch $@

$(VENV)/.dev: $(PY) pyproject.toml
	@echo "Installing the development tools into $(VENV) ..."
	@$(PY) $(PIP) install --editable '.[pytest]' --group dev
	@touch $@ $(VENV)/.demo

$(WHEEL_VENV)/.installed: dist/.built
	$(call step,install the wheel)
	@test -x $(WHEEL_BIN)/python || $(PYTHON) -m venv $(WHEEL_VENV)
	@$(WHEEL_BIN)/python $(PIP) install --upgrade pip
	@wheel=$$(echo dist/*.whl); \
		$(WHEEL_BIN)/python $(PIP) install --group tests --group libraries "$$wheel[pytest]" && \
		$(WHEEL_BIN)/python $(PIP) install --force-reinstall --no-deps "$$wheel"
	@touch $@

define step
@printf '\n==> %s\n' '$(1)'
endef
