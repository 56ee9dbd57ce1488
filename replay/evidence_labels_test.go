package replay_test

import (
	"bufio"
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"shadow/parse"
	"shadow/parse/detect"
	"shadow/policy"
	"shadow/replay"
	"shadow/request"
	"shadow/testneeds"
	"shadow/traffic"
	"shadow/traffic/evidence"
	"shadow/traffic/ingest"
	"shadow/traffic/match"
)

// How good is the evidence? Public logs of one site come with labels: people, and two kinds of robots that drive real
// browsers. All of them claim to be browsers. Thresholds were chosen on the one half of the clients of phase 1, those
// whose hash is even; the other half and phase 2, which has people only, are the proof.

const labelledFormat = `- - [$time_local] "$request" $status $body_bytes_sent "$http_referer" $session "$http_user_agent"`

func TestEvidenceAgainstLabels(t *testing.T) {
	phase1 := judgedLog(t, "webbot-phase1")
	var chosen, proof score
	for name, truth := range labels(t, "webbot-phase1") {
		if half := fnv.New32a(); phase1.has(name) {
			half.Write([]byte(name))
			if half.Sum32()%2 == 0 {
				chosen.add(phase1, name, truth)
			} else {
				proof.add(phase1, name, truth)
			}
		}
	}
	t.Logf("phase 1, half on which thresholds were chosen:\n%s", &chosen)
	t.Logf("phase 1, the other half:\n%s", &proof)
	for _, s := range []*score{&chosen, &proof} {
		if s.evidence.f1(humans) <= s.claim.f1(humans) || s.evidence.f1(bots) <= s.claim.f1(bots) {
			t.Errorf("evidence and claim are no better than the claim:\n%s", s)
		}
		if s.evidence.precision(bots) < 90 || s.evidence.recall(humans) < 90 {
			t.Errorf("evidence accuses people:\n%s", s)
		}
	}
	phase2 := judgedLog(t, "webbot-phase2")
	var people score
	for name, truth := range labels(t, "webbot-phase2") {
		if phase2.has(name) {
			people.add(phase2, name, truth)
		}
	}
	t.Logf("phase 2, people only:\n%s", &people)
	if people.evidence.recall(humans) < 90 {
		t.Errorf("evidence accuses people:\n%s", &people)
	}
}

// Crawlers and tools that say so are a second proof: by what they do alone, hardly any may pass for a person. What
// browsers claim to be is no truth, and so no test, but worth a look.
func TestEvidenceAgainstDeclared(t *testing.T) {
	for _, name := range []string{"almhuette-2018", "sparkdeveloper-2016", "sundog-2017", "zanbil-sample-2019"} {
		log := judgedAs(t, name, "addr", "auto")
		var found [request.ClassCount][evidence.VerdictCount]int
		for id := range int32(log.Evidence.Len()) {
			e, claim := log.Evidence.At(id), log.Clients.At(id).Class()
			if e.Steps >= uint32(evidence.DefaultRules.Sample) {
				found[claim][evidence.DefaultRules.Assess(e, request.Unknown, &log.site).Verdict]++
			}
		}
		for _, class := range []request.Class{request.Browser, request.Crawler, request.Tool} {
			v := found[class]
			all := v[evidence.Human] + v[evidence.Bot] + v[evidence.Undecided]
			t.Logf("%-19s  %4d clients of class %-7s  by evidence alone: %3d%% human, %3d%% bot, %3d%% undecided", name, all, class,
				percent(v[evidence.Human], all), percent(v[evidence.Bot], all), percent(v[evidence.Undecided], all))
			if class != request.Browser && percent(v[evidence.Human], all) > 5 {
				t.Errorf("%s: %d of %d of class %s pass for people", name, v[evidence.Human], all, class)
			}
		}
	}
}

// A confusion counts clients by what they are and what they were taken for.
type confusion struct{ right, wrong, missed [2]int }

const (
	humans = 0
	bots   = 1
)

func (c *confusion) add(is, taken int) {
	if is == taken {
		c.right[is]++
		return
	}
	c.missed[is]++
	c.wrong[taken]++
}

func (c *confusion) precision(of int) int { return percent(c.right[of], c.right[of]+c.wrong[of]) }
func (c *confusion) recall(of int) int    { return percent(c.right[of], c.right[of]+c.missed[of]) }

// f1 is the harmonic mean of precision and recall, in percent.
func (c *confusion) f1(of int) int {
	return percent(2*c.right[of], 2*c.right[of]+c.wrong[of]+c.missed[of])
}

func percent(part, whole int) int { return 100 * part / max(whole, 1) }

// A score compares the claim with what evidence makes of it.
type score struct {
	claim, evidence confusion
	verdicts        map[string]*[evidence.VerdictCount]int // by label
}

func (s *score) add(log *judged, name, label string) {
	is := bots
	if label == "human" {
		is = humans
	}
	class, verdict := log.verdict(name)
	byClaim, byEvidence := bots, bots
	if class == request.Browser {
		byClaim = humans
	}
	if evidence.Believed(class, verdict) {
		byEvidence = humans
	}
	s.claim.add(is, byClaim)
	s.evidence.add(is, byEvidence)
	if s.verdicts == nil {
		s.verdicts = map[string]*[evidence.VerdictCount]int{}
	}
	if s.verdicts[label] == nil {
		s.verdicts[label] = new([evidence.VerdictCount]int)
	}
	s.verdicts[label][verdict]++
}

func (s *score) String() string {
	var b strings.Builder
	for _, way := range []struct {
		name string
		*confusion
	}{{"claim", &s.claim}, {"evidence and claim", &s.evidence}} {
		fmt.Fprintf(&b, "  %-18s  humans: precision %3d%% recall %3d%%   bots: precision %3d%% recall %3d%%\n", way.name,
			way.precision(humans), way.recall(humans), way.precision(bots), way.recall(bots))
	}
	for _, label := range []string{"human", "moderate_bot", "advanced_bot"} {
		if v := s.verdicts[label]; v != nil {
			fmt.Fprintf(&b, "  %-18s  %d taken for human, %d for bot, %d undecided\n", label, v[evidence.Human], v[evidence.Bot], v[evidence.Undecided])
		}
	}
	return b.String()
}

// judged is a log whose clients have been judged by their evidence.
type judged struct {
	*replay.Result
	site evidence.SiteBaseline
	ids  map[string]int32
}

func judgedLog(t *testing.T, name string) *judged {
	return judgedAs(t, name, "session", labelledFormat)
}

// judgedAs is a log that is read in a format, and whose clients are told by a field.
func judgedAs(t *testing.T, name, client, format string) *judged {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(testneeds.Shared(t, "logs/"+name), "*.gz"))
	check(t, err)
	o := ingest.Options{Tables: traffic.NewTables(), Lateness: ingest.DefaultLateness}
	o.Clients, err = match.ParseClientRule(client, "", nil)
	check(t, err)
	o.Format = detect.Choice{Format: format, Options: parse.Options{Extra: o.Clients.Extra()}}
	o.Actions, err = match.NewActions(nil, o.Tables.Actions)
	check(t, err)
	o.Tracer, err = evidence.NewTracer(evidence.TraceRules{})
	check(t, err)
	return gatherAll(t, o, found)
}

// gatherAll gathers the evidence of all clients of some files.
func gatherAll(t *testing.T, o ingest.Options, names []string) *judged {
	t.Helper()
	reader, err := ingest.NewReader(context.Background(), names, nil, o)
	check(t, err)
	policies, err := policy.ParseLimits([]string{"token:6/30s"}, request.ByClient)
	check(t, err)
	engine := replay.New(replay.Options{Tables: o.Tables, Policies: policies, Lateness: o.Lateness, Evidence: true})
	check(t, engine.Run(reader))
	check(t, reader.Close())
	log := &judged{Result: engine.Result(reader.Stats()), ids: map[string]int32{}}
	for id := range int32(log.Evidence.Len()) {
		log.site.Add(log.Evidence.At(id))
		log.ids[o.Tables.Clients.Name(id)] = id
	}
	return log
}

func (l *judged) has(name string) bool {
	_, ok := l.ids[name]
	return ok
}

func (l *judged) verdict(name string) (request.Class, evidence.Verdict) {
	id := l.ids[name]
	class := l.Clients.At(id).Class()
	return class, evidence.DefaultRules.Assess(l.Evidence.At(id), class, &l.site).Verdict
}

// labels are those of the annotation files, of which some lines lack their ends.
func labels(t *testing.T, name string) map[string]string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(testneeds.Shared(t, "logs/"+name), "annotations*"))
	check(t, err)
	line := regexp.MustCompile(`([0-9a-z]{26}) (human|moderate_bot|advanced_bot)`)
	all := map[string]string{}
	for _, path := range found {
		file, err := os.Open(path)
		check(t, err)
		for lines := bufio.NewScanner(file); lines.Scan(); {
			for _, m := range line.FindAllStringSubmatch(lines.Text(), -1) {
				all[m[1]] = m[2]
			}
		}
		check(t, file.Close())
	}
	if len(all) == 0 || !slices.Contains([]string{"webbot-phase1", "webbot-phase2"}, name) {
		t.Fatalf("%s has no labels", name)
	}
	return all
}
