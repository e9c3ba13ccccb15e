# Two commands for a fresh clone: 'make demo' and 'make test'. Each sets up a local virtual environment when it is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test format bench clean

demo: $(VENV)/installed-train  ## run the main job on embedded data
	$(BIN)/equicolor reproduce shapes3d --quick --folder demo

test: $(VENV)/installed-dev $(VENV)/networks  ## lint, layers, types, tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check --no-cache .
	$(BIN)/lint-imports --no-cache
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2

format: $(VENV)/installed-dev  ## mend what ruff can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/installed-train  ## speed, as ratios, in a minute or two; 'equicolor bench' measures everything
	$(BIN)/equicolor bench --quick

clean:  ## remove the environment and what tools leave behind
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis dist

# One stamp for each set of extras: an environment is installed anew only when what it is made of has changed.
$(VENV)/installed-%: pyproject.toml constraints.txt
	@echo "Setting up $(VENV) with the extra '$*': once, a minute or two."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install -qq --disable-pip-version-check --editable '.[$*]'
	@touch $@

# torchvision and timm, whose networks the tests convert, beside the environment and not in it: the wheel of torchvision
# does not load beside a CPU build of torch, and some packages import it wherever they find it.
$(VENV)/networks: constraints.txt | $(VENV)/installed-dev
	@rm -rf $@
	@PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps \
	  --target $@ torchvision timm
	@touch $@
