# SPDX-License-Identifier: Apache-2.0
# The front door. Each target is a thin call of a script, a CMake preset (CMakePresets.json), or both.
.DEFAULT_GOAL := help
# What scripts/setup unpacked for a user without root, where there is any.
unpacked = [ ! -e build/system/env ] || . build/system/env;
.PHONY: help demo test test-all bench package release format lint clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: ## install what is missing, build, and run the comparison on a 640x640 grid
	@scripts/setup demo
	@$(unpacked) set -ex; \
	cmake --preset release -DDIFFBENCH_TESTS=OFF -DDIFFBENCH_SUITES=OFF --log-level=WARNING; \
	cmake --build --preset release; \
	build/release/bin/diffbench --grid 640 --iters 1000 --pinned

test: ## install what is missing, and run the tests but the slow ones, the GPU's code on an emulated device too
	@scripts/setup test
	@scripts/test

test-all: ## every test and gate, sanitizers, 64-bit Arm and clang-tidy too (an hour on 2 cores)
	@scripts/setup test
	@scripts/test all

bench: ## build, and print the figures that the project promises beside what is measured
	@scripts/setup bench
	@$(unpacked) set -ex; \
	cmake --preset release -DDIFFBENCH_TESTS=OFF -DDIFFBENCH_SUITES=ON --log-level=WARNING; \
	cmake --build --preset release; \
	python3 bench/figures.py
	@echo 'Google Benchmark suites, a few minutes each (--help; docs/lab.md):'
	@printf '  build/release/bin/bench_suites --benchmark_filter=%s/ --benchmark_out=%s.json\n' \
	  stencil stencil transfer transfer sync sync mlp mlp

package: ## install what is missing, and make the Debian packages in build/package (16 minutes on 2 cores)
	@scripts/setup package
	cmake --preset distribute --log-level=WARNING
	cmake --build --preset distribute
	cpack --preset distribute

release: ## tag a release, and make its archive and packages: make release VERSION=1.2.3
	@scripts/release $(VERSION)

format: ## format the sources with clang-format
	@scripts/setup test
	@scripts/lint apply

lint: ## check format and clang-tidy
	@scripts/setup test
	@scripts/test format tidy

clean: ## remove the build trees
	rm -rf build
