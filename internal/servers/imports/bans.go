package imports

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/request"
	"shadow/internal/servers/imports/apachecfg"
	"shadow/limit"
)

// What shuts clients out for a time: the jails of fail2ban, and mod_evasive and mod_qos of Apache.
// Sources: fail2ban/fail2ban aede895, config/jail.conf, man/jail.conf.5 (jails are off unless enabled, values of
// [DEFAULT] hold for all, times in seconds or with a unit); jzdziarski/mod_evasive 1.10.1, README, mod_evasive20.c
// (access_checker: a page or a site over its count holds the client; defaults; the wildcards of DOSWhitelist);
// trawick/tweak-qos 2f7dd42, apache2/mod_qos.c (commands, defaults), and internal/servers/apache.go for its windows.

var (
	fail2banFormat = format{name: "fail2ban", is: func(text []byte) bool { return jailKey().Match(text) }, read: readJails}
	evasiveFormat  = format{name: "mod_evasive", is: func(text []byte) bool { return evasiveLine().Match(text) }, read: readEvasive}
	qosFormat      = format{name: "mod_qos", is: func(text []byte) bool { return qosLine().Match(text) }, read: readQoS}
)

var (
	jailKey     = lazy.Regexp(`(?m)^(maxretry|findtime|bantime|banaction)[ \t]*=`)
	jailPart    = lazy.Regexp(`(-?\d+)\s*([a-zA-Z]*)`)
	evasiveLine = lazy.Regexp(`(?mi)^[ \t]*DOS(Page|Site)(Count|Interval)[ \t]+\S`)
	qosLine     = lazy.Regexp(`(?mi)^[ \t]*QS_\w+[ \t]+\S`)
	webJail     = lazy.Regexp(`(?i)http|nginx|apache|web|php|wordpress|traefik|caddy|haproxy|access`)
	jailOption  = lazy.Regexp(`^(port|protocol|chain|(ban|m|)action.*|action_.*|logpath|logencoding|backend|filter|mode|` +
		`journalmatch|maxlines|maxmatches|dest(email|mail)?|sender(name)?|mta|fail2ban_agent|usedns|ignoreself|ignorecache|` +
		`before|after|datepattern|prefregex|enabled|maxretry|findtime|bantime|ignoreip)$`)
)

// A jailValue is what a section says of a key.
type jailValue struct {
	text  string
	line  int
	file  string
	order int // of the file
}

// jailSections reads sections of keys with values, which may go on in indented lines.
func jailSections(file, text string) (names []string, sections map[string]map[string]jailValue) {
	sections = map[string]map[string]jailValue{}
	section, key := "", ""
	for n, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "#") || strings.HasPrefix(line, ";") || strings.TrimSpace(line) == "" {
			continue
		}
		name, isHead := strings.CutPrefix(line, "[")
		if isHead {
			section, _, _ = strings.Cut(name, "]")
			key = ""
			if sections[section] == nil {
				names, sections[section] = append(names, section), map[string]jailValue{}
			}
			continue
		}
		word, value, ok := strings.Cut(line, "=")
		switch indented := line[0] == ' ' || line[0] == '\t'; {
		case indented && key != "":
			before := sections[section][key]
			sections[section][key] = jailValue{text: before.text + " " + strings.TrimSpace(line), line: before.line, file: file}
		case ok && sections[section] != nil:
			key = strings.TrimSpace(word)
			value, _, _ = strings.Cut(value, " ;")
			sections[section][key] = jailValue{text: strings.TrimSpace(value), line: n + 1, file: file}
		}
	}
	return names, sections
}

// A jailFile is one of those that fail2ban reads as one.
type jailFile struct {
	name     string
	names    []string
	sections map[string]map[string]jailValue
}

func readJails(i *Import, file string, text []byte) error {
	names, sections := jailSections(file, string(text))
	for _, name := range names {
		said := sections[name]
		for _, key := range slices.Sorted(maps.Keys(said)) {
			if !jailOption().MatchString(key) && name != "INCLUDES" && name != "Definition" {
				i.lose(fmt.Sprintf("%s:%d", file, said[key].line), "%s of %s is not read", key, name)
			}
		}
	}
	i.jails = append(i.jails, jailFile{file, names, sections})
	return nil
}

// takeJails adds the limits of the jails of each folder, whose files are one: what a later one says holds, and those that
// end in .local are last.
// Source: fail2ban/fail2ban aede895, man/jail.conf.5 (CONFIGURATION FILES FORMAT).
func (i *Import) takeJails() {
	before, folders := len(i.Policies), map[string][]jailFile{}
	var names []string
	for _, f := range i.jails {
		folder := filepath.Clean(strings.TrimSuffix(filepath.Dir(f.name), "jail.d"))
		if folders[folder] == nil {
			names = append(names, folder)
		}
		folders[folder] = append(folders[folder], f)
	}
	for _, name := range names {
		files := folders[name]
		slices.SortStableFunc(files, func(a, b jailFile) int {
			last := map[bool]int{true: 1}
			return cmp.Compare(last[filepath.Ext(a.name) == ".local"], last[filepath.Ext(b.name) == ".local"])
		})
		i.folderOfJails(files)
	}
	i.checkFrom(before)
}

// folderOfJails adds the limits of files that are read as one, in their order.
func (i *Import) folderOfJails(files []jailFile) {
	p := Policy{Name: "fail2ban"}
	var names []string
	all := map[string]map[string]jailValue{"DEFAULT": {}}
	for n, f := range files {
		for _, name := range f.names {
			if all[name] == nil {
				all[name] = map[string]jailValue{}
			}
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
			for key, v := range f.sections[name] {
				v.order = n
				all[name][key] = v
			}
		}
	}
	for _, name := range names {
		if name == "DEFAULT" || name == "INCLUDES" || name == "Definition" {
			continue
		}
		j := jail{Import: i, name: name, said: maps.Clone(all["DEFAULT"])}
		maps.Copy(j.said, all[name])
		j.limit(&p)
	}
	i.Policies = append(i.Policies, p)
}

// A jail counts the failures of clients, and bans them.
type jail struct {
	*Import
	name string
	said map[string]jailValue
}

// value returns what a key says, or what it does by default, and where.
func (j jail) value(key, without string) (text, place string) {
	v, ok := j.said[key]
	if !ok {
		for _, w := range j.said { // where the jail stands
			if w.order > v.order || w.order == v.order && w.line > v.line {
				v = w
			}
		}
		return without, fmt.Sprintf("%s:%d", v.file, v.line)
	}
	text, place = v.text, fmt.Sprintf("%s:%d", v.file, v.line)
	for range 5 { // %(bantime)s
		for other, o := range j.said {
			text = strings.ReplaceAll(text, "%("+other+")s", o.text)
		}
	}
	return text, place
}

// Units may be cut short: m are minutes, mo are months. Source: fail2ban/server/mytime.py (str2seconds).
var (
	jailUnits   = []string{"seconds", "minutes", "hours", "days", "weeks", "months", "years"}
	jailSeconds = []int{1, 60, 3600, 86400, 7 * 86400, 2629800, 31557600}
)

// time returns the period that a key says.
func (j jail) time(key, without string) (string, bool) {
	text, place := j.value(key, without)
	if _, err := limit.ParsePeriod(text); err == nil {
		return text, true
	}
	seconds, left := 0, strings.TrimSpace(jailPart().ReplaceAllString(text, ""))
	for _, at := range jailPart().FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(at[1])
		unit := slices.IndexFunc(jailUnits, func(name string) bool { return strings.HasPrefix(name, strings.ToLower(at[2])) })
		if err != nil || unit < 0 {
			left += at[0]
			continue
		}
		seconds += n * jailSeconds[unit]
	}
	if left == "" && seconds < 0 && key == "bantime" {
		return "36500d", true // forever
	}
	period := fmt.Sprintf("%ds", seconds)
	if _, err := limit.ParsePeriod(period); err != nil || left != "" {
		j.lose(place, "jail %s: %s = %s is not read: the jail is left out", j.name, key, text)
		return "", false
	}
	return period, true
}

// limit adds the limit of a jail that is enabled, and of a web server.
func (j jail) limit(p *Policy) {
	enabled, place := j.value("enabled", "false")
	var about string
	for _, key := range []string{"filter", "port", "logpath"} {
		about += " " + j.said[key].text
	}
	switch {
	case !slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(enabled)):
		j.tell(place, "jail %s is not enabled here", j.name)
		return
	case !webJail().MatchString(j.name + about):
		j.tell(place, "jail %s watches no web server: it is left out", j.name)
		return
	}
	most, at := j.value("maxretry", "5")
	find, ok := j.time("findtime", "10m")
	ban, too := j.time("bantime", "10m")
	if !ok || !too {
		return
	}
	filter, place := j.value("filter", j.name)
	j.lose(place, "jail %s: which lines are failures is said by the filter %s, which is not read: each request counts; "+
		"count: tells which do", j.name, filter)
	p.add(fmt.Sprintf("fail2ban:%s/%s,bantime=%s", most, find, ban), fmt.Sprintf("%s jail %s", at, j.name),
		keyCase{j.ignored(), request.ByClient})
}

// ignored returns all requests but those of clients that are never banned.
func (j jail) ignored() Set {
	text, place := j.value("ignoreip", "")
	return j.sparing(place, "ignoreip ", strings.FieldsFunc(text, func(c rune) bool { return c == ' ' || c == ',' }))
}

// evasiveNumbers are directives that say a number, with what they say by default.
var evasiveNumbers = map[string]string{
	"dospagecount": "2", "dossitecount": "50", "dospageinterval": "1", "dossiteinterval": "1", "dosblockingperiod": "10",
}

func readEvasive(i *Import, file string, text []byte) error {
	said, places, set := maps.Clone(evasiveNumbers), map[string]string{}, Set{}
	first := ""
	for _, d := range apachecfg.Parse(string(text)) {
		words := d.Words
		if len(words) < 2 {
			continue
		}
		place, key := fmt.Sprintf("%s:%d", file, d.Line), strings.ToLower(words[0])
		switch {
		case evasiveNumbers[key] != "":
			said[key], places[key] = words[1], place
			if first == "" {
				first = place
			}
		case key == "doswhitelist":
			networks, ok := starNetworks(words[1:])
			if !ok {
				i.lose(place, "%s is not understood", strings.Join(words, " "))
				continue
			}
			set = set.and(networks.except())
		case slices.Contains([]string{"doshashtablesize", "dosemailnotify", "doslogdir", "doshttpstatus"}, key):
		case strings.HasPrefix(key, "dos"):
			i.lose(place, "%s is not read", words[0])
		case strings.HasPrefix(key, "qs_"):
			i.lose(place, "%s is one of mod_qos: --from mod_qos reads these instead", words[0])
		}
	}
	p := Policy{Name: "mod_evasive", Combine: "each"}
	for _, kind := range []string{"Page", "Site"} {
		low, by := strings.ToLower(kind), request.ByClient
		if kind == "Page" {
			by = "client+path"
			i.lose(first, "who is over DOSPageCount is held on all pages there, and on that page here")
		}
		told := fmt.Sprintf("%s DOS%sCount %s in %s s", cmp.Or(places["dos"+low+"count"], first), kind, said["dos"+low+"count"],
			said["dos"+low+"interval"])
		p.add(fmt.Sprintf("mod-evasive:%s/%ss,block=%ss", said["dos"+low+"count"], said["dos"+low+"interval"], said["dosblockingperiod"]),
			told, keyCase{set, by})
	}
	i.tell("", "each process of Apache counts for itself; here one counts all requests")
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
	events, p := map[string][]Set{}, Policy{Name: "mod_qos", Combine: "each"}
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
			i.lose(place, "%s is not read", words[0])
		case key == "qs_clienteventlimitcount":
			words = append(words, []string{"600", "QS_Limit"}[min(len(words), 4)-2:]...)
			counts = append(counts, append([]string{place}, words[1:]...))
		case key == "qs_clientipfromheader":
			i.tell(place, "clients are taken from a header: --client-from %s, with --trusted-proxy", strings.ToLower(words[1]))
		case qosAtOnce().MatchString(key):
			i.lose(place, "%s bounds how many are under way at once, which no limit here does", words[0])
		case qosSlows().MatchString(key):
			i.lose(place, "%s slows requests down and refuses none: it is left out", words[0])
		case key == "qs_logonly" && strings.EqualFold(words[1], "on"):
			i.lose(place, "QS_LogOnly: nothing is refused there")
		case strings.HasPrefix(key, "qs_") && !qosNoted().MatchString(key):
			i.lose(place, "%s is not read", words[0])
		}
	}
	for _, c := range counts {
		p.Limits = append(p.Limits, i.qosLimit(c, events)...)
	}
	i.Policies = append(i.Policies, p)
	return nil
}

// qosEvents takes down for which requests variables are set.
func (i *Import) qosEvents(events map[string][]Set, place string, words []string) {
	pattern := words[2]
	if strings.HasSuffix(strings.ToLower(words[0]), "nocase") {
		pattern = "(?i)" + pattern
	}
	set, method := Set{}, strings.Trim(words[2], "^$()")
	switch attribute := strings.ToLower(words[1]); {
	case slices.Contains([]string{"^", ".", ".*", "^.*", "^/", "/"}, words[2]):
	case attribute == "request_uri":
		set = within("regexp", pattern)
	case attribute == "request_method" && strings.Trim(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ|") == "":
		set = within("method", strings.Split(method, "|")...)
	case attribute == "user-agent" && !fitsNothing(pattern):
		set = within("agent", pattern)
	default:
		i.lose(place, "%s %s is not read: it is taken to fit", words[0], words[1])
	}
	for _, word := range words[3:] {
		name, _, _ := strings.Cut(word, "=")
		if name == "" {
			continue
		}
		if events[name] = append(events[name], set); name[0] == '!' {
			i.lose(place, "%s is not read", word)
		}
	}
}

// fitsNothing reports whether an expression fits where there is no text, or is none here.
func fitsNothing(pattern string) bool {
	re, err := regexp.Compile(pattern)
	return err != nil || re.MatchString("") || re.MatchString("-")
}

// qosLimit is the limit of a count, whose words are a place, the number, the seconds and the variable.
func (i *Import) qosLimit(c []string, events map[string][]Set) []Limit {
	most, err := strconv.Atoi(c[1])
	seconds, bad := strconv.Atoi(c[2])
	sets := events[c[3]]
	switch {
	case err != nil || bad != nil || most < 2:
		i.lose(c[0], "QS_ClientEventLimitCount %s %s is not understood: it is left out", c[1], c[2])
		return nil
	case sets == nil:
		i.lose(c[0], "which requests set %s is not said: each counts", c[3])
		sets = []Set{{}}
	}
	set := union(sets...)
	if !set.isAll() {
		i.lose(c[0], "who is over it is refused everything there, and here what counts")
	}
	return []Limit{{
		By: request.ByClient, Match: set, Count: set, Text: fmt.Sprintf("fixed:%d/%ds,align=first,clock=1s", most-1, seconds+1),
		Told: []string{fmt.Sprintf("%s QS_ClientEventLimitCount %s %s %s", c[0], c[1], c[2], c[3])},
	}}
}

// starNetworks reads addresses whose last numbers may be stars: 10.1.*.*
func starNetworks(words []string) (Set, bool) {
	for n, word := range words {
		if stars := strings.Count(word, "*"); stars > 0 && strings.HasSuffix(word, strings.Repeat(".*", stars)) {
			words[n] = fmt.Sprintf("%s/%d", strings.ReplaceAll(word, "*", "0"), 32-8*stars)
		}
	}
	return networkSet(words)
}
