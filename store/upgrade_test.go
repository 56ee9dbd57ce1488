package store

import (
	"context"
	"os"
	"reflect"
	"strings"
	"testing"
)

// oldDatabase is a file with a run in schema 1.
func oldDatabase(t *testing.T) string {
	t.Helper()
	script, err := os.ReadFile("testdata/schema-1.sql")
	if err != nil {
		t.Fatal(err)
	}
	path := dbPath(t)
	change(t, path, string(script))
	return path
}

// The first run that is stored in an older database brings it up to date, with the runs that are in it.
func TestUpgrade(t *testing.T) {
	path := oldDatabase(t)
	before := mustAsk(t, path, "FROM policy_totals ORDER BY policy")
	storeRun(t, path, makeRun(t, 1, 2, 10, 100), info)
	for query, want := range map[string][][]any{
		"SELECT version FROM shadow_schema": {{int64(schemaVersion)}},
		"SELECT policy, part, limit_text, counts_by, matches, counts FROM policy_limits WHERE run = 1 ORDER BY policy": {
			{"token:6/30s,burst=9", int64(0), "token:6/30s,burst=9", "client", nil, nil},
			{"window:6/1m", int64(0), "window:6/1m", "site", nil, nil},
		},
		"SELECT algorithm, limit_count, period_us, options FROM parts WHERE run = 1 AND policy = 0": {
			{"token", int64(6), int64(30_000_000), "burst=9"},
		},
		"SELECT policy, refused, delayed, refused_low FROM policy_totals WHERE run = 1 ORDER BY policy": {
			{"token:6/30s,burst=9", int64(2), nil, nil}, {"window:6/1m", int64(0), nil, nil},
		},
		"SELECT degraded, degraded_refused FROM policy_totals WHERE run = 1 ORDER BY policy": {{nil, nil}, {nil, nil}},
		"SELECT degraded FROM would_blocks WHERE run = 1":                                    {{nil}},
		"SELECT bool_or(degraded), bool_or(NOT degraded) FROM would_blocks WHERE run = 2":    {{true, true}},
		"SELECT DISTINCT combine FROM policy_totals":                                         {{"together"}},
		"SELECT tail FROM runs ORDER BY run":                                                 {{nil}, {nil}},
		"SELECT client, count::BIGINT FROM would_blocks WHERE run = 1":                       {{"192.0.2.1", int64(2)}},
		"SELECT count(*) FROM runs":                                                          {{int64(2)}},
		"SELECT count(*) FROM latest_policy_limits":                                          {{int64(3)}},
	} {
		if got := mustAsk(t, path, query); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	after := mustAsk(t, path, "FROM policy_totals WHERE run = 1 ORDER BY policy")
	for i, row := range before {
		if !reflect.DeepEqual(after[i][:len(row)], row) {
			t.Errorf("the totals are %v, they were %v", after[i], row)
		}
	}
	storeRun(t, path, makeRun(t, 2, 2, 10, 100), info)
	if n := askNumber(t, path, "SELECT count(*) FROM parts"); n != 8 {
		t.Errorf("%d limits of three runs", n)
	}
}

// An upgraded database and a new one have the same tables and views.
func TestUpgradeIsComplete(t *testing.T) {
	old, fresh := oldDatabase(t), dbPath(t)
	storeRun(t, old, makeRun(t, 1, 2, 10, 100), info)
	openStore(t, fresh).Close()
	const columns = "SELECT table_name, column_index, column_name, data_type, is_nullable FROM duckdb_columns() WHERE NOT internal ORDER BY ALL"
	if got, want := mustAsk(t, old, columns), mustAsk(t, fresh, columns); !reflect.DeepEqual(got, want) {
		t.Errorf("upgraded:\n%v\nnew:\n%v", got, want)
	}
}

// A run that does not land leaves an older database as it was, and the next one can follow at once.
func TestNoRunNoUpgrade(t *testing.T) {
	path := oldDatabase(t)
	const all = "SELECT (FROM shadow_schema), (SELECT count(*) FROM duckdb_columns() WHERE NOT internal)"
	before := mustAsk(t, path, all)
	s := openStore(t, path)
	r, err := s.Begin(context.Background(), info)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Write(makeRun(t, 1, 2, 10, 100).events); err != nil {
		t.Fatal(err)
	}
	if err := r.Abort(); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if after := mustAsk(t, path, all); !reflect.DeepEqual(before, after) {
		t.Errorf("after a run that was given up: %v, before: %v", after, before)
	}
	storeRun(t, path, makeRun(t, 1, 2, 10, 100), info)
}

// Who asks an older database for what is newer learns what to do; other mistakes, and new databases, have no such hint.
func TestQueryOldDatabase(t *testing.T) {
	old, fresh := oldDatabase(t), dbPath(t)
	storeRun(t, fresh, makeRun(t, 1, 2, 10, 100), info)
	for _, test := range []struct {
		path, query string
		hint        bool
	}{
		{old, "SELECT * FROM latest_policy_limits", true},
		{old, "SELECT refused, delayed FROM policy_totals", true},
		{old, "SELEC 1", false},
		{old, "SELECT 'x'::INTEGER", false},
		{fresh, "SELECT * FROM latest_policy_limit", false},
	} {
		_, err := ask(test.path, test.query)
		if err == nil {
			t.Errorf("%s: no error", test.query)
			continue
		}
		want := "database " + test.path + ": was written by an older shadow"
		if got := strings.Contains(err.Error(), want) && strings.Contains(err.Error(), "shadow replay --db "+test.path); got != test.hint || !strings.Contains(err.Error(), "Error") {
			t.Errorf("%s: a hint is there: %v, %v", test.query, got, err)
		}
	}
}
