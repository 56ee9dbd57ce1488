package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"shadow/internal/escape"
	"shadow/internal/findings"
	"shadow/internal/logfile"
	"shadow/internal/mapped"
	"shadow/internal/pipeline/heap"
	"shadow/internal/policy"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/match"
	"shadow/internal/traffic/trace"
	"shadow/internal/traffic/who"
	"shadow/limit"
	"shadow/parse"
	"shadow/replay"
	"shadow/report"
	"shadow/report/format"
)

// A Caller is who runs a command: where it reads and writes, and what is known of both.
type Caller struct {
	In       io.Reader
	Out, Err io.Writer
	Width    int    // columns of the terminal behind Out; 0: there is none
	Color    bool   // whether it may get colours
	Version  string // of the program
	Command  string // as it was called
	Started  time.Time
	Progress func(Pass) (stop func()) // shows how far a pass has come; nil: not shown

	// Remedy returns the flags that a finding proposes as who runs this command can state them; nil: as they are.
	Remedy func(flags string) string
}

// followable has remedies name the command that has their flags, unless this one does. found stays as it is.
func (c *Caller) followable(found []findings.Finding) []findings.Finding {
	found = slices.Clone(found)
	for i := range found {
		if f := &found[i]; c.Remedy != nil && f.Remedy != "" {
			f.Remedy = c.Remedy(f.Remedy)
		}
	}
	return found
}

// Logs are the inputs of a command that reads them to their ends, and how it reads them.
type Logs struct {
	Caller
	Source
	Anonymity
	MaxBad         float64 // percent of unreadable lines above which that is an error
	Quiet, Verbose bool
	Memory         *Memory // nil: as much as there is

	Verified func() error // called once nothing is wrong with what is asked, and nothing is read yet; may be nil

	*Pipeline

	found   logfile.Expansion
	copies  *logfile.Copies // nil: not looked for yet
	look    *findings.Look  // at the requests; nil: nothing was read yet
	told    []findings.Finding
	byPath  string   // the flags with which this command counts paths instead of actions; "": none do
	byFlag  bool     // whether flags of this command say what limits count by
	sparse  bool     // whether a reading may find nothing
	missing []string // what of the logs is not there any more, and was not read
	idle    string   // why no request that was read counts; "": some do, or nothing was read yet

	severalPasses bool            // whether there are to be further passes over what is read
	requests      *trace.Requests // that have been read; nil: they are not kept
	lost          error           // why they are in memory rather than in a temporary file
	handed        int64           // requests that the latest reading handed out
	passes        int             // that have begun
	ofPasses      int             // how many there will be; 0: not known yet
}

// Prepare builds the pipeline, and finds the logs. Commands begin with it.
func (l *Logs) Prepare(
	ctx context.Context, names []string, choose func(*policy.Config) ([]policy.Policy, error),
) (err error) {
	if err = l.VerifyAnonymity(); err != nil {
		return err
	}
	if l.Pipeline, err = l.Build(l.Started, choose); err != nil {
		return err
	}
	l.Anonymizer.Rename(l.Read.Tables)
	l.Anonymizer.Know(l.Read.Tables.Clients)
	l.Memory.follow(l.Read.Tables, len(l.Policies))
	l.found, err = interruptible(ctx, func() (logfile.Expansion, error) { return logfile.Expand(names) })
	l.Read.Guessed = l.found.Guessed
	l.useLargePages()
	return err
}

// Spares is the error that a file which a flag names would be written over a log that is read.
func (l *Logs) Spares(flag, name string) error {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil //nolint:nilerr // it is not there yet
	}
	for _, log := range l.found.Names {
		if other, err := os.Stat(log); err == nil && os.SameFile(info, other) {
			return Usage("--%s %s would be written over a log that is read: give it another name", flag, name)
		}
	}
	return nil
}

// smallLogs is the number of bytes of logs from which on large pages pay.
const smallLogs = 2 << 20

// useLargePages has the memory for logs that are not small come in large pages.
func (l *Logs) useLargePages() {
	left := int64(smallLogs)
	for _, name := range l.found.Names {
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() { // it is not known how much will come
			left = 0
		} else {
			left -= info.Size()
		}
		if left <= 0 {
			heap.UseLargePages(heap.UsualRoom)
			return
		}
	}
}

// tellCopies takes down the copies that were found, and says which.
func (l *Logs) tellCopies(copies logfile.Copies) {
	copies.Found = slices.Concat(l.found.Links, copies.Found)
	l.copies = &copies
	if l.Quiet {
		return
	}
	for _, text := range copyWarnings(copies) {
		fmt.Fprintf(l.Err, "warning: %s\n", escape.Visible(text))
	}
}

// verified calls Verified, unless it was called.
func (l *Logs) verified() (err error) {
	if l.Verified != nil {
		err, l.Verified = l.Verified(), nil
	}
	return err
}

// read has do take in the requests of the logs but for copies, and shows how far it has come. A read under way is not waited
// for when ctx ends.
func (l *Logs) read(
	ctx context.Context, o ingest.Options, do func(replay.Source, *ingest.Reader) error,
) (ingest.Stats, error) {
	if err := l.verified(); err != nil {
		return ingest.Stats{}, err
	}
	if l.copies == nil {
		copies, err := interruptible(ctx, func() (logfile.Copies, error) { return logfile.FindCopies(ctx, l.found.Names) })
		if err != nil {
			return ingest.Stats{}, err
		}
		left := map[string]bool{}
		for _, c := range copies.Found {
			left[c.Name] = true
		}
		l.found.Names = slices.DeleteFunc(l.found.Names, func(name string) bool { return left[name] })
		l.tellCopies(copies)
	}
	o.Origins = true // findings go by them
	l.look = l.newLook()
	judge := do
	l.handed = 0
	do = func(src replay.Source, reader *ingest.Reader) error {
		return judge(tee{src, func(b *traffic.Batch) { l.look.Take(b); l.handed += int64(b.Len()) }}, reader)
	}
	stats, err := l.readOnce(ctx, o, do)
	if err == nil {
		l.lookedAt(&stats)
	}
	return stats, err
}

// lookedAt tells what was seen in logs that have been read.
func (l *Logs) lookedAt(s *ingest.Stats) {
	if t := l.look.Traffic(); t.Days > 0 {
		s.FirstAt, s.LastAt, s.Days = t.First, t.Last, t.Days
	}
	l.told, l.idle = l.findings(s), l.whyIdle(s)
}

// readOnce reads the logs.
func (l *Logs) readOnce(
	ctx context.Context, o ingest.Options, do func(replay.Source, *ingest.Reader) error,
) (ingest.Stats, error) {
	reader, err := interruptible(ctx, func() (*ingest.Reader, error) {
		return ingest.NewReader(ctx, l.found.Names, l.In, o)
	})
	if err != nil {
		return ingest.Stats{}, err
	}
	stop := l.show("reading", reader.Progress)
	err = do(l.keeping(reader), reader)
	stop()
	if ctx.Err() != nil {
		return ingest.Stats{}, ErrInterrupted
	}
	err = cmp.Or(err, reader.Close())
	stats := reader.Stats()
	stats.Copies = *l.copies
	return stats, cmp.Or(err, l.NetworkError())
}

// A tee is a source whose batches another function takes in first.
type tee struct {
	replay.Source
	take func(*traffic.Batch)
}

// Next hands on the next batch.
func (t tee) Next() (*traffic.Batch, error) {
	b, err := t.Source.Next()
	if err == nil {
		t.take(b)
	}
	return b, err
}

// settle looks at what was read: whether that is anything at all, and which action the flag of that name means.
func (l *Logs) settle(s *ingest.Stats, flag, action string) (meant string, err error) {
	if err := nothingRead(s); err != nil && !l.sparse {
		return "", err
	}
	if meant, err = l.resolveAction(flag, action, s); err != nil {
		return "", l.Failed(s, err)
	}
	if l.Verbose {
		for _, in := range s.Inputs {
			fmt.Fprintf(l.Err, "%s: %s, %d lines: %s\n", in.Name, cmp.Or(in.Format, "empty"), in.Lines, in.FormatText)
		}
	}
	return meant, nil
}

// resolveAction returns the action that --FLAG names, as reports call it. Which there are is known when the log has
// been read; what was read is of no use if the name stands for none. A log without a request has none, and that is no
// mistake.
func (l *Logs) resolveAction(flag, name string, s *ingest.Stats) (string, error) {
	if name == "" || s.Taken() == 0 {
		return name, nil
	}
	actions := l.Read.Tables.Actions
	if meant := match.MeantAction(actions, name); meant != "" {
		return meant, nil
	}
	hint := "; `shadow replay` lists those there are, and of others name the whole path: /user/login"
	if near := l.mostRequested(match.NearestActions(actions, name)); near != "" {
		hint = ", did you mean " + near + "?"
	}
	return "", Usage("--%s %q: no request is of that action%s", flag, escape.Visible(name), hint)
}

// actionsOffered is the most actions that are named in the place of another.
const actionsOffered = 3

// mostRequested names the actions with most requests, and how many these are.
func (l *Logs) mostRequested(names []string) string {
	slices.SortStableFunc(names, func(x, y string) int { return cmp.Compare(l.requestsOf(y), l.requestsOf(x)) })
	texts := mapped.Of(names[:min(len(names), actionsOffered)], func(name string) string {
		return fmt.Sprintf("%q (%s)", escape.Visible(name), format.Count(l.requestsOf(name), "request"))
	})
	return strings.Join(texts, " or ")
}

// requestsOf counts the requests of the actions that a name stands for.
func (l *Logs) requestsOf(name string) (n int64) {
	for _, id := range match.FindActions(l.Read.Tables.Actions, name) {
		n += l.look.OfAction(id)
	}
	return n
}

// reportOptions returns the options that all reports on logs have in common.
func (l *Logs) reportOptions(warnings []string) report.Options {
	found := l.followable(l.told)
	for i := range found {
		if f := &found[i]; strings.HasSuffix(f.Remedy, "--band") && slices.ContainsFunc(l.Policies, policy.Policy.Weighed) {
			f.Remedy = "" // costs have none
		}
	}
	return report.Options{
		Width: l.Width, Color: l.Color, Version: l.Version, Command: l.Command,
		Timezone: l.Timezone.String(), Warnings: warnings, Findings: found, Known: l.known, Anonymize: l.Anonymizer,
		Identities: l.Wanted, Who: l.who(),
	}
}

// ReadOnce returns the name of the first log that can be read only once; "" if there is none.
func ReadOnce(names []string) string { return onceName(ingest.Once(names)) }

func onceName(name string) string {
	if name == standardInput {
		return "standard input"
	}
	return name
}

// Every log that is read is looked at on the way, once, whatever the command.

// byPath has limits count by path rather than by action.
const byPath = "--by client+path"

// who returns who the clients are; nil where that is not known: it shows only beside all other clients.
func (l *Logs) who() *who.Register {
	if l.look == nil || l.look.Census() == nil {
		return nil
	}
	return l.look.Census().Register()
}

// doubted tells, once all requests are read, of which clients what they do contradicts that they are browsers.
func (l *Logs) doubted() func(client int32) bool {
	return func(client int32) bool { return !l.who().Believed(client) }
}

// everyone returns all who sent a request, for a report without a result.
func (l *Logs) everyone() *report.Population {
	p := new(report.Population)
	p.Requests, p.Clients = l.look.Population()
	if l.who() != nil {
		p.ByIdentity = report.IdentitiesOf(l.look.Census().Tally())
	}
	return p
}

// newLook returns a look at the requests.
func (l *Logs) newLook() *findings.Look {
	return findings.New(findings.Options{
		Read: &l.Read, Client: l.Client, Keys: PolicyKeys(l.Policies), ByPath: l.byPath,
		By: l.byFlag || len(l.Policies) == 0, Now: limit.Time(l.Started.UnixMicro()),
		Known: l.known, Rules: l.Rules,
	})
}

// accounts looks for accounts at the beginning of the first log, where clients are addresses.
func (l *Logs) accounts() (ingest.Accounts, bool) {
	if l.Client != "addr" {
		return ingest.Accounts{}, false
	}
	for _, name := range l.found.Names[:min(mostPeeked, len(l.found.Names))] {
		if !logfile.CanBeReadAgain(name) {
			continue
		}
		if sample, err := beginningOf(name); err == nil && len(sample) > 0 {
			return ingest.AccountsIn(sample, func(fields []string) (*parse.Format, error) {
				choice, err := l.choice(fields)
				if err != nil {
					return nil, err
				}
				found, err := choice.For(sample)
				return found.Format, err
			})
		}
	}
	return ingest.Accounts{}, false
}

// findings returns what was found. Those that say what a warning says cover it: people read it once.
func (l *Logs) findings(s *ingest.Stats) []findings.Finding {
	keys := PolicyKeys(l.Policies)
	covers := map[string][]string{
		"copies": copyWarnings(s.Copies), "not_http": unlikelyNotHTTP(s), "folded_paths": FoldedPaths(&l.Read, keys),
		"client_missing": l.anonymousClients(),
		"no_agents":      slices.DeleteFunc(inputWarnings(s), func(text string) bool { return !findings.AboutAgents(text) }),
	}
	found := l.look.Findings(s)
	if a, named := l.accounts(); named {
		found = append(found, findings.OfAccounts(a))
		slices.SortStableFunc(found, findings.ByEffect)
	}
	for i := range found {
		found[i].Covers = covers[found[i].Code]
	}
	return found
}
