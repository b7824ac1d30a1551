# The front door. Every target installs what it needs first (scripts/setup) and says what it does below; `make` alone lists them.
# The work itself is in CMake: see CMakePresets.json for the builds and cmake/EvenkeelBuild.cmake for how things are compiled.
.DEFAULT_GOAL := help
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
MODULE =
TARGET =
SECONDS = 60
FILES =
export JOBS

# 1. What most people want.

.PHONY: run
run: ## Build, and run a whole cluster here: daemon, six nodes, a client. Ctrl-C ends it
	@scripts/setup build
	@scripts/build --product release evenkeel counter
	@scripts/demo

.PHONY: examples
examples: ## Build the program and show it at work on three files, without a cluster
	@scripts/setup build
	@scripts/build --product release evenkeel
	build/evenkeel validate -f examples/pages.yaml -o wide
	@echo
	build/evenkeel plan -f examples/lost_node.yaml
	@echo
	build/evenkeel sim examples/lost_node.story
	@echo "$$next_steps"

define next_steps

The first command read a cluster, the second planned the repair of one that has lost a node, the third let a cluster lose one and heal
itself, with the real controller and nodes on virtual time. What to try next:
  build/evenkeel plan -f examples/lost_node.yaml --explain pages/1  why a shard goes where it does, node by node
  build/evenkeel plan -f examples/pages.yaml                        a first placement of the other cluster
  build/evenkeel plan -f examples/pages.yaml -o json                the same, for programs
  build/evenkeel sim examples/lost_node.story -q --plot life.svg    a picture of that life
  build/evenkeel sim --random --seed 7                              one that is made up, with everything that may go wrong
  build/evenkeel validate -f your-cluster.yaml                      a file of your own; what is wrong is shown line by line
  build/evenkeel broker serve --http 127.0.0.1:7070                 a node's resource broker, with a page on http://127.0.0.1:7070/broker
  source <(build/evenkeel completion bash)                          completion in this shell (also: zsh, fish)
  build/evenkeel --help                                             all there is
  make test                                                         see it pass its tests
endef
export next_steps

.PHONY: test
test: ## Everything: all builds, all tests, one summary
	@scripts/setup build test
	@scripts/build release
	@scripts/build --configure files
	@scripts/build --configure asan
	@scripts/build --configure tsan
	ctest --test-dir build --parallel $$(($(JOBS) + 1)) --output-on-failure --no-tests=error

# 2. The inner loop.

.PHONY: check
check: need-module ## Build and test one module, in seconds: MODULE=base
	@scripts/setup build test
	@scripts/build release $(MODULE)_test
	@ctest --test-dir build --parallel $(JOBS) --output-on-failure --no-tests=error -R '^$(MODULE)(\.|$$)'

.PHONY: rewrite
rewrite: need-module ## Write the expected parts of a module's stories anew, for review with git diff: MODULE=base
	@scripts/setup build test
	@scripts/build release $(MODULE)_test
	EVENKEEL_REWRITE=1 build/tests/$(MODULE)_test --gtest_brief=1
	@git --no-pager diff --stat -- tests/$(MODULE)

.PHONY: format
format: ## Format all C++ files in place
	@scripts/setup format
	@scripts/format

.PHONY: lint
lint: ## clang-tidy and shellcheck, on all files or on FILES=…; FILES=changed takes those that differ from HEAD
	@scripts/setup build test lint
	@scripts/build files sources
	@scripts/lint $(FILES)

# 3. Longer looks.

.PHONY: fuzz
fuzz: ## Fuzz for a while: all targets, or TARGET=name; SECONDS=60 each
	@scripts/setup build test
	@scripts/build asan fuzz_targets
	@scripts/fuzz $(SECONDS) $(TARGET)

.PHONY: chaos
chaos: ## Break a cluster of real processes, round after round: ROUNDS=100 SEED=1 STORE=embedded|etcd|zookeeper|all FENCING=session|epoch|"session epoch" NETWORK=wires|namespaces
	@scripts/setup build test
	@scripts/build release evenkeel ledger observer evenkeel_later ledger_later
	python3 -B tests/chaos/long.py build/evenkeel --store $(or $(STORE),embedded) --fencing $(or $(FENCING),session) --rounds $(or $(ROUNDS),100) --seed $(or $(SEED),1) --network $(or $(NETWORK),wires)

.PHONY: coverage
coverage: ## Line coverage of src by the tests, file by file
	@scripts/setup build test coverage
	@scripts/build coverage
	@find build/coverage -name '*.gcda' -delete
	ctest --test-dir build/coverage --parallel $(JOBS) --output-on-failure --no-tests=error
	@gcovr --root . --filter src/ --exclude-unreachable-branches --gcov-ignore-parse-errors -j $(JOBS) build/coverage

.PHONY: bench
bench: ## Run the benchmarks
	@scripts/setup build test
	@scripts/build release
	@scripts/bench

# 4. Handing it on.

.PHONY: install
install: ## Install program, libraries and headers: PREFIX=/usr/local DESTDIR=
	@scripts/setup build
	@scripts/build --product release product
	@DESTDIR=$(DESTDIR) cmake --install build --prefix $(PREFIX)
	@rm -f build/install_manifest.txt

.PHONY: deb
deb: ## Make the Debian packages, in build/packages
	@scripts/setup build package
	@scripts/build --product release product
	@cd build && cpack -G DEB
	@ls -1 build/packages/*.deb

# 5. The rest.

.PHONY: setup
setup: ## Install all that any target here needs
	@scripts/setup all

.PHONY: clean
clean: ## Remove all that was built
	rm -rf build

.PHONY: help
help: ## This list
	@echo 'Evenkeel keeps a cluster'"'"'s work on an even keel. Start with `make run`.'
	@echo
	@awk -F ':[^#]*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: need-module
need-module:
	@test -n '$(MODULE)' && test -d 'src/$(MODULE)' || { echo "say which module: make $(firstword $(MAKECMDGOALS)) MODULE=…, one of:" $$(ls -d src/*/ | xargs -n1 basename) >&2; exit 2; }
