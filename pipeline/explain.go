package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"net/netip"
	"slices"
	"strings"

	"shadow/escape"
	"shadow/limit"
	"shadow/replay"
	"shadow/report/client"
	"shadow/report/explain"
	"shadow/report/plot"
	"shadow/traffic/ingest"
	"shadow/traffic/intern"
)

// An Explain tells what became of one client.
type Explain struct {
	Replay
	Client string // as reports call it
	Lines  bool   // show the log lines of refusals
	NoPlot bool
}

// jsonMoments is how many moments JSON tells levels at: each hundredth of the client's time.
const jsonMoments = 101

// Run verifies what is asked, replays, and reports. Nothing is kept.
func (e *Explain) Run(ctx context.Context, logs []string) error {
	if err := VerifyOutput(&e.Output, explain.CalcFormats()); err != nil {
		return err
	}
	if err := e.prepareReplay(logs); err != nil {
		return err
	}
	if once := ingest.Once(e.found.Names); e.Lines && once != "" {
		return Usage("--lines reads the logs twice, and %s can be read only once: name files", onceName(once))
	}
	named := e.Read.Clients.Named(e.Client)
	gathering := replay.NewClientLog(e.Read.Tables, clientName(named), len(e.Policies))
	e.observers = append(e.observers, gathering)
	result, err := e.judge(ctx, nil)
	if err != nil {
		return err
	}
	if _, _, known := gathering.Client(); !known {
		return unknownClient(named, result.Tables.Clients)
	}
	g := client.Gathered{ClientLog: gathering, Policies: e.Policies, Lateness: e.Read.Lateness, Moments: jsonMoments}
	if e.Output != "json" {
		g.Moments = plot.Moments(e.Width)
	}
	if e.Lines {
		if g.Lines, err = e.find(ctx, gathering, result.Stats.Inputs); err != nil {
			return err
		}
	}
	o := e.reportOptions(e.warnings(&result.Stats))
	o.Top, o.Evidence = e.Top, e.Rules
	if err := client.New(result, g, o).Write(e.Out, e.Output, !e.NoPlot); err != nil {
		return err
	}
	return e.tooManyUnreadable(&result.Stats)
}

// clientName is who is meant. Reports make hostile names harmless and shorten long ones; such a name can be pasted, too.
func clientName(client string) replay.ClientName {
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
	return name
}

// find reads the logs again for the lines of the refusals that are listed.
func (e *Explain) find(ctx context.Context, g *replay.ClientLog, inputs []ingest.InputStats) (map[int32]client.LogLine, error) {
	names := make([]string, len(inputs))
	for i := range inputs {
		names[i] = inputs[i].Name
	}
	places := ingest.NewLineFinder(&g.Batch, g.Listed(e.Top))
	lines := map[int32]client.LogLine{}
	id, _, _ := g.Client()
	err := ingest.Lines(ctx, names, e.Read, id, func(l ingest.Line) bool {
		if row, wanted := places.Next(l); wanted {
			lines[row] = client.LogLine{File: names[l.Input], Line: l.Number, Text: string(l.Text)}
		}
		return places.Missing() > 0
	})
	switch {
	case ctx.Err() != nil:
		return nil, ErrInterrupted
	case err != nil:
		return nil, err
	case places.Missing() > 0:
		return nil, fmt.Errorf("--lines: %d of the lines were not found again: the logs have changed since they were read", places.Missing())
	}
	return lines, nil
}

// A client that is not in the log is a mistake in how the command was called: most often another one was meant, or the
// log calls it otherwise. So the nearest ones are named.

const nearClients = 3 // named at most

// unknownClient is the error of a client that sent no request.
func unknownClient(client string, clients *intern.Dict) error {
	near := nearestClients(client, clients)
	if len(near) == 0 {
		return Usage("no request that takes part comes from %s; --client says what a client is, and `shadow replay` lists them", escape.Visible(client))
	}
	return Usage("no request that takes part comes from %s; the nearest clients are %s", escape.Visible(client), escape.Visible(strings.Join(near, ", ")))
}

// nearestClients are those that an address shares most of its leading bits with; of another name those that contain it,
// in either case, or the one that is most like it.
func nearestClients(client string, clients *intern.Dict) []string {
	names := make([]string, clients.Len())
	for id := range names {
		names[id] = clients.Name(int32(id))
	}
	if address, ok := leadingAddress(client); ok {
		return nearestAddresses(address, names)
	}
	var near []string
	for _, name := range names {
		if strings.Contains(strings.ToLower(name), strings.ToLower(client)) {
			near = append(near, name)
		}
	}
	if name := limit.Nearest(client, names); name != "" && len(near) == 0 {
		near = []string{name}
	}
	slices.SortFunc(near, func(x, y string) int { return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y)) })
	return near[:min(len(near), nearClients)]
}

func nearestAddresses(address netip.Addr, names []string) (near []string) {
	shared := map[string]int{} // leading bits
	for _, name := range names {
		if other, ok := leadingAddress(name); ok && other.Is4() == address.Is4() {
			shared[name] = sharedBits(address, other)
			near = append(near, name)
		}
	}
	slices.SortFunc(near, func(x, y string) int {
		a, _ := leadingAddress(x)
		b, _ := leadingAddress(y)
		return cmp.Or(cmp.Compare(shared[y], shared[x]), a.Compare(b), strings.Compare(x, y))
	})
	return near[:min(len(near), nearClients)]
}

// leadingAddress is the address that a name is, or that a prefix begins with.
func leadingAddress(name string) (netip.Addr, bool) {
	if prefix, err := netip.ParsePrefix(name); err == nil {
		return prefix.Addr().Unmap(), true
	}
	address, err := netip.ParseAddr(name)
	return address.Unmap().WithZone(""), err == nil
}

// sharedBits is how many leading bits two addresses of one kind share.
func sharedBits(a, b netip.Addr) (n int) {
	x, y := a.As16(), b.As16()
	for i := range x {
		if d := x[i] ^ y[i]; d != 0 {
			return n + bits.LeadingZeros8(d)
		}
		n += 8
	}
	return n
}
