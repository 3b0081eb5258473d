# Everything lives in .venv; the system's Python packages are never touched.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin

.PHONY: install install-dev serve test lint bench chaos clean

install: $(VENV)/installed

install-dev: $(VENV)/installed-dev

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: requirements.txt constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

$(VENV)/installed-dev: requirements-dev.txt $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	touch $@

serve: install
	$(BIN)/python manage.py serve

test: install-dev
	$(BIN)/python -m pytest -n 2

lint: install-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: install-dev
	$(BIN)/python -m tests.benchmarks
	$(BIN)/python -m tests.benchmarks.events
	$(BIN)/python -m tests.benchmarks.queue

chaos: install-dev
	$(BIN)/python -m tests.chaos --rounds 200
	$(BIN)/python -m tests.chaos --rounds 200 --daemons 2

clean:
	rm -rf $(VENV)
