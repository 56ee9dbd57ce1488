package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// manyAddresses are n of IPv4 or, where one is mixed in, IPv6.
func manyAddresses(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("%d.%d.%d.%d", 11+i>>21, i>>16&31, i>>8&255, i&255)
		if i%1000 == 7 {
			all[i] = fmt.Sprintf("2001:db8::%x:%x", 1+i>>16, i&0xffff)
		}
	}
	return all
}

func bulkConfig(addresses []string) string {
	return "exempt:\n  addresses:\n    - " + strings.Join(addresses, "\n    - ") + "\n  users: [alice]\npolicies:\n  - {name: all, limits: 6/30s}\n"
}

// A long list says the same as its parts do, and a problem with it has its place.
func TestBulkAddresses(t *testing.T) {
	addresses := manyAddresses(3 * bulkLines)
	c, err := ParseConfig("c.yaml", []byte(bulkConfig(addresses)))
	if err != nil || !slices.Equal(c.Exempt.Networks, addresses) || !slices.Equal(c.Exempt.Users, []string{"alice"}) {
		t.Fatalf("%d addresses, users %q, %v", len(c.Exempt.Networks), c.Exempt.Users, err)
	}
	if got, want := c.Policies[0].Policies[0].Place, fmt.Sprintf("c.yaml:%d", len(addresses)+5); got != want {
		t.Errorf("the policy stands at %s, want %s", got, want)
	}
	asUsers := strings.Replace(bulkConfig(addresses), "addresses:", "field:\n    name: peer\n    values:", 1)
	if c, err = ParseConfig("c.yaml", []byte(asUsers)); err != nil || !slices.Equal(c.Exempt.Values, addresses) {
		t.Fatalf("%d addresses are values of a field, %v", len(c.Exempt.Values), err)
	}
	for name, test := range map[string]struct {
		change func(all []string) string
		want   string
	}{
		"twice":          {func(all []string) string { all[2000] = all[5]; return bulkConfig(all) }, "c.yaml:2003:7"},
		"no address":     {func(all []string) string { all[2000] = "1.2.3"; return bulkConfig(all) }, "c.yaml:2003:7"},
		"bits beyond":    {func(all []string) string { all[2000] = "1.2.3.4/8"; return bulkConfig(all) }, "c.yaml:2003:7"},
		"in two tiers":   {func(all []string) string { return bulkConfig(all) + "tiers:\n  pro: {addresses: " + all[2000] + "}\n" }, "is in the tier \"exempt\" already"},
		"where it is no": {func(all []string) string { return strings.Replace(bulkConfig(all), "addresses:", "user:", 1) }, "c.yaml:2:3"},
		"at the end":     {func(all []string) string { return bulkConfig(all) + "polices: []\n" }, "c.yaml:3006:1: unknown key"},
	} {
		_, err := ParseConfig("c.yaml", []byte(test.change(slices.Clone(addresses))))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %.300v, want %s", name, err, test.want)
		}
	}
}

// Two million addresses are read in seconds, and in little memory.
func TestManyAddresses(t *testing.T) {
	addresses := manyAddresses(2_000_000)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "list.txt"), []byte(strings.Join(addresses, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"in the file": bulkConfig(addresses), "in one of its own": "exempt: {file: list.txt}\npolicies:\n  - {name: all, limits: 6/30s}\n"} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		begun := time.Now()
		c, err := ParseConfig(filepath.Join(dir, "c.yaml"), []byte(text))
		runtime.ReadMemStats(&after)
		if err != nil || len(c.Exempt.Networks) != len(addresses) {
			t.Errorf("%s: %d addresses, %.300v", name, len(c.Exempt.Networks), err)
		}
		t.Logf("%s: %v, %d MB allocated", name, time.Since(begun), (after.TotalAlloc-before.TotalAlloc)>>20)
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 700 { // in all, most of which is garbage
			t.Errorf("%s: %d MB were allocated", name, took)
		}
	}
}
