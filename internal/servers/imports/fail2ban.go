package imports

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/request"
	"shadow/internal/servers/imports/neutral"
	"shadow/limit"
)

// The jails of fail2ban, which shut clients out for a time.
// Source: fail2ban/fail2ban aede895, config/jail.conf, man/jail.conf.5 (jails are off unless enabled, values of [DEFAULT]
// hold for all, times in seconds or with a unit).

var fail2banFormat = format{name: "fail2ban", is: matches(jailKey), read: readJails}

var (
	jailKey    = lazy.Regexp(`(?m)^(maxretry|findtime|bantime|banaction)[ \t]*=`)
	jailPart   = lazy.Regexp(`(-?\d+)\s*([a-zA-Z]*)`)
	webJail    = lazy.Regexp(`(?i)http|nginx|apache|web|php|wordpress|traefik|caddy|haproxy|access`)
	jailOption = lazy.Regexp(`^(port|protocol|chain|(ban|m|)action.*|action_.*|logpath|logencoding|backend|filter|mode|` +
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
				i.Lose(fmt.Sprintf("%s:%d", file, said[key].line), "%s of %s is not read", key, name)
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
	i.CheckFrom(before)
}

// folderOfJails adds the limits of files that are read as one, in their order.
func (i *Import) folderOfJails(files []jailFile) {
	p := neutral.Policy{Name: "fail2ban"}
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
		j.Lose(place, "jail %s: %s = %s is not read: the jail is left out", j.name, key, text)
		return "", false
	}
	return period, true
}

// limit adds the limit of a jail that is enabled, and of a web server.
func (j jail) limit(p *neutral.Policy) {
	enabled, place := j.value("enabled", "false")
	var about string
	for _, key := range []string{"filter", "port", "logpath"} {
		about += " " + j.said[key].text
	}
	switch {
	case !slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(enabled)):
		j.Tell(place, "jail %s is not enabled here", j.name)
		return
	case !webJail().MatchString(j.name + about):
		j.Tell(place, "jail %s watches no web server: it is left out", j.name)
		return
	}
	most, at := j.value("maxretry", "5")
	find, ok := j.time("findtime", "10m")
	ban, too := j.time("bantime", "10m")
	if !ok || !too {
		return
	}
	filter, place := j.value("filter", j.name)
	j.Lose(place, "jail %s: which lines are failures is said by the filter %s, which is not read: each request counts; "+
		"count: tells which do", j.name, filter)
	p.Add(fmt.Sprintf("fail2ban:%s/%s,bantime=%s", most, find, ban), fmt.Sprintf("%s jail %s", at, j.name),
		neutral.KeyCase{Set: j.ignored(), By: request.ByClient})
}

// ignored returns all requests but those of clients that are never banned.
func (j jail) ignored() neutral.Set {
	text, place := j.value("ignoreip", "")
	return j.sparing(place, "ignoreip ", strings.FieldsFunc(text, func(c rune) bool { return c == ' ' || c == ',' }))
}
