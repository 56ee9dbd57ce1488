package servers

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/limit"
)

// A real nginx with its Lua module runs what is exported.

// startLua starts nginx with files: what is asked of / is a line of its configuration.
func startLua(t *testing.T, dir, location string) (address string, out fmt.Stringer) {
	t.Helper()
	testneeds.Program(t, "nginx")
	modules := testneeds.File(t, "/usr/lib/nginx/modules/ngx_http_lua_module.so")
	config := "load_module " + filepath.Dir(modules) + "/ndk_http_module.so;\nload_module " + modules + ";\n" +
		"daemon off;\nmaster_process off;\nuser root;\n"
	address = freeAddress(t)
	config += nginxConfig(dir, address, nil, "access_log off;\nlua_shared_dict shadow 10m;", "location / {\n"+location+"\n}")
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return address, run(t, address, exec.Command("nginx", "-e", "stderr", "-p", dir, "-c", file))
}

// luaFile is the file for a limit.
func luaFile(t *testing.T, dir, text, by string, match request.Conditions, enforce bool) string {
	t.Helper()
	w := wantedLimit(t, text, by, match)
	e := luaTarget.Export([]Wanted{w}, Where{Client: "addr"})
	if len(e.Lost) > 0 || e.Limits[0].Deviation != "" {
		t.Fatal(e.Said())
	}
	lines := e.Text()
	if enforce {
		lines = strings.Replace(lines, "local enforce = false", "local enforce = true", 1)
	}
	file := filepath.Join(dir, "shadow.lua")
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestLuaLimitsWhatWasWanted(t *testing.T) {
	r := testneeds.Rand(t, 18, 31)
	without := func(s sent) bool { return s.key == "" }
	for _, c := range []struct {
		by     string
		match  request.Conditions
		covers func(sent) bool
		key    func(sent) string
	}{
		{"client", request.Conditions{}, nil, func(s sent) string { return s.peer }},
		{"site", request.Conditions{Prefixes: []string{"/api"}}, func(s sent) bool { return strings.HasPrefix(s.path, "/api") }, nil},
		{"client+path", request.Conditions{}, nil, func(s sent) string { return s.peer + s.path }},
		{"agent", request.Conditions{Paths: []string{"/login", "/a*/?"}}, func(s sent) bool {
			return s.path == "/login" || s.path == "/api/a"
		}, func(s sent) string { return s.agent }},
		{"header:X-Api-Key", request.Conditions{}, nil, func(s sent) string {
			if s.key == "" {
				return s.peer
			}
			return "key " + s.key
		}},
		{"client", request.Conditions{Agents: []string{`(?i)^mozilla.*like$`}}, func(s sent) bool {
			return strings.HasSuffix(s.agent, "like")
		}, func(s sent) string { return s.peer }},
		{"client", request.Conditions{Not: []request.Conditions{{Networks: []string{"127.0.0.2/31", "::1"}}}}, func(s sent) bool {
			return s.peer != "127.0.0.2" && s.peer != "127.0.0.3"
		}, func(s sent) string { return s.peer }},
		{"client", request.Conditions{Not: []request.Conditions{{Paths: []string{"/login"}}}, Without: []string{"header:X-Api-Key"}}, func(s sent) bool {
			return s.path != "/login" && without(s)
		}, func(s sent) string { return s.peer }},
	} {
		for _, limit := range []string{"nginx:1r/m,burst=2,nodelay", "fixed:3/3600001ms,align=first,clock=1ms"} {
			t.Run(fmt.Sprintf("%s by %s on %s", limit, c.by, c.match.String()), func(t *testing.T) {
				dir, enforce := t.TempDir(), r.IntN(2) == 0
				address, out := startLua(t, dir, "access_by_lua_file "+luaFile(t, dir, limit, c.by, c.match, enforce)+";\ncontent_by_lua_block { ngx.exit(204) }")
				counts, over := map[string]int{}, 0
				for range requests {
					request, key, beyond := randomRequest(r), "", false
					if c.key != nil {
						key = c.key(request)
					}
					if c.covers == nil || c.covers(request) {
						beyond = counts[key] >= admitted
						counts[key]++
					}
					if beyond {
						over++
					}
					if status := request.send(t, address); (status == http.StatusTooManyRequests) != (beyond && enforce) {
						t.Fatalf("%+v got %d, want it refused: %t\n%s", request, status, beyond && enforce, out)
					}
				}
				logged := func() int { return strings.Count(out.String(), "over-limit shadow") }
				for patience := 0; logged() != over && patience < 100; patience++ { // the log comes a little later
					time.Sleep(20 * time.Millisecond)
				}
				if logged() != over || over == 0 {
					t.Errorf("the log has %d requests over the limit, want %d\n%s", logged(), over, out)
				}
			})
		}
	}
}

// TestLuaDecidesAsNginx: on a clock that the test moves, each verdict is that of the limit.
func TestLuaDecidesAsNginx(t *testing.T) {
	r := testneeds.Rand(t, 18, 32)
	for _, text := range []string{"nginx:10r/s,burst=19,nodelay", "nginx:7r/m,burst=4,nodelay", "nginx:3r/s", "nginx:100r/m,burst=6,nodelay"} {
		dir := t.TempDir()
		exported := luaFile(t, dir, text, "client", request.Conditions{}, false)
		spec, err := limit.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := policy.New(spec, request.ByClient)
		if err != nil {
			t.Fatal(err)
		}
		var at []limit.Time
		var clock strings.Builder
		interval := int64(spec.Period/limit.Millisecond) / spec.Count
		for now, n := int64(1_767_225_600_123), 0; n < 5000; n++ {
			now += []int64{0, 1, interval - 1, interval, interval + 1, r.Int64N(interval), r.Int64N(4 * interval)}[r.IntN(7)]
			at = append(at, limit.Time(now)*limit.Millisecond)
			fmt.Fprintf(&clock, "%d.%03d\n", now/1000, now%1000)
		}
		if err := os.WriteFile(filepath.Join(dir, "clock"), []byte(clock.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		address, out := startLua(t, dir, `content_by_lua_block {
			local judge, now, verdict = assert(loadfile("`+exported+`"))
			ngx.now = function() return now end
			ngx.log = function() verdict = "1" end
			for line in io.lines("`+filepath.Join(dir, "clock")+`") do
				now, verdict = tonumber(line), "0"
				judge()
				ngx.print(verdict)
			end
		}`)
		answer, err := http.Get("http://" + address + "/")
		if err != nil {
			t.Fatal(err, out)
		}
		verdicts, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || len(verdicts) != len(at) {
			t.Fatalf("%d verdicts, %v\n%s", len(verdicts), err, out)
		}
		var s limit.State
		want := []byte(strings.Repeat("0", len(at)))
		for _, i := range p.Parts[0].Limiter.Refuse(nil, &s, at) {
			want[i] = '1'
		}
		for i := range at {
			if verdicts[i] != want[i] {
				t.Fatalf("%s: request %d is %c there, %c here", text, i, verdicts[i], want[i])
			}
		}
		if n := strings.Count(string(want), "1"); n < 300 || n > 4700 {
			t.Errorf("%s refuses %d of 5000, which tests little", text, n)
		}
	}
}

// TestLuaStandsBesideALimit: where a script limits already, the lines go into that one, and both hold.
func TestLuaStandsBesideALimit(t *testing.T) {
	for enforce, want := range map[bool]string{false: "204 204 204 503 503", true: "204 204 429 503 503"} {
		dir := t.TempDir()
		file := luaFile(t, dir, "nginx:1r/m,burst=1,nodelay", "client", request.Conditions{}, enforce)
		if !strings.Contains(luaTarget.Beside, `loadfile("shadow.lua")()`) {
			t.Fatal(luaTarget.Beside)
		}
		address, out := startLua(t, dir, `access_by_lua_block {
			if ngx.shared.shadow:incr("old", 1, 0) > 3 then return ngx.exit(503) end
			loadfile("`+file+`")()
		}
		content_by_lua_block { ngx.exit(204) }`)
		var got []string
		for range 5 {
			answer, err := http.Get("http://" + address + "/")
			if err != nil {
				t.Fatal(err, out)
			}
			answer.Body.Close()
			got = append(got, fmt.Sprint(answer.StatusCode))
		}
		if all := strings.Join(got, " "); all != want {
			t.Errorf("enforced %t: %s, want %s\n%s", enforce, all, want, out)
		}
	}
}
