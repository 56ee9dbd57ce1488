package who

import (
	"bufio"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/limit/limittest"
)

// How good are the answers? Public logs of one site come with labels: people, and two kinds of robots that drive real
// browsers. All of them claim to be browsers. Thresholds of evidence were chosen on the one half of the clients of
// phase 1, those whose hash is even; the other half and phase 2, which has people only, are the proof.

// labelNames are the labels, people first.
var labelNames = []string{"human", "moderate_bot", "advanced_bot"}

// A score counts labelled clients by label and identity.
type score map[string]*[Count]int

func (s score) add(label string, who Identity) {
	if s[label] == nil {
		s[label] = new([Count]int)
	}
	s[label][who]++
}

// of returns how many clients with a label are of a set, and how many there are.
func (s score) of(label string, these Set) (part, all int) {
	if s[label] == nil {
		return 0, 0
	}
	for who, n := range s[label] {
		all += n
		if these.Has(Identity(who)) {
			part += n
		}
	}
	return part, all
}

// wilson returns the 95 % interval of a share, in percent (E. B. Wilson, 1927).
func wilson(part, all int) (low, high float64) {
	const z = 1.96
	n, p := float64(all), float64(part)/float64(all)
	middle := p + z*z/(2*n)
	half := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(0, 100*(middle-half)/(1+z*z/n)), min(100, 100*(middle+half)/(1+z*z/n))
}

func TestWilson(t *testing.T) {
	for _, c := range []struct {
		part, all int
		want      string
	}{{0, 10, "0.0–27.8"}, {10, 10, "72.2–100.0"}, {5, 10, "23.7–76.3"}, {50, 100, "40.4–59.6"}} {
		low, high := wilson(c.part, c.all)
		if got := fmt.Sprintf("%.1f–%.1f", low, high); got != c.want {
			t.Errorf("%d of %d: %s, want %s", c.part, c.all, got, c.want)
		}
	}
}

// write adds the lines of a score to a table.
func (s score) write(b *strings.Builder) {
	line := func(label, what string, these Set) {
		part, all := s.of(label, these)
		if all == 0 {
			return
		}
		low, high := wilson(part, all)
		fmt.Fprintf(b, "\t%-13s %-16s %3d of %3d  %5.1f %% (%.1f–%.1f)",
			label, what, part, all, 100*float64(part)/float64(all), low, high)
		for who, n := range s[label] {
			if n > 0 && these.Has(Identity(who)) {
				fmt.Fprintf(b, "  %s %d", Identity(who), n)
			}
		}
		b.WriteString("\n")
	}
	for _, label := range labelNames {
		if label == "human" {
			line(label, "wrongly accused", Hostile)
			line(label, "spared", Everybody&^Hostile)
		} else {
			line(label, "found", Hostile)
			line(label, "missed", Everybody&^Hostile)
		}
	}
}

// Labelled clients, in a file that -update rewrites. People are hardly ever accused.
func TestIdentitiesAgainstLabels(t *testing.T) {
	if !testneeds.HasShared(t) {
		t.Skip("the labelled logs lie beside the project")
	}
	var text strings.Builder
	people := score{}
	for _, set := range []string{"webbot-phase1", "webbot-phase2"} {
		files, err := filepath.Glob(filepath.Join("../../../../shared/logs", set, "*.gz"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", set, err)
		}
		c := census(t, webbotFormat, "session", files...)
		chosen, proof := score{}, score{}
		for name, label := range labels(t, set) {
			id, known := c.observer.Tables.Clients.Find([]byte(name))
			if !known {
				continue
			}
			who := c.Identities.Of(id)
			half := fnv.New32a()
			half.Write([]byte(name))
			if set == "webbot-phase1" && half.Sum32()%2 == 0 {
				chosen.add(label, who)
			} else {
				proof.add(label, who)
			}
			if people.add(label, who); label == "human" && Hostile.Has(who) {
				t.Logf("%s is %s: %s", name, who.One(), c.Reasons(id))
			}
		}
		if len(chosen) > 0 {
			fmt.Fprintf(&text, "%s, the half on which thresholds were chosen\n", set)
			chosen.write(&text)
			fmt.Fprintf(&text, "%s, the other half\n", set)
		} else {
			fmt.Fprintf(&text, "%s\n", set)
		}
		proof.write(&text)
	}
	text.WriteString("all\n")
	people.write(&text)
	limittest.Golden(t, "testdata/labels.txt", text.String())
	if accused, all := people.of("human", Hostile); all < 50 || 100*accused > 2*all {
		t.Errorf("%d of %d people are called disguised or attackers", accused, all)
	}
}

// labels returns the labels of the annotation files, of which some lines lack their ends.
func labels(t *testing.T, set string) map[string]string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("../../../../shared/logs", set, "annotations*"))
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`([0-9a-z]{26}) (` + strings.Join(labelNames, "|") + `)`)
	all := map[string]string{}
	for _, path := range found {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(file); lines.Scan(); {
			for _, m := range line.FindAllStringSubmatch(lines.Text(), -1) {
				all[m[1]] = m[2]
			}
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(all) == 0 {
		t.Fatalf("%s has no labels", set)
	}
	return all
}

// Crawlers and tools that say so are a second proof: by what they do alone, hardly any may pass for a person. So each
// comes with the agent of a browser here.
func TestIdentitiesAgainstDeclared(t *testing.T) {
	if !testneeds.HasShared(t) {
		t.Skip("the logs lie beside the project")
	}
	for _, set := range []string{"almhuette-2018", "sparkdeveloper-2016", "sundog-2017", "zanbil-sample-2019"} {
		files, err := filepath.Glob(filepath.Join("../../../../shared/logs", set, "*.gz"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", set, err)
		}
		truth := census(t, "", "", files...)
		declared := map[string]request.Class{}
		for id := range int32(len(truth.Identities)) {
			r := truth.observer.records.At(id)
			for _, class := range []request.Class{request.Crawler, request.Tool} {
				if r.is(r.classes[class], 50) && r.steps >= uint32(truth.observer.Rules.Sample) {
					declared[truth.observer.Tables.Clients.Name(id)] = class
				}
			}
		}
		hidden := reading{change: func(b *traffic.Batch, tables *traffic.Tables) {
			for row, client := range b.Client {
				if _, is := declared[tables.Clients.Name(client)]; is {
					b.Agent[row] = uint16(tables.Agents.ID([]byte(browsers[int(client)%len(browsers)])))
				}
			}
		}}.census(t, files...)
		var found [request.ClassCount][Count]int
		var all [request.ClassCount]int
		for name, class := range declared {
			id, _ := hidden.observer.Tables.Clients.Find([]byte(name))
			found[class][hidden.Identities.Of(id)]++
			all[class]++
		}
		for _, class := range []request.Class{request.Crawler, request.Tool} {
			people := found[class][Person] + found[class][Office]
			t.Logf("%-19s %4d of class %-7s  %v", set, all[class], class, found[class])
			if 100*people > 5*all[class] {
				t.Errorf("%s: %d of %d of class %s pass for people", set, people, all[class], class)
			}
		}
	}
}
