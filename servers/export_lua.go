package servers

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"shadow/limit"
	"shadow/policy"
	"shadow/request"
)

// For OpenResty a limit is of lua-resty-limit-traffic: resty.limit.req, which is the leaky bucket of nginx, or
// resty.limit.count, whose windows begin with a request. The lines stand in a file of their own.

var luaTarget = Target{
	Name: "lua", Title: "OpenResty's lua-resty-limit-traffic", Comment: "--", Ending: ".lua", own: ownAPISIX, Combine: policy.InTurn,
	Grid: "limit.req: whole requests per second or minute and a burst; limit.count: whole seconds",
	Enforce: "it refuses nothing yet, and logs over-limit. To enforce it, make enforce true. It takes, in http: " +
		"`lua_shared_dict shadow 10m;`, and in the location: `access_by_lua_file shadow.lua;`",
	nearest: nearestAPISIX, write: writeLua,
}

func writeLua(e *Export, all []setting) error {
	if err := e.plainClient(); err != nil && e.where.address() {
		return err
	} else if err != nil {
		return errors.New(e.where.who().onlyYouKnow("it is not exported"))
	}
	lines := []string{
		"local enforce = false", "local function over(name)", `    ngx.log(ngx.WARN, "over-limit ", name)`,
		"    if enforce then return ngx.exit(429) end", "end", "local v = ngx.var",
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
			lines = append(lines, "if "+when+" then", "    local key = "+luaText(s.name+" ")+" .. "+key)
			if s.spec.Algorithm == "nginx" {
				rate := fmt.Sprint(s.spec.Count)
				if s.spec.Period == limit.Minute {
					rate += " / 60"
				}
				burst := s.spec.Args().Int("burst", 0)
				lines = append(lines, fmt.Sprintf(`    local lim = require("resty.limit.req").new("shadow", %s, %d)`, rate, burst))
				wait := "    if not delay then over(" + luaText(s.name) + ")"
				if !strings.HasSuffix(s.spec.Options, "nodelay") && burst > 0 {
					wait += " elseif enforce and delay > 0 then ngx.sleep(delay)"
				}
				lines = append(lines, "    local delay = lim:incoming(key, true)", wait+" end")
			} else {
				lines = append(lines, fmt.Sprintf(`    local lim = require("resty.limit.count").new("shadow", %d, %d)`, s.spec.Count,
					s.spec.Period/limit.Second), "    if not lim:incoming(key, true) then over("+luaText(s.name)+") end")
			}
			lines = append(lines, "end")
		}
	}
	e.block("", lines...)
	return nil
}

// luaText is a text as Lua reads it back.
func luaText(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

func luaKey(parts []request.Part) (string, error) {
	var texts []string
	for _, p := range parts {
		text, ok := nginxPart(p, "$binary_remote_addr")
		text, _ = strings.CutPrefix(text, "agent ")
		switch {
		case !ok:
			return "", cannotCount(p)
		case p.Kind == request.PartSite:
			text = `"all"`
		default:
			text = "(v." + strings.TrimPrefix(text, "$") + ` or "")`
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ` .. "|" .. `), nil
}

func luaWhen(when []clause) (string, error) {
	var either []string
	for _, c := range when {
		var tests []string
		for _, t := range c {
			one, err := luaTest(t)
			if err != nil {
				return "", err
			}
			tests = append(tests, one)
		}
		either = append(either, strings.Join(tests, " and "))
	}
	if either == nil {
		return "true", nil
	}
	return strings.Join(either, " or "), nil
}

func luaTest(t test) (string, error) {
	variable := map[string]string{
		"method": "v.request_method", "path": `(v.request_uri:match("^[^?]*"))`, "prefix": "v.request_uri", "regexp": "v.uri",
		"agent": `(v.http_user_agent or "")`, "host": "v.host",
	}[t.kind]
	var either []string
	for _, v := range t.values {
		find := func(pattern string) string { return "ngx.re.find(" + variable + ", " + luaText(pattern) + `, "jo")` }
		switch t.kind {
		case "method", "path":
			either = append(either, variable+" == "+luaText(v))
		case "prefix":
			either = append(either, find("^"+regexp.QuoteMeta(v)))
		case "regexp", "agent":
			either = append(either, find(v))
		case "host":
			if isMask(v) {
				either = append(either, find(hostPattern(v)))
			} else {
				either = append(either, variable+" == "+luaText(v))
			}
		case "without":
			p, err := request.ParsePart(v)
			text, ok := nginxPart(p, "")
			if err != nil || !ok {
				return "", t.cannot()
			}
			either = append(either, "(v."+strings.TrimPrefix(text, "$")+` or "") == ""`)
		default:
			return "", t.cannot()
		}
	}
	text := "(" + strings.Join(either, " or ") + ")"
	if t.not {
		text = "not " + text
	}
	return text, nil
}
