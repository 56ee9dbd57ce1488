package limit

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A limit is written
//
//	[ALGORITHM:]COUNT/PERIOD[,OPTION…]
//
// as in 6/30s, token:6/30s or token:10/s,burst=20,initial=0. An option is a name or name=value. What algorithms and
// options there are is not known here: any name will do until a constructor reads it (see Args and package policy). Two
// are known by name: nginx has its own way to write rates, and conn counts what is under way, so it has no period.
//
// Several limits that differ in their count only can be written as one, with a list or a range (see ParseAll).

// A Spec is one limit as people write it: an algorithm with its numbers. Specs are comparable, and
// Parse(s.String()) == s for every s that Parse has returned.
type Spec struct {
	Algorithm string // "token", "leaky", "window" …; "" when the text named none
	Count     int64  // requests
	Period    Time   // per this long; 0: there is no period
	Options   string // the rest in canonical form, "burst=10,initial=3"; "" when there is none
}

// underWay is the algorithm whose limits have no period.
const underWay = "conn"

// UnderWay reports whether the limit is one on requests that are under way at once, for which it matters how long they
// take.
func (s Spec) UnderWay() bool { return s.Algorithm == underWay }

// Positive refuses what no text of a limit can say, but a Spec.
func (s Spec) Positive() error {
	if s.Count < 1 || s.Period < 1 {
		return fmt.Errorf("limit %q: count and period must be positive", s)
	}
	return nil
}

// String is the canonical text of the limit. That of nginx has its rate in the words of limit_req_zone.
func (s Spec) String() string {
	var b strings.Builder
	if s.Algorithm != "" {
		b.WriteString(s.Algorithm)
		b.WriteByte(':')
	}
	b.WriteString(strconv.FormatInt(s.Count, 10))
	switch {
	case s.Algorithm == "nginx" && s.Period == Second:
		b.WriteString("r/s")
	case s.Algorithm == "nginx" && s.Period == Minute:
		b.WriteString("r/m")
	case s.Period == 0:
	default:
		b.WriteByte('/')
		b.WriteString(FormatPeriod(s.Period))
	}
	if s.Options != "" {
		b.WriteByte(',')
		b.WriteString(s.Options)
	}
	return b.String()
}

// Parse reads one limit.
func Parse(text string) (Spec, error) {
	specs, err := ParseAll(text)
	if err != nil {
		return Spec{}, err
	}
	if len(specs) != 1 {
		return Spec{}, fmt.Errorf("limit %q: stands for %d limits where one is wanted", text, len(specs))
	}
	return specs[0], nil
}

// ParseAll reads a limit whose count may be a list, a range, or a list of both, and returns one Spec for each count
// in the order written: 6,10/30s is 6/30s and 10/30s, 5..20:5/30s is 5, 10, 15 and 20 per 30s.
func ParseAll(text string) ([]Spec, error) {
	limit := strings.TrimSpace(text)
	specs, err := parseAll(limit)
	if err != nil {
		return nil, fmt.Errorf("limit %q: %w", text, didYouMean(limit, err))
	}
	return specs, nil
}

var (
	errEmpty  = errors.New("is empty; want COUNT/PERIOD, such as 6/30s")
	errSpace  = errors.New("has a blank inside; write it in one piece, such as token:6/30s,burst=10")
	errPlus   = errors.New("'+' joins several limits; here one is wanted, such as 6/30s")
	errOption = errors.New("is an option, which follows its limit after a comma: 6/30s,burst=10")
	errNoRate = errors.New("has no period; want COUNT/PERIOD, such as 6/30s")
)

func parseAll(text string) ([]Spec, error) {
	switch {
	case text == "":
		return nil, errEmpty
	case strings.ContainsFunc(text, isBlank):
		return nil, errSpace
	case strings.Contains(text, "+"):
		return nil, errPlus
	}
	algorithm, rest := CutAlgorithm(text)
	if (algorithm != "" || text[0] == ':') && !isName(algorithm) {
		return nil, fmt.Errorf("%q is no name of an algorithm; want one such as token, before the colon", algorithm)
	}
	if algorithm == underWay {
		return parseUnderWay(rest)
	}
	counts, rest, found := strings.Cut(rest, "/")
	if name, _, option := strings.Cut(text, "="); !found && option && isName(name) {
		return nil, errOption
	}
	if !found {
		return nil, errNoRate
	}
	period, options, _ := strings.Cut(rest, ",")
	p, err := ParsePeriod(period)
	if err != nil {
		return nil, err
	}
	return Spec{Algorithm: algorithm, Period: p}.with(options, counts, strings.HasSuffix(rest, ","))
}

// parseUnderWay reads what stands behind "conn:", counts and options. Options begin at the first comma before a letter.
func parseUnderWay(text string) ([]Spec, error) {
	counts, options := text, ""
	for i := range len(text) {
		if text[i] == ',' && (i+1 == len(text) || !isDigit(text[i+1])) {
			counts, options = text[:i], text[i+1:]
			break
		}
	}
	if n, _, found := strings.Cut(counts, "/"); found {
		return nil, fmt.Errorf("has a period, but conn counts requests that are under way at once; want conn:%s", n)
	}
	return Spec{Algorithm: underWay}.with(options, counts, strings.HasSuffix(text, ","))
}

// CutAlgorithm splits the name of the algorithm, "" if there is none, from the rest of a limit.
// A colon further back belongs to a range: 5..50:5/30s.
func CutAlgorithm(text string) (algorithm, rest string) {
	text = strings.TrimSpace(text)
	if text == "" || isDigit(text[0]) {
		return "", text
	}
	if before, after, found := strings.Cut(text, ":"); found {
		return before, after
	}
	return "", text
}

// with returns a Spec with options for each of the counts; comma: the text ends with one.
func (s Spec) with(options, counts string, comma bool) ([]Spec, error) {
	if options == "" && comma {
		return nil, errors.New("ends with a comma; want an option after it, such as burst=10")
	}
	var err error
	if s.Options, err = canonicalOptions(options); err != nil {
		return nil, err
	}
	return s.each(counts)
}

func isBlank(r rune) bool { return r <= ' ' || r == 0x7f }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isName reports whether text may name an algorithm or an option: a lower-case letter, then letters, digits, '-', '~'.
func isName(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z':
		case i > 0 && (isDigit(c) || c == '-' || c == '~'):
		default:
			return false
		}
	}
	return text != ""
}

// Set reads the limit from the text of a flag (pflag.Value).
func (s *Spec) Set(text string) error {
	spec, err := Parse(text)
	if err == nil {
		*s = spec
	}
	return err
}

// Type returns what help calls the value.
func (s *Spec) Type() string { return "limit" }
