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
	lost := slices.DeleteFunc(i.Lost(), func(n Note) bool { return !strings.Contains(n.Text, "left out") })
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
					fmt.Fprintf(&b, "   by %s %s\n", l.By, groupText(l.Match.c))
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

// What is not understood is said with file and line, and nothing is dropped.
func TestNginxTells(t *testing.T) {
	for text, want := range map[string]string{
		"limit_req_zone $binary_remote_addr zone=a:1m rate=1r/s;\nserver { limit_req zone=b; }":                                                                                       `nginx.conf:2: limit_req: there is no zone "b"`,
		"limit_req_zone $binary_remote_addr zone=a:1m rate=1r/h;\nserver { limit_req zone=a; }":                                                                                       "nginx.conf:1: rate=1r/h is not understood",
		"limit_req_zone $binary_remote_addr zone=a:1m rate=9/s;\nserver { limit_req zone=a; }":                                                                                        "nginx.conf:1: rate=9/s is not understood",
		"limit_req_zone $binary_remote_addr zone=a:1m;\nserver { limit_req zone=a bust=5; }":                                                                                          `nginx.conf:2: limit_req: "bust=5" is not understood`,
		"limit_req_zone $binary_remote_addr zone=a:1m;\nserver {\nlocation ~ (?!a)b { limit_req zone=a; } limit_req zone=a; }":                                                        `nginx.conf:3: location ~ (?!a)b cannot be read in Go's syntax`,
		"limit_req_zone $k zone=a:1m;\nmap $remote_user $k {\n v1 1; default ''; }\nserver { limit_req zone=a; }":                                                                     `nginx.conf:3: no condition says that $remote_user is v1: this entry is left out`,
		"limit_req_zone $k zone=a:1m;\nmap $uri $k {\n ~^/(.*)/x $1; default ''; }\nserver { limit_req zone=a; }":                                                                     `nginx.conf:3: what the expression ~^/(.*)/x captures is not understood`,
		"limit_req_zone $binary_remote_addr zone=a:1m;\nserver { location / { rewrite ^/(\\w+)/(.*) /$2 last; } location /a { limit_req zone=a; } }":                                  "nginx.conf:2: rewrite ^/(\\w+)/(.*) /$2 last sends requests on to another location",
		"limit_req_zone $k zone=a:1m;\nmap $scheme$http_x_y $k {\n httpsv1 1; default $binary_remote_addr; }\nserver { limit_req zone=a; }":                                           "nginx.conf:3: no condition says that $scheme$http_x_y is httpsv1: this entry is left out",
		"limit_req_zone $k zone=a:1m;\nmap $http_x$http_y $k {\n ab 1; default $binary_remote_addr; }\nserver { limit_req zone=a; }":                                                  "nginx.conf:3: no condition says that $http_x$http_y is ab: this entry is left out",
		"limit_req_zone $uri zone=a:1m;\nmerge_slashes off;\nserver { limit_req zone=a; }":                                                                                            "nginx.conf:2: merge_slashes off leaves several slashes",
		"limit_req_zone $request_method zone=a:1m;\nserver { limit_req zone=a; }":                                                                                                     "nginx.conf:1: $request_method is nothing that limits here count by",
		"limit_req_zone $k zone=a:1m;\nmap $k $k { default $k; }\nserver { limit_req zone=a; }":                                                                                       "nginx.conf:2: $k is made of itself",
		"limit_req_zone $k zone=a:1m;\nserver { set $k $1; limit_req zone=a; }":                                                                                                       "nginx.conf:2: set $k is not understood",
		"limit_req_zone $k zone=a:1m;\ngeo $k { default 1;\nranges;\n10.0.0.9-10.0.0.1 ''; }\nserver { limit_req zone=a; }":                                                           "nginx.conf:4: 10.0.0.9-10.0.0.1 is no network: this entry is left out",
		"limit_req_zone $binary_remote_addr zone=a:1m;\nserver { if ($scheme) { return 403; } limit_req zone=a; }":                                                                    "nginx.conf:2: if ($scheme) { return … } is not understood",
		"limit_req_zone $binary_remote_addr zone=a:1m;\nserver { location ~ php$ { limit_req zone=a; } location / { try_files $uri /index.php; } }":                                   "nginx.conf:2: try_files $uri /index.php: files that are there are not limited",
		"limit_req_zone $binary_remote_addr zone=a:1m;\nserver { location ~ php$ { limit_req zone=a; } location / { try_files $uri $fallback; } }":                                    "nginx.conf:2: try_files $uri $fallback sends requests on to another location",
		"limit_req_zone $binary_remote_addr zone=a:1m;\nserver { location ~ php$ { limit_req zone=a; } location / { index index.php; } }":                                             "nginx.conf:2: index index.php: what it sends to location ~ php$ counts there as well",
		"limit_req_zone $binary_remote_addr zone=a:1m;\nserver { error_page 404 /e; location = /e { limit_req zone=a; } location / { root /srv; } }":                                  "nginx.conf:2: error_page 404 /e: what it sends to location = /e counts there as well",
		"limit_req_zone $binary_remote_addr zone=a:1m;\nserver { rewrite ^/e$ /api; location /e { }\nlocation ~ x { error_page 404 /e?$args; } location /api { limit_req zone=a; } }": "nginx.conf:3: error_page 404 /e?$args: what it sends to location /api counts there as well",
		"limit_req_zone $arg_k zone=a:1m;\nserver { location / { limit_req zone=a;\ntry_files /none /x; } location /x { } }":                                                          "nginx.conf:3: try_files /none /x leads on without the query: a log has no $arg_k of that",
		"limit_req_zone $binary_remote_addr zone=a:1m;\nserver { location /a { error_page 404 @b;\nlocation /a/c { } } location @b { limit_req zone=a; } }":                           "nginx.conf:2: error_page 404 @b: what it sends to location @b counts there as well",
		"limit_req_zone $binary_remote_addr zone=a:1m;\nserver { location / { internal_redirect @a; limit_req zone=a; }\nlocation @a { limit_req zone=a; } }":                         "nginx.conf:3: no request is found that comes to location @a",
		"limit_req_zone $binary_remote_addr zone=a:1m;\nserver { location / { auth_request /v; }\nlocation = /v { internal; limit_req zone=a; } }":                                    "nginx.conf:3: auth_request asks this location first",
		"set_real_ip_from 10.0.0.0/8;\nlimit_req_zone $realip_remote_addr zone=a:1m;\nserver { limit_req zone=a; }":                                                                   "nginx.conf:2: $realip_remote_addr is the address of the proxy",
		"limit_req_zone $binary_remote_addr zone=a:1m;\nserver { limit_req burst=5 zone=a;\nlimit_req zone=a; }":                                                                      "nginx.conf:3: limit_req zone=a stands here twice",
		"limit_req_zone $binary_remote_addr zone=a:1m;\nserver { location / { if ($arg_a) { limit_req zone=a; } } }":                                                                  "nginx.conf:2: nginx takes no limit_req within if",
		"limit_req_zone $binary_remote_addr zone=a:1m;\nserver { limit_req zone=a; access_by_lua_file waf.lua; }":                                                                     "nginx.conf:2: access_by_lua_file may limit or end requests",
		"limit_req_zone $binary_remote_addr zone=a:1m;\nserver { limit_req zone=a; rewrite_by_lua 'ngx.redirect(1)'; }":                                                               "nginx.conf:2: rewrite_by_lua may limit or end requests",
		"server { limit_conn a 1; }":                               "nginx.conf:1: limit_conn bounds how many requests are under way at once",
		"limit_req_zone $binary_remote_addr zone=a:1m;\nserver {}": "there is no limit of requests in it",
		"http {\ninclude nowhere.conf; }":                          "nginx.conf:2: open nowhere.conf: no such file or directory",
		"http {":                                                   `nginx.conf:1: unexpected end of file, expecting "}"`,
	} {
		i := new(Import)
		if err := i.Add("nginx.conf", []byte(text), "nginx"); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		i.Done()
		if !slices.ContainsFunc(i.Lost(), func(n Note) bool { return strings.HasPrefix(n.String(), want) }) {
			t.Errorf("%s: %v, want %s", text, i.Notes, want)
		}
		if out := written(t, i); !regexp.MustCompile(`(?m)^# NOT AS THERE: `).MatchString(out) {
			t.Errorf("%s: it does not say so:\n%s", text, out)
		}
	}
}

// What HAProxy has and limits here have not is said, whatever is read besides.
func TestHAProxyTells(t *testing.T) {
	const deny = "\nhttp-request deny if { sc_http_req_rate(0) gt 8 }"
	table := func(words string) string { return "frontend f\nstick-table " + words + "\n" }
	ip := table("type ip size 1k expire 1m store http_req_rate(10s),gpc0,gpc1_rate(1s)")
	for text, want := range map[string]string{
		table("type string len 8 size 1k expire 1m store http_req_rate(10s)") + "http-request track-sc0 path" + deny:                                                                "haproxy.cfg:3: the table f cuts keys to 8 bytes",
		table("type string size 1k expire 1m store http_req_rate(10s)") + "http-request track-sc0 path" + deny:                                                                      "haproxy.cfg:3: the table f cuts keys to 32 bytes",
		table("type ip size 1k expire 1m store http_req_rate(10s)") + "http-request track-sc0 req.hdr(X-Key)" + deny:                                                                "haproxy.cfg:3: the table f has addresses",
		table("type ip size 1k expire 1s store http_req_rate(1s)") + "http-request deny if { src_http_req_rate gt 8 }\nhttp-request track-sc0 src":                                  "haproxy.cfg:4: the table f forgets a client after 1s",
		table("type ipv4 size 1k expire 1m store http_req_rate(1s)") + "http-request track-sc0 src" + deny:                                                                          "haproxy.cfg:2: type ipv4 is not understood in a stick-table",
		table("type ip sise 1k expire 1m store http_req_rate(1s)") + "http-request track-sc0 src" + deny:                                                                            "haproxy.cfg:2: sise is not understood in a stick-table",
		ip + "acl over src_http_req_rate gt 5\nhttp-request track-sc0 src unless over" + deny:                                                                                       "haproxy.cfg:4: unless over asks for a rate that is not exceeded",
		ip + "http-request track-sc0 src if { sc_http_req_rate(1) gt 5 }" + deny:                                                                                                    "haproxy.cfg:3: http-request track-sc0 goes by a rate",
		ip + "http-request track-sc0 src if !{ src_http_req_rate gt 5 }" + deny:                                                                                                     "haproxy.cfg:3: !{ src_http_req_rate gt 5 } asks for a rate that is not exceeded",
		ip + "http-request track-sc0 src" + deny + "\nuse_backend slow if { sc_http_req_rate(0) gt 3 }":                                                                             "haproxy.cfg:5: use_backend slow goes by a rate",
		ip + "http-request track-sc0 src" + deny + "\nhttp-request allow if { sc_http_req_rate(0) gt 3 }":                                                                           "haproxy.cfg:5: http-request allow goes by a rate",
		ip + "http-request track-sc0 src" + deny + "\nhttp-request deny unless { sc_http_req_rate(0) gt 3 }":                                                                        "haproxy.cfg:5: unless { sc_http_req_rate(0) gt 3 } asks for a rate",
		ip + "http-request track-sc0 src" + deny + "\nhttp-request set-var(req.a) int(1) if { sc_conn_rate(0) gt 3 }":                                                               "haproxy.cfg:5: sc_conn_rate(0) counts what no limit here does",
		table("type ip size 1k expire 1m store conn_cur") + "tcp-request connection track-sc0 src\nhttp-request deny if { sc_conn_cur(0) gt 8 }\noption httplog":                    "haproxy.cfg:4: it bounds connections",
		table("type ip size 1k expire 1m store conn_cur") + "http-request deny if { sc0_conn_cur gt 8 }\nhttp-request track-sc0 src\noption httplog":                                "haproxy.cfg:3: it stands before",
		table("type ip size 1k expire 1m store conn_cur") + "http-request track-sc0 src\nhttp-request track-sc1 src\nhttp-request deny if { sc0_conn_cur gt 8 }\noption httplog":    "haproxy.cfg:5: several rules track one key",
		table("type ip size 1k expire 1m store conn_cur") + "http-request track-sc0 src\nhttp-request tarpit if { sc0_conn_cur gt 8 }\noption httplog":                              "haproxy.cfg:4: what tarpit keeps waiting stays under way",
		table("type ip size 1k expire 1m store conn_cur,http_req_rate(1s)") + "http-request track-sc0 src" + deny + "\nhttp-response deny if { sc0_conn_cur gt 8 }\noption httplog": "haproxy.cfg:5: http-response deny refuses when",
		table("type ip size 1k expire 1m store conn_cur") + "http-request track-sc0 src\nhttp-request deny if { sc_conn_cur(0) gt 8 }":                                              "haproxy.cfg:4: conn_cur bounds how many requests are under way",
		table("type ip size 1k expire 1m store gpc0") + "http-request track-sc0 src\nhttp-request deny if { sc_conn_cur(0) gt 8 }":                                                  "haproxy.cfg:4: the table f stores no conn_cur",
		ip + "http-request track-sc0 src" + deny + "\nhttp-request sc-inc-gpc1(0)":                                                                                                  "haproxy.cfg:5: sc-inc-gpc1 is not understood",
		ip + "http-request track-sc0 src" + deny + "\nhttp-response sc-inc-gpc0(0) if { status 401 }":                                                                               "haproxy.cfg:5: http-response sc-inc-gpc0 is not understood",
		ip + "http-request track-sc0 src" + deny + "\nhttp-request denny if { path /a }":                                                                                            "haproxy.cfg:5: denny is a word that is not known",
		ip + "http-request track-sc0 src" + deny + " !{ base_beg a.example/ }":                                                                                                      "haproxy.cfg:4: no condition says",
		ip + "http-request track-sc0 src" + deny + " { path,word(1,/) a }":                                                                                                          "haproxy.cfg:4: no condition says",
		ip + "http-request track-sc0 path,word(1,/)" + deny:                                                                                                                         "haproxy.cfg:3: what word(1,/) makes of a key",
		ip + "http-request track-sc0 url32+src" + deny:                                                                                                                              "haproxy.cfg:3: url has the query",
		ip + "http-request track-sc0 src" + deny + " { hdr(host) a.example:81 }":                                                                                                    "haproxy.cfg:4: hosts have no port here",
		ip + "http-request track-sc0 src" + deny + " { hdr_reg(user-agent) ^a.*z }":                                                                                                 "haproxy.cfg:4: hdr tests what stands between commas of the agent",
		ip + "http-request track-sc0 src" + deny + " { hdr(x-a,1) a }":                                                                                                              "haproxy.cfg:4: no condition says",
		ip + "http-request track-sc0 src" + deny + " { var(txn.never) -m bool }":                                                                                                    "haproxy.cfg:4: no condition says",
		ip + "http-request set-var-fmt(txn.a) %[src]\nhttp-request track-sc0 src" + deny + " { var(txn.a) -m found }":                                                               "haproxy.cfg:5: no condition says",
		table("type string size 1k expire 1m store http_req_rate(9s)") + "http-request track-sc0 req.hdr(User-Agent)" + deny:                                                        "haproxy.cfg:3: what stands behind the last comma of the agent",
		table("type string size 1k expire 1m store http_req_rate(8s)") + "http-request track-sc0 base" + deny:                                                                       "haproxy.cfg:3: hosts are the same here in any case",
		table("type integer size 1k expire 1m store http_req_rate(8s)") + "http-request track-sc0 path" + deny:                                                                      "haproxy.cfg:3: the table f has numbers",
		ip + "http-request set-path /a\nhttp-request track-sc0 src" + deny:                                                                                                          "haproxy.cfg:3: set-path changes or ends",
		ip + "http-request set-header X-Key a\nhttp-request track-sc0 req.hdr(x-key)" + deny:                                                                                        "haproxy.cfg:3: set-header changes a header",
		ip + "block if { path /a }\nhttp-request track-sc0 src" + deny:                                                                                                              "haproxy.cfg:3: block is not understood",
		ip + "tcp-request connection track-sc0 src\ntcp-request connection reject if { sc0_http_req_rate gt 5 }":                                                                    "haproxy.cfg:4: connection reject is asked for once a connection",
		"defaults\nhttp-request deny if { path /a }\n" + ip + "http-request track-sc0 src" + deny:                                                                                   "haproxy.cfg:2: rules of a defaults section are not read",
	} {
		i := new(Import)
		if err := i.Add("haproxy.cfg", []byte(text), "haproxy"); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		i.Done()
		if !slices.ContainsFunc(i.Notes, func(n Note) bool { return strings.HasPrefix(n.String(), want) }) {
			t.Errorf("%s: %v, want %s", text, i.Notes, want)
		}
	}
}

// Tests that HAProxy 2.6.12 was seen to make so.
func TestHAProxyConditions(t *testing.T) {
	const table = "frontend f\nstick-table type ipv6 size 1k expire 1m store http_req_rate(10s),http_err_rate(10s)\n"
	for test, want := range map[string]string{
		"{ hdr_dom(host),field(1,:) -i a.example }": "{host: a.example}", // behind a converter it is the whole
		"{ hdr_dom(host) -i a.example }":            "{host: [a.example, '*.a.example', 'a.example.*', '*.a.example.*']}",
		"{ path_dir /deep/ }":                       "{regexp: '/deep(/|$)'}",
		"{ path_beg,lower /a }":                     "{regexp: '(?i)^/a$'}",
		"{ path,lower -m reg ^/\\S }":               "",
		"{ hdr_beg(user-agent) like }":              `{agent: '(^|,)\s*like'}`,
		"{ req.fhdr(user-agent) -m beg like }":      "{agent: '^like'}",
		"{ hdr(x-a) k1,k2 k3 }":                     `{with: 'header:x-a~(^|,)\s*k3\s*(,|$)'}`,
		"{ cook(SID) x }":                           "{with: 'cookie:SID~^x$'}",
		"{ path /a } { var(txn.later) -m bool }":    "none", // which a rule behind sets
		"{ path /a } !{ var(txn.later) -m bool }":   "{path: /a}",
	} {
		i := new(Import)
		if err := i.Add("haproxy.cfg", []byte(table+"http-request track-sc0 src\nhttp-request deny if { sc0_http_req_rate gt 8 } "+test+
			"\nhttp-request set-var(txn.later) bool(true)\n"), "haproxy"); err != nil {
			t.Fatal(err)
		}
		i.Done()
		got := "none"
		if len(i.Policies) > 0 {
			got = groupText(i.Policies[0].Limits[0].Match.c)
		}
		if got != want && (want != "" || len(i.Lost()) == 0) { // "": it is told
			t.Errorf("%s: %s, want %s", test, got, want)
		}
	}
}

// Which limits rules ask for, as HAProxy 2.6.12 was seen to judge.
func TestHAProxyRates(t *testing.T) {
	const tables = "backend short\nstick-table type ipv6 size 1k expire 20s store http_req_rate(2s),gpc0,gpc0_rate(3s)\n" +
		"backend long\nstick-table type ipv6 size 1k expire 20m store http_req_rate(10m)\n"
	const track = "frontend f\nhttp-request track-sc0 src table short\nhttp-request track-sc1 src table long\n"
	const content = "frontend f\ntcp-request content track-sc0 src table short\ntcp-request content track-sc1 src table long\n"
	const counts, asks = "http-request sc-inc-gpc0(0) if { path /in }\n", "http-request deny if { sc0_gpc0_rate gt 5 }\n"
	for rules, want := range map[string]string{
		"http-request deny if { sc0_http_req_rate(long) gt 5 }":                                                                          "haproxy:5/10m all",
		"http-request deny if { sc_http_req_rate(0,nowhere) gt 5 }":                                                                      "no rule of this section counts what is asked for",
		"http-request deny if { sc0_http_req_rate gt 5 } { sc1_http_req_rate gt 9 }":                                                     "several rates at once",
		"http-request deny if { sc0_http_req_rate gt 5 } { sc_http_req_rate(0) ge 9 }":                                                   "haproxy:8/2s all",
		"acl a sc0_http_req_rate gt 5\nacl a path /x\nacl b sc1_http_req_rate gt 9\nacl b path /x\nhttp-request deny if { path /x } a b": "[there is no limit of requests in it]",
		"http-request capture str(tried) len 9 if { sc0_http_req_rate gt 5 }":                                                            "haproxy:5/2s all",
		"http-request capture str(x) len 9 if { path /x }\n" + asks + counts:                                                             "haproxy:6/3s,charge=admitted all",
		"http-request capture str(x) len 9 if { lua.known }\n" + asks + counts:                                                           "haproxy:6/3s,charge=admitted all",
		"http-request capture src len 15 if { sc0_http_req_rate gt 5 }\n" + asks + counts:                                                "haproxy:6/3s,charge=admitted all",
		"acl a sc0_http_req_rate gt 5\nacl a path /evil\nhttp-request deny if a":                                                         "haproxy:5/2s {not: {path: /evil}}",
		"acl a sc0_http_req_rate gt 5\nacl a path /evil\nhttp-request deny if a { path /a }":                                             "haproxy:5/2s {path: /a, not: {path: /a, either: {path: /evil}}}",
		content + "http-request deny if { sc_http_req_rate(0,long) gt 5 }":                                                               "haproxy:5/10m all",
		counts + asks: "haproxy:5/3s all",
		asks + counts: "haproxy:6/3s,charge=admitted all",
		"http-request deny unless { lua.known }\n" + asks + counts: "haproxy:6/3s,charge=admitted all",
	} {
		i := new(Import)
		if !strings.HasPrefix(rules, "frontend") {
			rules = track + rules
		}
		if err := i.Add("haproxy.cfg", []byte(tables+rules+"\n"), "haproxy"); err != nil {
			t.Fatal(err)
		}
		i.Done()
		var got []string
		for _, p := range i.Policies {
			for _, l := range p.Limits {
				text, _, _ := strings.Cut(l.Text, ",expire")
				got = append(got, text+" "+strings.Replace(groupText(l.Match.c), "{}", "all", 1))
			}
		}
		text, told := strings.Join(got, "; "), fmt.Sprint(i.Lost())
		if text != want && !(len(got) == 0 && strings.Contains(told, want)) || strings.HasPrefix(rules, track+"http-request capture") && told != "[]" {
			t.Errorf("%s: %s, want %s; told is %v", rules, text, want, told)
		}
	}
}

// Configurations out of public questions about HAProxy, with what is right.
func TestHAProxyCases(t *testing.T) {
	cases := testneeds.Shared(t, "cases")
	cut := imported(t, filepath.Join(cases, "haproxy-key-cut-by-len", "haproxy.cfg"))
	if text := fmt.Sprint(cut.Lost()); !strings.Contains(text, "haproxy.cfg:6: the table fe cuts keys to 8 bytes") {
		t.Error(text)
	}
	var limits []string
	for _, l := range imported(t, filepath.Join(cases, "haproxy-map-unless", "haproxy.cfg")).Policies[0].Limits {
		limits = append(limits, fmt.Sprint(l.Text, " ", l.By, " ", groupText(l.Match.c)))
	}
	if want := []string{
		"haproxy:30/1s path {prefix: /ann/version, not: {regexp: '/remote$'}}", "haproxy:10/1s path {prefix: /ann/user, not: {regexp: '/remote$'}}",
		"haproxy:20/1s path {not: [{regexp: '/remote$'}, {prefix: /ann/version}, {prefix: /ann/user}]}", "haproxy:2/1s path {regexp: '/remote$'}",
	}; !slices.Equal(limits, want) {
		t.Errorf("%q, want %q", limits, want)
	}
}

// Words of HAProxy that no list has are told at each level. Those of answers, of users and of the known are not.
func TestUnknownWordsOfHAProxyAreTold(t *testing.T) {
	const text = `global
	wordglobal 1
	tune.bufsize 16384
userlist u
	user a password b
defaults
	worddefaults 1
	mode http
frontend f
	wordfrontend 1
	rate-bound 5
	http-request wordaction
	http-response set-header A b
	tcp-request content wordcontent
	http-request track-sc0 src table b
	http-request deny if { sc0_http_req_rate gt 5 }
backend b
	wordbackend 1
	stick-table type ipv6 size 1k expire 1m store http_req_rate(10s)
`
	i := new(Import)
	if err := i.Add("haproxy.cfg", []byte(text), "haproxy"); err != nil {
		t.Fatal(err)
	}
	i.Done()
	var got []string
	for _, n := range i.Notes {
		word, _, _ := strings.Cut(n.Text, " ")
		got = append(got, fmt.Sprint(n.Place, " ", word, " ", n.Mild))
	}
	want := []string{
		"haproxy.cfg:2 wordglobal true", "haproxy.cfg:7 worddefaults true", "haproxy.cfg:10 wordfrontend true", "haproxy.cfg:11 rate-bound false",
		"haproxy.cfg:12 wordaction true", "haproxy.cfg:14 wordcontent true", "haproxy.cfg:18 wordbackend true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("told are %q, want %q", got, want)
	}
}

// A word that no table has is told at each level, once, and inside of known blocks; names and values of maps are no words.
func TestUnknownWordsAreTold(t *testing.T) {
	const text = `wordmain 1;
events { wordevents on; }
http {
	wordhttp 1;
	map $uri $x { wordvalue 1; default 0; }
	types { wordtype html; }
	limit_req_zone $binary_remote_addr zone=a:1m rate=1r/s;
	upstream u { wordupstream 1; server 127.0.0.1; }
	server {
		wordserver 1; wordserver 2; limit_flood 5;
		location / { limit_req zone=a; wordlocation 1; if ($x) { wordif 1; } limit_except GET { wordexcept 1; } }
	}
}`
	i := new(Import)
	if err := i.Add("nginx.conf", []byte(text), "nginx"); err != nil {
		t.Fatal(err)
	}
	i.Done()
	var got []string
	for _, n := range i.Notes {
		word, _, _ := strings.Cut(n.Text, " ")
		got = append(got, fmt.Sprint(n.Place, " ", word, " ", n.Mild))
	}
	want := []string{
		"nginx.conf:1 wordmain true", "nginx.conf:2 wordevents true", "nginx.conf:4 wordhttp true", "nginx.conf:8 wordupstream true",
		"nginx.conf:10 wordserver true", "nginx.conf:10 limit_flood false", "nginx.conf:11 wordlocation true", "nginx.conf:11 wordif true",
		"nginx.conf:11 wordexcept true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("told are %q, want %q", got, want)
	}
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
