package imports

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/request"
	"shadow/internal/servers/imports/apachecfg"
	"shadow/internal/servers/imports/neutral"
)

// mod_evasive and mod_qos of Apache, which shut clients out for a time.
// Sources: jzdziarski/mod_evasive 1.10.1, README, mod_evasive20.c (access_checker: a page or a site over its count holds
// the client; defaults; the wildcards of DOSWhitelist); trawick/tweak-qos 2f7dd42, apache2/mod_qos.c (commands, defaults),
// and internal/servers/apache.go for its windows.

var (
	evasiveFormat = format{name: "mod_evasive", is: matches(evasiveLine), read: readEvasive}
	qosFormat     = format{name: "mod_qos", is: matches(qosLine), read: readQoS}
)

var (
	wholeNumber = lazy.Regexp(`^\d+`)
	evasiveLine = lazy.Regexp(`(?mi)^[ \t]*DOS(Page|Site)(Count|Interval)[ \t]+\S`)
	qosLine     = lazy.Regexp(`(?mi)^[ \t]*QS_\w+[ \t]+\S`)
)

// evasiveNumbers are directives that say a number, with what they say by default.
var evasiveNumbers = map[string]string{
	"dospagecount": "2", "dossitecount": "50", "dospageinterval": "1", "dossiteinterval": "1", "dosblockingperiod": "10",
}

func readEvasive(i *Import, file string, text []byte) error {
	said, places, set := maps.Clone(evasiveNumbers), map[string]string{}, neutral.Set{}
	first := ""
	for _, d := range apachecfg.Parse(string(text)) {
		words := d.Words
		if len(words) < 2 {
			continue
		}
		place, key := fmt.Sprintf("%s:%d", file, d.Line), strings.ToLower(words[0])
		switch {
		case evasiveNumbers[key] != "":
			if n := wholeNumber().FindString(words[1]); strings.Trim(n, "0") != "" { // as atol reads it; of 0 the default holds
				said[key] = n
			}
			places[key] = place
			if first == "" {
				first = place
			}
		case key == "doswhitelist":
			networks, ok := starNetworks(words[1:])
			if !ok {
				i.Lose(place, "%s is not understood", strings.Join(words, " "))
				continue
			}
			set = set.And(networks.Except())
		case slices.Contains([]string{"doshashtablesize", "dosemailnotify", "doslogdir", "doshttpstatus"}, key):
		case strings.HasPrefix(key, "dos"):
			i.Lose(place, "%s is not read", words[0])
		case strings.HasPrefix(key, "qs_"):
			i.Lose(place, "%s is one of mod_qos: --from mod_qos reads these instead", words[0])
		}
	}
	p := neutral.Policy{Name: "mod_evasive", Combine: "each"}
	for _, kind := range []string{"Page", "Site"} {
		low, by := strings.ToLower(kind), request.ByClient
		if kind == "Page" {
			by = "client+path"
			i.Lose(first, "who is over DOSPageCount is held on all pages there, and on that page here")
		}
		told := fmt.Sprintf("%s DOS%sCount %s in %s s", cmp.Or(places["dos"+low+"count"], first), kind, said["dos"+low+"count"],
			said["dos"+low+"interval"])
		p.Add(fmt.Sprintf("mod-evasive:%s/%ss,block=%ss", said["dos"+low+"count"], said["dos"+low+"interval"], said["dosblockingperiod"]),
			told, neutral.KeyCase{Set: set, By: by})
	}
	i.Tell("", "each process of Apache counts for itself; here one counts all requests")
	i.Policies = append(i.Policies, p)
	return nil
}

// What directives of mod_qos do that no limit here does.
var (
	qosAtOnce = lazy.Regexp(`^qs_(srvmaxconn|srvmaxconnperip|srvmaxconnclose|(cond)?locrequestlimit(match|default)?|(client)?eventrequestlimit)$`)
	qosSlows  = lazy.Regexp(`^qs_\w+(persec|bytespersec)\w*$`)
	qosNoted  = lazy.Regexp(`^qs_(error\w+|cliententries|disablehandler|semmemfile|srvmaxconnexcludeip|chroot)$`)
)

// readQoS reads counts of clients: of requests for which SetEnvIf sets a variable.
func readQoS(i *Import, file string, text []byte) error {
	events, p := map[string][]neutral.Set{}, neutral.Policy{Name: "mod_qos", Combine: "each"}
	var counts [][]string // each behind its place
	for _, d := range apachecfg.Parse(string(text)) {
		words := d.Words
		if len(words) < 2 {
			continue
		}
		place, key := fmt.Sprintf("%s:%d", file, d.Line), strings.ToLower(words[0])
		switch {
		case (key == "setenvif" || key == "setenvifnocase") && len(words) > 3:
			i.qosEvents(events, place, words)
		case strings.HasPrefix(key, "setenvif"):
			i.Lose(place, "%s is not read", words[0])
		case key == "qs_clienteventlimitcount":
			words = append(words, []string{"600", "QS_Limit"}[min(len(words), 4)-2:]...)
			counts = append(counts, append([]string{place}, words[1:]...))
		case key == "qs_clientipfromheader":
			i.Tell(place, "clients are taken from a header: --client-from %s, with --trusted-proxy", strings.ToLower(words[1]))
		case qosAtOnce().MatchString(key):
			i.Lose(place, "%s bounds how many are under way at once, which no limit here does", words[0])
		case qosSlows().MatchString(key):
			i.Lose(place, "%s slows requests down and refuses none: it is left out", words[0])
		case key == "qs_logonly" && strings.EqualFold(words[1], "on"):
			i.Lose(place, "QS_LogOnly: nothing is refused there")
		case strings.HasPrefix(key, "qs_") && !qosNoted().MatchString(key):
			i.Lose(place, "%s is not read", words[0])
		}
	}
	for _, c := range counts {
		i.qosLimit(&p, c, events)
	}
	i.Policies = append(i.Policies, p)
	return nil
}

// qosEvents takes down for which requests variables are set.
func (i *Import) qosEvents(events map[string][]neutral.Set, place string, words []string) {
	pattern := words[2]
	if strings.HasSuffix(strings.ToLower(words[0]), "nocase") {
		pattern = "(?i)" + pattern
	}
	set, method := neutral.Set{}, strings.Trim(words[2], "^$()")
	switch attribute := strings.ToLower(words[1]); {
	case slices.Contains([]string{"^", ".", ".*", "^.*", "^/", "/"}, words[2]):
	case attribute == "request_uri":
		set = neutral.Within("regexp", pattern)
	case attribute == "request_method" && strings.Trim(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ|") == "":
		set = neutral.Within("method", strings.Split(method, "|")...)
	case attribute == "user-agent" && !fitsNothing(pattern):
		set = neutral.Within("agent", pattern)
	default:
		i.Lose(place, "%s %s is not read: it is taken to fit", words[0], words[1])
	}
	for _, word := range words[3:] {
		name, _, _ := strings.Cut(word, "=")
		if name == "" {
			continue
		}
		if events[name] = append(events[name], set); name[0] == '!' {
			i.Lose(place, "%s is not read", word)
		}
	}
}

// fitsNothing reports whether an expression fits where there is no text, or is none here.
func fitsNothing(pattern string) bool {
	re, err := regexp.Compile(pattern)
	return err != nil || re.MatchString("") || re.MatchString("-")
}

// qosLimit adds the limit of a count, whose words are a place, the number, the seconds and the variable.
func (i *Import) qosLimit(p *neutral.Policy, c []string, events map[string][]neutral.Set) {
	most, err := strconv.Atoi(c[1])
	seconds, bad := strconv.Atoi(c[2])
	sets := events[c[3]]
	switch {
	case err != nil || bad != nil || most < 2:
		i.Lose(c[0], "QS_ClientEventLimitCount %s %s is not understood: it is left out", c[1], c[2])
		return
	case sets == nil:
		i.Lose(c[0], "which requests set %s is not said: each counts", c[3])
		sets = []neutral.Set{{}}
	}
	set := neutral.Union(sets...)
	if !set.IsAll() {
		i.Lose(c[0], "who is over it is refused everything there, and here what counts")
	}
	p.Add(fmt.Sprintf("fixed:%d/%ds,align=first,clock=1s", most-1, seconds+1),
		fmt.Sprintf("%s QS_ClientEventLimitCount %s %s %s", c[0], c[1], c[2], c[3]), neutral.KeyCase{Set: set, By: request.ByClient})
}

// starNetworks reads addresses whose last numbers may be stars: 10.1.*.*
func starNetworks(words []string) (neutral.Set, bool) {
	for n, word := range words {
		if stars := strings.Count(word, "*"); stars > 0 && strings.HasSuffix(word, strings.Repeat(".*", stars)) {
			words[n] = fmt.Sprintf("%s/%d", strings.ReplaceAll(word, "*", "0"), 32-8*stars)
		}
	}
	return neutral.NetworkSet(words)
}
