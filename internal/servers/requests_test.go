package servers

import (
	"strings"
	"testing"

	"shadow/internal/request"
	"shadow/limit/limittest"
)

// The requests and keys that limits are for, one at a time.
var (
	wantedRequests = []request.Conditions{
		{Methods: []string{"GET"}, Hosts: []string{"a.example"}},
		{Prefixes: []string{"/a/", "/b"}},
		{Paths: []string{"/a", "/a/*/c"}, Methods: []string{"POST"}},
		{Any: []request.Conditions{{Paths: []string{"/a"}}, {Prefixes: []string{"/a/"}}}},
		{Any: []request.Conditions{{Prefixes: []string{"/a/"}}, {Paths: []string{"/a"}}}, Methods: []string{"POST"}},
		{Any: []request.Conditions{{Prefixes: []string{"/a/"}}, {Paths: []string{"/b"}}}},
		{Any: []request.Conditions{{Methods: []string{"POST"}, Paths: []string{"/x"}}, {Methods: []string{"GET"}, Prefixes: []string{"/y"}}}},
		{Any: []request.Conditions{{Hosts: []string{"a.example"}}, {Agents: []string{"(?i)bot"}}, {Regexps: []string{"^/z"}}}},
		{Not: []request.Conditions{{Methods: []string{"OPTIONS", "HEAD"}}}},
		{Not: []request.Conditions{{Paths: []string{"/health"}}}, Prefixes: []string{"/"}},
		{Not: []request.Conditions{{Hosts: []string{"a.example"}}, {Agents: []string{"curl"}}, {Regexps: []string{`\.js$`}}}},
		{Not: []request.Conditions{{Prefixes: []string{"/static/"}}}, Prefixes: []string{"/s"}},
		{Not: []request.Conditions{{Networks: []string{"10.0.0.0/8"}}}, Hosts: []string{"a.example"}, Methods: []string{"GET"}},
		{Not: []request.Conditions{{Countries: []string{"DE"}, Methods: []string{"GET"}}}},
		{Networks: []string{"192.0.2.0/24", "2001:db8::/32"}},
		{Networks: []string{"Example Networks"}},
		{Countries: []string{"DE", "AT"}},
		{ASNs: []string{"AS64500"}},
		{Regexps: []string{`^/a\d+$`, "b$"}, Methods: []string{"GET"}},
		{Agents: []string{"^curl/"}, Hosts: []string{"*.example"}},
		{Without: []string{"header:Authorization"}},
		{Without: []string{"user"}, Prefixes: []string{"/a"}},
		{Methods: []string{"GET"}, Any: []request.Conditions{{Methods: []string{"GET", "POST"}, Paths: []string{"/x"}}}},
		{Classes: []string{"tool"}},
		{Statuses: []string{"401"}},
		{Ports: []string{"443"}},
		{Tiers: []string{"paid"}},
		{Actions: []string{"/login"}},
		{Methods: []string{"get it"}},
		{Hosts: []string{"a;b"}},
		{Agents: []string{"a\nb"}},
	}
	wantedKeys = strings.Fields("client client/24 client/64 site host user agent header:Authorization cookie:sid action path " +
		"asn country class client+host client+agent client+header:X-Api-Key host+path client+action site+host query:key user+path")
)

// TestExportsOfRequests has what each target is told of other requests and keys, in a file that -update rewrites.
func TestExportsOfRequests(t *testing.T) {
	for _, target := range Targets {
		t.Run(target.Name, func(t *testing.T) {
			var b strings.Builder
			tell := func(text, by string, match request.Conditions, at Where) {
				b.WriteString(told(target, wantedLimit(t, text, by, match), at))
			}
			for _, match := range wantedRequests {
				tell("token:10/1s,burst=20", "client", match, Where{Client: "addr"})
			}
			for _, by := range wantedKeys {
				if key, err := request.ParseKey(by); err == nil {
					tell("token:10/1s,burst=20", key.String(), request.Conditions{}, Where{Client: "addr"})
				}
			}
			for _, at := range []place{{client: "user"}, {client: "header:x-api-key"}, {client: "addr/24,/64"}, {client: "addr", from: "cf-connecting-ip", trusted: []string{"private"}}} {
				b.WriteString("-- " + at.String() + "\n")
				tell("window:100/15m", "client", request.Conditions{}, at.where(t))
				tell("token:10/1s,burst=20", "client", request.Conditions{Networks: []string{"10.0.0.0/8"}}, at.where(t))
			}
			limittest.Golden(t, "testdata/requests-"+target.Name+".txt", b.String())
		})
	}
}
