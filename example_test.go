package shadow_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"shadow"
	"shadow/limit"
)

// Which clients would a limit refuse?
func ExampleReplay() {
	r, err := shadow.Replay(context.Background(), shadow.Files("sample-logs/shop-combined.log"), shadow.Limit("token:6/30s"))
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range r.Policies {
		fmt.Printf("%s refuses %d of %d requests and hits %d clients, %d of them people\n", p.Name, p.Refused, r.Requests, p.ClientsHit, p.PeopleHit)
		for _, c := range p.Top[:3] {
			fmt.Println(c.Name, c.Identity, c.Refused)
		}
	}
	// Output:
	// token:6/30s refuses 285 of 1381 requests and hits 17 clients, 10 of them people
	// 203.0.113.203 attacker 94
	// 203.0.113.201 program 88
	// 203.0.113.202 disguised 51
}

// What should the limit be?
func ExampleSuggest() {
	a, err := shadow.Suggest(context.Background(), shadow.Files("sample-logs/shop-combined.log"), shadow.Options{For: "nginx"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Verdict, a.Limit)
	fmt.Printf("stops %.1f %% of the bots' requests, hits %d people, at most %.1f %% of them\n", a.Stops, a.Hit, a.MostHit)
	fmt.Println(a.Paste[0])
	// Output:
	// deploy_unproven nginx:6r/m,burst=16,nodelay
	// stops 67.9 % of the bots' requests, hits 0 people, at most 8.9 % of them
	// limit_req_zone $binary_remote_addr zone=perclient:10m rate=6r/m;
}

// What would limits of every size do?
func ExampleSweep() {
	c, err := shadow.Sweep(context.Background(), shadow.Files("sample-logs/shop-combined.log"))
	if err != nil {
		log.Fatal(err)
	}
	for _, curve := range c.Curves {
		if curve.Shape != "window:N/1m" {
			continue
		}
		for _, p := range curve.Points {
			if p.ClientsHit <= 3 {
				fmt.Printf("%s with N = %d refuses %d of %d and hits %d of %d\n", curve.Shape, p.N, p.Refused, c.Requests, p.ClientsHit, c.Clients)
				return
			}
		}
	}
	// Output:
	// window:N/1m with N = 16 refuses 192 of 1381 and hits 3 of 66
}

// Standard input, a part of an upload, an object of a store: any reader will do.
func ExampleReader() {
	lines := strings.Repeat(`192.0.2.7 - - [02/Mar/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "curl/8"`+"\n", 10)
	r, err := shadow.Replay(context.Background(), shadow.Reader(strings.NewReader(lines)), shadow.Limit("window:6/30s"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Policies[0].Refused, "of", r.Requests)
	// Output:
	// 4 of 10
}

// Policies of a configuration: here failed logins are counted, and all logins refused.
func ExamplePolicies() {
	const config = `
actions: [{name: login, method: POST, prefix: /login}]
policies: [{name: failed logins, limits: {limit: window:5/15m, match: {action: login}, count: {status: [401, 403]}}}]
`
	folder, err := os.MkdirTemp("", "shadow")
	if err != nil {
		log.Fatal(err)
	}
	file := filepath.Join(folder, "shadow.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		log.Fatal(err)
	}
	r, err := shadow.Replay(context.Background(), shadow.Files("sample-logs/shop-combined.log"), shadow.Policies(file))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Policies[0].Name, r.Policies[0].Refused)
	if err := os.RemoveAll(folder); err != nil {
		log.Fatal(err)
	}
	// Output:
	// failed logins 118
}

// A limiter alone, for requests of one client at seconds 0, 1, 2 and 40.
func ExampleNewLimiter() {
	limiter, err := shadow.NewLimiter("token:2/30s")
	if err != nil {
		log.Fatal(err)
	}
	var state limit.State
	fmt.Println(limiter.Refuse(nil, &state, []limit.Time{0, 1 * limit.Second, 2 * limit.Second, 40 * limit.Second}))
	// Output:
	// [2]
}
