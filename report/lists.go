package report

import (
	"iter"
	"slices"
	"strings"

	"shadow/replay"
	"shadow/report/format"
	"shadow/request"
	"shadow/traffic/useragent"
)

func topClients(res *replay.Result, t *replay.PolicyTally, who *Population, b *Jury, o Options) []Client {
	name := func(index int32) string { return res.Tables.Clients.Name(t.Hits.At(index).Client) }
	clients := []Client{}
	for _, r := range Top(rankedHits(res, t), o.Top, ranking(o.Sort, name)) {
		hit := t.Hits.At(r.index)
		clients = append(clients, Client{
			Client:         name(r.index),
			Requests:       r.requests,
			Refused:        r.refused,
			RefusedPercent: format.PercentOf(r.refused, r.requests),
			Class:          who.Class[hit.Client].String(),
			Agent:          AgentName(res.Tables.Agents, res.Clients.At(hit.Client).LastAgent),
			First:          format.Moment(hit.First),
			Last:           format.Moment(hit.Last),
			Evidence:       b.Of(hit.Client),
		})
	}
	if o.Sort == "client" {
		slices.SortFunc(clients, func(a, b Client) int { return compareNames(a.Client, b.Client) })
	}
	return clients
}

func topActions(res *replay.Result, t *replay.PolicyTally, o Options) []Action {
	name := func(index int32) string { return res.Tables.Actions.Name(index) }
	actions := []Action{}
	for _, r := range Top(rankedActions(res, t), o.Top, ranking(o.Sort, name)) {
		actions = append(actions, Action{
			Action:         name(r.index),
			Requests:       r.requests,
			Refused:        r.refused,
			RefusedPercent: format.PercentOf(r.refused, r.requests),
			SharePercent:   format.PercentOf(r.refused, t.Refused),
		})
	}
	if o.Sort == "client" {
		slices.SortFunc(actions, func(a, b Action) int { return strings.Compare(a.Action, b.Action) })
	}
	return actions
}

func rankedHits(res *replay.Result, t *replay.PolicyTally) iter.Seq[ranked] {
	return func(yield func(ranked) bool) {
		for i := range int32(t.Hits.Len()) {
			hit := t.Hits.At(i)
			if !yield(ranked{i, hit.Refused, res.Clients.At(hit.Client).Requests()}) {
				return
			}
		}
	}
}

func rankedActions(res *replay.Result, t *replay.PolicyTally) iter.Seq[ranked] {
	return func(yield func(ranked) bool) {
		for id, refused := range t.ByAction {
			if refused > 0 && !yield(ranked{int32(id), refused, res.Actions[id]}) {
				return
			}
		}
	}
}

// AgentName is the name of an agent, or "" for a log without agents.
func AgentName(agents *useragent.Agents, id int32) string {
	if id < 0 || int(id) >= agents.Len() {
		return ""
	}
	return agents.Name(id)
}

// MarshalJSON writes an object with a key per class, in their order.
func (c Classes) MarshalJSON() ([]byte, error) { return format.EachJSON[request.Class](c[:]) }
