package policy

import (
	"path/filepath"
	"strconv"
	"strings"
)

// The section evidence says what tells people from programs, and where doubt ends. What it leaves out is as
// docs/evidence.md says; nothing here judges.
//
//	evidence:
//	  path: /beacon.gif
//	  background: [/api/**, /poll]
//	  assets: 20%
//	  rhythm: 58%

// Evidence holds what the configuration says about evidence. What it does not say is empty, or nil.
type Evidence struct {
	Path       string   // pattern for the path of what only browsers load
	Background []string // patterns for paths that pages ask for by themselves
	Hosts      []string // names of the site
	Robots     string   // file

	Referers                      *[2]int64 // percent
	Assets, Rhythm, Haste, Errors *int64    // percent
	Sample, Hours, Agents         *int64
}

// newEvidence reads the section of a file in a folder.
func newEvidence(section map[string]list[text], folder string) (e Evidence) {
	words := map[string][]string{}
	for key, values := range section {
		words[key] = texts(values)
	}
	number := func(key string) *int64 {
		if len(words[key]) != 1 {
			return nil
		}
		n := percent(words[key][0])
		return &n
	}
	e.Path, e.Robots = strings.Join(words["path"], ""), strings.Join(words["robots"], "")
	if e.Robots != "" && !filepath.IsAbs(e.Robots) {
		e.Robots = filepath.Join(folder, e.Robots)
	}
	e.Background, e.Hosts = words["background"], words["hosts"]
	if r := words["referers"]; len(r) == 2 {
		e.Referers = &[2]int64{percent(r[0]), percent(r[1])}
	}
	e.Assets, e.Rhythm, e.Haste, e.Errors = number("assets"), number("rhythm"), number("haste"), number("errors")
	e.Sample, e.Hours, e.Agents = number("sample"), number("hours"), number("agents")
	return e
}

// percent is the number of a text that is one, with or without its sign.
func percent(text string) int64 {
	n, _ := strconv.ParseInt(strings.TrimSuffix(text, "%"), 10, 64)
	return n
}

// String returns what the section says, in the order of its keys; "" for nothing.
func (e *Evidence) String() string {
	var said []string
	say := func(key, text string) {
		if text != "" {
			said = append(said, key+" "+text)
		}
	}
	number := func(key string, n *int64, unit string) {
		if n != nil {
			say(key, strconv.FormatInt(*n, 10)+unit)
		}
	}
	say("path", e.Path)
	say("background", strings.Join(e.Background, " "))
	say("hosts", strings.Join(e.Hosts, " "))
	say("robots", e.Robots)
	number("sample", e.Sample, "")
	number("assets", e.Assets, "%")
	if e.Referers != nil {
		say("referers", strconv.FormatInt(e.Referers[0], 10)+"% to "+strconv.FormatInt(e.Referers[1], 10)+"%")
	}
	number("rhythm", e.Rhythm, "%")
	number("haste", e.Haste, "%")
	number("errors", e.Errors, "%")
	number("hours", e.Hours, "")
	number("agents", e.Agents, "")
	return strings.Join(said, ", ")
}
