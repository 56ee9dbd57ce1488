package report

import (
	"shadow/replay"
	"shadow/traffic"
)

// A population is who sent the counted requests: one pass over the clients, shared by all policies.
type population struct {
	class             []traffic.Class // by client id
	figures           Classes         // requests and clients; nobody refused yet
	requests, clients int64
}

// census counts the clients with a counted request. A client that was only excluded, or only warmed the limiters,
// is none.
func census(clients *replay.Paged[replay.ClientTally]) *population {
	who := &population{class: make([]traffic.Class, clients.Len())}
	for id := range who.class {
		client := clients.At(int32(id))
		class, n := client.Class(), client.Requests()
		who.class[id] = class
		if n == 0 {
			continue
		}
		who.requests += n
		who.clients++
		who.figures[class].Requests += n
		who.figures[class].Clients++
	}
	return who
}

// byClass puts the clients that were hit into the class that each of them has.
func (who *population) byClass(hits *replay.Hits) Classes {
	figures := who.figures
	for hit := range hits.All() {
		f := &figures[who.class[hit.Client]]
		f.Refused += hit.Refused
		f.ClientsHit++
	}
	return figures
}
