package servers

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/limit"
)

// Lua in nginx (OpenResty, or nginx with its Lua module) keeps counters in a shared dictionary. The lines need nothing
// else: they decide as nginx's limit_req does, in the same integers, or count in windows that begin with a request. They
// stand in a file of their own.

var luaTarget = Target{
	Name: "lua", Title: "Lua in nginx", Comment: "--", Ending: ".lua", own: ownAPISIX, Combine: policy.InTurn,
	Beside: "access_by_lua_file of a location takes the place of one around it: where there is one, put " +
		"`loadfile(\"shadow.lua\")()` into it instead",
	Grid: "as limit_req of nginx; or a count over whole seconds",
	Enforce: "it refuses nothing yet, and logs over-limit. To enforce it, make enforce true. It takes, in http: " +
		"`lua_shared_dict shadow 10m;`, and in the location: `access_by_lua_file shadow.lua;`",
	nearest: nearestAPISIX, write: writeLua,
}

// luaBucket does what leaky/nginx.go does. A bucket that would be empty by now is as good as none, so it may go.
const luaBucket = `-- nginx's limit_req: rate in thousandths of a request per second, excess in thousandths
local function excess_of(key, rate, burst)
    local now, e = math.floor(ngx.now() * 1000 + 0.5), 0
    local before, last = string.match(dict:get(key) or "", "^(%d+) (%d+)$")
    if before then
        e = math.max(before - math.floor(rate * math.max(now - last, 0) / 1000) + 1000, 0)
        if e > burst then return nil end
    end
    dict:set(key, string.format("%.0f %.0f", e, now), (e + 1000) / rate + 1)
    return e
end`

// luaNetwork compares addresses as their bytes; that of a socket for both families has the mapped ones of IPv4.
const luaNetwork = `local function within(first, last)
    local a = v.binary_remote_addr
    if #a == 16 and #first == 4 and a:sub(1, 12) == "\0\0\0\0\0\0\0\0\0\0\255\255" then a = a:sub(13) end
    return #a == #first and a >= first and a <= last
end`

func writeLua(e *Export, all []setting) error {
	if err := e.plainClient(); err != nil && e.where.address() {
		return err
	} else if err != nil {
		return errors.New(e.where.who().onlyYouKnow("it is not exported"))
	}
	lines := []string{
		"local enforce = false", "local dict, v = ngx.shared.shadow, ngx.var", "local function over(name)",
		`    ngx.log(ngx.ERR, "over-limit ", name)`, "    if enforce then return ngx.exit(429) end", "end",
	}
	if slices.ContainsFunc(all, func(s setting) bool { return s.spec.Algorithm == "nginx" }) {
		lines = append(lines, strings.Split(luaBucket, "\n")...)
	}
	if slices.ContainsFunc(all, func(s setting) bool {
		return slices.ContainsFunc(slices.Concat(s.when...), func(t test) bool { return t.kind == "network" })
	}) {
		lines = append(lines, strings.Split(luaNetwork, "\n")...)
	}
	for _, s := range all {
		counts, err := s.counts()
		if err != nil {
			return err
		}
		for _, c := range counts {
			when, err := luaWhen(c.when)
			if err != nil {
				return err
			}
			key, err := luaKey(c.parts)
			if err != nil {
				return err
			}
			lines = append(lines, "if "+when+" then", "    local key = "+luaText(c.name+" ")+" .. "+key)
			lines = append(append(lines, s.luaCount()...), "end")
		}
	}
	e.block("", lines...)
	return nil
}

// luaCount asks the limit.
func (s setting) luaCount() []string {
	over := "over(" + luaText(s.name) + ")"
	if s.spec.Algorithm != "nginx" {
		return []string{fmt.Sprintf("    if (dict:incr(key, 1, 0, %d) or 0) > %d then %s end", s.spec.Period/limit.Second, s.spec.Count, over)}
	}
	args := s.spec.Args()
	rate, burst, delay := s.spec.Count*1000/int64(s.spec.Period/limit.Second), args.Int("burst", 0), args.Int("delay", 0)
	asked := fmt.Sprintf("excess_of(key, %d, %d)", rate, burst*1000)
	if args.Flag("nodelay") || delay >= burst {
		return []string{"    if not " + asked + " then " + over + " end"}
	}
	return []string{
		"    local e = " + asked, "    if not e then " + over,
		fmt.Sprintf("    elseif enforce and e > %d then ngx.sleep(math.floor((e - %[1]d) * 1000 / %d) / 1000) end", delay*1000, rate),
	}
}

// luaText is a text as Lua reads it back.
func luaText(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`).Replace(text) + `"`
}

// luaBytes are the bytes of an address.
func luaBytes(a netip.Addr) string {
	var b strings.Builder
	for _, c := range a.AsSlice() {
		fmt.Fprintf(&b, `\%03d`, c)
	}
	return `"` + b.String() + `"`
}

func luaKey(parts []request.Part) (string, error) {
	texts, err := tried(parts, func(p request.Part) (string, error) {
		text, ok := nginxPart(p, "$binary_remote_addr")
		switch {
		case !ok:
			return "", cannotCount(p)
		case p.Kind == request.PartSite:
			return `"all"`, nil
		}
		return "(v." + strings.TrimPrefix(strings.TrimPrefix(text, "agent "), "$") + ` or "")`, nil
	})
	return strings.Join(texts, ` .. "|" .. `), err
}

func luaWhen(when []clause) (string, error) {
	if when == nil {
		return "true", nil
	}
	either, err := said(when, luaTest, " and ")
	return strings.Join(either, " or "), err
}

// luaTests are the variables that tests look at, and the expression for a value. nil: the variable must equal it.
var luaTests = map[string]struct {
	variable string
	pattern  func(value string) string
}{
	"method": {"v.request_method", nil},
	"path":   {`(v.request_uri:match("^[^?]*"))`, nil},
	"prefix": {"v.request_uri", func(v string) string { return "^" + regexp.QuoteMeta(v) }},
	"regexp": {"v.uri", func(v string) string { return v }},
	"agent":  {`(v.http_user_agent or "")`, func(v string) string { return v }},
	"host":   {"v.host", nil},
}

func luaTest(t test) (string, error) {
	either, err := tried(t.values, func(v string) (string, error) {
		of, known := luaTests[t.kind]
		switch {
		case t.kind == "network":
			p := prefixOf(v)
			return "within(" + luaBytes(p.Addr()) + ", " + luaBytes(lastOf(p)) + ")", nil
		case t.kind == "without":
			p, err := request.ParsePart(v)
			if text, ok := nginxPart(p, ""); err == nil && ok {
				return "(v." + strings.TrimPrefix(text, "$") + ` or "") == ""`, nil
			}
			return "", t.cannot()
		case !known:
			return "", t.cannot()
		case t.kind == "host" && isMask(v):
			of.pattern = hostPattern
		}
		if of.pattern == nil {
			return of.variable + " == " + luaText(v), nil
		}
		return "ngx.re.find(" + of.variable + ", " + luaText(of.pattern(v)) + `, "jo")`, nil
	})
	text := "(" + strings.Join(either, " or ") + ")"
	if t.not {
		text = "not " + text
	}
	return text, err
}
