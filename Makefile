# The commands that people type. Each is a line or two; what they do lies in scripts/ and bench/.

.PHONY: build site test lint fuzz mutate check profile bench table soak kills endurance samples licenses release home

build: ## the program, as ./shadow
	go build -o shadow ./cmd/shadow

site: ## the page on which a log is dropped, in dist/site/: static files, for any server
	scripts/site

test: ## installs what the tests need and runs all of them
	scripts/test

lint: ## golangci-lint and gofumpt, as .golangci.yml says
	scripts/lint

fuzz: ## every fuzz target for FUZZTIME each
	scripts/fuzz $(FUZZTIME)

mutate: ## changes the program a little, 200 times, and reports which changes no test notices (MUTATE='-seed 7 -n 20')
	go run ./scripts/mutate $(MUTATE) ./limit ./bucket ./leaky ./window ./conn ./replay ./internal/sweep ./internal/traffic ./internal/store ./internal/tail

check: ## everything that CI checks
	.ci/run

profile: ## the profile that go build lays out the hot loops by (cmd/shadow/default.pgo)
	scripts/profile

table: ## docs/table.md: the best that each limiter can do to the logs of traces/
	go run -pgo=off ./scripts/table

bench: ## speed and memory beside wc -l, on generated logs (BENCH='-only replay -lines 1000000')
	go run ./bench $(BENCH)

soak: ## a log written at full speed, rotated, and its tail, which stores, killed (SOAK=LINES,ROTATIONS,KILLS); again with Redis (SOAK_REDIS=LINES,PACE,KILLS)
	SOAK=$${SOAK:-10000000,50,20} SOAK_REDIS=$${SOAK_REDIS:-10000000,60000,5} go test ./internal/commands -run TestTailSoak -v -timeout 30m

kills: ## kills every command that writes a database at each of its writes, or has it fail; SHADOW_KILLS=60: 60 random ones each (Linux)
	SHADOW_KILLS=$${SHADOW_KILLS:-all} nice go test ./internal/commands -run TestKilledAtEachWrite -v -timeout 60m

endurance: ## an hour of fuzzing, a thousand kills, 100 million lines beside a Redis that fails, hostile lines: some hours
	scripts/endurance

samples: ## writes the logs of sample-logs/ again
	go test ./sample-logs -update

licenses: ## the licences of all that is linked or embedded, in licenses/
	scripts/licenses

home: ## gives the project a public address: make home MODULE=example.com/you/shadow CONTACT=you@example.com
	go run -pgo=off ./scripts/home '$(MODULE)' '$(CONTACT)'

release: ## packages and archives in dist/, built again elsewhere and compared, and the .deb tried in a clean Debian (VERSION=0.1.0)
	scripts/release $(VERSION)
	twin=$$(mktemp -d) && trap 'rm -rf "$$twin"' EXIT && umask 077 && git clone --quiet . "$$twin/again" && \
		"$$twin/again/scripts/release" $(VERSION) >/dev/null && cmp dist/SHA256SUMS "$$twin/again/dist/SHA256SUMS"
	scripts/try-package dist/shadow-limits_*_amd64.deb dist/shadow-limits-*.x86_64.rpm dist/shadow-limits_*_x86_64.apk dist/shadow-limits_*_arm64.deb
