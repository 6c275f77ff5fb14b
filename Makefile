# Two commands on a fresh machine (Python 3.11+, Node 20, make): `make run` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Test processes: one more than processors, as many tests wait for something.
WORKERS ?= 3
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: run test fast setup web lint types contracts contracts-docs pytest webtest browser pictures lock format clean

run: setup web  ## set everything up and serve the demo on http://127.0.0.1:8000
	$(BIN)/assistant serve --demo

test: setup web browser lint types contracts pytest webtest  ## set everything up and pass every check

setup: $(VENV)/.installed

$(VENV)/.installed: requirements-dev.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --require-hashes -r requirements-dev.lock
	$(BIN)/pip install --quiet --no-deps --no-build-isolation -e .
	touch $@

web: assistant/web/index.html

assistant/web/index.html: web/package-lock.json $(shell find web/src web/public web/*.ts web/*.json -type f 2>/dev/null)
	cd web && npm ci --no-audit --no-fund --loglevel=error && npm run --silent build
	touch $@

browser:  ## a Chromium for the tests: the one that is there, or Debian's
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || command -v chromium-browser >/dev/null \
	  || (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null)

lint:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types:
	$(BIN)/mypy

contracts:
	$(BIN)/lint-imports

contracts-docs:  ## write docs/openapi.json, docs/asyncapi.json and the types of web/ anew; the tests compare them
	$(BIN)/python -m assistant contracts

# A file stays with one worker, for its fixtures; tests/conftest.py says which come first.
DEAL := -n $(WORKERS) --dist loadfile --no-loadscope-reorder

pytest:
	$(BIN)/pytest $(DEAL)

fast: setup web  ## all tests of the server but those of tests/e2e, in less than three minutes
	$(BIN)/pytest $(DEAL) --ignore=tests/e2e

webtest:
	cd web && npm run --silent typecheck && npm run --silent test

pictures: setup web browser  ## write docs/pictures anew
	$(BIN)/python -m tests.e2e.pictures

format:
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock:  ## write the lock files anew
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --extra telemetry --extra workers pyproject.toml -o requirements-server.lock
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --all-extras --group dev pyproject.toml -o requirements-dev.lock

clean:
	rm -rf $(VENV) web/node_modules assistant/web var
