# Needs Go, git and make; "make test" needs a C compiler besides, for the race
# detector. CI calls these targets and nothing else.

SHELL := /bin/sh
.DEFAULT_GOAL := help

# What --version says. Without a tag the commit alone has to do.
VERSION := $(shell git describe --tags --dirty 2>/dev/null)
COMMIT  := $(shell git rev-parse --short HEAD 2>/dev/null)
LDFLAGS := -X main.version=$(VERSION) -X main.commit=$(COMMIT)

CONTROLLER_GEN := sigs.k8s.io/controller-tools/cmd/controller-gen@v0.21.0

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^## / { print "\n" substr($$0, 4) } /^[a-z0-9-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

## Everyday

.PHONY: build
build: ## Build bin/causeway, and bin/kubectl-why for your PATH
	CGO_ENABLED=0 exec go build -trimpath -ldflags '-s -w $(LDFLAGS)' -o bin/ ./cmd/causeway ./cmd/kubectl-why

.PHONY: test
test: test-unit test-e2e test-versions test-certmanager test-monitoring ## Run all tests with the race detector, on a real control plane where they need one

.PHONY: test-unit
test-unit: ## Run the product's own tests
	CGO_ENABLED=1 go test -race -count=1 -timeout 15m ./...

# One package at a time: each runs a control plane of its own and measures how
# long things take.
.PHONY: test-e2e
test-e2e: control-plane build-race ## Run the tests in test/, end-to-end ones included
	cd test && CGO_ENABLED=1 CAUSEWAY_BINARY="$(CURDIR)/bin/causeway-race" go test -race -count=1 -p 1 -timeout 60m ./...

# The oldest Kubernetes that is supported, pinned in test/apiserver beside the
# newest, and what of the tests depends on it most: refusals and what may stay,
# truth in the same request, writes that store nothing, the policy, and that the
# API server takes all that deploy/ renders.
OLDEST := 1.36
VERSION_TESTS := TestServerHasThePinnedVersion TestPolicyAPIsAreServed \
	TestEverythingAppliesWithoutAWarning TestWhatIsJudged TestHoldReason TestHoldReasonStoresNothing TestFlowSchemas \
	TestEveryFeatureUnderOtherNamesUsesExactlyWhatIsGranted TestURLsAreCalled \
	TestRefusal TestRefusalRatchet TestRequestPathTellsTheTruthBeforeTheWriteReturns TestTruthStaysBesideTheWritingPlatform \
	TestOverlayMakesTheLossyWritesTrueNoOps TestHoldReasonKeepsARepairWhileTheOverlayCannotBeCalled
empty :=
space := $(empty) $(empty)

.PHONY: test-versions
test-versions: build-race ## Run the tests that depend on it most on the oldest Kubernetes that is supported
	cd test && CGO_ENABLED=0 CAUSEWAY_TEST_KUBERNETES=$(OLDEST) go run ./controlplane/prepare >/dev/null
	cd test && CGO_ENABLED=1 CAUSEWAY_TEST_KUBERNETES=$(OLDEST) CAUSEWAY_BINARY="$(CURDIR)/bin/causeway-race" \
		go test -race -count=1 -p 1 -timeout 20m -run '^($(subst $(space),|,$(strip $(VERSION_TESTS))))$$' ./controlplane ./deploy ./e2e

# A module of its own, for what cert-manager brings; compiling it takes a minute
# or two. Without the race detector: that is for Causeway, which runs beside it.
.PHONY: test-certmanager
test-certmanager: control-plane build-race ## Run cert-manager's controllers beside Causeway, and renew certificates under traffic
	cd test/certmanager && CGO_ENABLED=0 CAUSEWAY_BINARY="$(CURDIR)/bin/causeway-race" go test -count=1 -timeout 15m ./...

# A module of its own, for what Prometheus brings; compiling it takes a minute.
.PHONY: test-monitoring
test-monitoring: control-plane build-race ## Run the alerts in Prometheus' own engine, and look for what they name in real processes
	cd test/monitoring && CGO_ENABLED=0 CAUSEWAY_BINARY="$(CURDIR)/bin/causeway-race" go test -count=1 -timeout 15m ./...

# exec, here and in "build", so that a signal that make alone is sent reaches the
# program and not just a shell before it. The control plane is built by the demo
# itself, which ends such a build, minutes long, when it is told to end.
.PHONY: demo
demo: build ## Play the story on a real control plane; KEEP=1 leaves it running
	cd test && CGO_ENABLED=0 exec go build -o ../bin/demo ./demo
	@cd test && CAUSEWAY_BINARY="$(CURDIR)/bin/causeway" exec ../bin/demo

# Wants the machine to itself. "make bench BENCH='-run hot -pairs 10'" measures a
# part and writes nothing.
BENCH = -docs ../docs

.PHONY: bench
bench: build control-plane ## Measure what Causeway costs, in half an hour, and write docs/benchmarks.md
	cd test && CGO_ENABLED=0 exec go build -o ../bin/bench ./bench
	@cd test && CAUSEWAY_BINARY="$(CURDIR)/bin/causeway" exec ../bin/bench $(BENCH)

.PHONY: control-plane
control-plane: ## Build etcd and kube-apiserver into the user's cache, once
	@cd test && CGO_ENABLED=0 go run ./controlplane/prepare >/dev/null

.PHONY: build-race
build-race: ## Build bin/causeway-race, which the end-to-end tests run
	CGO_ENABLED=1 go build -race -ldflags '$(LDFLAGS)' -o bin/causeway-race ./cmd/causeway

## Install

# What of deploy/ goes into install.yaml; an empty one is left as it is there.
# Not from the environment, where such names are common.
OVERLAY    := default
COMPONENTS :=
NAMESPACE  :=
PREFIX     :=
IMAGE      :=

.PHONY: install-manifest
install-manifest: ## Write bin/install.yaml; OVERLAY, COMPONENTS, NAMESPACE, PREFIX and IMAGE say what
	@mkdir -p bin
	cd test && go run ./install/manifest -overlay "$(OVERLAY)" -components "$(COMPONENTS)" \
		-namespace "$(NAMESPACE)" -prefix "$(PREFIX)" -image "$(IMAGE)" >../bin/install.yaml.part
	mv bin/install.yaml.part bin/install.yaml

## Release

# Of a commit that bears a tag. The bytes of what is built depend on the source and
# the Go version alone; TIME is what files in an archive are dated.
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64
TIME      = $(shell git log -1 --format=%ct)
DOWNLOADS = https://github.com/causeway-webhook/causeway/releases/download/$(VERSION)
SBOM      := github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0

.PHONY: release
release: ## Write archives, SBOMs, install.yaml, krew's manifest and checksums into bin/release; IMAGE is the image's name
	@test -n "$(VERSION)" || { echo "there is no tag to name the release by: set VERSION" >&2; exit 1; }
	@test -n "$(IMAGE)" || { echo "install.yaml needs an image: set IMAGE" >&2; exit 1; }
	rm -rf bin/release
	@set -e; for platform in $(PLATFORMS); do \
		name="causeway_$(VERSION)_$${platform%/*}_$${platform#*/}"; out="bin/release/$$name"; mkdir -p "$$out"; echo "$$name"; \
		CGO_ENABLED=0 GOOS="$${platform%/*}" GOARCH="$${platform#*/}" \
			go build -trimpath -buildvcs=false -ldflags '-s -w -buildid= $(LDFLAGS)' -o "$$out/" ./cmd/...; \
		go run $(SBOM) bin -json -noserial -notimestamp -version "$(VERSION)" -output "$$out.cdx.json" "$$out/causeway"; \
		cp LICENSE README.md "$$out/"; \
		tar -C bin/release --sort=name --mode=u=rwX,go=rX --owner=0 --group=0 --numeric-owner --mtime="@$(TIME)" -cf - "$$name" | gzip -n >"$$out.tar.gz"; \
		rm -r "$$out"; \
	done
	$(MAKE) --no-print-directory install-manifest
	mv bin/install.yaml bin/release/install.yaml
	cd test && go run ./krew/manifest -dir ../bin/release -version "$(VERSION)" -downloads "$(DOWNLOADS)" >../bin/release/why.yaml
	cd bin/release && sha256sum * >checksums.txt

## Before a commit

.PHONY: fmt
fmt: ## Format all Go files
	gofmt -w .

.PHONY: vet
vet: ## Look for suspicious code in both modules
	go vet ./...
	cd test && go vet ./...
	cd test/certmanager && go vet ./...
	cd test/monitoring && go vet ./...
	cd test/bench/podsecurity && go vet ./...

.PHONY: generate
generate: ## Write the generated files anew
	go generate ./...
	cd test && go generate ./... && go run $(CONTROLLER_GEN) object paths=./computeapi

.PHONY: check
check: vet ## Check formatting and vet, and change nothing
	@files=$$(gofmt -l .); test -z "$$files" || { echo "run make fmt, these are not formatted:"; echo "$$files"; exit 1; } >&2

.PHONY: verify
verify: check ## Check that formatting, go.mod files and generated files are up to date
	go mod tidy -diff
	cd test && go mod tidy -diff
	cd test/apiserver && go mod tidy -diff && go mod tidy -diff -modfile=v1.36.mod
	cd test/certmanager && go mod tidy -diff
	cd test/monitoring && go mod tidy -diff
	cd test/bench/podsecurity && go mod tidy -diff
	@before=$$(git diff | cksum); $(MAKE) --no-print-directory generate; \
	test "$$before" = "$$(git diff | cksum)" || { echo "generated files were out of date; commit what make generate wrote" >&2; exit 1; }

.PHONY: clean
clean: ## Remove what was built here; the control plane in the user's cache stays
	rm -rf bin
