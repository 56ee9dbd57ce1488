package nginx

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"shadow/internal/policy"
	"shadow/internal/servers/imports/neutral"
	"shadow/internal/testneeds"
)

// read reads a configuration, and what is made of it must be one.
func read(t *testing.T, text string) (r *neutral.Result, written string) {
	t.Helper()
	var all Configs
	r = new(neutral.Result)
	if err := all.Read(r, "nginx.conf", []byte(text)); err != nil {
		t.Fatal(err)
	}
	all.Take(r)
	r.Finish()
	var b strings.Builder
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	if _, err := policy.ParseConfig("written", []byte(b.String())); err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	return r, b.String()
}

// What is not understood is said with file and line, and nothing is dropped.
func TestTells(t *testing.T) {
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
		"limit_req_zone $binary_remote_addr zone=a:1m;\nserver { limit_req zone=a;\naccess_log off; }":                                                                                "nginx.conf:3: access_log off: requests here count there",
		"limit_req_zone $binary_remote_addr zone=a:1m;\nserver { limit_req zone=a; location /a { error_page 404 /e; return 404; } }":                                                  "nginx.conf:2: error_page 404 /e: what it sends to the server counts there as well",
		"limit_req_zone $binary_remote_addr zone=a:31k;\nserver { limit_req zone=a; }":                                                                                                "nginx.conf:1: zone=a:31k is too small: nginx refuses this configuration",
		"limit_req_zone $binary_remote_addr zone=a:3276;\nserver { limit_req zone=a; }":                                                                                               "nginx.conf:1: zone=a:3276 is too small",
		"server { limit_conn a 1; }":                               "nginx.conf:1: limit_conn bounds how many requests are under way at once",
		"limit_req_zone $binary_remote_addr zone=a:1m;\nserver {}": "there is no limit of requests in it",
		"http {\ninclude nowhere.conf; }":                          "nginx.conf:2: open nowhere.conf: no such file or directory",
		"http {":                                                   `nginx.conf:1: unexpected end of file, expecting "}"`,
	} {
		i, out := read(t, text)
		if !slices.ContainsFunc(i.Lost(), func(n neutral.Note) bool { return strings.HasPrefix(n.String(), want) }) {
			t.Errorf("%s: %v, want %s", text, i.Notes, want)
		}
		if !regexp.MustCompile(`(?m)^# NOT AS THERE: `).MatchString(out) {
			t.Errorf("%s: it does not say so:\n%s", text, out)
		}
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
	i, _ := read(t, text)
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

func TestHostnamesOfMaps(t *testing.T) {
	const text = `limit_req_zone $k zone=a:1m rate=1r/s;
map $host $k { hostnames; .shop.example $remote_addr; *.example a; www.shop.* b; ~shop c; www.shop.example ""; .api.shop.example ""; }
map $server_name $s { hostnames; .shop.example ""; default $k; }
limit_req_zone $s zone=b:1m rate=1r/s;
server { server_name x; limit_req zone=a; }
server { server_name www.shop.example; limit_req zone=b; }
`
	_, out := read(t, text)
	if want := "host: [www.shop.example, api.shop.example, '*.api.shop.example']"; !strings.Contains(out, want) || strings.Contains(out, "zone b by") {
		t.Errorf("%s is not there, or the zone b is:\n%s", want, out)
	}
}

// Of a network that a geo names twice, nginx takes the value that stands last.
func TestNetworksTwice(t *testing.T) {
	_, out := read(t, `geo $g { default 1; 192.0.2.0/24 1; 198.51.100.0/24 0; 192.0.2.0/24 0; 198.51.100.0/24 1; }
map $g $k { 0 ""; default $binary_remote_addr; }
limit_req_zone $k zone=a:1m rate=1r/s;
server { limit_req zone=a; }
`)
	if want := "match: {not: {network: '192.0.2.0/24'}}"; !strings.Contains(out, want) {
		t.Errorf("%s is not there:\n%s", want, out)
	}
}

// Large configurations are read in bounded time: each limit states what those before it took.
func TestLargeConfigurationsAreBounded(t *testing.T) {
	var locations, addresses strings.Builder
	for n := range 200 {
		fmt.Fprintf(&locations, "location ~ ^/p%d/x { limit_req zone=a burst=%d; }\n", n, n+1)
	}
	for n := range 60_000 {
		fmt.Fprintf(&addresses, "10.%d.%d.%d \"\";\n", n>>16, n>>8&255, n&255)
	}
	for _, text := range []string{
		"limit_req_zone $binary_remote_addr zone=a:1m rate=1r/s;\nserver {\n" + locations.String() + "}\n",
		"map $remote_addr $k { default $binary_remote_addr;\n" + addresses.String() + "}\nlimit_req_zone $k zone=a:1m rate=1r/s;\nserver { limit_req zone=a; }\n",
	} {
		testneeds.Within(time.Minute, func() { read(t, text) })
	}
}
