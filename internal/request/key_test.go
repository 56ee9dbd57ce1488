package request

import (
	"slices"
	"strings"
	"testing"
)

// The usual keys, and a few others.
func someKeys(t *testing.T) []Key {
	keys := slices.Clone(UsualKeys)
	for _, text := range []string{"path", "agent", "client/20", "field:ja4+action", "segment:2+user", "header:x-api-key"} {
		key, err := ParseKey(text)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	return keys
}

// A key with an action says in its name what it is without one, and shares what that shares.
func TestWho(t *testing.T) {
	for _, key := range someKeys(t) {
		who, by := strings.CutSuffix(key.String(), "+action")
		if key.Who().String() != who || by && key.Who() == key || key.Shared() != key.Who().Shared() {
			t.Errorf("%s without an action is %s", key, key.Who())
		}
	}
}

// Where each client has buckets of its own, whatever it has them for, no other is in them.
func TestShared(t *testing.T) {
	for key, want := range map[Key]bool{
		ByClient: false, ByClientAction: false, ByClientAgent: false, ByClientAgentAction: false, ByClientPath: false,
		ByUser: true, ByUserAction: true, ByClient24: true, ByClient64Action: true, ByAction: true, ByHost: true, BySite: true,
		"client+field:ja4": false, "client/32": true, "field:ja4": true, "path": true,
	} {
		if key.Shared() != want {
			t.Errorf("%s: shared %t, want %t", key, key.Shared(), want)
		}
	}
}

// Equal keys are one text, whatever the order of their parts; and what is no key says why.
func TestParseKey(t *testing.T) {
	for _, key := range UsualKeys {
		if parsed, err := ParseKey(key.String()); parsed != key || err != nil {
			t.Errorf("%s is read as %s, %v", key, parsed, err)
		}
	}
	for _, c := range []struct{ text, want string }{
		{"agent+client", "client+agent"},
		{"action+agent+client/24", "client/24+agent+action"},
		{"field:ja4+client/20", "client/20+field:ja4"},
		{"field:$http_x_api_key", "field:http_x_api_key"},
		{"field:request.headers.X-Api-Key", "field:request.headers.X-Api-Key"},
		{"header:x-api-key+cookie:sid+segment:2+segment:1", "segment:1+segment:2+header:X-Api-Key+cookie:sid"},
		{"client/128", "client/128"},
		{"agent+client/24/32", "client/24/32+agent"},
		{"user+path", "user+path"},

		{"clint", `key "clint": limits cannot count by that (did you mean "client"?); want one of client, `},
		{"ja4", `key "ja4": limits cannot count by that; want one of `},
		{"", `key "": limits cannot count by that; want`},
		{"client/7", `key "client/7": want a length of prefixes: 8 to 32 for IPv4, 33 to 128 for IPv6, such as client/24`},
		{"client/24/7", `key "client/24/7": want a length`},
		{"client/64/64", `key "client/64/64": want a length`},
		{"client/24/32/48", `key "client/24/32/48": want a length`},
		{"client/24+client/24/32", `key "client/24+client/24/32": of client/24 and client/24/32, one is a part of the other`},
		{"client/024", `key "client/024": want a length`},
		{"segment:0", `key "segment:0": want which segment of the path, from 1 to 16`},
		{"segment:x", `key "segment:x": want which segment`},
		{"field:", `key "field:": want a name behind the colon`},
		{"header:a b", `key "header:a b": want a name behind the colon`},
		{"client+site", `key "client+site": the site is all requests; leave it out`},
		{"agent+agent", `key "agent+agent": agent stands in it twice`},
		{"client+client/24", `key "client+client/24": of client and client/24, one is a part of the other`},
		{"client/16+client/24", `key "client/16+client/24": of client/16 and client/24, one is a part of the other`},
	} {
		var got string
		if key, err := ParseKey(c.text); err != nil {
			got = err.Error()
		} else {
			got = key.String()
			if again, err := ParseKey(got); again != key || err != nil || len(key.Parts()) != strings.Count(got, "+")+1 {
				t.Errorf("%s is read as %s, %v", got, again, err)
			}
		}
		if got != c.want && !(strings.HasPrefix(got, c.want) && strings.HasPrefix(c.want, "key")) {
			t.Errorf("%s: got %s, want %s", c.text, got, c.want)
		}
	}
}
