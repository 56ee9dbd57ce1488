package pipeline

import (
	"context"
	"fmt"
	"net/netip"
	"strings"

	"shadow/internal/escape"
	"shadow/internal/mapped"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/match"
	"shadow/replay"
	"shadow/report"
	"shadow/report/client"
	"shadow/report/plot"
	"shadow/report/table"
)

// An Explain tells what became of one client.
type Explain struct {
	Replay
	Client string // as reports call it
	Lines  bool   // show the log lines of refusals
	NoPlot bool
}

// jsonMoments is the number of moments at which JSON and pages tell levels: each hundredth of the client's time.
const jsonMoments = 101

// Run verifies what is asked, replays, and reports. Nothing is kept.
func (e *Explain) Run(ctx context.Context, logs []string) error {
	if err := e.prepareReplay(ctx, logs); err != nil {
		return err
	}
	if once := ReadOnce(e.found.Names); e.Lines && once != "" {
		return Usage("--lines reads the logs twice, and %s can be read only once: name files", once)
	}
	named := e.Read.Clients.Named(e.Client)
	log := replay.NewClientLog(e.Read.Tables, e.clientName(named), len(e.Policies))
	e.observers = append(e.observers, log)
	result, err := e.judge(ctx, nil)
	if err != nil {
		return err
	}
	if _, _, known := log.Client(); !known {
		return e.Failed(&result.Stats, e.unknownClient(named))
	}
	if err := e.ambiguous(e.clientName(named)); err != nil {
		return err
	}
	g := client.Source{ClientLog: log, Policies: e.Policies, Lateness: e.Read.StepBack(), Moments: jsonMoments}
	if e.Output == "table" {
		g.Moments = plot.Moments(e.Width)
	}
	if e.Lines {
		if g.Lines, err = e.find(ctx, log, result.Stats.Inputs); err != nil {
			return err
		}
	}
	o := e.reportOptions(e.warnings(&result.Stats))
	o.Top = e.Top
	if err := client.New(result, g, o).Write(e.Out, e.Output, !e.NoPlot); err != nil {
		return err
	}
	return e.Incomplete(&result.Stats)
}

// clientName is who is meant. Reports make hostile names harmless and shorten long ones; such a name can be pasted,
// too; so can one that --anonymize gave.
func (e *Explain) clientName(client string) replay.ClientName {
	const whole = 512 // bytes of the longest name that is kept as it is
	name := replay.ClientName{Name: client}
	if address, err := netip.ParseAddr(client); err == nil && address.Is6() {
		name.Like = func(other string) bool { // there are many ways to write it
			same, err := netip.ParseAddr(other)
			return err == nil && same == address
		}
	}
	if strings.Contains(client, `\`) || len(client) > whole {
		name.Like = func(other string) bool { return escape.Visible(other) == client }
	}
	if begin, end, cut := strings.Cut(client, table.Ellipsis); cut {
		name.Like = func(other string) bool {
			other = escape.Visible(other)
			return len(other) >= len(begin)+len(end) && strings.HasPrefix(other, begin) && strings.HasSuffix(other, end)
		}
	}
	if strings.HasPrefix(client, report.AnonymousClient) && e.Anonymizer != nil {
		name.Like = func(other string) bool { return e.Anonymizer.Name(other) == client }
	}
	return name
}

// ambiguous returns an error if a name that was cut stands for several clients.
func (e *Explain) ambiguous(name replay.ClientName) error {
	clients := e.Read.Tables.Clients
	if _, whole := clients.Find([]byte(name.Name)); whole || !strings.Contains(name.Name, table.Ellipsis) {
		return nil
	}
	var names []string
	for id := int32(0); int(id) < clients.Len() && len(names) <= nearClients; id++ {
		if name.Like(clients.Name(id)) {
			names = append(names, escape.Visible(e.Anonymizer.Name(clients.Name(id))))
		}
	}
	if len(names) < 2 {
		return nil
	}
	return Usage("%s may be several clients: state one whole: %s", escape.Visible(name.Name), strings.Join(names, ", "))
}

// find reads the logs again for the lines of the refusals that are listed.
func (e *Explain) find(
	ctx context.Context, g *replay.ClientLog, inputs []ingest.InputStats,
) (map[int32]client.LogLine, error) {
	names := mapped.Of(inputs, func(i ingest.InputStats) string { return i.Name })
	places := ingest.NewLineFinder(&g.Batch, g.Listed(e.Top))
	lines := map[int32]client.LogLine{}
	id, _, _ := g.Client()
	err := ingest.Lines(ctx, names, e.Read, id, func(l ingest.Line) bool {
		if row, wanted := places.Next(l); wanted {
			lines[row] = client.LogLine{
				File: e.Anonymizer.File(names[l.Input]), Line: l.Number, Text: e.Anonymizer.Line(string(l.Text)),
			}
		}
		return places.Missing() > 0
	})
	switch {
	case ctx.Err() != nil:
		return nil, ErrInterrupted
	case err != nil:
		return nil, err
	case places.Missing() > 0:
		return nil, fmt.Errorf("--lines: %d of the lines were not found again: the logs have changed since they were "+
			"read", places.Missing())
	}
	return lines, nil
}

// nearClients is the most clients that are named in place of one that sent nothing.
const nearClients = 3

// unknownClient is the error of a client that sent no request. Most often another one was meant, or the log calls it
// otherwise.
func (e *Explain) unknownClient(client string) error {
	near := match.NearestClients(e.Read.Tables.Clients, client, nearClients)
	for i := range near {
		near[i] = e.Anonymizer.Name(near[i])
	}
	client = e.Anonymizer.Name(client)
	if len(near) == 0 {
		return Usage("no request that takes part comes from %s; --client says what a client is, and `shadow replay` lists "+
			"them", escape.Visible(client))
	}
	return Usage("no request that takes part comes from %s; the nearest clients are "+
		"%s", escape.Visible(client), escape.Visible(strings.Join(near, ", ")))
}
