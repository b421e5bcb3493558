# make tiny: install, run the tiny grid, print where its report is. make study STUDY=fict: a study on toy text.   make test: install, lint, test.   make drills: what takes long: slow tests, fuzz.   make slurm: drills on a SLURM of one machine.   make gpu: what only a GPU can show.   make census: what there is to read.   make docs: the book, into site/.
PYTHON ?= python3
VENV ?= .venv
CORES ?= 2
TESTS ?= not slow
BIN := $(VENV)/bin

.PHONY: install tiny study test drills slurm gpu lint census docs clean

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --disable-pip-version-check --constraint constraints.txt --editable '.[test]'
	touch $@

tiny: install
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/snakemake --profile profiles/tiny --cores $(CORES)

study: install
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/snakemake --configfile studies/$(STUDY)/toy.yaml --cores $(CORES)
	$(BIN)/poshgrid verify results/$(STUDY)-toy
	test -s results/$(STUDY)-toy/report/all/index.html

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/mypy
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/snakemake --profile profiles/tiny --lint

test: install lint
	OMP_NUM_THREADS=1 PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/pytest -n $(CORES) --dist loadfile --no-loadscope-reorder -m "not slurm and ($(TESTS))" --durations=25 --durations-min=5

drills: install
	$(MAKE) test TESTS=slow
	POSHGRID_FUZZ=20 $(BIN)/pytest -n $(CORES) tests/fuzz

slurm: install
	OMP_NUM_THREADS=1 PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/pytest -rs -m "slurm and ($(TESTS))" tests/slurm

gpu: install
	OMP_NUM_THREADS=1 PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/pytest -s -q tests/gpu

census: install
	$(BIN)/python perf/census.py

docs: install
	$(BIN)/python docs/generate.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

clean:
	rm -rf results/tiny .snakemake
