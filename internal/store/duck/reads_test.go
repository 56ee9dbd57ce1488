//go:build !nostore

package duck

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// Every table function of DuckDB is known here: a new version may bring one that writes.
func TestTableFunctionsAreKnown(t *testing.T) {
	text, err := os.ReadFile("testdata/table-functions.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{} // whether it is harmful
	for line := range strings.Lines(string(text)) {
		if name, kind, found := strings.Cut(strings.TrimSpace(line), ": "); found {
			known[name] = kind == "refused"
		}
	}
	d, err := Open(":memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	names, err := List[string](d, "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'table' ORDER BY 1")
	if err != nil || len(names) < 50 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		refused, found := known[name]
		if !found {
			t.Errorf("%s: does it only read? testdata/table-functions.txt does not say", name)
		}
		if refused != slices.Contains(harmful, strings.ToUpper(name)) {
			t.Errorf("%s: refused is %v in testdata/table-functions.txt", name, refused)
		}
	}
}
