package main

import (
	"os"
	"strings"
	"testing"

	"shadow/internal/store/duck"
)

// The page has what the program finds today, of one log; make table does it for all.
func TestTable(t *testing.T) {
	if !duck.Built {
		t.Skip("no database in this program")
	}
	page, err := os.ReadFile("../../docs/table.md")
	if err != nil {
		t.Fatal(err)
	}
	to, err := os.Create(t.TempDir() + "/table")
	if err != nil {
		t.Fatal(err)
	}
	if err := table(to, "../../traces/two-small-sites.parquet"); err != nil {
		t.Fatal(err)
	}
	section, err := os.ReadFile(to.Name())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), string(section)) {
		t.Errorf("make table would change docs/table.md: it would have\n%s", section)
	}
}
