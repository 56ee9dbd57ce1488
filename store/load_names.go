package store

import (
	"fmt"

	"shadow/request"
)

// Who and what there was: agents, clients and actions.

func (l *loading) readAgents() error {
	agents := l.to.Result.Tables.Agents
	return l.each(`SELECT run, agent, name FROM agents WHERE run IN `+l.runs+` ORDER BY run, agent`, func(b *block, row int) error {
		return l.agents.put(values[int32](b, 0)[row], values[int32](b, 1)[row], agents.ID([]byte(b.text(2, row))))
	})
}

// readClients goes through the runs in their order, so that the last agent that it meets is the latest.
func (l *loading) readClients() error {
	for _, run := range l.order {
		if err := l.readClientsOf(run); err != nil {
			return err
		}
	}
	return nil
}

func (l *loading) readClientsOf(run int32) error {
	res := l.to.Result
	return l.each(fmt.Sprintf(`SELECT client, agent, browser, crawler, tool, monitor, unknown, name FROM clients WHERE run = %d ORDER BY client`, run),
		func(b *block, row int) error {
			id := res.Tables.Clients.ID([]byte(b.text(7, row)))
			if err := l.clients.put(run, values[int32](b, 0)[row], id); err != nil {
				return err
			}
			res.Clients.Grow(int(id) + 1)
			client := res.Clients.At(id)
			for class := range request.ClassCount {
				client.ByClass[class] += values[int64](b, 2+int(class))[row]
			}
			agent, err := l.agents.at(run, values[int32](b, 1)[row])
			client.LastAgent = agent
			return err
		})
}

func (l *loading) readActions() error {
	res := l.to.Result
	return l.each(`SELECT run, action, requests, name FROM actions WHERE run IN `+l.runs+` ORDER BY run, action`, func(b *block, row int) error {
		id := res.Tables.Actions.ID([]byte(b.text(3, row)))
		if int(id) == len(res.Actions) {
			res.Actions = append(res.Actions, 0)
		}
		res.Actions[id] += values[int64](b, 2)[row]
		return l.actions.put(values[int32](b, 0)[row], values[int32](b, 1)[row], id)
	})
}
