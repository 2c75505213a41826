# The front door. A fresh Debian 12 with git and make is enough: each target installs what it lacks.
SHELL := /bin/bash
JOBS ?= $(shell nproc)
WERROR ?= OFF
export JOBS WERROR

# The library alone, in a tree without the program.
PROGRAM := $(if $(wildcard src/cli/main.cc),trivet,trivet_core)

.DEFAULT_GOAL := help
.PHONY: help build demo test test-long bench format clean setup-build setup-test setup-demo

help: ## list the targets
	@echo "Trivet. Targets:"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20
	@echo "Settings: JOBS=N compile jobs ($(JOBS)), WERROR=ON warnings are errors"

build: setup-build ## build the program: build/release/trivet
	@scripts/build.sh release $(PROGRAM)

demo: setup-demo ## from a model to a shipped bundle, on a small example
	@scripts/build.sh release $(PROGRAM)
	@scripts/venv.sh
	@scripts/demo.sh

test: setup-test ## every test but the long ones (at most 20 minutes on two cores)
	@scripts/venv.sh
	@scripts/build.sh release
	@scripts/test.sh

test-long: setup-test ## thread sanitizer, AArch64 and x86 under QEMU, random graphs, and other long suites
	@scripts/venv.sh
	@scripts/build.sh release
	@scripts/test.sh --long

bench: setup-demo ## Trivet and other runtimes side by side; ARGS="--help" tells the options
	@scripts/build.sh release $(PROGRAM)
	@scripts/bench.sh $(ARGS)

format: ## format the C++ sources (needs clang-format-14)
	@git ls-files -z --cached --others --exclude-standard -- \
	  'src/*.cc' 'src/*.h' 'src/*.inl' 'include/*.h' 'include/*.hpp' 'tests/*.cc' 'bench/*.cc' \
	  | xargs -0 -r clang-format-14 -i

clean: ## remove everything that was built, and .venv
	rm -rf build .venv .venv-peers

setup-build setup-test setup-demo: setup-%:
	@scripts/setup.sh $*
