package report

import (
	"shadow/replay"
	"shadow/request"
)

// A Population is who sent the counted requests: one pass over the clients, shared by all policies.
type Population struct {
	Class             []request.Class // by client id
	Figures           Classes         // requests and clients; nobody refused yet
	Requests, Clients int64
}

// Census counts the clients with a counted request. A client that was only excluded, or only warmed the limiters,
// is none.
func Census(clients *replay.Paged[replay.ClientTally]) *Population {
	who := &Population{Class: make([]request.Class, clients.Len())}
	for id := range who.Class {
		client := clients.At(int32(id))
		class, n := client.Class(), client.Requests()
		who.Class[id] = class
		if n == 0 {
			continue
		}
		who.Requests += n
		who.Clients++
		who.Figures[class].Requests += n
		who.Figures[class].Clients++
	}
	return who
}

// byClass puts the clients that were hit into the class that each of them has.
func (who *Population) byClass(hits *replay.Hits) Classes {
	figures := who.Figures
	for hit := range hits.All() {
		f := &figures[who.Class[hit.Client]]
		f.Refused += hit.Refused
		f.ClientsHit++
	}
	return figures
}
