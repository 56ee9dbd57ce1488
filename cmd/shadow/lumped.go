package main

import (
	"fmt"

	"shadow/traffic"
	"shadow/traffic/intern"
)

// Who does not have what --client asks for is the client "-". Those are many people, and a limit by client has them share one bucket.

// lumped tells of requests that are of no client in particular.
func (f *readingFlags) lumped(tables *traffic.Tables, clients *intern.PagedSlice[traffic.ClientTally]) []string {
	id, known := tables.Clients.Find([]byte("-"))
	if !known || int(id) >= clients.Len() || clients.At(id).Requests() == 0 {
		return nil
	}
	text := fmt.Sprintf("%d requests have no %s: they are judged as one client, -", clients.At(id).Requests(), f.client)
	if f.client == "user" {
		text += ", whoever sent them; as a key of replay, sweep and keys (--by user), user counts these by their address"
	}
	return []string{text}
}
