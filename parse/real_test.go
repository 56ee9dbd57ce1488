package parse

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"shadow/internal/testneeds"
)

// TestRealLogs reads real logs by the formats of their servers, and by gonx as well. Whatever gonx reads, the scanner
// must read alike; it may read more (escaped quotes, spaces in a user's name).
func TestRealLogs(t *testing.T) {
	const apacheCombined = `%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"`
	const webbot = `- - [$time_local] "$request" $status $body_bytes_sent "$http_referer" $session "$http_user_agent"`
	for _, c := range []struct {
		files, format string
		lenient       bool
		bad           float64 // the largest share of unreadable lines, in percent
	}{
		{"almhuette-2015-2016", apacheCombined + ` "%{X}i"`, false, 0.1},
		{"almhuette-2018", apacheCombined, true, 0.1},
		{"almhuette-2019", apacheCombined, true, 0.1},
		{"elastic-apache", apacheCombined, true, 0.1},
		{"elastic-nginx", nginxCombined, false, 0.1},
		{"farmer-2024-2026/apache_combined*", apacheCombined, false, 0.1},
		{"farmer-2024-2026/apache_common*", apacheCombined, true, 0.1},
		{"farmer-2024-2026/apache_vhost*", `%v:%p ` + apacheCombined, false, 0.1},
		{"farmer-2024-2026/nginx_combined*", nginxCombined, false, 0.1},
		{"farmer-2024-2026/apache_csv*", `%v,%p,%h,%l,%u,%t,%I,%O,%S,%B,%{ms}T,%D,%^FB,%>s,"%H","%m","%U","%q",` +
			`"%{Referer}i","%{User-Agent}i","%{farmwork.app}C",%L`, false, 0.1},
		{"hackers-basjes-2015", apacheCombined, false, 0.1},
		{"imooc-2016", `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$host" "$http_referer" ` +
			`$args "$http_user_agent" "$http_x_forwarded_for" $upstream_addr $upstream_status $upstream_response_time $request_time`, false, 0.2},
		{"nasa-1995-07-09", apacheCombined, true, 0.1},
		{"netnea-2015-2016/labor-06*", apacheCombined, true, 0.1},
		{"netnea-2015-2016/[lt]*-[578]*", `%h %{GEOIP_COUNTRY_CODE}e %u [%{%Y-%m-%d %H:%M:%S}t.%{usec_frac}t] "%r" %>s %b ` +
			`"%{Referer}i" "%{User-Agent}i"`, true, 0.1},
		{
			"ocatak-scanners", `"$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent""`,
			false, 0.35,
		},
		{"roadmap-nginx-2024", nginxCombined, false, 0.1},
		{"sparkdeveloper-2016", apacheCombined, false, 0.1},
		{"sundog-2017", apacheCombined, false, 0.1},
		{"webbot-phase1", webbot, false, 0.1},
		{"webbot-phase2", webbot, false, 0.1},
		{"zanbil-sample-2019", nginxCombined, true, 0.1},
	} {
		t.Run(c.files, func(t *testing.T) {
			t.Parallel()
			var read, bad, more int
			faults := map[Fault]int{}
			fast, slow := realParser(t, c.format, c.lenient, false), realParser(t, c.format, c.lenient, true)
			eachRealLine(t, c.files, func(line []byte) {
				var a, b Record
				fa := fast.Parse(bytes.Clone(line), &a)
				if read++; !fa.OK() {
					bad++
					faults[fa]++
				}
				if testing.Short() || read%20 != 0 { // gonx is slow
					return
				}
				fb := slow.Parse(bytes.Clone(line), &b)
				switch {
				case fb.OK() && !gonxDiffers(line) && (!fa.OK() || !sameRecord(&a, &b)):
					t.Errorf("line %d: scanner %+v, gonx differs", read, fa)
				case fa.OK() && !fb.OK():
					more++
				}
			})
			if share := 100 * float64(bad) / float64(read); share >= c.bad {
				t.Errorf("%d of %d lines unreadable (%.3f %%): %v", bad, read, share, faults)
			}
			t.Logf("%d lines, %d unreadable, %d of every twentieth unreadable for gonx only; %v", read, bad, more, faults)
		})
	}
}

func realParser(t *testing.T, text string, lenient, slow bool) Parser {
	t.Helper()
	f, err := CompileAs(text, Options{Gonx: slow, Extra: []string{"session"}}, "", lenient)
	if err != nil {
		t.Fatal(err)
	}
	return f.NewParser()
}

// eachRealLine calls do with each line, of files or of all files in a folder.
func eachRealLine(t *testing.T, pattern string, do func(line []byte)) {
	t.Helper()
	if !strings.Contains(pattern, "*") {
		pattern += "/*.gz"
	}
	names, err := filepath.Glob(filepath.Join(testneeds.Shared(t, "logs"), pattern))
	if err != nil || len(names) == 0 {
		t.Fatalf("no real log %s (%v)", pattern, err)
	}
	for _, name := range names {
		for line := range bytes.Lines(testneeds.Content(t, name)) {
			if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 {
				do(line)
			}
		}
	}
}
