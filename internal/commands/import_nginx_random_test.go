package commands

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"shadow/internal/servers/imports"
	"shadow/internal/servers/imports/neutral"
	"shadow/internal/testneeds"
)

// Random configurations are judged as nginx does, or what is not is told with its place.
func TestRandomLimitsJudgeAsNginxDoes(t *testing.T) {
	testneeds.Program(t, "nginx")
	var count struct{ configurations, compared, told, toldAndSame, requests, refused int }
	for seed := range testneeds.Draws(20, 200) {
		t.Run(strconv.Itoa(seed), func(t *testing.T) { // which ends the server
			r, dir, address := testneeds.Rand(t, uint64(seed), 33), t.TempDir(), freeAddress(t)
			file := filepath.Join(dir, "nginx.conf")
			text := (&nginxDraw{Rand: r}).configuration(dir, address)
			must(t, os.WriteFile(file, []byte(text), 0o600))
			lines := loggedByRandomNginx(t, r, dir, address)
			refused := func(words []string) bool { return strings.HasPrefix(words[len(words)-1], "REJECTED") }
			count.configurations++
			for _, words := range lines {
				if count.requests++; refused(words) {
					count.refused++
				}
			}
			told := toldOfNginx(t, file, text)
			different := differing(t, file, lines, refused)
			switch {
			case told != nil && different == nil:
				count.toldAndSame++
				fallthrough
			case told != nil:
				count.told++
			default:
				count.compared++
			}
			if told == nil && different != nil {
				t.Errorf("%d verdicts differ, and nothing is told:\n%s\n%s", len(different), strings.Join(different[:min(9, len(different))], "\n"), text)
			}
		})
	}
	t.Logf("%+v", count)
	if count.compared*5 < count.configurations*2 || count.refused < count.requests/20 || count.refused > count.requests*19/20 {
		t.Error("that tests little")
	}
}

// toldOfNginx are the notes of an import on what is not as it is there, each with its place.
func toldOfNginx(t *testing.T, file, text string) (told []neutral.Note) {
	i := new(imports.Import)
	must(t, i.Add(file, []byte(text), "nginx"))
	i.Done()
	for _, n := range i.Notes {
		switch {
		case n.Mild:
		case n.Text == "there is no limit of requests in it":
		case strings.HasPrefix(n.Text, "no request is found that comes to location @"): // by no module of these configurations
		case !strings.HasPrefix(n.Place+n.Text, file+":"): // what is left out names its places itself
			t.Errorf("%v has no place", n)
		default:
			told = append(told, n)
		}
	}
	return told
}

const randomNginxLog = `$seq $remote_addr $msec "$request" $status "$http_user_agent" "$host" "$http_x_api_key" "$cookie_session" ` +
	`"$arg_k" $server_port $limit_req_status`

// loggedByRandomNginx returns the words of the lines that nginx logs of random requests, in their order.
func loggedByRandomNginx(t *testing.T, r *rand.Rand, dir, address string) [][]string {
	nginx := exec.Command("nginx", "-e", "stderr", "-p", dir, "-c", dir+"/nginx.conf", "-g",
		"daemon off; master_process off; error_log stderr; pid "+dir+"/pid;")
	var said strings.Builder
	nginx.Stderr = &said
	t.Cleanup(func() {
		if t.Failed() && strings.Contains(said.String(), "[emerg]") {
			t.Log(said.String())
		}
	})
	start(t, nginx, address)
	for seq := range importRequests {
		sendRaw(t, r, address, seq)
	}
	return loggedLines(t, dir+"/log", importRequests)
}

// sendRaw sends a request whose path is as it stands.
func sendRaw(t *testing.T, r *rand.Rand, address string, seq int) {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	path := pick("/", "/login", "/login/x.jpg", "/login.png", "/api", "/api/", "/api/v1", "/api/v1/login", "/api/v1/deep", "/api/a.png", "/static",
		"/static/", "/static/a.jpg", "/static/old/x", "/old", "/img/a.PNG", "/a.jpg", "/Deep/a", "/other", "/new", "/index.php")
	if r.IntN(8) == 0 { // in other words
		path = pick("//p", "/%70", "/p/../p", "/login%3fx", "/%6Cogin.png", "/api%2Fv1", "/static/.", "/a%25b", "/%E4", "//login", "/%6cogin", "/x/../api/v1", "/api//v1", "/./old", "/static/%2e%2e/login", "/a%20b", "/api/v1/..", "/api/%2Fv1",
			"/other/.", "/api%2fv1/login", "/static/old//x", "/api/..//old")
	}
	headers := ""
	for name, value := range map[string]string{
		"User-Agent": pick("", "curl/8", "SomeBot/1.0", "a crawler", "Firefox"), "X-Api-Key": pick("", "", "k1", "k2", "0"),
		"Cookie": pick("", "", "session=s1", "session=s2"),
	} {
		if value != "" {
			headers += name + ": " + value + "\r\n"
		}
	}
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(pick("127.0.0.1", "127.0.0.4", "127.0.0.9", "127.0.1.1"))}, Timeout: time.Minute}
	c, err := dialer.Dial("tcp", address)
	must(t, err)
	defer c.Close()
	_, err = fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: %s\r\nX-Seq: %d\r\nConnection: close\r\nContent-Length: 0\r\n%s\r\n", pick("GET", "GET", "POST", "PUT"),
		path+pick("", "", "?a=/login", "?k=1", "?k=2&a=b"), pick("shop.example", "www.shop.example", "en.wiki.example", "de.wiki.example",
			"old.example", "x.example", "SHOP.example:80"), seq, headers)
	must(t, err)
	_, err = io.Copy(io.Discard, c)
	must(t, err)
}

// A nginxDraw draws a configuration.
type nginxDraw struct {
	*rand.Rand
	zones []string // each level names one only once
	named []string // locations
	dry   bool     // nothing is refused, so what delays does not
}

func (d *nginxDraw) pick(of ...string) string { return of[d.IntN(len(of))] }

// some returns a text with a chance of one in n, else nothing.
func (d *nginxDraw) some(n int, text func() string) string {
	if d.IntN(n) > 0 {
		return ""
	}
	return text() + "\n"
}

func (d *nginxDraw) configuration(dir, address string) string {
	d.dry = d.IntN(4) == 0
	var b strings.Builder
	format := strings.Replace(randomNginxLog, "$seq", "$http_x_seq", 1)
	fmt.Fprintf(&b, "events { }\nhttp {\nlog_format harness '%s';\naccess_log %s/log harness;\n", format, dir)
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		fmt.Fprintf(&b, "%s_temp_path %s/%s;\n", kind, dir, kind)
	}
	b.WriteString("root /nonexistent;\n" + d.variables())
	for n := range 2 + d.IntN(3) {
		d.zones = append(d.zones, string(rune('a'+n)))
		fmt.Fprintf(&b, "limit_req_zone %s zone=%c:1m rate=%s;\n", d.key(), 'a'+n, d.pick("1r/m", "2r/m", "3r/m"))
	}
	b.WriteString(d.some(3, d.limits) + d.some(4, func() string { return "limit_req_status 429;" }))
	if d.dry {
		b.WriteString("limit_req_dry_run on;\n")
	}
	for n := range 1 + d.IntN(2) {
		name := []string{"shop.example www.shop.example", "*.wiki.example", ".shop.example", "old.example"}[2*n+d.IntN(2)]
		fmt.Fprintf(&b, "server {\nlisten %s%s;\nserver_name %s;\n%s}\n", address, map[bool]string{true: " default_server"}[n == 0 && d.IntN(2) == 0], name, d.server())
	}
	return b.String() + "}\n"
}

// variables are maps and geos.
func (d *nginxDraw) variables() string {
	value := func() string {
		return d.pick(`""`, `""`, "$binary_remote_addr", "$remote_addr", "all", "$http_x_api_key")
	}
	lines := func(n int, entries ...string) (text string) {
		for _, i := range d.Perm(len(entries))[:n] {
			text += " " + entries[i] + " " + value() + ";"
		}
		return text
	}
	path := d.pick("$uri", "$uri", "$document_uri")
	texts := []string{
		"map $http_user_agent $by_agent { default " + value() + ";" + lines(2, "~*bot", `""`, "curl/8", "~^a") + " }",
		"map $request_method $by_method { default " + value() + ";" + lines(1, "POST", "PUT", "~^P", "~*^get$") + " }",
		"map " + path + " $by_path { default " + value() + ";" + lines(3, "/login", "~^/api/", `~*\.png$`, "~(?<name>old)", "/STATIC/a.jpg", "~^/$") + " }",
		`map "$request_method:$uri" $by_both { default ` + value() + ";" + lines(2, "POST:/login", `"~^(POST|PUT):/api"`, "~*^get:/static", `~:/old$`) + " }",
		"map $request_uri $by_whole { default " + value() + ";" + lines(3, "/login", "~^/api/", `~*\.png$`, `"~^/login(\?|$)"`, `~k=1`, "~^//", "/login?a=/login") + " }",
		"map $host $by_host { hostnames; default " + value() + ";" + lines(2, ".shop.example", "*.wiki.example", "old.example", "www.shop.example") + " }",
		"map $http_x_api_key $by_key { default " + value() + ";" + lines(2, `""`, "k1", "~^K", "~*^k[2-9]") + " }",
		"geo $near { default 0; 127.0.0.4 1; 127.0.1.0/24 2; }",
		"map $near $by_near { default " + value() + ";" + lines(2, "0", "1", "2") + " }",
		"geo $far { ranges; default 1; 127.0.0.0-127.0.0.4 " + d.pick("0", `""`, "near") + "; 127.0.0.9-127.0.0.9 nine; }",
		"map $far$by_method $by_two { default " + value() + "; " + d.pick("0", "1", "nine") + " " + value() + "; }",
		"map $made $by_made { default " + value() + ";" + lines(2, `""`, "yes", "no") + " }",
	}
	return strings.Join(texts, "\n") + "\n"
}

func (d *nginxDraw) key() string {
	return d.pick("$binary_remote_addr", "$binary_remote_addr", "$binary_remote_addr", "$remote_addr$uri", "$server_name", "$http_x_api_key",
		"$cookie_session", "$arg_k", "$binary_remote_addr$request_method", "$by_agent", "$by_method", "$by_path", "$by_both", "$by_host",
		"$by_key", "$by_whole", "$request_uri", "$by_near", "$far", "$by_two", "$by_made", "$made", `"$binary_remote_addr $http_user_agent"`, "$host$cookie_session", "$uri")
}

// limits draws the limits of a level, each of another zone.
func (d *nginxDraw) limits() (text string) {
	for _, n := range d.Perm(len(d.zones))[:1+d.IntN(2)] {
		options := " nodelay"
		if d.dry {
			options = d.pick("", " nodelay", " delay=2")
		}
		text += fmt.Sprintf("limit_req zone=%s burst=%d%s;\n", d.zones[n], 1+d.IntN(25), options)
	}
	return text
}

func (d *nginxDraw) server() (text string) {
	d.named = []string{"@first", "@second"}[:d.IntN(3)]
	text = "set $made " + d.pick(`""`, `""`, "yes", "$remote_addr") + ";\n"
	text += d.some(3, d.limits) + d.some(5, d.dryRun) + d.some(5, d.set) + d.some(3, d.condition) + d.some(4, d.rewrite) +
		d.some(4, d.condition) + d.some(12, d.errorPage) + d.some(20, func() string { return "return 403;" })
	for _, name := range d.named {
		text += "location " + name + " {\n" + d.location("", 0) + "}\n"
	}
	patterns := []string{
		"/", "/api", "^~ /api/v1", "/api/", "/static", "^~ /static/", "= /login", "/login", `~ \.(png|jpg)$`, `~* \.png$`, "~ ^/api/.*login$",
		"= /", "~* deep", "/old", "= /new", `~ ^/(?<first>\w+)/old`, "= /index.php",
	}
	for _, n := range d.Perm(len(patterns))[:1+d.IntN(5)] {
		text += "location " + patterns[n] + " {\n" + d.location(patterns[n], 1) + "}\n"
	}
	return text
}

func (d *nginxDraw) location(pattern string, depth int) (text string) {
	text = d.some(2, d.limits) + d.some(9, d.dryRun) + d.some(6, d.set) + d.some(6, d.condition) + d.some(6, d.rewrite)
	text += d.some(12, func() string { return d.pick("return 403;", "return 301 /new;", "internal;", "break;") })
	switch d.IntN(9) {
	case 0:
		text += "proxy_pass http://127.0.0.1:9;\n"
	case 1:
		text += "try_files " + d.pick(`"" =404`, "/none "+d.target(), "/none "+d.target(), "$uri "+d.target(), "$uri $uri/ =404") + ";\n"
	}
	text += d.some(20, d.errorPage)
	if inner := strings.Fields(pattern); depth == 1 && len(inner) == 1 && d.IntN(3) == 0 {
		within := d.pick(inner[0]+"x", `~ \.jpg$`, "= "+strings.TrimSuffix(inner[0], "/")+"/v1", strings.TrimSuffix(inner[0], "/")+"/v1")
		text += "location " + within + " {\n" + d.location(within, 2) + "}\n"
	}
	return text
}

func (d *nginxDraw) target() string {
	return d.pick(append([]string{"/index.php", "/api/v1/login", "/old"}, d.named...)...)
}

// errorPage keeps the arguments, which the log would lose.
func (d *nginxDraw) errorPage() string {
	page := "error_page 404 " + d.pick("", "= ") + d.target()
	if !strings.Contains(page, "@") {
		page += "?$args"
	}
	return page + ";"
}

func (d *nginxDraw) dryRun() string {
	if d.dry {
		return ""
	}
	return "limit_req_dry_run " + d.pick("on", "off") + ";"
}

func (d *nginxDraw) set() string {
	return "set $made " + d.pick("yes", "no", `""`, "$binary_remote_addr", "$http_x_api_key", "$by_agent", "x$made") + ";"
}

// rewrite is one with any flag.
func (d *nginxDraw) rewrite() string {
	return d.pick("rewrite ^/old$ /api/v1", "rewrite ^/static/(.*)$ /img/$1", "rewrite login$ /index.php?x=1", "rewrite ^ /index.php", "rewrite ^/img/(.*) /new/$1",
		`rewrite (?i)\.png$ /new`, "rewrite ^/api/v1/(.*) /other", "rewrite ^/other /login/x.jpg") + d.pick("", " last", " last", " break", " redirect", " permanent") + ";"
}

// condition is an if.
func (d *nginxDraw) condition() string {
	return "if (" + d.pick("$request_method = POST", "$request_method != GET", "$request_method ~ ^(POST|PUT)$", "$http_user_agent ~* bot", `$http_user_agent = ""`,
		"$http_x_api_key", "$http_x_api_key = k1", `$http_x_api_key !~ "^k"`, `$cookie_session = ""`, "$uri ~ ^/api", "$uri = /login", "$uri !~* png$", "$host = old.example",
		"$near", "$near = 2", "$by_agent", "$by_method", "$made", "$made = yes", "$arg_k = 1", "$arg_k", `$request_uri ~ "^/api"`, "$remote_addr = 127.0.0.9") +
		") { " + d.pick(d.set(), d.set(), "return 403;", "return 403;", d.rewrite(), "break;", d.set()+" "+d.rewrite()) + " }"
}

var lineOfQuery = regexp.MustCompile(`(?m)^\d+$`)

// differing are the lines whose verdicts in a replay differ from those of the server.
func differing(t *testing.T, file string, lines [][]string, isRefused func(words []string) bool) (different []string) {
	dir := t.TempDir()
	var log strings.Builder
	for i, words := range lines { // each a millisecond after the one before, so that the time tells which it is
		words[2] = fmt.Sprintf("1767225600.%03d", i)
		log.WriteString(strings.Join(words, " ") + "\n")
	}
	must(t, os.WriteFile(filepath.Join(dir, "log"), []byte(log.String()), 0o600))
	refused := map[string]bool{}
	replay := command(t, dir, "replay", "log", "--db", "db", "--format", randomNginxLog, "--limits-from", file)
	said, err := replay.CombinedOutput()
	if strings.Contains(strings.Join(strings.Fields(string(said)), " "), "more than 64 different conditions") {
		t.Skip("some limits are left out: there are too many conditions")
	}
	if err == nil {
		for _, ms := range lineOfQuery.FindAllString(string(run(t, dir, "query", "--db", "db", "--output", "csv",
			"SELECT epoch_ms(time) % 1000 AS ms FROM would_blocks")), -1) {
			refused[ms] = true
		}
	} else if !strings.Contains(string(said), "there is no limit in what was read") {
		t.Errorf("%v: %s", err, said)
	}
	for i, words := range lines {
		if got := refused[strconv.Itoa(i)]; got != isRefused(words) {
			different = append(different, fmt.Sprintf("%s: refused %t", strings.Join(words, " "), got))
		}
	}
	return different
}
