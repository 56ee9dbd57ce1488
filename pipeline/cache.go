package pipeline

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"shadow/logfile"
	"shadow/pipeline/flagvalue"
	"shadow/replay"
	"shadow/traffic"
	"shadow/traffic/cache"
	"shadow/traffic/ingest"
)

// With --cache the requests of logs are kept, and the next command that asks the same of the same logs starts from them. The
// name of the file is a hash of what was asked and of how each log begins; in it stands what the logs were in full:
//
//	options, first 4 KiB of each log ──▶ DIR/4f1c….cache ── note: fingerprints of the logs, statistics
//	                                                     └─ names and requests, see cache.Requests
//
// So the file of a log that has grown is found, found stale, and replaced.

// A logCache is where the requests of a command's logs are kept.
type logCache struct {
	dir, file string
	note      cacheNote
	use       ingest.CacheUse
	why       error // why they are not kept in the end; nil: they are, or never could be
}

// cacheNote is what a file says of itself.
type cacheNote struct {
	Build  string                // of the program
	Asked  string                // a hash of what else decides what requests are
	Taken  time.Time             // before the logs were read
	Logs   []logfile.Fingerprint // in the order in which they are given
	Stats  json.RawMessage       // by ingest.Stats.Keep
	Folded []byte                // paths of actions that were noted
}

// newLogCache finds out which file is that of the logs. Where there can be none, it says why.
func (l *Logs) newLogCache(o *ingest.Options) (*logCache, error) {
	c := &logCache{dir: l.Cache, note: cacheNote{Build: buildOf(l.Version), Taken: l.Started}}
	for _, m := range []struct {
		flag   string
		moment flagvalue.Moment
	}{{"since", l.Since}, {"until", l.Until}} {
		if m.moment != "" && m.moment.At(l.Started) != m.moment.At(l.Started.Add(time.Microsecond)) {
			c.use.Reason = fmt.Sprintf("--%s %s is another moment each time", m.flag, m.moment)
			return c, nil
		}
	}
	asked := sha256.New()
	if err := l.writeAsked(asked, o); err != nil {
		return nil, err
	}
	c.note.Asked = fmt.Sprintf("%x", asked.Sum(nil)[:16])
	sorted := slices.Sorted(slices.Values(l.found.Names))
	for _, name := range l.found.Names {
		p, known, err := logfile.FingerprintOf(name)
		if err != nil || !known {
			c.use.Reason = onceName(name) + " is no file, and may hold something else each time"
			return c, nil //nolint:nilerr // whoever reads it will say what is wrong
		}
		c.note.Logs = append(c.note.Logs, p)
		rank, _ := slices.BinarySearch(sorted, name) // of logs that begin at one moment the first by name goes first
		fmt.Fprintln(asked, p.Head, rank, l.found.Guessed[name] != "")
	}
	c.file = fmt.Sprintf("%x.cache", asked.Sum(nil)[:12])
	c.use.File = filepath.Join(c.dir, c.file)
	return c, nil
}

// buildOf tells programs apart that may read logs otherwise.
func buildOf(version string) string {
	name, err := os.Executable()
	if err != nil {
		return version
	}
	info, err := os.Stat(name)
	if err != nil {
		return version
	}
	return fmt.Sprintf("%s, %d bytes, made %d", version, info.Size(), info.ModTime().UnixNano())
}

// writeAsked writes down what decides, beside the logs, what requests are.
func (l *Logs) writeAsked(to interface{ Write([]byte) (int, error) }, o *ingest.Options) error {
	fmt.Fprintf(to, "%d %q %q %q\n", cache.Version, l.Client, l.ClientFrom, l.Trusted)
	fmt.Fprintf(to, "%q %q %v %d %t %t\n", l.Exclude, l.ExcludeStatus, o.NotHTTP, o.Lateness, o.HasSince, o.HasUntil)
	if o.HasSince {
		fmt.Fprintln(to, o.Since, o.Warmup)
	}
	if o.HasUntil {
		fmt.Fprintln(to, o.Until)
	}
	f := &o.Format
	fmt.Fprintf(to, "%q %q %q %q %q %t\n", f.Format, f.NginxConf, f.LogName, f.Fields, f.Options.Extra, f.Options.Gonx)
	if f.NginxConf != "" {
		found, err := f.For(nil)
		if err != nil {
			return err
		}
		fmt.Fprintf(to, "%q %q\n", found.Format.Name, found.Format.Text)
	}
	zone := cmp.Or(f.Options.Zone, time.UTC)
	for month := range time.Month(12 * 60) { // what the machine calls Local may change
		_, offset := time.Date(1990, month+1, 1, 0, 0, 0, 0, time.UTC).In(zone).Zone()
		fmt.Fprint(to, offset, " ")
	}
	fmt.Fprintln(to, o.Hosts, o.Origins, o.Users, o.NoUsers, o.Paths, o.Band, o.Batch, o.Waiting, o.Actions.Noted() != nil)
	fmt.Fprintf(to, "%#v %t\n", o.Tables.Parts, o.Trial != nil)
	fmt.Fprintf(to, "%q %q\n", l.Config.Actions, l.Asked)
	if o.Scopes.ByOwner() {
		for _, name := range l.NetworkDB {
			p, _, err := logfile.FingerprintOf(name)
			if err != nil {
				return err
			}
			fmt.Fprintln(to, p)
		}
	}
	if o.Scopes != nil {
		fmt.Fprintf(to, "%q %+v %+v\n", l.Config.Scopes, l.Config.Exempt, l.Config.Tiers)
		for _, p := range l.Policies {
			for _, part := range p.Parts {
				fmt.Fprintln(to, part.Scopes())
			}
		}
	}
	if o.Tracer != nil {
		fmt.Fprintln(to, o.Tracer.Rules())
	}
	return nil
}

// fromCache has do judge the requests that are kept of the logs, if they are.
func (l *Logs) fromCache(
	ctx context.Context, o ingest.Options, do func(replay.Source, *ingest.Reader) error,
) (stats ingest.Stats, used bool, err error) {
	c, err := l.newLogCache(&o)
	if err != nil || c.file == "" {
		l.cache = c
		return stats, false, err
	}
	l.cache = c
	kept, stats, err := c.open(ctx, l, &o)
	switch {
	case ctx.Err() != nil:
		return stats, false, ErrInterrupted
	case err != nil:
		c.use.Reason = err.Error()
		if errors.Is(err, fs.ErrNotExist) {
			c.use.Reason = "nothing was kept of these logs"
		}
		return stats, false, nil
	}
	c.use.Used = true
	if err := kept.Tables.Restore(o.Tables); err != nil {
		return stats, true, c.forged(errors.Join(err, kept.Close()))
	}
	l.requests = &kept.Requests
	pass := kept.Pass().Ahead()
	l.handed = 0
	src, stop := l.passing("reading what was kept", pass, stats.Parsed+stats.Carried-stats.Excluded-stats.Held)
	err = do(src, nil)
	stop()
	pass.Close()
	if errors.Is(err, cache.ErrDamaged) {
		err = c.forged(err)
	}
	stats.Copies, stats.Cache = *l.copies, &c.use
	if ctx.Err() != nil {
		err = ErrInterrupted
	}
	return stats, true, err
}

// forged is the error of a file whose checksums are right, and which makes no sense.
func (c *logCache) forged(err error) error {
	return fmt.Errorf("%s makes no sense, though its checksums are right: delete it (%w)", c.use.File, err)
}

// open opens the file, if it is one of these logs.
func (c *logCache) open(ctx context.Context, l *Logs, o *ingest.Options) (*cache.File, ingest.Stats, error) {
	f, err := cache.Open(c.use.File)
	if err != nil {
		return nil, ingest.Stats{}, err
	}
	stats, err := c.verify(ctx, f, l, o)
	if err != nil {
		f.Close() //nolint:errcheck // it has been read only
	}
	return f, stats, err
}

// verify reports why a file is not one of these logs.
func (c *logCache) verify(ctx context.Context, f *cache.File, l *Logs, o *ingest.Options) (s ingest.Stats, err error) {
	var note cacheNote
	if err := json.Unmarshal(f.Note, &note); err != nil {
		return s, err
	}
	switch {
	case note.Build != c.note.Build:
		return s, errors.New("another build of shadow has written it")
	case note.Asked != c.note.Asked || len(note.Logs) != len(c.note.Logs):
		return s, errors.New("it is of something else")
	}
	for i, name := range l.found.Names {
		what, err := c.note.Logs[i].Differs(ctx, name, &note.Logs[i], note.Taken)
		if err != nil {
			return s, err
		}
		if what != "" {
			return s, fmt.Errorf("%s %s", name, what)
		}
	}
	if s, err = ingest.RestoreStats(note.Stats, l.found.Names); err != nil {
		return s, err
	}
	if !f.Tables.Fits(o.Tables) {
		return s, errors.New("other names were known")
	}
	if o.Actions.Noted() != nil {
		paths, _, err := traffic.UnpackNames(note.Folded)
		if err == nil {
			err = o.Actions.RestoreNoted(paths, f.Tables.Actions().Len())
		}
		if err != nil {
			return s, err
		}
	}
	f.Expect(o.Columns(len(s.Inputs), s.HasUpstream, s.ForwardedBy != ""))
	return s, nil
}

// begin makes room for what is read now, and sums up the logs meanwhile. The function that comes back waits for that.
func (c *logCache) begin(ctx context.Context, names []string) (r *cache.Requests, sums func() error) {
	r, err := cache.New(c.dir)
	if err != nil {
		c.why = err
		return nil, nil
	}
	done := make(chan error, 1)
	go func() {
		for i, name := range names {
			if err := c.note.Logs[i].AddSum(ctx, name); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	return r, func() error { return <-done }
}

// keep keeps what was read. Where the logs have changed meanwhile, it is not known of what it would be kept.
func (c *logCache) keep(l *Logs, o *ingest.Options, s *ingest.Stats) (err error) {
	for i, name := range l.found.Names {
		now, _, err := logfile.FingerprintOf(name)
		if now.Sum = c.note.Logs[i].Sum; err == nil && now != c.note.Logs[i] {
			err = fmt.Errorf("%s has changed while it was read", name)
		}
		if err != nil {
			return err
		}
	}
	if c.note.Stats, err = s.Keep(l.found.Names); err != nil {
		return err
	}
	if noted := o.Actions.Noted(); noted != nil {
		c.note.Folded = traffic.PackNames(nil, noted)
	}
	note, err := json.Marshal(&c.note)
	if err != nil {
		return err
	}
	return l.requests.Save(c.file, note, o.Tables)
}

// cacheWarnings say what could not be kept.
func (l *Logs) cacheWarnings() (texts []string) {
	if l.cache != nil && l.cache.why != nil {
		texts = append(texts, fmt.Sprintf("--cache: nothing was kept: %v", l.cache.why))
	}
	if l.lost != nil {
		texts = append(texts, fmt.Sprintf("requests wait in memory for further passes: %v; "+
			"the variable TMPDIR names another folder", l.lost))
	}
	return texts
}
