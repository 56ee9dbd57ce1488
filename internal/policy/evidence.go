package policy

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"shadow/internal/mapped"
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

	Numbers map[string][]int64 // by the keys of thresholds
}

// thresholds are the keys that have numbers, with their unit.
var thresholds = []struct {
	key, unit string
	n         int // how many numbers
}{
	{"sample", "", 1},
	{"assets", "%", 1},
	{"referers", "%", 2},
	{"rhythm", "%", 1},
	{"haste", "%", 1},
	{"errors", "%", 1},
	{"hours", "", 1},
	{"agents", "", 1},
}

// newEvidence reads the section of a file in a folder.
func newEvidence(section map[string]list[text], folder string) (e Evidence) {
	words := map[string][]string{}
	for key, values := range section {
		words[key] = texts(values)
	}
	e.Path, e.Robots = strings.Join(words["path"], ""), strings.Join(words["robots"], "")
	if e.Robots != "" && !filepath.IsAbs(e.Robots) {
		e.Robots = filepath.Join(folder, e.Robots)
	}
	e.Background, e.Hosts = words["background"], words["hosts"]
	e.Numbers = map[string][]int64{}
	for _, t := range thresholds {
		if len(words[t.key]) == t.n {
			e.Numbers[t.key] = mapped.Of(words[t.key], percent)
		}
	}
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
	say("path", e.Path)
	say("background", strings.Join(e.Background, " "))
	say("hosts", strings.Join(e.Hosts, " "))
	say("robots", e.Robots)
	for _, t := range thresholds {
		numbers := mapped.Of(e.Numbers[t.key], func(n int64) string { return fmt.Sprint(n, t.unit) })
		say(t.key, strings.Join(numbers, " to "))
	}
	return strings.Join(said, ", ")
}
