package traces_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"shadow/internal/traffic"
	"shadow/internal/traffic/who"
	"shadow/limit"
	"shadow/report"
	"shadow/report/traces"
)

// Requests come in the order of time, clients under a hash, and actions that few ask for too.
func TestWriter(t *testing.T) {
	tables, b := traffic.NewTables(), traffic.NewBatch(8, traffic.Columns{})
	take := func(at limit.Time, client, agent, action string, status uint16) {
		b.At = append(b.At, at)
		b.Client = append(b.Client, tables.Clients.ID([]byte(client)))
		b.Agent = append(b.Agent, uint16(tables.Agents.ID([]byte(agent))))
		b.Action = append(b.Action, uint16(tables.Actions.ID([]byte(action))))
		b.Status = append(b.Status, status)
		b.Bytes = append(b.Bytes, 1)
	}
	for i := range 5 {
		take(limit.Time(10-i)*limit.Second, fmt.Sprintf("192.0.2.%d", i), "Mozilla/5.0 (X11) Gecko/1 by alice", "/", 200)
	}
	take(limit.Second, "192.0.2.0", "Mozilla/5.0 (compatible; Googlebot/2.1; for bob@example.org)", "/of/carol", 404)
	take(2*limit.Second, "192.0.2.1", "-", "static", 200)
	names, err := report.NewAnonymizer("hash", []byte("0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	w := traces.New(tables, &who.Register{Identities: who.Identities{who.Search, who.Attacker}}, names)
	var out bytes.Buffer
	for _, err := range []error{w.See(b), w.Begin(&out), w.Take(b), w.Finish()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	client := func(i int) string { return names.Name(fmt.Sprintf("192.0.2.%d", i)) }
	want := []string{
		"time,client,action,identity,agent,status",
		"1970-01-01T00:00:01.000000Z," + client(0) + ",action-" + strings.TrimPrefix(names.Name("/of/carol"), "client-") + ",search,googlebot (+http),404",
		"1970-01-01T00:00:02.000000Z," + client(1) + ",static,attacker,,200",
	}
	for i := range 5 {
		is := "undecided"
		if j := 4 - i; j < 2 {
			is = []string{"search", "attacker"}[j]
		}
		want = append(want, fmt.Sprintf("1970-01-01T00:00:%02d.000000Z,%s,/,%s,Mozilla/5.0 (X11),200", 6+i, client(4-i), is))
	}
	if got := strings.TrimSpace(out.String()); got != strings.Join(want, "\n") {
		t.Errorf("%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}
