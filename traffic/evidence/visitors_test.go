package evidence

import (
	"fmt"
	"testing"

	"shadow/limit"
	"shadow/testneeds"
	"shadow/traffic"
)

// What all browsers of a client did is what is found by adding their requests to one summary, though there is one of its
// own only for clients with several.
func TestWhatBrowsersOfAClientDid(t *testing.T) {
	const clients = 300
	rng, tables := testneeds.Rand(t, 2, 7), traffic.NewTables()
	for id := range clients {
		tables.Clients.ID(fmt.Append(nil, id))
	}
	for version := range 3 {
		tables.Agents.ID(fmt.Appendf(nil, "Mozilla/5.0 (X11; Linux x86_64; rv:1%d.0) Gecko/20100101 Firefox/1%d.0", version, version))
	}
	tables.Agents.ID([]byte("curl/8"))
	var v Visitors
	want := make([]Summary, clients)
	several := 0
	for batch := range 6 {
		b := traffic.NewBatch(0, traffic.Columns{Traces: true})
		for range 400 {
			client := int32(rng.IntN(clients))
			agent := uint16(rng.IntN(4))
			if client%2 == 0 {
				agent = uint16(client / 2 % 4) // one agent only
			}
			trace := traffic.Trace{Traits: traffic.Trait(1 << rng.IntN(6)), Page: uint16(rng.IntN(4)), From: uint16(rng.IntN(4))}
			if trace.Traits == traffic.Stepped {
				trace.Traits |= traffic.Asked
			}
			b.At = append(b.At, limit.Time(batch*400+b.Len())*limit.Second)
			b.Client, b.Agent, b.Action = append(b.Client, client), append(b.Agent, agent), append(b.Action, 0)
			b.Status, b.Bytes, b.Traces = append(b.Status, 200), append(b.Bytes, 0), append(b.Traces, trace)
			if set := tables.Agents.BrowserSet(int32(agent)); set != 0 {
				want[client].Add(b.At[b.Len()-1], 200, set, trace)
			}
		}
		v.Take(b, tables)
	}
	for client := range want {
		if got := v.shared.summary(int32(client), &v.own); *got != want[client] {
			t.Errorf("client %d: %+v, want %+v", client, *got, want[client])
		}
		if *v.shared.of.At(int32(client)) < 0 {
			several++
		}
	}
	if several < 50 || several > clients/2 {
		t.Errorf("%d clients have several browsers", several)
	}
}

// Each visitor keeps its id, however many a client has.
func TestVisitorsOfOneClient(t *testing.T) {
	rng := testneeds.Rand(t, 3, 8)
	var v Visitors
	want := map[Visitor]int32{}
	for range 5 {
		b := traffic.NewBatch(0, traffic.Columns{})
		for range 2000 {
			b.Client = append(b.Client, int32(rng.IntN(4)))
			b.User, b.Agent = append(b.User, int32(rng.IntN(9))-1), append(b.Agent, uint16(rng.IntN(1+rng.IntN(200))))
		}
		v.Look(b)
		for row, id := range b.Visitor {
			who := Visitor{Client: b.Client[row], User: b.User[row], Agent: b.Agent[row]}
			if _, known := want[who]; !known {
				want[who] = int32(len(want))
			}
			if id != want[who] || v.At(id) != who {
				t.Fatalf("%+v has id %d, want %d", who, id, want[who])
			}
		}
	}
	if v.Len() != len(want) || v.Len() < 1000 {
		t.Errorf("%d visitors, want %d, which are many", v.Len(), len(want))
	}
}
