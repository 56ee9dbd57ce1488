package enforced

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"shadow/internal/calibrate"
	"shadow/internal/escape"
	"shadow/internal/mapped"
	"shadow/internal/pipeline"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
	"shadow/parse"
	shown "shadow/report/calibrate"
)

// A Calibrate finds the limit that a server had.
type Calibrate struct {
	pipeline.Logs
	Limits   []string      // to hold against the log; nil: the best is looked for
	By       []request.Key // what limits may count by
	Verdict  Verdict       // the field with what the server decided
	Statuses []uint16      // of refusals; nil: 429, else 503
	Top      int
	Output   string
}

// retryAfter is nginx's name of the header of an answer that says when to come back.
const retryAfter = "sent_http_retry_after"

// Run verifies what is asked, reads, looks for the limit, and reports.
func (c *Calibrate) Run(ctx context.Context, logs []string) error {
	take := &intake{Calibrate: c, most: defaultMost}
	if err := c.verifyLimits(); err != nil {
		return err
	}
	c.Cold = true // what the server decided before --since is not known
	if err := c.Prepare(ctx, logs, func(*policy.Config) ([]policy.Policy, error) { return take.keys() }); err != nil {
		return err
	}
	c.fields(take)
	c.Policies = c.Policies[:len(c.By)]
	c.Read.Trial, c.Read.Lines = new(ingest.Trial), true
	stats, err := c.Each(ctx, take.take)
	if err != nil {
		return err
	}
	found, err := take.requests(&stats)
	if err != nil {
		return c.Failed(&stats, err)
	}
	o := found.options
	o.Whole = found.Whole
	if len(c.Limits) > 0 {
		found.Locations = found.Requests.Hold(c.Limits, o)
	} else {
		found.Locations = found.Requests.Locate(o)
	}
	found.Tables, found.Inputs, found.Top, found.By = c.Read.Tables, stats.Inputs, c.Top, c.By
	for i := range found.Inputs {
		found.Inputs[i].Name = c.Anonymizer.File(found.Inputs[i].Name)
	}
	head := c.Head(&stats, found.warnings()...)
	for i := range head.Findings {
		if f := &head.Findings[i]; f.Code == "enforced" {
			f.Remedy = "" // it proposes this command
		}
	}
	report := shown.New(head, &found.Source)
	if err := report.Write(c.Out, c.Output); err != nil {
		return err
	}
	return c.Incomplete(&stats)
}

// verifyLimits complains about limits before there is a log.
func (c *Calibrate) verifyLimits() error {
	var all []string
	for _, text := range c.Limits {
		policies, err := policy.ParseLimits([]string{text}, request.ByClient)
		if err != nil {
			return pipeline.BadFlag("limit", "", err)
		}
		all = mapped.Add(all, policies, func(p policy.Policy) string { return p.Name })
	}
	c.Limits = all
	return nil
}

// fields adds what the log has that can be made use of: hosts and paths.
func (c *Calibrate) fields(t *intake) {
	if sample, format := c.Beginning(); format != nil {
		c.Read.Hosts = c.Read.Hosts || format.Has(parse.FieldHost)
		c.Read.Paths = c.Read.Paths || format.Has(parse.FieldPath)
		t.names = ingest.FieldsOf(sample, format)
	}
}

// A Verdict says which field has what the server decided, and which of its words say that a request was refused.
type Verdict struct {
	Field string
	Words string // joined by commas; "": those that begin as refusedWords and delayedWords
}

// DefaultVerdict goes by nginx's name of the field.
var DefaultVerdict = Verdict{Field: "limit_req_status"}

// ParseVerdict reads FIELD or FIELD=WORD,….
func ParseVerdict(text string) (v Verdict, err error) {
	field, words, stated := strings.Cut(text, "=")
	v.Field = strings.TrimPrefix(field, "$")
	if !request.IsName(v.Field) {
		return v, errors.New("want the name of a field, and perhaps which words say that a request was refused: " +
			"limit_req_status, or blocked=yes,captcha")
	}
	if v.Words = words; stated && words == "" {
		return v, errors.New("want a word behind the =, such as blocked=yes")
	}
	return v, nil
}

// String is the verdict as ParseVerdict reads it.
func (v Verdict) String() string {
	if v.Words == "" {
		return v.Field
	}
	return v.Field + "=" + v.Words
}

// The beginnings of words that say what was decided, in lower case; any other word is of a request that passed.
var (
	refusedWords = []string{"reject", "refus", "den", "block", "limit", "throttl", "drop", "over_limit", "ban"}
	delayedWords = []string{"delay", "tarpit"}
)

// of returns the verdict that a word stands for.
func (v Verdict) of(word string) calibrate.Verdict {
	if v.Words != "" {
		if slices.Contains(strings.Split(v.Words, ","), word) {
			return calibrate.Refused
		}
		return calibrate.Passed
	}
	word = strings.ToLower(word)
	begins := func(all []string) bool {
		return slices.ContainsFunc(all, func(w string) bool { return strings.HasPrefix(word, w) })
	}
	switch {
	case begins(refusedWords):
		return calibrate.Refused
	case begins(delayedWords):
		return calibrate.Delayed
	}
	return calibrate.Passed
}

// warnings returns what is unusual about a source of verdicts.
func (f *found) warnings() (texts []string) {
	if f.Sampled > 1 {
		texts = append(texts, fmt.Sprintf("the log has more requests than fit: every figure is of one client in %d, chosen by "+
			"chance", f.Sampled))
	}
	if f.Status == fallbackStatus {
		texts = append(texts, "503 is also what a server answers that is overloaded or broken: where it is not the limit's, "+
			"--refused-status says which status is")
	}
	return texts
}

// missing is the error of a log without a refusal.
func (t *intake) missing() error {
	there := ""
	if len(t.names) > 0 {
		there = "; its fields are " + escape.Visible(strings.Join(t.names, ", "))
	}
	field := t.Verdict.Field
	if t.explicit() {
		return pipeline.Usage("--verdict: no request has a field %q%s", field, there)
	}
	return pipeline.Usage("no request was refused: there is no field $%s, and no status %s; --verdict names the field "+
		"and --refused-status the status of what the server refused%s", field, join(t.wanted()), there)
}

func (t *intake) explicit() bool { return t.Verdict.String() != DefaultVerdict.String() }

// second is the resolution of stamps that say no more than the second.
const second = limit.Second
