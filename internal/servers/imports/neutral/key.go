package neutral

import (
	"slices"
	"strings"

	"shadow/internal/request"
)

// CanLack reports whether requests may have nothing of a part of a key, which is as --by takes it.
func CanLack(part string) bool {
	kind, _, named := strings.Cut(part, ":")
	return part == "user" || part == "agent" || named && kind != "segment" && part != WholeTarget
}

// WholeTarget is the path with its query as they were sent, which every request has.
const WholeTarget = "field:request_uri"

// Present are the cases of a key by which of its parts a request has. What it lacks is no part of the key, but for one by
// client, which can do with it. With none of them, it is not limited, unless a text is fixed.
func Present(set Set, words, have []string, fixed bool) (all []KeyCase) {
	if set.Never {
		return nil
	}
	for i, word := range words {
		if !CanLack(word) || slices.Contains(words, "client") || slices.Contains(have, "client") {
			have = append(slices.Clip(have), word)
			continue
		}
		lacks := Within("without", word)
		if word == "agent" {
			lacks = Within("agent", NoAgent)
		}
		return append(Present(set.And(lacks.Except()), words[i+1:], append(slices.Clip(have), word), fixed),
			Present(set.And(lacks), words[i+1:], have, fixed)...)
	}
	switch {
	case len(have) > 0:
		key, err := request.ParseKey(strings.Join(have, "+"))
		if err != nil {
			key = request.Key(strings.Join(have, "+"))
		}
		return []KeyCase{{Set: set, By: key}}
	case fixed:
		return []KeyCase{{Set: set, By: request.BySite}}
	}
	return nil
}

// KeyOf is a key of parts; that of all requests if there are none.
func KeyOf(parts []string) (request.Key, error) {
	if len(parts) == 0 {
		return request.BySite, nil
	}
	return request.ParseKey(strings.Join(parts, "+"))
}

// A KeyCase is what a limit counts some requests by.
type KeyCase struct {
	Set Set
	By  request.Key
}

// Add adds a limit for each case of its key.
func (p *Policy) Add(text, told string, cases ...KeyCase) {
	for _, c := range cases {
		p.Limits = append(p.Limits, Limit{Text: text, By: c.By, Match: c.Set, Count: c.Set, Told: []string{told}})
	}
}

// NoAgent fits what logs have where no agent was sent.
const NoAgent = "^-?$"
