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
	var agents agentCensus
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
				agents.count(r.Agent)
			}
		}
		if d.fault.OK() {
			d.fault = fault
		}
		if !fault.OK() && hopeless != nil && hopeless(&d, len(lines)-i-1) {
			return Detection{}
		}
	}
	if d.Warnings = agents.warnings(format); doubts[format.Name] != "" {
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
	if r.Referer != nil || r.Agent != nil {
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
	case format.Name == parse.Syslogged && r.NotHTTP && len(r.Path) > 0 && r.Path[0] != '<': // HAProxy has <BADREQ> for it
		return parse.Fault{Reason: "the request is none", Column: 1}
	case strings.HasPrefix(format.Text, "%h %l %u ") && bytes.IndexByte(r.User, ' ') >= 0:
		return parse.Fault{Reason: "there are more than three fields before the time", Column: 1}
	}
	return parse.Fault{}
}

// An agentCensus counts what stands where the user agent should.
type agentCensus struct{ lines, none, urls int }

const areURLs = " are URLs and "

// censusLines is the number of lines that it takes to say something about the rest of a log.
const censusLines = 20

func (c *agentCensus) count(agent []byte) {
	c.lines++
	switch {
	case agent == nil:
		c.none++
	case bytes.HasPrefix(agent, []byte("http://")), bytes.HasPrefix(agent, []byte("https://")):
		c.urls++
	}
}

// warnings says what is wrong with the agents. Where the referer stands in the agent's place, most are URLs or "-".
func (c *agentCensus) warnings(format *parse.Format) []string {
	if !format.Has(parse.FieldAgent) || c.lines < censusLines || 2*(c.none+c.urls) < c.lines {
		return nil
	}
	if c.urls*50 >= c.lines {
		return []string{fmt.Sprintf("of %d user agents %d"+areURLs+"%d are missing: the log's fields are probably others than "+
			"those of %s, so that classes would mean nothing; state them with --format", c.lines, c.urls, c.none, format.Name)}
	}
	return []string{fmt.Sprintf("of %d lines %d have no user agent: classes mean little", c.lines, c.none)}
}
