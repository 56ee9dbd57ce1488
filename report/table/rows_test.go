package table

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"shadow/report/format"
)

// answer is Rows from memory that may end in an error.
type answer struct {
	rows [][]any
	err  error
}

func (a *answer) Next() ([]any, error) {
	if len(a.rows) == 0 {
		if a.err != nil {
			return nil, a.err
		}
		return nil, io.EOF
	}
	row := a.rows[0]
	a.rows = a.rows[1:]
	return row, nil
}

func TestWriteTable(t *testing.T) {
	columns := []string{"client", "n", "n", "=x|\x1b"}
	rows := [][]any{
		{"2001:db8::1", int64(-12), 0.5, nil},
		{"\x1b[31m|`<b>", nil, json.Number("1e3"), []any{"\u202e", int64(1)}},
		{"=1+1", int64(1234567), 1e21, true},
		{"客户端", uint64(7), 2.25, map[string]any{"a": nil}},
	}
	for output, want := range map[string]string{
		"table": `
client               n                       n  =x|\x1b
2001:db8::1        -12                     0.5  NULL
\x1b[31m|` + "`" + `<b>     NULL                     1e3  ["\u202e",1]
=1+1           1234567  1000000000000000000000  true
客户端               7                    2.25  {"a":null}
`,
		"csv": `
client,n,n,'=x|\x1b
2001:db8::1,-12,0.5,
\x1b[31m|` + "`" + `<b>,,1e3,"[""\u202e"",1]"
'=1+1,1234567,1000000000000000000000,true
客户端,7,2.25,"{""a"":null}"
`,
		"json": `
{"schema":"shadow.query/1","rows":[
{"client":"2001:db8::1","n":-12,"n_2":0.5,"=x|\u001b":null},
{"client":"\u001b[31m|` + "`" + `\u003cb\u003e","n":null,"n_2":1e3,"=x|\u001b":["\u202e",1]},
{"client":"=1+1","n":1234567,"n_2":1e+21,"=x|\u001b":true},
{"client":"客户端","n":7,"n_2":2.25,"=x|\u001b":{"a":null}}
]}
`,
		"markdown": `

| client | n | n | =x\|\\x1b |
| :-- | --: | --: | :-- |
| 2001:db8::1 | -12 | 0.5 | NULL |
| \\x1b\[31m\|\` + "`" + `&lt;b&gt; | NULL | 1e3 | \["\\u202e",1\] |
| =1+1 | 1234567 | 1000000000000000000000 | true |
| 客户端 | 7 | 2.25 | {"a":null} |
`,
	} {
		var b strings.Builder
		if err := WriteRows(&b, format.QuerySchema, output, 0, columns, &answer{rows: rows}); err != nil {
			t.Fatal(err)
		}
		if got := "\n" + b.String(); got != want {
			t.Errorf("%s:\n%s\nwant:\n%s", output, got, want)
		}
		if output == "json" && !json.Valid([]byte(b.String())) {
			t.Error("not JSON")
		}
	}
}

// On a terminal long texts are cut, and columns that find no room follow below, with the first one again. Numbers stay.
func TestWriteTableOnTerminal(t *testing.T) {
	columns := []string{"name", "sum(CASE WHEN refused > 0 THEN 1 END)", "what", "text"}
	rows := [][]any{
		{"a", int64(1), "short", strings.Repeat("0123456789", 6)},
		{strings.Repeat("名", 20), 12345678901234567890.5, strings.Repeat("long ", 10) + "\x1b", nil},
	}
	for width, want := range map[int]string{
		90: `
name                                   sum(CASE WHEN refused >…  what
a                                                             1  short
名名名名名名名名名名名名名名名名名名…      12345678901234567000  long long long long lon…

name                                      text
a                                         01234567890123456789012345678901234567890123456…
名名名名名名名名名名名名名名名名名名名名  NULL
`,
		200: `
name                                      sum(CASE WHEN refused > 0 THEN 1 END)  what                                                    text
a                                                                             1  short                                                   012345678901234567890123456789012345678901234567890123456789
名名名名名名名名名名名名名名名名名名名名                   12345678901234567000  long long long long long long long long long long \x1b  NULL
`,
	} {
		var b strings.Builder
		if err := WriteRows(&b, format.QuerySchema, "table", width, columns, &answer{rows: rows}); err != nil {
			t.Fatal(err)
		}
		if got := "\n" + b.String(); got != want {
			t.Errorf("%d columns:\n%s\nwant:\n%s", width, got, want)
		}
	}
}

func TestWriteTableWithoutRows(t *testing.T) {
	for output, want := range map[string]string{"table": "a  b\n(no rows)\n", "csv": "a,b\n", "json": `{"schema":"shadow.query/1","rows":[]}` + "\n"} {
		var b strings.Builder
		if err := WriteRows(&b, format.QuerySchema, output, 0, []string{"a", "b"}, &answer{}); err != nil || b.String() != want {
			t.Errorf("%s: %q, %v, want %q", output, b.String(), err, want)
		}
	}
}

func TestWriteTableErrors(t *testing.T) {
	broken := errors.New("disk gone")
	for _, output := range format.Outputs() {
		rows := &answer{rows: [][]any{{int64(1)}}, err: broken}
		if err := WriteRows(io.Discard, format.QuerySchema, output, 0, []string{"a"}, rows); !errors.Is(err, broken) {
			t.Errorf("%s: %v", output, err)
		}
	}
	if err := WriteRows(io.Discard, format.QuerySchema, "html", 0, nil, &answer{}); err == nil || !strings.Contains(err.Error(), `"html"`) {
		t.Errorf("html: %v", err)
	}
}

// TestWriteTableIsBounded: a table for people ends somewhere, CSV does not.
func TestWriteTableIsBounded(t *testing.T) {
	rows := make([][]any, mostRows+1)
	for i := range rows {
		rows[i] = []any{int64(i)}
	}
	for output, want := range map[string]int{"table": mostRows + 3, "csv": mostRows + 2} {
		var b strings.Builder
		if err := WriteRows(&b, format.QuerySchema, output, 0, []string{"a"}, &answer{rows: rows}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(b.String(), "\n"); got != want {
			t.Errorf("%s: %d lines, want %d", output, got, want)
		}
	}
}
