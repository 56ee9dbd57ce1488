package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/servers"
	"shadow/internal/suggest"
	"shadow/internal/sweep"
	"shadow/internal/traffic/match"
	"shadow/internal/traffic/useragent"
	"shadow/internal/traffic/who"
	"shadow/replay"
	"shadow/report/advice"
	"shadow/report/format"
)

// What to do with an answer: lines for the configuration of a server, and commands that can be typed as they are.

// paste fills in the lines that the server wants, and how to watch what they do. Those that it wants once come with the
// first answer.
func (r *Suggest) paste(ctx context.Context, to *advice.Answer, first bool) error {
	a := to.Advice
	exempt := r.exempt(to.Verdict, a)
	server := a.Server.Server
	if server == nil {
		return nil
	}
	where := r.where
	where.Action, where.Named = a.Action, r.named[a.Action]
	where.Exempt = exempt
	to.Server, to.ByLog = server.Title, r.byLog
	to.Lines = func(limit string) ([]servers.Block, error) {
		d, err := server.Lines(limit, where)
		return blocksOf(d, first), err
	}
	if a.Answer.Of == nil {
		return nil
	}
	d, err := server.Lines(a.Answer.Limit, where)
	if err != nil {
		return err
	}
	to.Watch = advice.Watch{How: server.Watch, Count: d.Count, Log: server.Log, Partly: d.Partly, Front: d.Front}
	to.Verdict.Key, to.Verdict.Note = d.Key, d.Note
	if to.Verdict.Exempt != nil {
		to.Verdict.Exempt.Pasted = d.Exempts
	}
	to.Verdict.Paste = blocksOf(d, first)
	return r.leftOut(ctx, to, d.Exempts, exempt)
}

// leftOutNamed is the most flags that are named of those that leave requests out.
const leftOutNamed = 3

// leftOut says what --exclude leaves out that lines do not exempt, which is all but the addresses of some servers, and how
// much the limit would refuse with that. Of one action, or of what is read once, the number is not known.
func (r *Suggest) leftOut(ctx context.Context, to *advice.Answer, exempts bool, exempt []netip.Prefix) error {
	var let []string
	if exempts {
		let = mapped.Of(exempt, netip.Prefix.String)
	}
	what := mapped.Of(r.ExcludeStatus, func(status string) string { return "status " + status })
	for _, text := range r.Exclude {
		x, err := match.ParseExclude([]string{text})
		if err != nil || len(x.Networks()) == 0 || !slices.Contains(let, x.Networks()[0].String()) {
			what = append(what, text)
		}
	}
	if len(what) == 0 || len(to.Verdict.Paste) == 0 || r.advisor.Found.Stats.Excluded == 0 {
		return nil
	}
	to.Watch.With = -1
	more := ""
	if to.Advice.Action == "" && r.isRegular() {
		again := &Replay{Choice: Choice{Limits: []string{to.Advice.Whole.Limit}, Chosen: []string{policy.NoPolicy}}}
		again.Source, again.Quiet, again.Started, again.Out, again.Err = r.Source, true, r.Started, io.Discard, io.Discard
		again.Exclude, again.ExcludeStatus = let, nil
		if err := again.prepareReplay(ctx, r.names); err != nil {
			return err
		}
		result, err := again.judge(ctx, nil)
		if err != nil {
			return err
		}
		to.Watch.With = result.Policies[0].Refused
		more = fmt.Sprintf(": with it, %s of %s are refused", format.Thousands(to.Watch.With),
			format.Count(result.Policies[0].Requests, "request"))
	}
	note := "what --exclude leaves out is not exempt there (" + format.List(what, leftOutNamed) + ")" + more
	if to.Verdict.Note != "" {
		note = to.Verdict.Note + ". " + note
	}
	to.Verdict.Note = note
	return nil
}

// isRegular reports whether all logs can be read once more.
func (r *Suggest) isRegular() bool {
	return !slices.ContainsFunc(r.found.Names, func(name string) bool {
		info, err := os.Stat(name)
		return err != nil || !info.Mode().IsRegular()
	})
}

// refusedMost names the clients that the answer refuses most, and the one that is most of what is refused, if there is one and
// nothing shows an attack.
func (r *Suggest) refusedMost(a *suggest.Advice) (most []advice.RefusedMost, heavy *advice.Heavy) {
	most = mapped.Add(most, a.Whole.Most, func(hit replay.Hit) advice.RefusedMost { return *r.client(a, hit) })
	hit, found := a.Whole.Heaviest()
	if !found || r.EachAction || a.Answer.Of == nil {
		return most, nil
	}
	return most, &advice.Heavy{
		RefusedMost: *r.client(a, hit), RefusedOfAll: a.Answer.Whole.Refused.Of(who.Everybody &^ who.Bystander),
	}
}

// client describes one of which something is refused.
func (r *Suggest) client(a *suggest.Advice, hit replay.Hit) *advice.RefusedMost {
	census, tables := r.look.Census(), r.Read.Tables
	action, agent := census.Habits(hit.Client)
	return &advice.RefusedMost{
		Client: tables.ShownClient(hit.Client), Identity: census.Identities.Of(hit.Client).One(),
		Agent: tables.ShownAgent(agent), Action: tables.ShownAction(action),
		Requests: a.Whole.Sent(hit.Client), Refused: hit.Refused, Reasons: census.Reasons(hit.Client),
	}
}

// leastThere is the least share of the target's requests, in percent, of an action that is answered by itself.
const leastThere = 10

// ofAction returns the answer for the action where a limit stops most, of those for which the target asks most, where none
// for all requests stops much, or for the login where people are beside an attacker. It returns nil if none does there either.
func (r *Suggest) ofAction(ctx context.Context, a *suggest.Advice) (best *advice.OfAction, err error) {
	because := a.Answer.Because
	stopsLittle := because == suggest.Overlaps || because == suggest.FailedLater || because == suggest.NothingKeeps
	beside := slices.ContainsFunc(a.Whole.Most, func(hit replay.Hit) bool { return r.look.Census().BesidePeople(hit.Client) })
	if !stopsLittle && !beside || a.Action != "" || r.EachAction || a.Target&a.Protected() != 0 {
		return nil, nil
	}
	names := map[string]string{} // as they are shown
	var actions []string
	for _, id := range a.Whole.Busiest(leastThere) {
		name := r.Read.Tables.Actions.Name(id)
		if !stopsLittle && !match.IsLogin(name) {
			continue
		}
		names[name], actions = r.Read.Tables.ShownAction(id), append(actions, name)
	}
	if actions == nil {
		return nil, nil
	}
	found, err := r.advisor.Only(ctx, actions)
	for _, only := range found {
		n := &only.Answer
		if n.Verdict != suggest.Deploy && n.Verdict != suggest.Unproven && !n.Unsure() && !(beside && n.Because == suggest.NoOneThere) {
			continue
		}
		rest := only.Parts[suggest.Rest]
		over := rest != nil && n.Chosen.On[suggest.Rest].Refused.Of(only.Target) == 0
		if over && stopsLittle && a.Answer.Whole.Refused.Of(a.Target) > 0 {
			continue // what it stops does not come any more
		}
		if n.Whole.Refused.Of(1<<who.Search&^only.Target) > 0 {
			continue // it costs search engines
		}
		if o := advice.OfActionBy(only, names[only.Action]); best == nil || o.Refused > best.Refused {
			o.Over, best = over, o
		}
	}
	return best, err
}

// mostExempt is the most addresses that are exempt: the site's own, not those of a crowd.
const mostExempt = 12

// exempt fills in what the answer's limit would refuse of clients that the answer leaves out. It returns which of them are
// to be exempt: the addresses that findings or --exclude name. What others call themselves is no reason.
func (r *Suggest) exempt(v *advice.Verdict, a *suggest.Advice) (networks []netip.Prefix) {
	meant := slices.ContainsFunc(r.Target, func(some who.Set) bool { return some&who.Bystander != 0 })
	if a.Answer.Of == nil || meant {
		return nil
	}
	e := &advice.Exempt{Addresses: []string{}}
	hits := slices.SortedStableFunc(slices.Values(a.Whole.Works), func(x, y replay.Hit) int { return cmp.Compare(y.Refused, x.Refused) })
	for _, hit := range hits {
		e.Requests += hit.Refused
		e.Clients++
		if r.look.Census().Claims(hit.Client) {
			e.Others, e.Claimed = e.Others+1, e.Claimed+hit.Refused
			continue
		}
		network, err := match.ParseNetwork(r.Read.Tables.Clients.Name(hit.Client))
		if err == nil && r.Read.Clients.IsAddress() && r.Anonymizer == nil {
			if len(networks) < mostExempt {
				e.Passed += hit.Refused
				e.Through++
			}
			networks = append(networks, network)
		}
	}
	networks = append(networks, r.Read.Exclude.Networks()...)
	networks = networks[:min(len(networks), mostExempt)]
	e.Addresses = mapped.Add(e.Addresses, networks, servers.AddressText)
	if e.Clients > 0 || len(networks) > 0 {
		v.Exempt = e
	}
	return networks
}

// A Worker is a client that does the site's own work or monitors it.
type Worker struct{ Address, Reason string }

// Workers returns those that do not only say so, as far as clients are addresses, once there is an answer.
func (r *Suggest) Workers() (all []Worker) {
	if r.who() == nil || !r.Read.Clients.IsAddress() || r.Anonymizer != nil {
		return nil
	}
	census := r.look.Census()
	for id, is := range census.Identities {
		id := int32(id)
		network, err := match.ParseNetwork(r.Read.Tables.Clients.Name(id))
		if (is != who.Own && is != who.Monitor) || census.Requests(id) == 0 || census.Claims(id) || err != nil || len(all) == mostExempt {
			continue
		}
		_, agent := census.Habits(id)
		why := fmt.Sprintf("%s, %s: %s, %s", is.One(), format.Count(census.Requests(id), "request"),
			strings.Join(census.Reasons(id), ", "), useragent.Short(r.Read.Tables.Agents.Name(agent)))
		all = append(all, Worker{servers.AddressText(network), why})
	}
	return all
}

// blocksOf are the lines of a server, with those that it wants once or without.
func blocksOf(d servers.Directives, once bool) (blocks []servers.Block) {
	for _, b := range d.Blocks {
		if b.Once && !once {
			continue
		}
		if last := len(blocks) - 1; last >= 0 && blocks[last].Place == b.Place {
			blocks[last].Lines = slices.Concat(blocks[last].Lines, b.Lines)
		} else {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

// next are commands to try.
func (r *Suggest) next(v *advice.Verdict, a *suggest.Advice) (lines []string) {
	n := &a.Answer
	if v.OfAction != nil {
		lines = append(lines, r.CommandLine("suggest", "--action", v.OfAction.Action))
	}
	switch {
	case n.Because == suggest.Forbidden:
		lines = append(lines, r.CommandLine("doctor"))
	case n.Of == nil:
	case a.Action == "":
		with := []string{"--limit", n.Limit}
		if e := v.Exempt; e != nil && e.Pasted {
			for _, address := range e.Addresses[:e.Through] { // which the lines let through
				with = append(with, "--exclude", address)
			}
		}
		lines = append(lines, r.CommandLine("replay", append(with, "--evidence")...))
		if n.Of.Kind == sweep.UnderWay && r.For != anyServer {
			lines = append(lines, Words("shadow", "export", "--limit", n.Limit, "--to", servers.Default))
		}
	default: // a replay would judge all actions
	}
	var action []string
	if a.Action != "" {
		action = []string{"--action", a.Action}
	}
	if n.Verdict == suggest.NoLimitCan || n.Verdict == suggest.SafetyNet && a.Action == "" {
		lines = append(lines, r.CommandLine("keys", action...))
	}
	if aim, found := a.Aim(); found {
		line := r.CommandLine("suggest", "--action", r.Read.Tables.ShownAction(aim))
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	if !r.Details {
		lines = append(lines, r.CommandLine("suggest", append([]string{"--details"}, action...)...))
	}
	return lines
}

// CommandLine returns a command of ours on the same requests, as a shell takes it.
func (r *Suggest) CommandLine(command string, more ...string) string {
	var again []string
	if r.Again != nil {
		again = r.Again(command)
	}
	return strings.TrimSpace(Words("shadow", command) + " " + logWords(r.names) + " " + Words(slices.Concat(more, again)...))
}

// Names of logs that take more columns than manyNames are shown as a pattern, if there is one. Of those that take more
// than mostNames the first is shown.
const (
	manyNames = 60
	mostNames = 240
)

// logWords are the names of logs as a shell reads them. The shell may have made them of a pattern: if that is to be seen
// by them, it stands in their place.
func logWords(names []string) string {
	text := Words(names...)
	switch {
	case len(names) == 1 && names[0] == standardInput:
		return text + " < LOG"
	case len(names) == 1 || len(text) <= manyNames:
		return text
	}
	if pattern := patternOf(names); pattern != "" {
		return pattern
	}
	if len(text) > mostNames {
		return quoted(names[0]) + " …"
	}
	return text
}

// patternOf is a pattern that fits these files and no others; "" if none is seen.
func patternOf(names []string) string {
	before, after := names[0], names[0]
	for _, name := range names[1:] {
		for !strings.HasPrefix(name, before) {
			before = before[:len(before)-1]
		}
		for !strings.HasSuffix(name, after) {
			after = after[1:]
		}
	}
	shortest := len(slices.MinFunc(names, func(x, y string) int { return len(x) - len(y) }))
	after = after[max(0, len(before)+len(after)-shortest):]
	found, err := filepath.Glob(before + "*" + after)
	sorted := slices.Sorted(slices.Values(names))
	if err != nil || strings.ContainsAny(before+after, `*?[\`) || !slices.Equal(sorted, found) {
		return ""
	}
	return quotedUnlessEmpty(before) + "*" + quotedUnlessEmpty(after)
}

func quotedUnlessEmpty(text string) string {
	if text == "" {
		return ""
	}
	return quoted(text)
}

// Words returns some words as a shell reads them.
func Words(all ...string) string {
	all = slices.Clone(all)
	for i, word := range all {
		all[i] = quoted(word)
	}
	return strings.Join(all, " ")
}

// quoted is a word as a shell reads it.
func quoted(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
			strings.ContainsRune("-_./:=,+@%", c))
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
