//go:build !nostore

package store

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPolicyFigures: the columns stand in schema.sql in the order in which they are written.
func TestPolicyFigures(t *testing.T) {
	_, rest, _ := strings.Cut(schemaSQL, "CREATE TABLE policies (")
	table, _, _ := strings.Cut(rest, "\n);")
	want := []string{"run", "policy", "name", "counts_by"}
	for _, f := range policyFigures {
		want = append(want, f.column)
	}
	want = append(want, "combine")
	var got []string
	for _, column := range regexp.MustCompile(`(?m)^ +(\w+) +[A-Z]`).FindAllStringSubmatch(table, -1) {
		got = append(got, column[1])
	}
	if !slices.Equal(got, want) {
		t.Errorf("schema.sql has %q, and written are %q", got, want)
	}
}
