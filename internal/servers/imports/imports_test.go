package imports

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/servers"
	"shadow/internal/servers/imports/neutral"
	"shadow/internal/testneeds"
	"shadow/limit/limittest"
)

// imported reads configurations.
func imported(t *testing.T, files ...string) *Import {
	t.Helper()
	i := new(Import)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := i.Add(file, text, ""); err != nil {
			t.Fatal(err)
		}
	}
	i.Done()
	return i
}

// written is the shadow.yaml of an import, which must be one.
func written(t *testing.T, i *Import) string {
	t.Helper()
	var b strings.Builder
	if err := i.Write(&b); err != nil {
		t.Fatal(err)
	}
	if _, err := policy.ParseConfig("written", []byte(b.String())); err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	return b.String()
}

// TestImports has the shadow.yaml of each configuration of testdata in a file beside it, which -update rewrites.
func TestImports(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, file := range files {
		if filepath.Ext(file) == ".golden" {
			continue
		}
		golden := file + ".golden"
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			file += "/nginx.conf"
		}
		t.Run(golden, func(t *testing.T) {
			i := imported(t, file)
			seen[strings.Split(golden, "/")[1]]++
			limittest.Golden(t, golden, written(t, i))
		})
	}
	for _, f := range formats {
		if seen[f.name] == 0 {
			t.Errorf("no configuration of %s is tested", f.name)
		}
	}
}

// Thirty of the configurations above have the structure of public ones: their comments name project and file.
func TestPublicConfigurations(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*")
	if err != nil {
		t.Fatal(err)
	}
	source := regexp.MustCompile(`\A(?:# |\{"//": ")From ([\w.-]+/[\w.-]+) (\S+?)[:\s]`)
	servers, sources := map[string]int{}, map[string]string{}
	for _, file := range files {
		server := filepath.Base(filepath.Dir(file))
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			file += "/nginx.conf"
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if from := source.FindStringSubmatch(string(text)); from != nil && filepath.Ext(file) != ".golden" {
			if i := imported(t, file); len(i.Policies) > 0 {
				servers[server]++
				sources[from[1]+" "+from[2]] = file
			} else if len(i.Notes) < 2 { // what there is instead
				t.Errorf("%s: nothing is read, and not said why: %v", file, i.Notes)
			}
		}
	}
	if len(sources) < 30 || len(servers) < len(formats) {
		t.Errorf("%d public sources of %d servers: %v", len(sources), len(servers), servers)
	}
	t.Logf("%d public configurations: %v", len(sources), servers)
}

// More conditions than a run can tell apart leave the last limits out, whole and told.
func TestTooManyConditions(t *testing.T) {
	text := "frontend f\n stick-table type string len 64 size 1m expire 1m store http_req_rate(1m)\n http-request track-sc0 path\n"
	for n := range request.MaxScopes + 10 {
		text += fmt.Sprintf(" http-request deny if { path_beg /p%d/ } { sc_http_req_rate(0) gt 5 }\n", n)
	}
	i := new(Import)
	if err := i.Add("haproxy.cfg", []byte(text), ""); err != nil {
		t.Fatal(err)
	}
	i.Done()
	var written strings.Builder
	if err := i.Write(&written); err != nil {
		t.Fatal(err)
	}
	config, err := policy.ParseConfig("", []byte(written.String()))
	if err != nil {
		t.Fatal(err)
	}
	kept := len(i.Policies[0].Limits)
	if flat, _ := request.Flatten(config.Scopes); kept < request.MaxScopes-2 || len(flat) > request.MaxScopes {
		t.Errorf("%d limits with %d conditions were kept", kept, len(flat))
	}
	lost := slices.DeleteFunc(i.Lost(), func(n neutral.Note) bool { return !strings.Contains(n.Text, "left out") })
	if len(lost) != request.MaxScopes+10-kept || !strings.Contains(lost[0].Text, fmt.Sprintf("haproxy.cfg:%d ", kept+4)) {
		t.Errorf("%d limits were kept, told is %v", kept, lost)
	}
}

// pasted are the lines to paste that package servers writes: for each limit the blocks by their places.
func pasted(t *testing.T, server string) (limits, places []string, blocks []map[string][]string) {
	t.Helper()
	text, err := os.ReadFile("../testdata/" + server + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	place := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		head, isHead := strings.CutPrefix(line, "== ")
		switch {
		case isHead:
			limit, where, _ := strings.Cut(head, " · ")
			limits, places, blocks = append(limits, limit), append(places, where), append(blocks, map[string][]string{})
		case strings.HasPrefix(line, "["):
			place, _, _ = strings.Cut(strings.Trim(line, "[]"), ",")
		case strings.HasPrefix(line, "    "):
			last := blocks[len(blocks)-1]
			last[place] = append(last[place], line[4:])
		}
	}
	return limits, places, blocks
}

// What servers write for a limit is imported as that limit. The file has keys and requests that come with it.
func TestLinesComeBack(t *testing.T) {
	join := func(lines []string, indent string) string {
		text := ""
		for _, line := range lines {
			text += indent + line + "\n"
		}
		return text
	}
	for server, whole := range map[string]struct {
		file  string
		build func(blocks map[string][]string) string
	}{
		"nginx": {"nginx.conf", func(blocks map[string][]string) string {
			server := ""
			for _, place := range slices.Sorted(maps.Keys(blocks)) {
				switch place {
				case "http":
				case "server":
					server += join(blocks[place], "")
				default:
					server += "location /placed {\n" + join(blocks[place], "") + "}\n"
				}
			}
			return "http {\n" + join(blocks["http"], "") + "server {\n" + server + "}\n}\n"
		}},
		"haproxy": {"haproxy.cfg", func(blocks map[string][]string) string {
			return "frontend f\n" + join(blocks["frontend"], "    ") + join(blocks["backends"], "")
		}},
		"caddy": {"Caddyfile", func(blocks map[string][]string) string {
			return "{\n" + join(blocks["global options"], "") + "}\nshop.example {\n" + join(blocks["site"], "") + "}\n"
		}},
		"traefik": {"traefik.yml", func(blocks map[string][]string) string {
			return join(blocks["dynamic configuration"], "") + "  routers:\n    r:\n" + join(blocks["router"], "      ")
		}},
		"envoy-local": {"envoy.yaml", func(blocks map[string][]string) string {
			return "http_filters:\n" + join(blocks["http_filters"], "")
		}},
		"envoy": {"envoy.yaml", func(blocks map[string][]string) string {
			return "virtual_hosts:\n  - domains: ['*']\n" + join(blocks["virtual host"], "    ") + "---\n" +
				join(blocks["rate limit service"], "")
		}},
	} {
		limits, places, blocks := pasted(t, server)
		if server == "haproxy" { // suggest makes none
			limits, places, blocks = append(limits, "haproxy:3/10s,charge=admitted"), append(places, "action /login"), append(blocks, admitted(t))
		}
		var b strings.Builder
		for n, limit := range limits {
			i := new(Import)
			if err := i.Add(whole.file, []byte(whole.build(blocks[n])), ""); err != nil {
				t.Fatalf("%s · %s: %v\n%s", limit, places[n], err, whole.build(blocks[n]))
			}
			i.Done()
			fmt.Fprintf(&b, "== %s · %s\n", limit, places[n])
			for _, note := range i.Notes {
				fmt.Fprintf(&b, "   %s\n", note)
			}
			back := 0
			for _, p := range i.Policies {
				for _, l := range p.Limits {
					back++
					want, _ := policy.ParseLimits([]string{limit}, l.By)
					if got, err := policy.ParseLimits([]string{l.Text}, l.By); err != nil || got[0].Name != want[0].Name {
						t.Errorf("%s comes back as %s (%v)", limit, l.Text, err)
					}
					fmt.Fprintf(&b, "   by %s %s\n", l.By, l.Match)
				}
			}
			if back == 0 && !strings.Contains(fmt.Sprint(i.Lost()), ": ") { // only the operator knows a name in these lines
				t.Errorf("%s · %s: no limit came back, and nothing is said", limit, places[n])
			}
			written(t, i)
		}
		limittest.Golden(t, "testdata/"+server+"-lines.txt", b.String())
	}
}

// admitted are lines for a counter that only admitted requests move.
func admitted(t *testing.T) map[string][]string {
	t.Helper()
	haproxy, err := servers.Named("haproxy")
	if err != nil {
		t.Fatal(err)
	}
	d, err := haproxy.Lines("haproxy:3/10s,charge=admitted", servers.Where{Action: "/login"})
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[string][]string{}
	for _, b := range d.Blocks {
		blocks[b.Place] = append(blocks[b.Place], b.Lines...)
	}
	return blocks
}

// Configurations that lack some of their words are read without harm, and what is written is a shadow.yaml.
func TestDamagedConfigurations(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*")
	if err != nil {
		t.Fatal(err)
	}
	r := testneeds.Rand(t, 18, 31)
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			file += "/nginx.conf"
		} else if filepath.Ext(file) == ".golden" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for range 60 {
			words := regexp.MustCompile(`\s+|[^\s]+`).FindAllString(string(text), -1)
			for range 1 + r.IntN(4) {
				n := r.IntN(len(words))
				switch r.IntN(3) {
				case 0:
					words[n] = ""
				case 1:
					words[n] = words[r.IntN(len(words))]
				default:
					words[n] = words[n][:r.IntN(len(words[n])+1)]
				}
			}
			i := new(Import)
			if i.Add(file, []byte(strings.Join(words, "")), "") == nil {
				i.Done()
				written(t, i)
			}
		}
	}
}
