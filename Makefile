# make            set everything up and reproduce the default study with all cores
# make test       set everything up and run all other tests
# make check      lint and test what changed since the branch left main, within a minute; SINCE=REV: since REV
# make test-slow  run the tests that take minutes, and search at random for examples that break a property
# make test-cluster  run studies on a real SLURM, which is obtained and started for the tests
# make lowest     run a small study with the lowest versions of the libraries that pyproject.toml allows
# make newest     run a small study with the newest ones
# make mutants    try random errors that no test has been tried on yet; hours, and it goes on where it was stopped
# make slips      put every kept slip of a scientist into the code and run the test that notices it; an hour or more
# make evidence-mutants  make slips in the evidence of every claim of the default study, which must be there already
# make formal     check the theorems that are proved in Coq; Coq must be there already
# make lint       formatting, lint, types, and Snakemake's own lint
# make bench      install the peers, measure for a quarter of an hour, and write docs/benchmarks.md and its rows
# make conformance  install libraries that compute NDCG, ask them all, and write docs/conformance.md and its rows
# make docs       write the documentation as a site into build/docs/
# make config     write the page of settings from the classes that declare them
# make evaluators  write codecheck.yml, codemeta.json and docs/artefact.md from the ledger and the recorded study
# make evidence   write what every claim is tested on from the ledger and, if it was run, the default study
# make release    reproduce the default study and pack it with the source of the tagged commit and the site into dist/
# make lock       resolve the newest versions anew and write requirements.lock, with the hashes of all their files
# make clean      remove results, reports and converted data, unless a run is working; downloads and .venv stay
PYTHON ?= python3
CORES ?= all
VENV := .venv
BIN := $(VENV)/bin
# One more than there are cores, because some tests wait for other processes.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')
READY := $(VENV)/ready
export PATH := $(CURDIR)/$(BIN):$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Every process of a run or of the tests would compile the whole package anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: all setup test check test-slow test-cluster lowest newest mutants slips evidence-mutants formal lint format config evaluators evidence docs release bench conformance lock clean
.DEFAULT_GOAL := all

all: $(READY)
	snakemake --cores $(CORES)

setup: $(READY)

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed, found `$(PYTHON) --version`; set PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $(READY)

test: $(READY)
	python -m pytest -n $(WORKERS) --dist worksteal -m "not slow and not cluster"

check: $(READY)
	python -m tools.check_changes $(SINCE)

test-slow: $(READY)
	python -m pytest -n $(WORKERS) --dist worksteal -m "(slow or hypothesis) and not cluster" --hypothesis-profile search

test-cluster: $(READY)
	python -m tests.cluster

lowest:
	PYTHON=$(PYTHON) .ci/versions lowest-direct

newest:
	PYTHON=$(PYTHON) .ci/versions highest

mutants: $(READY)
	python -m tools.mutation --jobs $(WORKERS)

slips: $(READY)
	python -m tools.mutation.slips

evidence-mutants: $(READY)
	python -m tools.mutation.evidence results/default --output build/evidence-mutants.csv

formal:
	@sh proofs/check.sh

lint: $(READY)
	ruff format --check .
	ruff check .
	mypy
	lint-imports --no-cache
	snakefmt --check Snakefile workflow
	snakemake --lint

format: $(READY)
	ruff format .
	ruff check --fix .
	snakefmt Snakefile workflow

config: $(READY)
	python -m pipeline_lib default-configuration --page docs/settings.md --force

evaluators: $(READY)
	python -m tools.evaluators

evidence: $(READY)
	python -m tools.evidence $(wildcard reports/default/claims.json)

docs: $(READY)
	python -m sphinx -q -W --keep-going -c docs . build/docs
	@echo build/docs/docs/README.html

release: all docs
	python -m tools.release

bench: $(READY)
	mkdir -p build
	$(BIN)/python -m pip freeze --exclude-editable > build/versions.txt  # the lock would ask for hashes of the peers too
	$(BIN)/python -m pip install --quiet -c build/versions.txt --editable '.[bench]'
	python -m benchmarks

conformance:
	$(PYTHON) -m venv $(VENV)-conformance
	$(VENV)-conformance/bin/python -m pip install --quiet torch==2.13.0
	$(VENV)-conformance/bin/python -m pip install --quiet --no-deps -r tools/conformance/requirements.lock
	$(VENV)-conformance/bin/python -m tools.conformance

lock:
	rm -rf build/lock
	$(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install --quiet uv
	build/lock/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-annotate \
	  --extra workflow --extra test --extra cluster --custom-compile-command "make lock" --output-file requirements.lock pyproject.toml

clean:
	$(PYTHON) -m pipeline_lib.study.run_lock rm -rf results reports/*/ data/parquet data/logs data/raw/letor-sim
