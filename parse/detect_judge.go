package parse

import (
	"bytes"
	"fmt"
	"strings"
)

// A format is judged by the lines of the sample that it reads, and by what it learns from them: fields that make no
// sense show that the lines are of another format.

// judge reads the lines with a format.
func judge(format *Format, lines [][]byte) Detection {
	d := Detection{Format: format, Lines: len(lines)}
	var agents agentCensus
	var r Record
	p, work := format.NewParser(), []byte(nil)
	for _, line := range lines {
		work = append(work[:0], line...) // because a parser may undo escapes in it
		fault := p.Parse(work, &r)
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
	}
	d.Warnings = agents.warnings(format)
	return d
}

// count takes in what one line told.
func (d *Detection) count(r *Record) {
	for _, told := range [...]bool{
		r.Client != nil, r.User != nil, r.Method != nil, r.Path != nil, r.Host != nil, r.Referer != nil, r.Agent != nil,
		r.Forwarded != nil, r.Status != 0, r.Bytes != 0, r.RequestTime != NotLogged, r.UpstreamTime != NotLogged,
	} {
		if told {
			d.learnt++
		}
	}
	if r.Referer != nil || r.Agent != nil {
		d.agents++
	}
}

// doubt says why a line that can be read is probably of another format.
func doubt(format *Format, r *Record) Fault {
	switch {
	case !IsClient(r.Client):
		return Fault{"the client is neither an address nor a host name", 1}
	case strings.HasPrefix(format.Text, "%h %l %u ") && bytes.IndexByte(r.User, ' ') >= 0:
		return Fault{"there are more than three fields before the time", 1}
	}
	return Fault{}
}

// An agentCensus counts what stands where the user agent should.
type agentCensus struct{ lines, none, urls int }

// censusLines is how many lines it takes to say something about the rest of a log.
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
func (c *agentCensus) warnings(format *Format) []string {
	if !format.Has(FieldAgent) || c.lines < censusLines || 2*(c.none+c.urls) < c.lines {
		return nil
	}
	if c.urls*50 >= c.lines {
		return []string{fmt.Sprintf("of %d user agents %d are URLs and %d are missing: the log's fields are probably others than "+
			"those of %s, so that classes would mean nothing; state them with --format", c.lines, c.urls, c.none, format.Name)}
	}
	return []string{fmt.Sprintf("of %d lines %d have no user agent: classes mean little", c.lines, c.none)}
}
