# Everything from nothing: `make ladder`, `make test`, `make check`. The virtual environment is .venv.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
# which pinned versions: requirements-lowest.lock has the lowest that pyproject.toml allows
LOCK   ?= requirements-dev.lock
# six more than there are cores: most tests wait a while, for other processes or until something has had its time
WORKERS ?= $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN) + 6 )))

# which tests `make test` runs, as files and folders; none: all
TESTS ?=

# where a target leaves what pytest exited with, for .ci/run: make itself only tells that a command failed
STATUS ?= /dev/null
# what `make quick` leaves out beside properties: what needs other programs, many processes or long, and what says
# nothing of a library
SLOW := e2e web docker docs examples benchmarks bots/compiled lab/solving lab/tuning test_alone.py test_house.py \
  $(addprefix lab/test_,measure.py openings.py selfplay.py) $(addprefix ladder/test_,cluster.py cores.py fleet.py play.py runner.py)
# more of it, as folders and files of tests
WITHOUT ?=

# path4 has none: with best play it is decided from its start
OPENED := $(filter-out path4,$(basename $(notdir $(wildcard maps/*.toml))))

.PHONY: ladder compiled bytecode test test-anywhere soak quick check format lock bench bench-server cells openings $(OPENED:%=openings/%) screenshots clean

ladder: compiled  ## play a ladder of the built-in bots here
	$(BIN)/arena ladder

compiled: $(STAMP)  ## the virtual environment, and the search compiled in its cache
	$(BIN)/python -m arena.bots.compiled
	$(BIN)/python -m arena.lab.solving

# The tests start hundreds of processes: without bytecode each of them compiles what it loads.
test soak quick: export PYTHONDONTWRITEBYTECODE =
# The stores of tests wait for the disk at each commit, and databases come and go: both take little time where there is room
# for them in memory.
MEMORY = $(shell \
  ! findmnt --noheadings --output OPTIONS /dev/shm | grep -q noexec && [ -w /dev/shm ] && \
  [ "$$(df --output=avail --block-size=1M /dev/shm | tail -n 1)" -ge 2048 ] && echo /dev/shm)
test soak quick: export PYTEST_DEBUG_TEMPROOT = $(MEMORY)
test soak quick: export TMPDIR := $(or $(MEMORY),$(TMPDIR))

# Every worker would compile all that it imports by itself, at the same time as the others; tests/bytecode.py has the tests.
bytecode: $(STAMP)
	@$(BIN)/python -m compileall -q -j 0 -x '/test_' arena games maps protocol solved match rating server ladder bots lab testkit tests

test: compiled bytecode  ## unit, property and end-to-end tests
	$(BIN)/pytest -n $(WORKERS) --dist worksteal $(TESTS); status=$$?; echo $$status >$(STATUS); exit $$status

test-anywhere:  ## `make test` again and again as root, on a Debian: other users, terminals and homes, missing programs
	.ci/anywhere $(RUNS)

quick: compiled bytecode  ## a part of the tests, for other versions of Python and of the libraries: see CONTRIBUTING.md
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not soak and not hypothesis" $(patsubst %,--ignore tests/%,$(SLOW) $(WITHOUT)) tests; \
	  status=$$?; echo $$status >$(STATUS); exit $$status

# A property with hundreds of examples takes up to ten seconds of a core, of which it may have a tenth beside the others.
soak: compiled bytecode  ## what lasts long: broken networks, kills again and again, many more examples of each property
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "soak or hypothesis" --hypothesis-profile soak -o timeout=180; \
	  status=$$?; echo $$status >$(STATUS); exit $$status

check: $(STAMP)  ## lint, types, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/oxlint --config page/.oxlintrc.json page/js
	@if command -v tsc >/dev/null; then tsc --project page; else \
	  echo "the page's JavaScript is not checked, for there is no tsc: on Debian, apt install node-typescript"; fi

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Debian keeps venv in a package of its own; without it the first line fails, and the message says what to do.
$(STAMP): requirements.lock $(LOCK) pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; set PYTHON=... to one"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "no venv module: on Debian, apt install python3-venv"; rm -rf $(VENV); exit 1; }
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

bench-server: $(STAMP)  ## the server against a bare relay, into benchmarks/SERVER.md; with FASTCHESS=PATH the runner of ladders, too
	$(BIN)/python -m benchmarks.server
	$(BIN)/python -m benchmarks.growth
	$(if $(FASTCHESS),$(BIN)/python -m benchmarks.runners --fastchess $(FASTCHESS))

bench: $(STAMP)  ## measure the compiled engine, some ten minutes; writes benchmarks/RESULTS.md
	$(BIN)/python -m benchmarks

openings: $(OPENED:%=openings/%)  ## the openings of all shipped maps anew, as after a change of a map: some minutes

# a match on m1 has about 22 plies, and few positions that are near even
openings/m1: HOW := --plies 5 --window 600
$(OPENED:%=openings/%): openings/%: $(STAMP)
	$(BIN)/arena openings make --map $* $(HOW) --output maps/openings/$*.txt

cells: $(STAMP)  ## the areas of the shipped maps anew, as after a change of places or continents
	$(BIN)/python -m arena.lab.coasts

screenshots: $(STAMP)  ## the pictures of the page in docs/pictures (needs chromium)
	$(BIN)/python -m tests.web.screenshots docs/pictures

clean:
	rm -rf $(VENV) dist build
