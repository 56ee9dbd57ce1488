package detect

import (
	"bytes"
	"fmt"
	"strings"

	"shadow/parse"
)

// A format is judged by the lines of the sample that it reads, and by what it learns from them: fields that make no
// sense show that the lines are of another format.

// judge reads the lines with a format. It gives up where hopeless says so of what was read and the number of lines
// that are left, and then returns the zero Detection; nil never does.
func judge(format *parse.Format, lines [][]byte, hopeless func(d *Detection, left int) bool) Detection {
	d := Detection{Format: format, Lines: len(lines)}
	var all census
	var r parse.Record
	p, work := format.NewParser(), []byte(nil)
	for i, line := range lines {
		work = append(work[:0], line...) // because a parser may undo escapes in it
		fault := p.Parse(work, &r)
		if fault == parse.Comment {
			d.Lines--
			continue
		}
		if fault.OK() {
			d.Read++
			if fault = doubt(format, &r); fault.OK() {
				d.sound++
				d.count(&r)
				all.count(&r)
			}
		}
		if d.fault.OK() {
			d.fault = fault
		}
		if !fault.OK() && hopeless != nil && hopeless(&d, len(lines)-i-1) {
			return Detection{}
		}
	}
	d.Warnings = append(all.agents(format), all.gaps(format)...)
	if doubts[format.Name] != "" {
		d.Warnings = append(d.Warnings, doubts[format.Name])
	}
	return d
}

// count takes in what one line has.
func (d *Detection) count(r *parse.Record) {
	for _, has := range [...]bool{
		r.Client != nil, r.User != nil, r.Method != nil, r.Path != nil, r.Host != nil, r.Referer != nil, r.Agent != nil,
		r.Forwarded != nil, r.Status != 0, r.Bytes != 0, r.RequestTime != parse.NotLogged, r.UpstreamTime != parse.NotLogged,
	} {
		if has {
			d.learnt++
		}
	}
	if len(r.Referer)+len(r.Agent) > 0 {
		d.agents++
	}
	if isQuery(r.Referer) {
		d.queries++
	} else if r.Agent == nil && bytes.IndexByte(r.Referer, ':') < 0 && versioned().Match(r.Referer) {
		d.alone++
	} else if r.Referer != nil {
		d.referers++
	}
	if bytes.IndexByte(r.Path, '?') >= 0 {
		d.queried++
	}
}

// isQuery reports whether a text is the query of a target rather than a referer.
func isQuery(text []byte) bool {
	name, _, pairs := bytes.Cut(bytes.TrimPrefix(text, []byte("?")), []byte("="))
	return pairs && len(name) > 0 && !bytes.ContainsAny(name, " /:")
}

// doubt says why a line that can be read is probably of another format.
func doubt(format *parse.Format, r *parse.Record) parse.Fault {
	switch {
	case !parse.IsClient(r.Client):
		return parse.Fault{Reason: "the client is neither an address nor a host name", Column: 1}
	case format.Name == "gin" && !parsesAsAddress(string(r.Client)): // negroni has the host in its place
		return parse.Fault{Reason: "the client is no address", Column: 1}
	case isHAProxy(format) && r.NotHTTP && len(r.Path) > 0 && r.Path[0] != '<': // HAProxy has <BADREQ> for it
		return parse.Fault{Reason: "the request is none", Column: 1}
	case strings.HasPrefix(format.Text, "%h %l %u ") && bytes.IndexByte(r.User, ' ') >= 0:
		return parse.Fault{Reason: "there are more than three fields before the time", Column: 1}
	}
	return parse.Fault{}
}

// A census counts what stands where the user agent should, and lines without a status or a path.
type census struct{ lines, none, urls, unanswered, pathless int }

const areURLs = " are URLs and "

// censusLines is the number of lines that it takes to say something about the rest of a log.
const censusLines = 20

func (c *census) count(r *parse.Record) {
	c.lines++
	switch {
	case r.Agent == nil:
		c.none++
	case bytes.HasPrefix(r.Agent, []byte("http://")), bytes.HasPrefix(r.Agent, []byte("https://")):
		c.urls++
	}
	if r.Status == 0 {
		c.unanswered++
	}
	if r.Path == nil && r.Route == nil && !r.NotHTTP {
		c.pathless++
	}
}

// gaps says what the lines lack.
func (c *census) gaps(format *parse.Format) (said []string) {
	if n := c.unanswered; format.Has(parse.FieldStatus) && c.lines >= censusLines && 5*n >= 2*c.lines && 5*n <= 3*c.lines {
		said = append(said, fmt.Sprintf("of %d lines %d have no status: where a request is logged when it comes and again when it is "+
			"answered, it counts twice; leave out the lines without a status", c.lines, n))
	}
	if c.lines >= readGuess && c.pathless == c.lines {
		said = append(said, "no value has a name that is known of a path, so requests have none: state it, such as --field path=uri")
	}
	return said
}

// agents says what is wrong with the agents. Where the referer stands in the agent's place, most are URLs or "-".
func (c *census) agents(format *parse.Format) []string {
	if !format.Has(parse.FieldAgent) || c.lines < censusLines || 2*(c.none+c.urls) < c.lines {
		return nil
	}
	if c.urls*50 >= c.lines {
		return []string{fmt.Sprintf("of %d user agents %d"+areURLs+"%d are missing: the log's fields are probably others than "+
			"those of %s, so that classes would mean nothing; state them with --format", c.lines, c.urls, c.none, format.Name)}
	}
	return []string{fmt.Sprintf("of %d lines %d have no user agent: classes mean little", c.lines, c.none)}
}
