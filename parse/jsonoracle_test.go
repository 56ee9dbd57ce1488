package parse

import (
	"bytes"
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"shadow/internal/testneeds"
)

// oracleMapping serves each slot with at least two keys, flat and nested.
const oracleMapping = "time=ts|t.s,client=ip|a.ip|a.b.ip,agent=h.ua|ua,status=s|a.s,request=a,path=a.b,host=a.b.c"

// oracleFind is the slow and obvious twin of the scanner: encoding/json takes the line apart, and each value is held
// against each path of the mapping.
func oracleFind(line []byte, m FieldMapping) map[slot]string {
	o := oracle{m: m, ranks: map[slot]int{}, found: map[slot]string{}, decoder: json.NewDecoder(bytes.NewReader(line))}
	o.decoder.UseNumber()
	o.walk(nil, true)
	return o.found
}

type oracle struct {
	m       FieldMapping
	decoder *json.Decoder
	ranks   map[slot]int
	found   map[slot]string
}

// walk reads the value at a path. A value that is of no use (not the first of its array) is walked all the same.
func (o *oracle) walk(path []string, useful bool) {
	token, err := o.decoder.Token()
	if err == io.EOF {
		return
	}
	switch v := token.(type) {
	case json.Delim:
		for first := true; o.decoder.More(); first = false {
			if v == '{' {
				key, _ := o.decoder.Token()
				o.walk(append(path[:len(path):len(path)], key.(string)), useful)
			} else {
				o.walk(path, useful && first)
			}
		}
		o.decoder.Token()
	case string:
		o.keep(path, useful, v)
	case json.Number:
		o.keep(path, useful, v.String())
	case bool:
		o.keep(path, useful, map[bool]string{true: "true", false: "false"}[v])
	case nil:
		o.keep(path, useful, "")
	}
}

func (o *oracle) keep(path []string, useful bool, value string) {
	for _, f := range jsonFields {
		for rank, key := range o.m[f.name] {
			nested := strings.Split(key, ".")
			flat := len(path) == 1 && path[0] == key
			if !useful || !flat && !equal(path, nested) {
				continue
			}
			best, any := o.ranks[f.slot]
			switch {
			case value == "" || value == "-":
				if any && best == rank {
					delete(o.ranks, f.slot)
					delete(o.found, f.slot)
				}
			case !any || rank <= best:
				o.ranks[f.slot], o.found[f.slot] = rank, value
			}
		}
	}
}

func equal(a, b []string) bool {
	return len(a) == len(b) && strings.Join(a, "\x00") == strings.Join(b, "\x00")
}

var (
	nginxHex     = regexp.MustCompile(`\\x([0-9a-fA-F]{2})`)
	nginxMissing = regexp.MustCompile(`:[ \t\r\n]*-?[ \t\r\n]*([,}])`)
)

// repair makes JSON of what the scanner reads besides JSON.
func repair(line []byte) []byte {
	line = nginxHex.ReplaceAll(line, []byte(`\u00$1`))
	return nginxMissing.ReplaceAll(line, []byte(`:null$1`))
}

// checkAgainstOracle holds the scanner against encoding/json: it must read the same lines and find the same values.
func checkAgainstOracle(t interface{ Fatalf(string, ...any) }, line []byte) {
	if bytes.Count(line, []byte("{"))+bytes.Count(line, []byte("[")) > maxJSONDepth {
		return
	}
	m, _ := ParseFieldMapping(oracleMapping)
	tree, err := newJSONTree(m, nil)
	if err != nil {
		t.Fatalf("%v", err)
	}
	var s jsonScanner
	ok := s.scan(bytes.Clone(line), tree)
	isObject := bytes.HasPrefix(bytes.TrimLeft(line, " \t\r\n"), []byte("{"))
	if want := isObject && json.Valid(repair(line)); ok != want {
		t.Fatalf("%q: read %v %+v, encoding/json: %v", line, ok, s.fault, want)
	}
	if !ok || !json.Valid(line) {
		return
	}
	want := oracleFind(line, m)
	for slot := range slotCount {
		got := string([]rune(string(s.found[slot].text))) // as encoding/json does: U+FFFD for each byte that is not UTF-8
		if got != want[slot] {
			t.Fatalf("%q: slot %d is %q, encoding/json: %q", line, slot, got, want[slot])
		}
	}
}

var oracleSeeds = []string{
	`{"ts":1,"ip":"a","h":{"ua":["x","y"]},"a":{"b":{"ip":"z","c":"d"},"s":2}}`,
	`{"a.b.ip":"flat","a":[{"b":[["deep"],{"c":1}]},{"s":9}],"s":null,"s":"-","ts":1.5e3}`,
	`{"ip":"\ud83d\ude00\ud83d\ud83d\n\u00e9\\","ua":"` + "\xff\xc3" + `","ts":-,"s": }`,
	`{"\u0069p":"escaped key","ip":"\x22","t":{"s":true},"ts":false}`,
	`{}`, `{"a":{}}`, `{"a":[]}`, `{"ts":01}`, `{"ts":1}x`, `{"ts":"1`, `[{"ts":1}]`, `{"ts":1,}`, `{,}`, "{\"ip\":\"\x01\"}",
	"{\"ip\":\"a tab \t far before the quote\"}", "{\"ip\":\"sixteen bytes and\x1f\"}", `{"ip":"a quote \" far before the end"}`,
}

func TestJSONAgainstOracle(t *testing.T) {
	for _, line := range oracleSeeds {
		checkAgainstOracle(t, []byte(line))
	}
	testneeds.Rapid(t, func(t *rapid.T) {
		line := []byte(jsonObject(t, 3))
		for range rapid.IntRange(0, 2).Draw(t, "spoilt bytes") {
			at := rapid.IntRange(0, len(line)-1).Draw(t, "at")
			line[at] = rapid.SampledFrom([]byte("{}[]\",:\\-0xu \t\x00")).Draw(t, "byte")
		}
		checkAgainstOracle(t, line)
	})
}

// jsonObject draws an object of keys that the mapping knows.
func jsonObject(t *rapid.T, depth int) string {
	members := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
		key := rapid.SampledFrom([]string{"ts", "t", "s", "ip", "a", "b", "c", "h", "ua", "a.b.ip", "other"}).Draw(t, "key")
		return `"` + key + `":` + jsonAny(t, depth)
	}), 0, 5).Draw(t, "members")
	return "{" + strings.Join(members, ",") + "}"
}

func jsonAny(t *rapid.T, depth int) string {
	kind := rapid.IntRange(0, 5).Draw(t, "kind")
	switch {
	case kind == 0 && depth > 0:
		return jsonObject(t, depth-1)
	case kind == 1 && depth > 0:
		return "[" + jsonAny(t, depth-1) + "," + jsonAny(t, depth-1) + "]"
	case kind == 2:
		return rapid.SampledFrom([]string{"0", "-1.5", "1e+9", "12345678901234567890", "null", "true", "-", ""}).Draw(t, "bare")
	default:
		text, _ := json.Marshal(rapid.String().Draw(t, "text"))
		return string(text)
	}
}

func FuzzJSON(f *testing.F) {
	for _, line := range oracleSeeds {
		f.Add([]byte(line))
	}
	for _, known := range KnownJSON {
		f.Add([]byte(known.Example))
	}
	format, err := CompileJSON(FieldMapping(nil).WithKnown(), Options{Extra: []string{"level"}})
	if err != nil {
		f.Fatal(err)
	}
	p := format.NewParser()
	f.Fuzz(func(t *testing.T, line []byte) {
		checkAgainstOracle(t, line)
		var r Record
		fault := p.Parse(bytes.Clone(line), &r)
		if !fault.OK() && (fault.Column < 1 || fault.Column > len(line)+1) {
			t.Errorf("%q: column %d", line, fault.Column)
		}
		if fault.OK() && r.Start > r.Stamp {
			t.Errorf("%q: start %d after stamp %d", line, r.Start, r.Stamp)
		}
	})
}
