//go:build !nostore && !js

package duck

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"shadow/internal/lazy"

	"github.com/duckdb/duckdb-go/v2/mapping"
)

// A question only reads. Three things hold that, one behind the other:
//
//  1. The kind of the statement, as DuckDB returns it: a query, or EXPLAIN of one. Anything else is refused, also what would
//     write nothing. Nothing is executed before that is decided.
//  2. The functions in its plan: some table functions write, or change how DuckDB works, and stand in a query.
//  3. The connection: it is read-only, or its database lies in memory, and DuckDB can open no file but its own and those
//     of the folder of runs. Its settings are locked. See docs/decisions/0012.

// errSeveral refuses a question of several statements.
var errSeveral = errors.New("query only reads, and takes one statement: ask one at a time")

var errReads = errors.New("query only reads: it takes SELECT, WITH, FROM, VALUES, PIVOT, DESCRIBE, SUMMARIZE, SHOW, and EXPLAIN of these")

// checkReads returns the text to execute for a question that only reads, or an error.
func (d *Conn) checkReads(text string) (string, error) {
	head, rest := cutExplain(text)
	rest = strings.TrimRight(rest, "; \t\r\n\v\f")
	n, err := d.parse(rest)
	switch {
	case err != nil:
		return "", err
	case n > 1 && !d.isQuery(rest):
		return "", errSeveral
	case n > 1 && head != "":
		return "", errors.New("EXPLAIN of a PIVOT is not available here, unless it names its values: PIVOT … ON … IN (…)")
	case n > 1: // DuckDB itself makes several of a PIVOT
		return rest, nil
	}
	kind, err := d.kind(rest)
	switch {
	case err != nil && (d.isQuery(rest) || queryWord().MatchString(rest)):
		return "", err
	case err != nil, kind != mapping.StatementTypeSelect:
		return "", errReads
	case pragma().MatchString(rest) && head == "": // one that DuckDB makes a query of, and does not explain
		return rest, nil
	case pragma().MatchString(rest):
		return "", errReads
	}
	return head + rest, d.checkPlan(rest)
}

var pragma = lazy.Regexp(`(?i)^\s*PRAGMA\b`)

// queryWord matches the beginning of most queries. It decides nothing but which error is shown.
var queryWord = lazy.Regexp(`(?i)^\s*(SELECT|WITH|FROM|VALUES|PIVOT|DESCRIBE|SUMMARIZE|SHOW)\b`)

// parse returns how many statements DuckDB makes of a text.
func (d *Conn) parse(text string) (int, error) {
	var parts mapping.ExtractedStatements
	defer mapping.DestroyExtracted(&parts)
	n := mapping.ExtractStatements(d.conn, text, &parts)
	if n == 0 {
		problem := strings.TrimSpace(mapping.ExtractStatementsError(parts))
		if problem == "" {
			problem = "empty query"
		}
		return 0, errors.New(problem)
	}
	return int(n), nil
}

// isQuery reports whether a text that parses is a single query: it still parses where only a query may stand. Of two
// statements the first one would lack its closing bracket there.
func (d *Conn) isQuery(text string) bool {
	_, err := d.parse("FROM (\n" + text + "\n)")
	return err == nil
}

// explainHead matches what may stand before the statement that EXPLAIN is about.
var explainHead = sync.OnceValue(func() *regexp.Regexp {
	const gap = `(?:\s|--[^\n]*\n|/\*.*?\*/)*`
	return regexp.MustCompile(`(?is)^` + gap + `EXPLAIN\b` + gap + `(?:(ANALY[ZS]E)\b` + gap + `)?(?:(\(\s*(?:FORMAT|ANALY[ZS]E)\b[^()]*\))` + gap + `)?`)
})

// cutExplain cuts EXPLAIN, with what belongs to it, from the statement that it is about. What is executed is put
// together from both again, so that a text on which this and DuckDB disagree is an error.
func cutExplain(text string) (head, rest string) {
	m := explainHead().FindStringSubmatchIndex(text)
	if m == nil {
		return "", text
	}
	head, rest = "EXPLAIN ", text[m[1]:]
	if m[2] >= 0 {
		head += "ANALYZE "
	}
	if m[4] >= 0 {
		head += text[m[4]:m[5]] + " "
	}
	return head, rest
}

// kind prepares the only statement of a text, and returns its kind.
func (d *Conn) kind(text string) (mapping.StatementType, error) {
	var statement mapping.PreparedStatement
	defer mapping.DestroyPrepare(&statement)
	if mapping.Prepare(d.conn, text, &statement) == mapping.StateError {
		return mapping.StatementTypeInvalid, problem(strings.TrimSpace(mapping.PrepareError(statement)))
	}
	return mapping.PreparedStatementType(statement), nil
}

// harmful are the table functions that change something, or read memory by its address. All others read; those that
// read files reach none.
var harmful = []string{
	"ARROW_SCAN", "ARROW_SCAN_DUMB", "CHECKPOINT", "DISABLE_LOGGING", "DISABLE_PEG_PARSER", "DISABLE_PROFILING",
	"ENABLE_LOGGING", "ENABLE_PEG_PARSER", "ENABLE_PROFILING", "FORCE_CHECKPOINT", "TRUNCATE_DUCKDB_LOGS",
}

// A planNode is a step of a plan.
type planNode struct {
	Name     string     `json:"name"` // of a table function: its own
	Children []planNode `json:"children"`
}

// checkPlan refuses a query that calls a harmful function. It looks at the plan, in which views, macros and
// query('…') have come apart.
func (d *Conn) checkPlan(text string) error {
	type row struct {
		Key  string
		Plan []byte
	}
	return Each(d, "EXPLAIN (FORMAT json) "+text, func(r *row) error {
		var nodes []planNode
		if err := json.Unmarshal(r.Plan, &nodes); err != nil {
			return fmt.Errorf("cannot read the plan of the question: %w", err)
		}
		return checkNodes(nodes)
	})
}

func checkNodes(nodes []planNode) error {
	for _, n := range nodes {
		if name := strings.ToUpper(strings.TrimSpace(n.Name)); slices.Contains(harmful, name) {
			return fmt.Errorf("query only reads, and %s does not", strings.ToLower(name))
		}
		if err := checkNodes(n.Children); err != nil {
			return err
		}
	}
	return nil
}
