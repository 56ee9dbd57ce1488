package match

import (
	"slices"
	"strings"
	"testing"

	"shadow/internal/request"
)

func TestNewScopesErrors(t *testing.T) {
	tiers, err := NewTiers([]request.Tier{{Name: "pro"}, {Name: "exempt", Exempt: true}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for want, scopes := range map[string][]request.Conditions{
		"65 different scopes: at most 64":           make([]request.Conditions, 65),
		`tier "gold": there is none`:                {{Tiers: []string{"pro", "gold"}}},
		`tier "exempt": there is none`:              {{Tiers: []string{"exempt"}}},
		`class "bot": want one of browser`:          {{Classes: []string{"bot"}}},
		`"40" is not a status`:                      {{Statuses: []string{"40"}}},
		`with "header:X-Key": want PART=TEXT`:       {{With: []string{"header:X-Key"}}},
		`with "user=bob": want field:NAME`:          {{With: []string{"user=bob"}}},
		`with "segment:1=a": want field:NAME`:       {{With: []string{"segment:1=a"}}},
		"missing closing ]":                         {{With: []string{"header:X-Key~["}}},
		`without "path": want user, field:NAME,`:    {{Without: []string{"path"}}},
		`without "user+host": want user`:            {{Without: []string{"user+host"}}},
		`without "segment:1": want user`:            {{Without: []string{"segment:1"}}},
		`"192.0.2.0/33": neither an address`:        {{Networks: []string{"192.0.2.0/33"}}},
		"missing closing )":                         {{Regexps: []string{"("}}},
		"a pattern must be valid UTF-8":             {{}, {Paths: []string{"/\xff"}}},
		"a pattern must be valid UTF-8\na pattern ": {{Paths: []string{"/\xff"}, Hosts: []string{"\xff"}}},
	} {
		if _, err := NewScopes(scopes, tiers, nil, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", scopes, err, want)
		}
	}
	if _, err := NewScopes([]request.Conditions{{Tiers: []string{"pro"}}}, nil, nil, nil); err == nil {
		t.Error("there is a tier without tiers")
	}
}

func TestNewTiersErrors(t *testing.T) {
	field := func(names ...string) (tiers []request.Tier) {
		for _, n := range names {
			tiers = append(tiers, request.Tier{Name: n, Field: n, Values: []string{"x"}})
		}
		return tiers
	}
	for want, tiers := range map[string][]request.Tier{
		"201 tiers: at most 200":                             make([]request.Tier, 201),
		`tier "a": "10.0.0.1/8": has bits beyond its length`: {{Name: "a", Networks: []string{"10.0.0.1/8"}}},
		`tier "a b": "a b" is no name of a field`:            field("a b"),
		"go by 9 fields beyond the usual ones":               field("a", "b", "c", "d", "e", "f", "g", "h", "i"),
		`"header:X-A"]): at most 8 can be read`:              field("a", "b", "c", "d", "e", "f", "g", "h", "header:X-A"),
	} {
		if _, err := NewTiers(tiers, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d tiers: %v, want %s", len(tiers), err, want)
		}
	}
	tiers, err := NewTiers(field("header:X-A", "X-A", "b"), []string{"header:X-A"})
	if err != nil || !slices.Equal(tiers.Extra(), []string{"header:X-A", "X-A", "b"}) {
		t.Errorf("fields that the client rule reads already: %q, %v", tiers.Extra(), err)
	}
}
