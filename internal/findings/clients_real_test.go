package findings

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/internal/traffic/evidence"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/match"
	"shadow/internal/traffic/network"
	"shadow/parse"
	"shadow/parse/detect"
)

// reading says how a test reads logs.
type reading struct {
	format, client, from string
	trusted              []string
	owners               string // a database of networks
}

// look reads logs as a command does, and looks at them.
func (r reading) look(t testing.TB, names ...string) (*Look, []Finding) {
	t.Helper()
	o := ingest.Options{Tables: traffic.NewTables(), Lateness: ingest.DefaultLateness, Origins: true}
	var err error
	if o.Clients, err = match.ParseClientRule(r.client, r.from, r.trusted); err != nil {
		t.Fatal(err)
	}
	if o.Actions, err = match.NewActions(nil, o.Tables.Actions); err != nil {
		t.Fatal(err)
	}
	if o.ClueFinder, err = evidence.NewClueFinder(evidence.ClueRules{Purposes: true}); err != nil {
		t.Fatal(err)
	}
	var known network.Known
	if r.owners != "" {
		if known.Owners, err = network.Open([]string{r.owners}); err != nil {
			t.Fatal(err)
		}
	}
	o.Format = detect.Choice{Format: "auto", Options: parse.Options{Extra: o.Clients.Extra()}}
	if r.format != "" {
		o.Format.Format = r.format
	}
	reader, err := ingest.NewReader(context.Background(), names, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	with := Options{Read: &o, Client: r.client, Known: known, By: true}
	l, parts := New(with), newParts(with)
	for {
		b, err := reader.Next()
		if err != nil {
			break
		}
		parts.take(b)
		l.Take(b)
	}
	s := reader.Stats()
	found := l.Findings(&s)
	parts.verify(t, l, found, &s)
	return l, found
}

// botNetworks send too little to be told, but are bots, as their lines show: two spiders of a search engine that hide, one
// that guesses passwords, and one that sends forms.
var botNetworks = map[string][]string{
	"almhuette-2018": {"196.19.0.0/20"}, "elastic-apache": {"180.76.5.0/24", "180.76.6.0/24"}, "sparkdeveloper-2016": {"202.46.48.0/20", "50.62.208.0/24"},
}

// What is told of the clients of real logs, which are described beside them.
func TestClientsOfRealLogs(t *testing.T) {
	const session = `- - [$time_local] "$request" $status $body_bytes_sent "$http_referer" $session "$http_user_agent"`
	imooc := `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$host" "$http_referer" $args ` +
		`"$http_user_agent" "$http_x_forwarded_for" $upstream_addr $upstream_status $upstream_response_time $request_time`
	formats := map[string]reading{
		"webbot-phase1": {format: session, client: "session"}, "webbot-phase2": {format: session, client: "session"},
		"ocatak-scanners": {format: `"$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent""`},
		"imooc-2016":      {format: imooc},
	}
	for name, want := range map[string]string{
		"almhuette-2015-2016": "info attacker 192.227.172.158, info shared_addresses",
		"almhuette-2018":      "info attacker 46.105.57.86, info shared_addresses",
		"almhuette-2019":      "info attacker 193.106.31.130",
		"elastic-apache":      "",
		"elastic-nginx":       "info api_or_app",
		"farmer-2024-2026":    "info attacker 91.92.241.149, info shared_addresses",
		"imooc-2016":          "info health_check 10.100.0.1",
		"nasa-1995-07-09":     "",
		"netnea-2015-2016":    "info own_server 127.0.0.1, stop proxy_as_client",
		"hackers-basjes-2015": "warn partial", // a file of pages alone
		"ocatak-scanners":     "info attacker 192.168.4.164, warn secrets_served",
		"roadmap-nginx-2024":  "info attacker 172.104.4.17, info health_check 138.68.248.85",
		"sparkdeveloper-2016": "info attacker 184.154.36.177, info health_check 192.0.101.226, info own_server, info shared_addresses",
		"sundog-2017":         "info attacker 81.22.242.55, info own_server 54.210.20.202, info shared_addresses",
		"webbot-phase1":       "",
		"webbot-phase2":       "",
		"zanbil-sample-2019":  "info health_check 172.20.2.174",
	} {
		t.Run(name, func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join(testneeds.Shared(t, "logs/"+name), "*.gz"))
			if err != nil {
				t.Fatal(err)
			}
			files = slices.DeleteFunc(files, func(file string) bool { // what is no log, or of another format
				return strings.Contains(file, "annotations") || strings.Contains(file, "csv")
			})
			l, found := formats[name].look(t, files...)
			var bots []string
			for _, n := range l.Census().Networks {
				bots = append(bots, n.Name)
			}
			slices.Sort(bots)
			if !slices.Equal(bots, botNetworks[name]) {
				t.Errorf("networks %q are bots, want %q", bots, botNetworks[name])
			}
			var got []string
			for _, f := range found {
				if !slices.Contains(clientCodes, f.Code) {
					continue
				}
				t.Log(f.String())
				one := f.Severity.String() + " " + f.Code
				if _, names, ok := strings.Cut(f.Evidence, "addresses ("); ok && f.Code != "shared_addresses" {
					one += " " + names[:max(0, strings.IndexAny(names, ",)"))]
				}
				got = append(got, strings.TrimSpace(one))
			}
			slices.Sort(got)
			if got := strings.Join(got, ", "); got != want {
				t.Errorf("found %q, want %q", got, want)
			}
		})
	}
}
