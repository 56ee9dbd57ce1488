package drill

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
	"unicode/utf8"

	"shadow/internal/pipeline"
	"shadow/limit"
	"shadow/report/format"
)

// Tools lists the load generators for which requests are written.
var Tools = []string{"vegeta", "k6"}

// write writes the requests for a tool, which is to send them.
func (d *Drill) write(p *plan) error {
	foreseen, err := d.judge(p.batch, p.batch.At)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(d.Out)
	if d.To == Tools[0] {
		err = d.vegeta(out, p)
	} else {
		err = d.k6(out, p, foreseen)
	}
	if err != nil {
		return err
	}
	if !d.Quiet {
		fmt.Fprintf(d.Err, "%s, of which %s refuses %s when it starts empty\n",
			format.Count(int64(len(p.requests)), "request"),
			d.Policies[0].Name, format.Thousands(int64(foreseen.refused)))
	}
	return out.Flush()
}

// vegeta writes a target on each line, as vegeta attack -format=json reads them. These have no moments.
func (d *Drill) vegeta(out io.Writer, p *plan) error {
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	for i := range p.requests {
		r := &p.requests[i]
		target := struct {
			Method string              `json:"method"`
			URL    string              `json:"url"`
			Header map[string][]string `json:"header"`
		}{r.method, d.server.url() + plain(r.path), map[string][]string{d.server.header: {r.client}}}
		if err := lines.Encode(target); err != nil {
			return err
		}
	}
	length := p.after[len(p.after)-1]/limit.Second + 1
	if !d.Quiet {
		fmt.Fprintf(d.Err, "note: vegeta sends at an even rate, not at the moments of the log, so its refusals will "+
			"differ from those foreseen: "+
			"vegeta attack -format=json -targets=FILE -rate=%d/%ds -duration=%[2]ds -redirects=-1\n", len(p.requests), length)
	}
	return nil
}

// k6 writes a script that sends each request at its moment: a virtual user for each client, so that no client waits for
// another.
func (d *Drill) k6(out io.Writer, p *plan, foreseen *verdicts) error {
	byClient := make([][][]any, p.clients)
	names := make([]string, p.clients)
	for i := range p.requests {
		r := &p.requests[i]
		byClient[r.number] = append(byClient[r.number], []any{
			p.after[i] / limit.Millisecond, r.method, plain(r.path),
			foreseen.is[i],
		})
		names[r.number] = r.client
	}
	var clients strings.Builder
	for i := range names {
		text, err := json.Marshal([]any{names[i], byClient[i]})
		if err != nil {
			return err
		}
		fmt.Fprintf(&clients, "  %s,\n", text)
	}
	refused, err := json.Marshal(d.Refused)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, k6Script, d.server.url(), d.server.header, refused, clients.String(),
		p.after[len(p.after)-1]/limit.Second+60)
	return err
}

// k6Script gets the target, the header, the statuses of refusals, the clients, and the seconds that the script may
// take.
const k6Script = `// k6 run FILE sends each request at its moment, and checks whether it is refused as foreseen.
import http from 'k6/http';
import exec from 'k6/execution';
import { check, sleep } from 'k6';

const target = %q;
const header = %q;
const refused = %s;

// Each client, and its requests: milliseconds after the first one, method, path, whether it is foreseen to be refused.
const clients = [
%s];

export const options = {
  scenarios: { drill: { executor: 'per-vu-iterations', vus: clients.length, iterations: 1, maxDuration: '%ds' } },
  maxRedirects: 0,
};

export default function () {
  const [client, requests] = clients[exec.vu.idInTest - 1];
  const begin = exec.scenario.startTime + 1000;
  for (const [after, method, path, foreseen] of requests) {
    const wait = begin + after - Date.now();
    if (wait > 0) {
      sleep(wait / 1000);
    }
    const answer = http.request(method, target + path, null, { headers: { [header]: client } });
    check(answer, { 'as foreseen': (a) => refused.includes(a.status) === foreseen });
  }
}
`

// plain returns a path in ASCII, as JSON and the tools have no other bytes.
func plain(path string) string {
	var b strings.Builder
	for _, c := range []byte(path) {
		if c < utf8.RuneSelf {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// takes reports whether a tool takes a path, which it parses.
func (d *Drill) takes(path string) bool {
	_, err := url.Parse(d.server.url() + plain(path))
	return d.To == "" || err == nil
}

// tool refuses what a tool cannot do.
func (d *Drill) tool() error {
	if d.To != "" && d.ClientSource {
		return pipeline.Usage("--client-source: %s keeps clients apart by --client-header only", d.To)
	}
	return nil
}
