package parse

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/satyrius/gonx"
)

// The gonx library reads what the scanner cannot express: variables that touch each other, of which the first takes
// everything up to the next text. It makes one regular expression of a format, in which a value ends at the first
// byte of the text behind it. So it knows no escaped quotes, and it takes about twenty times as long.
//
// We hand it formats of our own making, with variables $f0, $f1 …, and lines between two marks. The marks keep
// it from trimming, tell it where the last value ends, and avoid most of what makes gonx.NewParser loop forever.

// mark stands before and behind what gonx sees. Servers escape control characters, so no value holds it.
const mark = "\x01"

// gonxPatience is the longest that NewParser may take: it needs a millisecond for any format that it can read.
const gonxPatience = 5 * time.Second

// A gonxParser is the Parser of formats that go through gonx.
type gonxParser struct {
	reader
	cuts []gonxCut
}

// A gonxCut is a format up to one of its variables: a lenient format has one for each variable behind which its lines
// may end, the longest first.
type gonxCut struct {
	parser *gonx.Parser
	end    string   // what is put behind each line
	names  []string // of the variables, as gonx calls them: letters that stand behind a value are a part of its name
}

// newGonxCuts hands the format to gonx.
func newGonxCuts(tokens []token, lenient bool) ([]gonxCut, error) {
	if !lenient {
		cut, err := newGonxCut(tokens, mark)
		return []gonxCut{cut}, err
	}
	var cuts []gonxCut
	for end := len(tokens); end > lastCore(tokens); end-- {
		if !tokens[end-1].variable() {
			continue
		}
		kept := append([]token(nil), tokens[:end]...)
		if follow, _ := leadingText(tokens[end:]); strings.HasPrefix(follow, `"`) {
			kept = append(kept, token{text: `"`})
		}
		cut, err := newGonxCut(append(kept, token{text: " "}, token{kind: kindSkip}), " "+mark)
		if err != nil {
			return nil, err
		}
		cut.names = cut.names[:len(cut.names)-1] // but for the rest
		cuts = append(cuts, cut)
	}
	return cuts, nil
}

func newGonxCut(tokens []token, end string) (gonxCut, error) {
	cut := gonxCut{end: end}
	var text strings.Builder
	text.WriteString(mark)
	for len(tokens) > 0 {
		follow, next := leadingText(tokens)
		if strings.Contains(follow, "$") {
			return cut, errors.New("gonx cannot read a $ that is not a variable")
		}
		text.WriteString(follow)
		if len(next) > 0 {
			name := "f" + strconv.Itoa(len(cut.names))
			follow, _ := leadingText(next[1:])
			cut.names = append(cut.names, name+follow[:nameBytes(follow)])
			text.WriteString("$" + name)
			next = next[1:]
		}
		tokens = next
	}
	text.WriteString(mark)
	err := gonxCanRead(text.String())
	if err == nil {
		cut.parser, err = newGonxParser(text.String())
	}
	return cut, err
}

// gonxCanRead refuses formats that gonx misreads, or that NewParser never returns from: it looks for a letter before
// "$name" and takes it apart with the delimiter behind the name, again and again until there is none. A dollar sign or
// a backslash there is no delimiter to it, and one that means something in a regular expression leaves a broken one.
func gonxCanRead(text string) error {
	for at := range len(text) {
		if text[at] != '$' {
			continue
		}
		after := text[at+1+nameBytes(text[at+1:])]
		if after == '\\' {
			return errors.New("gonx cannot read a backslash behind a variable")
		}
		if isNameByte(text[at-1]) && strings.IndexByte(`.+*?()|[]{}^`, after) >= 0 {
			return fmt.Errorf("gonx cannot read a variable between a letter and %q", after)
		}
	}
	return nil
}

// newGonxParser calls gonx.NewParser, apart: what it cannot read makes it panic, and should it still loop forever, no
// caller waits for it.
func newGonxParser(text string) (*gonx.Parser, error) {
	type result struct {
		parser *gonx.Parser
		err    error
	}
	done := make(chan result, 1)
	go func() {
		defer func() {
			if problem := recover(); problem != nil {
				done <- result{nil, fmt.Errorf("gonx cannot read it: %v", problem)}
			}
		}()
		done <- result{gonx.NewParser(text), nil}
	}()
	select {
	case r := <-done:
		return r.parser, r.err
	case <-time.After(gonxPatience):
		return nil, errors.New("gonx does not come to an end with it")
	}
}

// Parse implements Parser. gonx does not say where a line stops to fit, so the column of a Fault is 1.
func (g *gonxParser) Parse(line []byte, r *Record) Fault {
	*r = blank
	if bytes.Contains(line, []byte(mark)) {
		return Fault{"a control character that the gonx parser cannot have", 1}
	}
	fault := Fault{Reason: "line does not fit the format"}
	for i := range g.cuts {
		cut := &g.cuts[i]
		entry, err := cut.parser.ParseString(mark + string(line) + cut.end)
		if err != nil {
			continue
		}
		if fault = g.fill(cut, entry.Fields(), r); fault.OK() {
			fault = g.complete(line, r)
		}
		break
	}
	if !fault.OK() {
		*r, fault.Column = blank, 1
	}
	return fault
}

// fill reads the values that gonx has cut out; a lenient cut may have fewer than there are steps.
func (g *gonxParser) fill(cut *gonxCut, values gonx.Fields, r *Record) Fault {
	for i := range cut.names {
		st := &g.prog.steps[i]
		suffix := cut.names[i][1+len(strconv.Itoa(i)):]
		text, ok := strings.CutSuffix(values[cut.names[i]], suffix)
		if !ok {
			return Fault{Reason: cmp.Or(st.noEnd, st.bad)}
		}
		if st.extra >= 0 {
			r.Extra[st.extra] = []byte(text)
		}
		if !st.kind.measured() {
			keep(st.kind, []byte(text), r)
			continue
		}
		if n, reason := g.measure(st, []byte(text), r); reason != "" {
			return Fault{Reason: reason}
		} else if n < len(text) {
			return Fault{Reason: st.bad}
		}
	}
	return Fault{}
}
