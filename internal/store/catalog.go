package store

import (
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"shadow/internal/lazy"
	"shadow/internal/mapped"
	"shadow/internal/store/duck"
)

// The tables of schema.sql are views over the files that count: those of a whole run as they are, those of a run in
// pieces as sums.sql adds them up. The names of the files stand in the views. So a question sees what was there when
// its connection was opened, and nothing twice while pieces are put together.

//go:embed schema.sql
var schemaSQL string

//go:embed views.sql
var viewsSQL string

//go:embed sums.sql
var sumsSQL string

// SchemaVersion numbers schema.sql and the layout of the folder. A database of another version is neither read nor
// written.
const SchemaVersion = 3

// A tableDef is a table as schema.sql has it.
type tableDef struct {
	name    string
	columns [][2]string // names and types, without the run's number, which stands in the paths
	sum     string      // how pieces are added up; "": they are put one behind the other
}

var (
	tableHead  = lazy.Regexp(`^CREATE TABLE (\w+) \(`)
	columnHead = lazy.Regexp(`^ {4}(\w+) +(\w+)`)
	sumHead    = lazy.Regexp(`(?m)^-- (\w+)\n`)
)

// tableDefs returns the tables of schema.sql.
var tableDefs = sync.OnceValue(func() (all []*tableDef) {
	sums := map[string]string{}
	heads := sumHead().FindAllStringSubmatchIndex(sumsSQL, -1)
	for i, m := range heads {
		end := len(sumsSQL)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		sums[sumsSQL[m[2]:m[3]]] = strings.TrimSpace(sumsSQL[m[1]:end])
	}
	for line := range strings.Lines(schemaSQL) {
		if m := tableHead().FindStringSubmatch(line); m != nil {
			all = append(all, &tableDef{name: m[1], sum: sums[m[1]]})
		} else if m := columnHead().FindStringSubmatch(line); m != nil && m[1] != "run" {
			t := all[len(all)-1]
			t.columns = append(t.columns, [2]string{m[1], m[2]})
		}
	}
	return all
})

// tableOf returns the table of a name, which must be there.
func tableOf(name string) *tableDef {
	return tableDefs()[slices.IndexFunc(tableDefs(), func(t *tableDef) bool { return t.name == name })]
}

// list returns the columns behind the run's number, each after a prefix.
func (t *tableDef) list(each func(name, is string) string) string {
	return strings.Join(mapped.Of(t.columns, func(c [2]string) string { return each(c[0], c[1]) }), ", ")
}

// read returns what reads files of a table, or nothing.
func (t *tableDef) read(files []string) string {
	if len(files) == 0 {
		none := t.list(func(name, is string) string { return "NULL::" + is + " AS " + name })
		return "(SELECT NULL::INTEGER AS run, " + none + ", '' AS filename WHERE false)"
	}
	names := mapped.Of(files, func(file string) string { return literal(globbed(file)) })
	return "(SELECT run::INTEGER AS run, " + t.list(func(name, _ string) string { return name }) +
		", filename FROM read_parquet([" + strings.Join(names, ", ") + "], filename = true, " +
		"hive_partitioning = true, hive_types = {'run': BIGINT}))" // BIGINT: DuckDB fails on max() of a column of paths
}

// globbed is a path in which DuckDB sees no pattern.
func globbed(path string) string {
	return strings.NewReplacer("[", "[[]", "*", "[*]", "?", "[?]").Replace(path)
}

// A selection lists the runs, and their pieces, that are read.
type selection []runFolder

// files returns the files of a table: those of whole runs, and those of runs in pieces.
func (s selection) files(table string) (whole, pieces []string) {
	for _, r := range s {
		for _, p := range r.pieces {
			if len(r.pieces) == 1 {
				whole = append(whole, p.files[table]...)
			} else {
				pieces = append(pieces, p.files[table]...)
			}
		}
	}
	return whole, pieces
}

// sums returns what adds up the pieces of a table, or puts them one behind the other.
func (s selection) sums(t *tableDef) string {
	if t.sum == "" {
		_, pieces := s.files(t.name)
		return "SELECT run, " + t.list(func(name, _ string) string { return name }) + " FROM " + t.read(pieces)
	}
	text := t.sum
	for _, other := range tableDefs() {
		if strings.Contains(text, "$"+other.name+" ") {
			_, pieces := s.files(other.name)
			text = strings.ReplaceAll(text, "$"+other.name+" ", other.read(pieces)+" ")
		}
	}
	return text
}

// A viewText makes a table as a view.
type viewText struct{ name, text, digest string }

// views returns what makes the tables as views.
func (s selection) views() (all []viewText) {
	for _, t := range tableDefs() {
		whole, pieces := s.files(t.name)
		var parts []string
		if len(whole) > 0 || len(pieces) == 0 {
			parts = append(parts, "SELECT * EXCLUDE (filename) FROM "+t.read(whole))
		}
		if len(pieces) > 0 {
			parts = append(parts, s.sums(t))
		}
		text := strings.Join(parts, " UNION ALL ")
		all = append(all, viewText{t.name, text, fmt.Sprintf("%x", sha256.Sum256([]byte(text)))})
	}
	return all
}

// makeViews makes the tables of a database as views, those that it does not have yet, and the views of views.sql where
// it has none at all. A comment on each says what it was made of.
func makeViews(d *duck.Conn, all []viewText, had map[string]string) error {
	var text strings.Builder
	for _, v := range all {
		if had[v.name] != v.digest {
			fmt.Fprintf(&text, "CREATE OR REPLACE VIEW %s AS %s; COMMENT ON VIEW %[1]s IS '%[3]s';\n", v.name, v.text, v.digest)
		}
	}
	if len(had) == 0 {
		text.WriteString(viewsSQL)
	}
	err := d.Exec("BEGIN;" + text.String() + "COMMIT;")
	if err != nil { // such as of a file that is damaged
		d.Exec("ROLLBACK") //nolint:errcheck // the first error says more
	}
	return err
}

// digestsOf returns what the views of a database were made of, by their names.
func digestsOf(d *duck.Conn, database string) (map[string]string, error) {
	digests := map[string]string{}
	question := "SELECT view_name, comment FROM duckdb_views() WHERE comment IS NOT NULL AND database_name = " + database
	err := duck.Each(d, question, func(v *[2]string) error {
		digests[v[0]] = v[1]
		return nil
	})
	return digests, err
}

// writeCatalog makes the file that others open: of the one that is there, the views whose files have changed are made
// again. d is a database in memory. The folder must be locked.
func (f folder) writeCatalog(d *duck.Conn, all []runFolder) (err error) {
	place, err := filepath.Abs(f.catalog())
	if err != nil {
		return err
	}
	fresh := place + ".new"
	remove := func() error { return errors.Join(os.RemoveAll(fresh), os.RemoveAll(fresh+".wal")) }
	if err := remove(); err != nil { // of a process that was killed
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	views := selection(all).views()
	if copyBytes(place, fresh) != nil || updateCatalog(d, fresh, views) != nil {
		if err := remove(); err != nil {
			return err
		}
		if err := updateCatalog(d, fresh, views); err != nil {
			return err
		}
	}
	return errors.Join(syncPath(fresh), os.Rename(fresh, place), syncPath(filepath.Dir(place)))
}

// updateCatalog makes views in a file, which may be there already.
func updateCatalog(d *duck.Conn, path string, views []viewText) error {
	if err := d.Exec("ATTACH " + literal(path) + " AS shadow; USE shadow"); err != nil {
		return err
	}
	had, err := digestsOf(d, "'shadow'")
	if err == nil {
		err = makeViews(d, views, had)
	}
	if err == nil {
		err = d.Exec("CHECKPOINT shadow")
	}
	return errors.Join(err, d.Exec("USE memory; DETACH shadow"))
}

// openViews opens the tables of a folder, and the views of views.sql, to be read: by the catalog, unless that is not
// what is in the folder now, or cannot be opened. What it opens reaches no other file.
func openViews(f folder, some selection, with duck.Settings) (*duck.Conn, error) {
	views := some.views()
	runs, err := filepath.Abs(f.runs())
	if err != nil {
		return nil, err
	}
	locked := "SET allowed_directories = [" + literal(runs+"/") + ", " + literal(globbed(runs)+"/") + "]; " +
		"SET enable_external_access = false; SET lock_configuration = true; "
	with = slices.Concat(with, duck.NoExtensions)
	if d, err := duck.Open(f.catalog(), slices.Concat(duck.Settings{{"access_mode", "READ_ONLY"}}, with)); err == nil {
		had, err := digestsOf(d, "current_database()")
		current := !slices.ContainsFunc(views, func(v viewText) bool { return had[v.name] != v.digest })
		if err == nil && current && d.Exec(locked) == nil {
			return d, nil
		}
		d.Close()
	}
	d, err := duck.Open(":memory:", with)
	if err != nil {
		return nil, err
	}
	if err = d.Exec(locked); err == nil {
		err = makeViews(d, views, nil)
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}
