package servers

import (
	"fmt"
	"math"
	"strings"

	"shadow/internal/policy"
	"shadow/limit"
)

// Apache counts with mod_qos: of each address the requests for which a variable is set, in memory that all its processes
// share. QS_ClientEventLimitCount N S refuses the request that makes N, and all others until S whole seconds and one more
// are over, the second of the first request being one of them. The refused ones count, which changes nothing. So it admits
// N − 1 in a fixed window, which the first request opens, by a clock of seconds.
//
// Once full, it refuses whatever the address asks for. The rule with Cond does so only where QS_Cond has a value, and else
// counts: that is how actions are limited, and the dry run. QS_LogOnly would be one too, but of all that mod_qos does. Its
// numbers are of 16 bits: a greater one refuses everybody, and after 32,767 requests in a window it counts on below zero.
//
// Source: mod_qos 11.63 and 11.70, mod_qos.c, qos_hp_cc, qos_get_clientIP and qos_client_limit_int_cmd; Apache httpd's
// documentation of SetEnvIf, GlobalLog and mod_remoteip.

var apache = Server{
	Name: "apache", Title: "Apache httpd with mod_qos",
	Watch: "count the lines of its GlobalLog",
	count: "wc -l < /var/log/apache2/shadow_NAME.log",

	algorithms: []string{"fixed"},
	kind:       Fixed,
	grid:       periods(10*limit.Second, 30*limit.Second, limit.Minute, 5*limit.Minute, 15*limit.Minute),
	options:    "align=first,clock=1s",
	lines:      apacheLines,
	behind:     "QS_ClientIpFromHeader HEADER, if requests come from it alone",
}

const mostApache = math.MaxInt16

// apacheHas reports whether a fixed window is one of mod_qos.
func apacheHas(spec limit.Spec) bool {
	spec, align, _ := policy.CutOption(spec, "align")
	spec, clock, _ := policy.CutOption(spec, "clock")
	seconds := spec.Period / limit.Second
	return spec.Options == "" && align == "first" && clock == "1s" && spec.Period%limit.Second == 0 &&
		seconds > 1 && seconds <= math.MaxInt32 && spec.Count < mostApache
}

func apacheLines(spec limit.Spec, w Where) Directives {
	d, name, seconds := w.apacheKey(), "shadow_"+w.name(), spec.Period/limit.Second-1
	paths, over := `Request_URI "^"`, fmt.Sprintf("%%{reqenv:shadow_%s_Counter} -gt %d", w.name(), spec.Count)
	later := []string{fmt.Sprintf("# QS_ClientEventLimitCount %d %d %s", spec.Count+1, seconds, name)}
	if w.Action != "" {
		pattern, ok := w.Pattern()
		if paths = `Request_URI "^` + pattern + `$"`; !ok {
			paths = `Request_URI ` + unknownApache
			d.Note = notes(d.Note, w.onlyYouKnowPaths("write them in the place of "+unknownApache+", which Apache refuses"))
		}
		later = []string{
			fmt.Sprintf("# QS_CondClientEventLimitCount %d %d %s ^%s$", spec.Count+1, seconds, name, name),
			"# SetEnvIf " + paths + " QS_Cond=" + name,
		}
		d.Note = notes(d.Note, "to enforce it, no rule of yours may go by QS_Cond")
		over = "-n reqenv('" + name + "') && " + over
	}
	lines := []string{"SetEnvIf " + paths + " " + name}
	if len(w.Exempt) > 0 {
		from := strings.Join(w.exempt(), "' || %{REMOTE_ADDR} -ipmatch '")
		lines = append(lines, `SetEnvIfExpr "%{REMOTE_ADDR} -ipmatch '`+from+`'" !`+name)
	}
	lines = append(lines, fmt.Sprintf("QS_CondClientEventLimitCount %d %d %s ^shadow$", mostApache, seconds, name),
		"# blocks no client, as QS_Cond is not shadow. Once the count is right, in the place of the line above:")
	lines = append(append(lines, later...), "GlobalLog /var/log/apache2/"+name+`.log "%t %a %r" "expr=`+over+`"`)
	d.Blocks = append(d.Blocks, Block{"server config", true, []string{
		"# outside of virtual hosts; takes a restart, not a reload. Who sends 32,767 in a window is admitted again",
		"# 429 takes QS_ErrorResponseCode 429, which is of all rules of mod_qos; 500 without it",
	}}, Block{"server config", false, lines})
	return d
}

// unknownApache is no pattern, so that Apache does not start until an operator has put one in its place.
const unknownApache = `"("`

// apacheKey is the address that mod_qos counts by, with what it needs behind proxies: it sees those only, whatever
// mod_remoteip makes of them, or a header.
func (w *Where) apacheKey() (d Directives) {
	d.Exempts = true
	const all = "# for all rules of mod_qos by client"
	switch c := w.who(); {
	case c != who{}:
		d.Note = fmt.Sprintf("clients were identified by %q, and mod_qos counts addresses only: behind QS_ClientIpFromHeader "+
			"name a header that has one for each, or take another server", w.Client)
		d.Blocks = []Block{{"server config", true, []string{all, "QS_ClientIpFromHeader"}}}
		return d
	case w.forwarded() != "":
		d.Key = "QS_ClientIpFromHeader"
		d.Blocks = []Block{{"server config", true, []string{
			"RemoteIPHeader " + w.forwarded(),
			"RemoteIPInternalProxy " + w.trusted(),
			`SetEnvIf Remote_Addr "(.+)" shadow_client=$1`,
			"QS_SetReqHeader X-Shadow-Client shadow_client",
			all, "QS_ClientIpFromHeader X-Shadow-Client",
		}}}
	default:
		d.Key = "client IP"
		d.Note = "behind proxies that is theirs, even with mod_remoteip, unless QS_ClientIpFromHeader names a header"
	}
	if w.Cut {
		d.Key = ""
		d.Note = notes(fmt.Sprintf("clients were networks of %s, and mod_qos cannot cut addresses: each has a count there",
			w.Client), d.Note)
	}
	return d
}
