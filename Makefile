# A thin shell: every target first makes .venv from requirements.lock, then runs one command of the project.
# It needs Python >= 3.11 and make, nothing else.

PYTHON ?= python3
PROFILE ?=
ARGS ?=
RUN := .venv/bin/python
# all but spark, which has no wheel, and peers, which hold others back: `make spark` and `make peers` bring them
EXTRAS := book duckdb parquet preflib scale test
# one BLAS thread: the parallelism is in chapters, cells and tests
OPENBLAS_NUM_THREADS ?= 1
VECLIB_MAXIMUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS VECLIB_MAXIMUM_THREADS
# uv trusts whom the machine trusts, as pip does
UV_SYSTEM_CERTS ?= 1
export UV_SYSTEM_CERTS
# byte code is kept, in a container too, which says not to: builds and tests are some hundred processes that import the same
unexport PYTHONDONTWRITEBYTECODE

TOOLS := tests?|_pytest|hypothesis|mypyc?|playwright|pip|setuptools|debugpy|distributed|dask|xarray|cuda|fontTools|lexers|dialects

# what the type checker may not hold against tests: they pass wrong types on purpose, and unpack what they made themselves;
# nor against notebooks, where readers type a name twice and declare nothing
LOOSE := arg-type attr-defined call-arg call-overload index misc operator union-attr var-annotated

.DEFAULT_GOAL := book
.PHONY: book status run verify certificates pdf site-check test quick spark parameters samplers faults lint bench peers fuzz mutants golden processors arm64 lowest lock \
    package sbom advisories clean help

book: .venv/.ready  ## execute what changed, judge every claim, render _build/html (PROFILE=smoke|standard|paper, ARGS=…)
	@$(RUN) -m companion book $(if $(PROFILE),--profile $(PROFILE)) $(ARGS)

status: .venv/.ready  ## what `make book` would run, and why
	@$(RUN) -m companion status $(if $(PROFILE),--profile $(PROFILE)) $(ARGS)

run: .venv/.ready  ## one chapter with your parameters: CHAPTER=07 ARGS="-p exact_k 15", or ARGS=--list
	@$(RUN) -m companion run $(CHAPTER) $(if $(PROFILE),--profile $(PROFILE)) $(ARGS)

verify: .venv/.ready  ## compare this build with data/expected: records, prose, tables, figures; on one machine bytes
	@$(RUN) -m companion verify $(if $(PROFILE),--profile $(PROFILE)) $(ARGS)

certificates: _build/checker/.ready  ## check every certificate, that none is missing, and write it anew, where neither package, nor numpy, is installed
	@_build/checker/bin/python certificates/check.py --every data/certificates
	@rm -rf _build/checker/filled && cp -R data/certificates _build/checker/filled
	@_build/checker/bin/python certificates/fill.py _build/checker/filled
	@diff -r data/certificates _build/checker/filled

_build/checker/.ready: requirements.lock
	@$(PYTHON) -m venv --clear _build/checker
	@awk '/^[^ ]/ {on = /^python-flint==/} on' requirements.lock > _build/checker/lock
	@_build/checker/bin/python -m pip install -qq --require-hashes --only-binary :all: --no-deps -r _build/checker/lock
	@touch $@

pdf: .venv/.ready  ## the built site as one PDF, by Chromium: _build/private-ranking.pdf, and in the site
	@$(RUN) -m companion pdf $(ARGS)

site-check: .venv/.ready  ## links, requests, errors, widths, access of every page, in Chromium (ARGS="--screenshots FOLDER"; a release: --all)
	@$(RUN) -m companion check-site $(ARGS)

test: .venv/.ready  ## pytest (ARGS="-k name")
	@$(RUN) -m pytest -n auto --dist worksteal $(ARGS)

quick: .venv/.ready  ## pytest without what builds, browses, or takes a third of a second
	@$(RUN) -m pytest -n auto --dist worksteal -m "not slow" $(ARGS)

spark: .venv/.spark  ## the tests of Spark, on a cluster on this machine; brings pyspark into .venv, needs Java 17
	@$(RUN) -m pytest -m spark $(ARGS)

lint: .venv/.ready  ## ruff and mypy, on notebooks too
	@$(RUN) -m ruff check .
	@$(RUN) -m ruff format --check .
	@$(RUN) -m mypy
	@$(RUN) -m nbqa mypy notebooks $(addprefix --disable-error-code=,$(LOOSE) assignment)
	@$(RUN) -m mypy --cache-dir .mypy_cache/tests $(addprefix --disable-error-code=,$(LOOSE)) tests benchmarks data/surveys

faults: .venv/.ready  ## real builds with a full disk, no home, a kill …: one line, or the same bytes (ARGS="HOME SIGTERM")
	@$(RUN) tests/companion/faults.py $(ARGS)

bench: .venv/.ready  ## every benchmark in benchmarks/
	@for script in $(filter-out benchmarks/shared.py,$(wildcard benchmarks/*.py)); do echo "== $$script"; $(RUN) "$$script" $(ARGS) || exit 1; done

peers: _build/peers/.ready  ## other packages at the arena's questions, beside ours, into data/peers.csv (half an hour)
	@NUMBA_CACHE_DIR=_build/peers/numba _build/peers/bin/python benchmarks/peers.py --share 1 --jobs 2 --first --write $(ARGS)

# their versions, and ours of what they do not hold back
_build/peers/.ready: .venv/.ready pyproject.toml
	@$(RUN) -m venv --clear _build/peers
	@.venv/bin/uv pip install -q --python _build/peers/bin/python --require-hashes --only-binary :all: -r requirements.lock
	@.venv/bin/uv pip install -q --python _build/peers/bin/python --no-build-isolation --editable ".[peers]"
	@touch $@

fuzz: _build/fuzz/.ready  ## bytes that nobody meant, for every reader; on Linux (ARGS="--seconds 600 --jobs 2", "--structured 5000")
	@_build/fuzz/bin/python tests/fuzz.py $(ARGS)

_build/fuzz/.ready: .venv/.ready pyproject.toml
	@$(RUN) -m venv --clear _build/fuzz
	@.venv/bin/uv pip install -q --python _build/fuzz/bin/python --require-hashes --only-binary :all: -r requirements.lock
	@.venv/bin/uv pip install -q --python _build/fuzz/bin/python --no-build-isolation --editable ".[fuzz]"
	@touch $@

parameters: .venv/.ready  ## every parameter of every chapter at both ends of what it allows (half an hour; ARGS="07 15 --low")
	@$(RUN) tests/parameters_tried.py $(ARGS)

samplers: .venv/.ready  ## ten million draws of every exact sampler against its law (hours; ARGS="--draws 100000 laplace")
	@$(RUN) tests/samplers.py $(ARGS)

mutants: .venv/.ready  ## would tests see a slip of the pen? (MODULE=dprank.noise, or privacy for all; ARGS="-n 32 --seed 1")
	@$(RUN) tests/mutants.py $(or $(MODULE),privacy) $(ARGS)

golden: .venv/.ready  ## texts, plans, files and messages that moving code may not change (ARGS="--against FOLDER")
	@$(RUN) tests/golden.py $(ARGS)

processors: .venv/.ready  ## verdicts and numbers as other processors would give them (ARGS="haswell", or "--unlike 2 --quick")
	@$(RUN) tests/processors.py $(ARGS)

arm64: .venv/.ready  ## the same on an emulated arm64: root on Debian, debootstrap, qemu-user-static (ARGS="--minutes 60")
	@$(RUN) tests/arm64.py $(ARGS)

lowest: .venv/.ready  ## pytest with the oldest versions that pyproject.toml allows, in _build/lowest
	@mkdir -p _build
	@.venv/bin/uv pip compile --quiet --python $(RUN) --resolution lowest-direct --only-binary :all: $(addprefix --extra=,$(EXTRAS)) \
	    --no-annotate --no-header pyproject.toml -o _build/lowest.txt
	@$(RUN) -m venv --clear _build/lowest
	@.venv/bin/uv pip install -q --python _build/lowest/bin/python --only-binary :all: -r _build/lowest.txt
	@.venv/bin/uv pip install -q --python _build/lowest/bin/python --no-deps --no-build-isolation --editable .
	@_build/lowest/bin/python -m pytest -n auto $(ARGS)

lock: .venv/.ready  ## resolve pyproject.toml into requirements.lock (ARGS=--upgrade for the newest)
	@.venv/bin/uv pip compile --quiet --universal --fork-strategy fewest $(addprefix --extra=,$(EXTRAS)) --generate-hashes --no-annotate \
	    --no-header pyproject.toml -o requirements.lock $(ARGS)

package: _build/supply/.ready  ## wheel and sdist in dist/, of this commit, checked as PyPI would
	@rm -rf dist
	@SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(RUN) -m hatchling build -d dist
	@_build/supply/bin/twine check --strict dist/*

sbom: _build/supply/.ready  ## what requirements.lock brings, as CycloneDX: _build/sbom.json
	@_build/supply/bin/cyclonedx-py requirements --pyproject pyproject.toml --output-reproducible -o _build/sbom.json requirements.lock

advisories: _build/supply/.ready  ## known vulnerabilities of what requirements.lock brings, by pip-audit, which asks PyPI
	@_build/supply/bin/pip-audit --strict --require-hashes --disable-pip -r requirements.lock

# a lock of their own, made of .github/supply.in by `uv pip compile --universal --generate-hashes`
_build/supply/.ready: .github/supply.lock .venv/.ready
	@$(RUN) -m venv --clear _build/supply
	@.venv/bin/uv pip install -q --python _build/supply/bin/python --require-hashes --only-binary :all: -r .github/supply.lock
	@touch $@

# pyspark is no wheel, and so not in the lock: as pyproject.toml allows it, built by pip
.venv/.spark: .venv/.ready
	@java -version > /dev/null 2>&1 || { echo "Spark needs Java: on Debian apt-get install default-jre-headless"; exit 1; }
	@$(RUN) -c 'import pyspark' 2> /dev/null || { echo "Bringing pyspark (half a gigabyte)"; \
	    $(RUN) -m pip install -qq --no-input --no-cache-dir "$$($(RUN) -c 'import tomllib; \
	    print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["spark"])')"; }
	@touch $@

clean:  ## remove all that was built; .venv stays
	rm -rf _build .hypothesis .mypy_cache .pytest_cache .ruff_cache

help:  ## this list
	@awk -F ':.*  ## ' '/^[a-z0-9-]+:.*  ## / {printf "%-11s %s\n", $$1, $$2}' Makefile

# The lock's own uv, installed by pip and checked by hash, installs the rest. It does not read pip's settings, so where
# packages are reached only through those, pip does it. Byte code is written now, by all cores, not at each first use,
# for all but TOOLS: what no book imports.
# The path to the source is written relative: Python reads it in the locale's letters, which may lack some of the folder's.
# The stamp comes last, after an import, and --clear first: a bootstrap that was killed or is no good starts over.
.venv/.ready: requirements.lock
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; \
	    v >= (3, 11) or sys.exit("Python 3.11 or newer is needed; $(PYTHON) is %d.%d: make PYTHON=/path/to/python" % v)'
	@echo "Making .venv from requirements.lock (once; under a minute where packages are near)"
	@$(PYTHON) -m venv --clear .venv
	@awk '/^[^ ]/ {on = /^uv==/} on' requirements.lock > .venv/uv.lock
	@{ $(RUN) -m pip install -qq --require-hashes --only-binary :all: --no-deps -r .venv/uv.lock && \
	   { mkdir -p "$$(.venv/bin/uv cache dir)" 2> /dev/null || export UV_NO_CACHE=1; } && \
	   .venv/bin/uv pip install -q --python $(RUN) --require-hashes --only-binary :all: -r requirements.lock; } || \
	 { echo "uv could not do it, so pip does (some minutes)"; \
	   $(RUN) -m pip install -qq --require-hashes --only-binary :all: -r requirements.lock; }
	@$(RUN) -m pip install -qq --no-deps --no-build-isolation --editable .
	@for path in .venv/lib/python*/site-packages/_editable_impl_dprank.pth; do echo ../../../../src > "$$path"; done
	@$(RUN) -m compileall -qq -j 0 -x '/($(TOOLS))/' .venv/lib || true
	@$(RUN) -c 'import companion.__main__, dprank' 2> .venv/import.log || \
	 { echo "the packages cannot be imported: $$(tail -n 1 .venv/import.log)"; exit 1; }
	@touch $@
