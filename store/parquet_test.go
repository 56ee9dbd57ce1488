package store

import (
	"os"
	"path/filepath"
	"testing"
)

// Parquet has what the rows have, texts of strangers as they are and empty numbers as NULL.
func TestWriteParquet(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "it's.csv"), filepath.Join(dir, "rows.parquet")
	text := "name,wait\nplain,0.5\n\"=1,\"\"x\"\"\",\n-,2\n"
	if err := os.WriteFile(from, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := WriteParquet(t.Context(), from, to, "{'name': 'VARCHAR', 'wait': 'DOUBLE'}"); err != nil {
		t.Fatal(err)
	}
	d, err := openDuck(":memory:", noExtensions)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	type row struct {
		Name string
		Wait float64
	}
	rows, err := list[row](d, "SELECT name, coalesce(wait, -1) AS wait FROM read_parquet("+literal(to)+")")
	want := []row{{"plain", 0.5}, {`=1,"x"`, -1}, {"-", 2}}
	if err != nil || len(rows) != 3 || rows[0] != want[0] || rows[1] != want[1] || rows[2] != want[2] {
		t.Errorf("%+v, %v; want %+v", rows, err, want)
	}
	if err := WriteParquet(t.Context(), filepath.Join(dir, "none.csv"), to, "{'name': 'VARCHAR'}"); err == nil {
		t.Error("rows that are not there are written")
	}
}
