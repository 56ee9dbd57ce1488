package match

import (
	"slices"
	"testing"

	"shadow/traffic"
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
	if id, known := FindAction(tables.Actions, "basket"); !known || tables.Actions.Name(id) != "/basket" {
		t.Error("the first of two is not found")
	}
	if near := NearestAction(tables.Actions, "/logon"); near != "/login" {
		t.Errorf("near /logon is %q", near)
	}
}
