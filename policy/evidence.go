package policy

import (
	"path/filepath"
	"strconv"
	"strings"
)

// The section evidence says what tells people from programs, and where doubt ends. What it leaves out is as docs/evidence.md
// says; nothing here judges.
//
//	evidence:
//	  path: /beacon.gif
//	  background: [/api/**, /poll]
//	  assets: 20%
//	  rhythm: 58%

// Evidence is what the configuration says about evidence. What it does not say is empty, or nil.
type Evidence struct {
	Path       string   // pattern for the path of what only browsers load
	Background []string // patterns for paths that pages ask for by themselves
	Hosts      []string // names of the site
	Robots     string   // file

	Referers                      *[2]int64 // percent
	Assets, Rhythm, Haste, Errors *int64    // percent
	Sample, Hours, Agents         *int64
}

var evidenceKeys = []string{
	"path", "background", "hosts", "robots", "sample", "assets", "referers", "rhythm", "haste", "errors", "hours", "agents",
}

// How large the thresholds may be that are no shares.
const (
	maxSample = 1000
	maxHours  = 255
	maxAgents = 16 // as many as an evidence tells apart
)

// readEvidence reads the section.
func (r *configReader) readEvidence(at node) {
	f, ok := r.mapping(at, "the section evidence", evidenceKeys)
	if !ok {
		return
	}
	e := &r.config.Evidence
	if e.Path = r.field(f, "path"); e.Path != "" {
		r.checkPattern(value{e.Path, f.values["path"]}, globProblem)
	}
	e.Background = r.patterns(f, "background", globProblem)
	e.Hosts = r.patterns(f, "hosts", siteProblem)
	if e.Robots = r.field(f, "robots"); e.Robots != "" && !filepath.IsAbs(e.Robots) {
		e.Robots = filepath.Join(filepath.Dir(r.name), e.Robots)
	}
	e.Referers = r.bounds(f, "referers")
	e.Assets, e.Rhythm = r.percent(f, "assets"), r.percent(f, "rhythm")
	e.Haste, e.Errors = r.percent(f, "haste"), r.percent(f, "errors")
	e.Sample, e.Hours, e.Agents = r.whole(f, "sample", maxSample), r.whole(f, "hours", maxHours), r.whole(f, "agents", maxAgents)
}

// String is what the section says, in the order of its keys; "" for nothing.
func (e *Evidence) String() string {
	said := []string{
		e.Path, strings.Join(e.Background, " "), strings.Join(e.Hosts, " "), e.Robots, numeral(e.Sample), share(e.Assets), pair(e.Referers),
		share(e.Rhythm), share(e.Haste), share(e.Errors), numeral(e.Hours), numeral(e.Agents),
	}
	var texts []string
	for i, text := range said {
		if text != "" {
			texts = append(texts, evidenceKeys[i]+" "+text)
		}
	}
	return strings.Join(texts, ", ")
}

func numeral(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}

func share(n *int64) string {
	if n == nil {
		return ""
	}
	return numeral(n) + "%"
}

func pair(p *[2]int64) string {
	if p == nil {
		return ""
	}
	return share(&p[0]) + " to " + share(&p[1])
}

// patterns are the texts of a field, each of which must have no problem.
func (r *configReader) patterns(f fields, key string, problem func(string) string) (texts []string) {
	for _, v := range r.valuesOf(f, key) {
		r.checkPattern(v, problem)
		texts = append(texts, v.text)
	}
	return texts
}

// siteProblem says why a text cannot be the name of a site.
func siteProblem(text string) string {
	if hostProblem(text) != "" || strings.ContainsAny(text, "*?") {
		return quoted(text) + " is no name of a host; want one such as shop.example"
	}
	return ""
}

// percent is the share that a field states, nil if it is not there.
func (r *configReader) percent(f fields, key string) *int64 {
	at := f.values[key]
	if at == nil {
		return nil
	}
	return r.percentAt(at)
}

func (r *configReader) percentAt(at node) *int64 {
	text, ok := r.text(at)
	if !ok {
		return nil
	}
	n, err := strconv.ParseUint(strings.TrimSuffix(text, "%"), 10, 16)
	if err != nil || n > 100 {
		r.fail(at, "%q is no share; want whole percents such as 50%%", text)
		return nil
	}
	percent := int64(n)
	return &percent
}

// bounds are the two shares that a field states, nil if it is not there.
func (r *configReader) bounds(f fields, key string) *[2]int64 {
	at := f.values[key]
	if at == nil {
		return nil
	}
	items := r.items(at)
	if len(items) != 2 {
		r.fail(at, "want two shares here, such as [5%%, 50%%]: below the first speaks against, from the second on for")
		return nil
	}
	low, high := r.percentAt(items[0]), r.percentAt(items[1])
	if low == nil || high == nil {
		return nil
	}
	if *low > *high {
		r.fail(at, "the first share is greater than the second")
	}
	return &[2]int64{*low, *high}
}

// whole is the number that a field states, from 1 to most, nil if it is not there.
func (r *configReader) whole(f fields, key string, most int64) *int64 {
	at := f.values[key]
	if at == nil {
		return nil
	}
	text, ok := r.text(at)
	if !ok {
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 || n > most {
		r.fail(at, "%q does not do; want a number from 1 to %d", text, most)
		return nil
	}
	return &n
}
