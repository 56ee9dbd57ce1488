package match

import (
	"slices"
	"strings"
	"testing"

	"shadow/internal/traffic"
)

func TestActionsMeant(t *testing.T) {
	tables := traffic.NewTables()
	for _, name := range []string{"/login", "/product/…", "/basket", "/basket/…", "static", "/", "search"} {
		tables.Actions.ID([]byte(name))
	}
	for name, want := range map[string][]string{
		"/login": {"/login"}, "login": {"/login"}, "login/": {"/login"},
		"product": {"/product/…"}, "/product": {"/product/…"}, "/product/": {"/product/…"}, "/product/*": {"/product/…"},
		"basket": {"/basket", "/basket/…"}, "/basket": {"/basket"}, "/basket/…": {"/basket/…"},
		"static": {"static"}, "search": {"search"}, "/search": nil, "/": {"/"}, "logon": nil, "": nil, "…": nil,
	} {
		if got := ResolveAction(tables.Actions, name); !slices.Equal(got, want) {
			t.Errorf("%q stands for %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]string{
		"/login": "/login", "login": "/login", "/product/**": "/product/…", "none": "",
		"basket": "/basket/**", "/basket/": "/basket/**", "/basket/**": "/basket/**", "/basket/*": "/basket/**", "/basket": "/basket",
	} {
		meant, ids := MeantAction(tables.Actions, name), FindActions(tables.Actions, name)
		if meant != want {
			t.Errorf("%q means %q, want %q", name, meant, want)
		}
		for id := range tables.Actions.Len() {
			action := tables.Actions.Name(int32(id))
			is := action == want || want == "/basket/**" && strings.HasPrefix(action, "/basket")
			if ids.Has(uint16(id)) != is {
				t.Errorf("%q: %s is one of it: %t", name, action, !is)
			}
		}
	}
	for name, want := range map[string][]string{
		"basket": {"/basket", "/basket/…"}, "/basket": {"/basket/…"}, "/logon": {"/login"}, "/ogi": {"/login"}, "/xyzzy": nil,
	} {
		if got := NearestActions(tables.Actions, name); !slices.Equal(got, want) {
			t.Errorf("near %q are %q, want %q", name, got, want)
		}
	}
	if near := NearestAction(tables.Actions, "/logon"); near != "/login" {
		t.Errorf("near /logon is %q", near)
	}
}
