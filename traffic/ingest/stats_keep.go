package ingest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// What reading told about inputs can be kept, and holds for the same content under other names as well. Names are kept as
// places in the list of inputs, and texts as bytes, since they may hold any.

// A CacheUse says whether requests came from the file of an earlier command.
type CacheUse struct {
	File   string // "": there can be none
	Used   bool
	Reason string // why it was not used
}

type keptStats struct {
	Stats
	Texts    [][]byte // see texts
	InputOf  []int    // of Stats.Inputs
	FaultOf  []int    // of Stats.Faults
	PassedOf []keptPassed
}

// A keptPassed is why an input was passed over. In both texts its name stands for "\x00".
type keptPassed struct {
	Input        int
	Text, Reason []byte
}

// A passedError says that an input was passed over, as it did when that was found out.
type passedError struct {
	text  string
	cause error // nil: unknown
}

func (e *passedError) Error() string { return e.text }
func (e *passedError) Unwrap() error { return e.cause }

// texts are those that inputs and lines of logs had a part in.
func (s *Stats) texts() []*string {
	texts := []*string{&s.ForwardedBy}
	for i := range s.Inputs {
		in := &s.Inputs[i]
		texts = append(texts, &in.Format, &in.FormatText, &in.Compression, &in.Problem)
		for j := range in.Warnings {
			texts = append(texts, &in.Warnings[j])
		}
	}
	for i := range s.Faults {
		texts = append(texts, &s.Faults[i].Text, &s.Faults[i].Fault.Reason)
	}
	return texts
}

// Keep writes down what a Reader of inputs with these names told, but for what was found out before it began.
func (s *Stats) Keep(names []string) ([]byte, error) {
	k := keptStats{Stats: *s}
	place := map[string]int{}
	for i, name := range names {
		place[name] = i
	}
	k.Inputs, k.Faults = slices.Clone(s.Inputs), slices.Clone(s.Faults)
	for i := range k.Inputs {
		in := &k.Inputs[i]
		k.InputOf = append(k.InputOf, place[in.Name])
		in.Name, in.Warnings = "", slices.Clone(in.Warnings)
	}
	for i := range k.Faults {
		f := &k.Faults[i]
		k.FaultOf = append(k.FaultOf, place[f.Input])
		f.Input = ""
	}
	for _, text := range k.texts() {
		k.Texts = append(k.Texts, []byte(*text))
		*text = ""
	}
	for _, err := range s.Passed {
		passed, ok := keepPassed(err, names)
		if !ok {
			return nil, fmt.Errorf("an input was passed over: %w", err)
		}
		k.PassedOf = append(k.PassedOf, passed)
	}
	return json.Marshal(&k)
}

// keepPassed finds the input that an error is about: of those that it names, the longest name.
func keepPassed(err error, names []string) (k keptPassed, ok bool) {
	name := ""
	for i, n := range names {
		if len(n) > len(name) && strings.Contains(err.Error(), n) {
			name, k.Input, ok = n, i, true
		}
	}
	const stand = "\x00"
	k.Text = []byte(strings.ReplaceAll(err.Error(), name, stand))
	if cause := errors.Unwrap(err); cause != nil {
		k.Reason = []byte(strings.ReplaceAll(cause.Error(), name, stand))
	}
	return k, ok
}

// RestoreStats reads what Keep has written, for inputs with these names.
func RestoreStats(kept []byte, names []string) (Stats, error) {
	var k keptStats
	if err := json.Unmarshal(kept, &k); err != nil {
		return Stats{}, err
	}
	s := k.Stats
	texts := s.texts()
	if len(texts) != len(k.Texts) || len(s.Inputs) != len(k.InputOf) || len(s.Faults) != len(k.FaultOf) ||
		len(s.Inputs)+len(k.PassedOf) != len(names) {
		return Stats{}, errors.New("statistics of other inputs")
	}
	for i, text := range texts {
		*text = string(k.Texts[i])
	}
	nameOf := func(i int) string {
		if i < 0 || i >= len(names) {
			return ""
		}
		return names[i]
	}
	for i, input := range k.InputOf {
		s.Inputs[i].Name = nameOf(input)
	}
	for i, input := range k.FaultOf {
		s.Faults[i].Input = nameOf(input)
	}
	for _, p := range k.PassedOf {
		with := func(text []byte) string { return strings.ReplaceAll(string(text), "\x00", nameOf(p.Input)) }
		e := &passedError{text: with(p.Text)}
		if len(p.Reason) > 0 {
			e.cause = errors.New(with(p.Reason))
		}
		s.Passed = append(s.Passed, e)
	}
	return s, nil
}
