package detect

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"shadow/internal/logfile"
	"shadow/internal/testneeds"
	"shadow/parse"
)

// sharedFiles are the files of a pattern below the real logs. Without them the test is skipped.
func sharedFiles(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(testneeds.Shared(t, "logs"), pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no real log %s (%v)", pattern, err)
	}
	return files
}

// A reading is what a format made of whole files.
type reading struct {
	lines, unreadable int
	reasons           map[string]int
	clients           map[string]int
}

func (r *reading) read(format *parse.Format, data []byte) {
	if r.reasons == nil {
		r.reasons, r.clients = map[string]int{}, map[string]int{}
	}
	p := format.NewParser()
	var rec parse.Record
	for line := range bytes.Lines(data) {
		line = bytes.TrimRight(line, "\r\n")
		r.lines++
		if fault := p.Parse(line, &rec); !fault.OK() {
			r.unreadable++
			r.reasons[fault.Reason]++
			continue
		}
		r.clients[string(rec.Client)]++
	}
}

// share returns how much of the lines cannot be read, in percent.
func (r *reading) share() float64 { return 100 * float64(r.unreadable) / float64(max(r.lines, 1)) }

func (r *reading) String() string {
	var reasons []string
	for reason, n := range r.reasons {
		reasons = append(reasons, fmt.Sprintf("\n    %6d %s", n, reason))
	}
	slices.Sort(reasons)
	return fmt.Sprintf("%d lines, %d unreadable (%.3f %%), %d clients%s",
		r.lines, r.unreadable, r.share(), len(r.clients), strings.Join(reasons, ""))
}

// The formats that the sets without a usual one have.
const (
	webbotText = `- - [$time_local] "$request" $status $body_bytes_sent "$http_referer" $session "$http_user_agent"`
	farmerText = `%v,%p,%h,%l,%u,%t,%I,%O,%S,%B,%{ms}T,%D,%^FB,%>s,"%H","%m","%U","%q","%{Referer}i","%{User-Agent}i","%{farmwork.app}C",%L`
	ocatakText = `"$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent""`
	imoocText  = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$host" "$http_referer" $args "$http_user_agent" ` +
		`"$http_x_forwarded_for" $upstream_addr $upstream_status $upstream_response_time $request_time`
)

// TestSharedSets reads each set wholly and counts what cannot be read, and why.
func TestSharedSets(t *testing.T) {
	const refused = "refused"
	for _, c := range []struct {
		files, format string
		want          string  // the names of the formats that are found
		clients       int     // distinct ones; 0 is any
		max           float64 // percent of the lines that may be unreadable
	}{
		{"almhuette-2015-2016/*.gz", "", "main", 21348, 0.1},
		{"almhuette-2018/*.gz", "", "main", 7465, 0.1},
		{"almhuette-2019/*.gz", "", "main", 456, 0.1},
		{"elastic-apache/*.gz", "", "combined", 1753, 0.1},
		{"elastic-nginx/*.gz", "", "combined", 2660, 0.1},
		{"farmer-2024-2026/apache_combined*.gz", "", "combined", 0, 0.1},
		{"farmer-2024-2026/apache_common*.gz", "", "common", 0, 0.1},
		{"farmer-2024-2026/apache_vhost*.gz", "", "vhost-combined", 5, 0.1},
		{"farmer-2024-2026/nginx*.gz", "", "combined", 2020, 0.1},
		{"farmer-2024-2026/apache_csv*.gz", "", "guessed", 1201, 0.1},
		{"farmer-2024-2026/apache_csv*.gz", farmerText, "custom", 1201, 0.1},
		{"hackers-basjes-2015/*.gz", "", "combined", 520, 0.1},
		{"imooc-2016/*.gz", "", "guessed", 1976, 0.2},
		{"imooc-2016/*.gz", imoocText, "custom", 1976, 0.2},
		{"nasa-1995-07-09/*.gz", "", "common", 2554, 0.1},
		{"netnea-2015-2016/*.gz", "", "apache-iso, combined", 1077, 0.1},
		{"ocatak-scanners/*.gz", "", "combined in quotes", 4, 0.01},
		{"ocatak-scanners/*.gz", ocatakText, "custom", 3, 0.35},
		{"roadmap-nginx-2024/*.gz", "", "combined", 361, 0.1},
		{"sparkdeveloper-2016/*.gz", "", "combined", 8799, 0.1},
		{"sundog-2017/*.gz", "", "combined", 4540, 0.1},
		{"webbot-phase*/*.log.gz", "", refused, 0, 0},
		{"webbot-phase*/*.log.gz", webbotText, "custom", 0, 0.1},
		{"zanbil-sample-2019/*.gz", "", "main", 606, 0.1},
	} {
		t.Run(strings.TrimSpace(c.files+" "+c.format), func(t *testing.T) {
			all, names := reading{}, map[string]bool{}
			for _, file := range sharedFiles(t, c.files) {
				in, err := logfile.OpenInput(file, nil)
				if err != nil {
					t.Fatal(err)
				}
				head, err := in.Peek()
				if err != nil {
					t.Fatal(err)
				}
				d, err := Choice{Format: c.format}.For(head)
				if err != nil {
					names[refused] = true
					continue
				}
				names[d.Format.Name] = true
				all.read(d.Format, testneeds.Content(t, file))
			}
			t.Log(&all)
			if got := strings.Join(slices.Sorted(maps.Keys(names)), ", "); got != c.want {
				t.Errorf("read as %s, want %s", got, c.want)
			}
			if all.share() > c.max {
				t.Errorf("%.3f %% are unreadable, want at most %.3f %%", all.share(), c.max)
			}
			if c.clients > 0 && len(all.clients) != c.clients {
				t.Errorf("%d clients, want %d", len(all.clients), c.clients)
			}
		})
	}
}

// A log in which the referer stands where the agent is expected is read by its own layout, which is said.
func TestSharedImoocWarns(t *testing.T) {
	for _, file := range sharedFiles(t, "imooc-2016/*.gz") {
		d, err := detected(testneeds.Content(t, file), parse.Options{})
		if err != nil || len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0], `"$http_referer" $field`) {
			t.Errorf("warnings %q, %v", d.Warnings, err)
		}
	}
}
