# Lists the targets if called without one. Each target is a script in tools/.
# Options: PROFILE=demo make dist, make test PARTS="check unit", make bench BENCH="--quick --case tls-10b", make prove PROOF=accuracy, make fuzz TARGET=reply SECONDS=600

.POSIX:
.PHONY: help demo quick test check bench honesty prove fuzz dist install clean

BENCH = --rounds 7 --out docs/performance.md
HONESTY =
PROOF =
TARGET = all
SECONDS = 60
BASE =
PARTS =

help: ## This list
	@sed -n 's/^\([a-z]*\):.*## /  make \1|/p' Makefile | awk -F '|' '{ printf "%-16s%s\n", $$1, $$2 }'

demo: ## Build, and see brunt measure its own reference server, closed loop, open loop and a sweep
	@sh tools/demo.sh

quick: ## Format, lint and test the crates that changed since main; installs nothing
	@sh tools/quick.sh $(BASE)

test: ## Install what the tests need, check the source, run all tests
	@sh tools/test.sh $(PARTS)

check: ## Format, lints, the rules of the house, docs, licences; nothing is run
	@sh tools/check.sh

bench: ## brunt beside wrk, ab and h2load (half an hour), to docs/performance.md
	@sh tools/bench.sh $(BENCH)

honesty: ## brunt and Debian's tools against a server whose truth is known, to docs/honesty.md
	@sh tools/honesty.sh $(HONESTY)

prove: ## Every target in full (hours), with its evidence in docs/proof/
	@sh tools/prove.sh $(PROOF)

fuzz: ## Fuzz each parser for a minute; needs nightly and cargo-fuzz
	@sh tools/fuzz.sh $(TARGET) $(SECONDS)

dist: ## What a release publishes, to dist/: static binary, .deb, OCI image, SBOM, checksums
	@sh tools/dist.sh

install: ## brunt into ~/.cargo/bin
	@sh tools/install.sh

clean: ## Remove all that was built
	@. tools/lib.sh && cargo clean
	@rm -rf dev/fuzz/target dev/fuzz/artifacts dist
