# Everything from nothing: `make ladder`, `make test`, `make check`. The virtual environment is .venv.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
# which pinned versions: requirements-lowest.lock has the lowest that pyproject.toml allows
LOCK   ?= requirements-dev.lock
# one more than there are cores: some tests wait, and each worker takes seven seconds of a core to load the tests
WORKERS ?= $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN) + 1 )))
# which tests are run, as files and folders; none: all
TESTS ?=

# path4 has none: with best play it is decided from its start
OPENED := $(filter-out path4,$(basename $(notdir $(wildcard maps/*.toml))))

.PHONY: ladder compiled solver test test-all test-anywhere check types format lock sbom audit bench bench-server cells openings $(OPENED:%=openings/%) screenshots clean

ladder: compiled  ## play a ladder of the built-in bots here
	$(BIN)/arena ladder

compiled: $(STAMP)  ## the virtual environment, and the search compiled in its cache
	$(BIN)/python -m arena.bots.compiled

solver: $(STAMP)  ## the solver of maps compiled in the same cache
	$(BIN)/python -m arena.lab.solving

# The tests start many processes: without bytecode each of them compiles what it loads.
test test-all: export PYTHONDONTWRITEBYTECODE =
# The stores of tests wait for the disk at each commit, and databases come and go: both take little time where there is room
# for them in memory.
MEMORY = $(shell \
  ! findmnt --noheadings --output OPTIONS /dev/shm | grep -q noexec && [ -w /dev/shm ] && \
  [ "$$(df --output=avail --block-size=1M /dev/shm | tail -n 1)" -ge 2048 ] && echo /dev/shm)
test test-all: export PYTEST_DEBUG_TEMPROOT = $(MEMORY)
test test-all: export TMPDIR := $(or $(MEMORY),$(TMPDIR))

test: compiled  ## the quick tests, which need no other program
	$(BIN)/pytest -n $(WORKERS) --dist worksteal $(TESTS)

test-all: compiled solver  ## all other tests, and more examples of each property: PostgreSQL, NATS, a browser, kills, broken networks
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "slow or hypothesis" --hypothesis-profile thorough $(TESTS)

test-anywhere:  ## `make test` again and again as root, on a Debian: other users, terminals and homes, missing programs
	.ci/anywhere $(RUNS)

check: $(STAMP)  ## lint, types, import contracts, spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(MAKE) types
	$(BIN)/lint-imports
	$(BIN)/oxlint --config page/.oxlintrc.json page/js
	$(BIN)/codespell
	@if command -v tsc >/dev/null; then tsc --project page; else \
	  echo "the page's JavaScript is not checked, for there is no tsc: on Debian, apt install node-typescript"; fi

types:  ## types alone, in the environment as it is
	$(BIN)/mypy

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Debian keeps venv in a package of its own; without it the first line fails, and the message says what to do.
$(STAMP): requirements.lock requirements-pip.lock $(LOCK) pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; set PYTHON=... to one"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "no venv module: on Debian, apt install python3-venv"; rm -rf $(VENV); exit 1; }
	@# the pip that comes with Python 3.11 needs twice as long for the rest
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-pip.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(LOCK)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

lock:  ## pin the dependencies again (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url \
	  --extra server --extra bus --extra engine --extra postgres -o requirements.lock pyproject.toml
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url \
	  --extra server --extra bus --extra cluster --extra engine --extra postgres --group dev -c requirements.lock -o requirements-dev.lock pyproject.toml
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url \
	  --resolution lowest-direct --extra server --extra bus --extra cluster --extra engine --extra postgres --group dev -o requirements-lowest.lock \
	  pyproject.toml
	echo hatchling | uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	  --no-emit-index-url -c requirements-dev.lock -o requirements-build.lock -
	echo pip | uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	  --no-emit-index-url -o requirements-pip.lock -

# In an environment of their own: nothing of them runs in the server.
TOOLS := build/tools/bin
$(TOOLS)/cyclonedx-py:
	$(PYTHON) -m venv build/tools
	$(TOOLS)/pip install --quiet --disable-pip-version-check cyclonedx-bom==7.5.0 pip-audit==2.10.1

sbom: $(TOOLS)/cyclonedx-py  ## what a server installs, as CycloneDX, into build/sbom.cdx.json
	$(TOOLS)/cyclonedx-py requirements requirements.lock --pyproject pyproject.toml --output-reproducible --of JSON \
	  -o build/sbom.cdx.json

audit: $(TOOLS)/cyclonedx-py  ## known weaknesses of what a server installs; fails where their list cannot be reached
	$(TOOLS)/pip-audit --strict --disable-pip --require-hashes -r requirements.lock

bench-server: $(STAMP)  ## the server against a bare relay, and as it grows, into benchmarks/SERVER.md
	$(BIN)/python -m benchmarks.server --write
	$(BIN)/python -m benchmarks.growth --write

bench: $(STAMP)  ## measure the compiled engine, some ten minutes; writes benchmarks/RESULTS.md
	$(BIN)/python -m benchmarks

openings: $(OPENED:%=openings/%)  ## the openings of all shipped maps anew, as after a change of a map: hours

# a match on m1 has about 22 plies, and few positions that are near even
openings/m1: HOW := --plies 5 --window 20 --strengths 60,250
$(OPENED:%=openings/%): openings/%: $(STAMP)
	$(BIN)/arena openings make --map $* $(HOW) --output maps/openings/$*.txt

cells: $(STAMP)  ## the areas of the shipped maps anew, as after a change of places or continents
	$(BIN)/python -m tests.maps.coasts

screenshots: $(STAMP)  ## the pictures of the page in docs/pictures (needs chromium)
	$(BIN)/python -m tests.web.screenshots docs/pictures

clean:
	rm -rf $(VENV) dist build
