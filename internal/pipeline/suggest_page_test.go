package pipeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"shadow/internal/servers"
	"shadow/internal/suggest"
	"shadow/internal/traffic/who"
	"shadow/report/html"
)

// An island is what the scripts of the page go by.
type island struct {
	Answer struct {
		Limit, Shape string
		N            int64
	}
	Percents []string
	Stored   storedLimits
}

type storedLimits struct {
	Groups []html.Group
	Shapes []struct {
		Shape        string
		Stops        []int64
		Limits       []string
		Hit, Refused [][]int64
		Keeps        []int
		Listed       []html.Listed
		Lines        []html.PatternLines
		Other        map[int]any
		Lack         string
	}
	Clients []*html.Client
}

// pageOf is the page of an answer.
func pageOf(t *testing.T, s Suggest, log string) (text string, data island) {
	t.Helper()
	var out, errs bytes.Buffer
	s.Logs.Caller, s.Output = called(&out, &errs), "html"
	if err := s.Run(t.Context(), []string{log}); err != nil {
		t.Fatal(err)
	}
	text = out.String()
	_, rest, _ := strings.Cut(text, `<script type="application/json" id="data">`)
	inner, _, _ := strings.Cut(rest, "</script>")
	if err := json.Unmarshal([]byte(inner), &data); err != nil {
		t.Fatal(err)
	}
	for i := range data.Stored.Shapes {
		s := &data.Stored.Shapes[i]
		s.Stops = summed(s.Stops, len(s.Stops))
		for g := range s.Hit {
			s.Hit[g], s.Refused[g] = summed(s.Hit[g], len(s.Stops)), summed(s.Refused[g], len(s.Stops))
		}
	}
	return text, data
}

// summed returns so many numbers by their differences. The last one stays.
func summed(differences []int64, length int) (numbers []int64) {
	n := int64(0)
	for i := range length {
		if i < len(differences) {
			n += differences[i]
		}
		numbers = append(numbers, n)
	}
	return numbers
}

// Clients that are alike are listed by their names, whichever was read first.
func TestPageListsLikesByName(t *testing.T) {
	var log strings.Builder
	for minute := range 60 {
		for client := range 40 {
			for second := range 12 {
				fmt.Fprintf(&log, "192.0.2.%d - - [01/Jan/2026:%02d:%02d:%02d +0000] \"GET /a HTTP/1.1\" 200 3 \"-\" \"curl/8\"\n",
					90-client, client/10, minute, second)
			}
		}
	}
	file := filepath.Join(t.TempDir(), "likes.log")
	if err := os.WriteFile(file, []byte(log.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s := Suggest{Holdout: DefaultHoldout, Band: true, Protect: []suggest.Goal{{Who: who.Everybody, Percent: 50_000_000}}}
	s.Logs.Wanted = true
	_, page := pageOf(t, s, file)
	rows := 0
	for i := range page.Stored.Shapes {
		var names []string
		for _, l := range page.Stored.Shapes[i].Listed {
			names = append(names, page.Stored.Clients[l.Client].Name)
		}
		if rows += len(names); !slices.IsSorted(names) {
			t.Errorf("%s lists %s", page.Stored.Shapes[i].Shape, names)
		}
	}
	if rows < 100 {
		t.Errorf("%d clients are listed", rows)
	}
}

// Whatever N the slider stops at, of whichever shape, the figures and the clients are those of a replay of the log.
func TestPageOfAnswerIsReplayed(t *testing.T) {
	for name, s := range map[string]Suggest{
		"nginx":   {Holdout: DefaultHoldout, Band: true},
		"any":     {Holdout: DefaultHoldout, For: "any", Protect: []suggest.Goal{{Who: who.Everybody, Percent: 90_000_000}}},
		"haproxy": {Holdout: DefaultHoldout, For: "haproxy"},
	} {
		t.Run(name, func(t *testing.T) {
			s.Logs.Wanted = true
			_, page := pageOf(t, s, shop)
			var limits []string
			for i := range page.Stored.Shapes {
				limits = append(limits, page.Stored.Shapes[i].Limits...)
			}
			if len(limits) < 200 || len(page.Percents) < 4 {
				t.Fatalf("%d limits, %v", len(limits), page.Percents)
			}
			found := refusedTo(t, limits)
			for i := range page.Stored.Shapes {
				shape := &page.Stored.Shapes[i]
				lists := listsOf(&page, i)
				for k, limit := range shape.Limits {
					hit, refused := int64(0), int64(0)
					for g := range page.Stored.Groups {
						hit, refused = hit+shape.Hit[g][k], refused+shape.Refused[g][k]
					}
					all := found[limit]
					sum := int64(0)
					for _, n := range all {
						sum += n
					}
					if hit != int64(len(all)) || refused != sum {
						t.Errorf("%s: the page has %d requests of %d clients, a replay %d of %d", limit, refused, hit, sum, len(all))
					}
					for client, list := range lists {
						if list.Refused[k] != all[client] {
							t.Errorf("%s: the page has %d requests of %s, a replay %d", limit, list.Refused[k], client, all[client])
						}
						if list.Need > 0 && (shape.Stops[k] >= list.Need) != (all[client] == 0) {
							t.Errorf("%s: %s needs %d, and a replay refuses it %d", limit, client, list.Need, all[client])
						}
					}
					if hit <= suggest.MostListed { // all of them are listed
						for client := range all {
							if _, known := lists[client]; !known {
								t.Errorf("%s: %s is not listed", limit, client)
							}
						}
					}
				}
			}
		})
	}
}

// listsOf are the clients that a shape lists, by name.
func listsOf(page *island, shape int) map[string]html.Listed {
	all := map[string]html.Listed{}
	for _, l := range page.Stored.Shapes[shape].Listed {
		l.Refused = summed(l.Refused, len(page.Stored.Shapes[shape].Stops))
		all[page.Stored.Clients[l.Client].Name] = l
	}
	return all
}

// refusedTo returns what a replay of each limit refuses to each client.
func refusedTo(t *testing.T, limits []string) map[string]map[string]int64 {
	t.Helper()
	var out, errs bytes.Buffer
	var found struct {
		Policies []struct {
			Policy  string
			Clients []struct {
				Client  string
				Refused int64
			} `json:"top_clients"`
		}
	}
	askJSON(t, func(l Logs) error {
		r := Replay{Logs: l, Choice: Choice{Limits: limits}, Look: Look{Output: "json", Top: 1 << 20}, Keeping: Keeping{NoStore: true}}
		return r.Run(t.Context(), []string{shop})
	}, Logs{Caller: called(&out, &errs)}, &out, &found)
	all := map[string]map[string]int64{}
	for i, p := range found.Policies {
		all[limits[i]] = map[string]int64{}
		for _, c := range p.Clients {
			if c.Refused > 0 {
				all[limits[i]][c.Client] = c.Refused
			}
		}
	}
	return all
}

// The page begins at the answer, with its figures and lines. Its least N of a promise are the least of those that are there.
func TestPageOfAnswerBeginsAtIt(t *testing.T) {
	s := Suggest{Holdout: DefaultHoldout, Band: true}
	s.Logs.Wanted = true
	text, page := pageOf(t, s, shop)
	var out, errs bytes.Buffer
	var report struct {
		Answer struct {
			Limit   string
			Targets struct{ Requests, Refused int64 }
			Paste   []struct{ Lines []string }
		}
	}
	askJSON(t, func(l Logs) error {
		json := Suggest{Logs: l, Holdout: DefaultHoldout, Band: true, Output: "json"}
		return json.Run(t.Context(), []string{shop})
	}, Logs{Caller: called(&out, &errs)}, &out, &report)
	refused := int64(0)
	for i := range page.Stored.Shapes {
		shape := &page.Stored.Shapes[i]
		if shape.Shape != page.Answer.Shape {
			continue
		}
		stop := slices.Index(shape.Limits, page.Answer.Limit)
		if stop < 0 || shape.Stops[stop] != page.Answer.N {
			t.Fatalf("%+v is not among %v", page.Answer, shape.Limits)
		}
		for g := range page.Stored.Groups {
			if page.Stored.Groups[g].Target {
				refused += shape.Refused[g][stop]
			}
		}
	}
	if a := &report.Answer; page.Answer.Limit != a.Limit || refused != a.Targets.Refused {
		t.Errorf("the page begins at %s, which refuses %d; the answer is %s, with %d", page.Answer.Limit, refused, a.Limit, a.Targets.Refused)
	}
	for _, b := range report.Answer.Paste {
		for _, line := range b.Lines {
			if !strings.Contains(text, line) {
				t.Errorf("no line %q on the page", line)
			}
		}
	}
	for i := range page.Stored.Shapes {
		s := &page.Stored.Shapes[i]
		for p, keeps := range s.Keeps {
			for g := range page.Stored.Groups {
				if keeps >= 0 && p+1 == len(page.Percents) && page.Stored.Groups[g].Protected && s.Hit[g][keeps] != 0 {
					t.Errorf("%s: %s %% of %s are not spared at %d", s.Shape, page.Percents[p], page.Stored.Groups[g].Name, keeps)
				}
			}
			if keeps >= 0 && p > 0 && s.Keeps[p-1] > keeps {
				t.Errorf("%s: a smaller promise takes a higher N", s.Shape)
			}
		}
	}
}

// Lines that the scripts make for other N are those that suggest prints for them.
func TestLinesOfThePage(t *testing.T) {
	for _, name := range []string{"nginx", "haproxy", "envoy", "envoy-local", "traefik", "caddy", "apache"} {
		s := Suggest{Holdout: DefaultHoldout, For: name}
		s.Logs.Wanted = true
		_, page := pageOf(t, s, shop)
		server, err := servers.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		made, others := 0, 0
		for i := range page.Stored.Shapes {
			shape := &page.Stored.Shapes[i]
			if shape.Lines == nil && shape.Lack == "" {
				t.Errorf("%s: neither lines for %s nor why", name, shape.Shape)
			}
			for k, limit := range shape.Limits {
				if shape.Lines == nil {
					continue
				}
				want, err := server.Lines(limit, servers.Where{})
				if err != nil {
					t.Fatal(err)
				}
				if _, other := shape.Other[k]; other {
					others++
					continue
				}
				made++
				for b, block := range blocksOf(want, true) {
					if got := shape.Lines[b].With(shape.Stops[k]); got.Text != strings.Join(block.Lines, "\n") || got.Place != block.Place {
						t.Errorf("%s: the page has %q, want %q", limit, got.Text, block.Lines)
					}
				}
			}
		}
		if made < 50 || others > made/5 {
			t.Errorf("%s: %d lines by the pattern, %d by themselves", name, made, others)
		}
	}
}
