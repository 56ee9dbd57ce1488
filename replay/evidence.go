package replay

import (
	"slices"

	"shadow/request"
	"shadow/traffic"
	"shadow/traffic/evidence"
)

// behaviour is what is known of how clients behave. A nil one gathers nothing.
type behaviour struct {
	clients Paged[evidence.Summary] // by client id
	agents  []uint16                // by agent id: the set that holds a browser; none for other agents
}

// gather takes in the requests of a batch.
func (e *behaviour) gather(b *traffic.Batch, clients *traffic.Group, t *traffic.Tables) {
	if e == nil {
		return
	}
	e.clients.Grow(t.Clients.Len())
	for id := len(e.agents); id < t.Agents.Len(); id++ {
		e.agents = append(e.agents, t.Agents.BrowserSet(int32(id)))
	}
	var start int32
	for i, end := range clients.Ends {
		client := e.clients.At(clients.Keys[i])
		for j := start; j < end; j++ {
			row := clients.Rows[j]
			client.Add(clients.At[j], b.Status[row], e.agents[b.Agent[row]], b.Traces[row])
		}
		start = end
	}
}

// result is what was gathered, with a place for each client.
func (e *behaviour) result(t *traffic.Tables) *Paged[evidence.Summary] {
	if e == nil {
		return nil
	}
	e.clients.Grow(t.Clients.Len())
	return &e.clients
}

// An Assessor judges the clients of a result by the evidence about them: that which the replay gathered, or what was found of
// it earlier and stored, whose figures are not known any more.
type Assessor struct {
	result *Result
	rules  evidence.Rules
	site   evidence.SiteBaseline
}

// A ClientVerdict is what the evidence about a client comes to.
type ClientVerdict struct {
	Verdict evidence.Verdict
	Shared  bool     // whether many people seem to use the address
	Reasons []string // the signals that do not abstain; nil: not known
}

// NewAssessor returns nil where no evidence was gathered. Without rules it goes by those by default.
func NewAssessor(r *Result, rules *evidence.Rules) *Assessor {
	if r.Evidence == nil && r.ClientVerdicts == nil {
		return nil
	}
	j := &Assessor{result: r, rules: evidence.DefaultRules}
	if rules != nil {
		j.rules = *rules
	}
	if r.Evidence != nil {
		for id := range int32(r.Evidence.Len()) {
			j.site.Add(r.Evidence.At(id))
		}
	}
	return j
}

// Find is what the evidence about a client comes to, without the reasons.
func (j *Assessor) Find(client int32) ClientVerdict {
	if j.result.Evidence == nil {
		return *j.result.ClientVerdicts.At(client)
	}
	judged := j.judge(client)
	return ClientVerdict{Verdict: judged.Verdict, Shared: judged.Shared}
}

func (j *Assessor) attacks(client int32) bool {
	_, attacks := slices.BinarySearch(j.result.Attackers, client)
	return attacks
}

// Explain is the same with the reasons, as far as they are known.
func (j *Assessor) Explain(client int32) ClientVerdict {
	f := j.Find(client)
	if j.result.Evidence != nil {
		judged := j.judge(client)
		f.Reasons = judged.Reasons(j.result.Evidence.At(client), j.claim(client))
		if j.attacks(client) {
			f.Reasons = append(f.Reasons, "! a finding about the log names it as a bot: attacker or bot_network")
		}
	}
	return f
}

// Disguised reports whether a client claims to be a browser, and what it does contradicts that.
func (j *Assessor) Disguised(client int32) bool {
	claim := j.claim(client)
	return claim == request.Browser && !evidence.Believed(claim, j.Find(client).Verdict)
}

// judge takes who attacks the site, or is of a network that is one bot, for a bot, unless it loaded what only browsers load.
func (j *Assessor) judge(client int32) evidence.Assessment {
	judged := j.rules.Assess(j.result.Evidence.At(client), j.claim(client), &j.site)
	if j.attacks(client) && judged.Votes[evidence.BeaconSignal] != evidence.VoteHuman {
		judged.Verdict = evidence.Bot
	}
	return judged
}

func (j *Assessor) claim(client int32) request.Class { return j.result.Clients.At(client).Class() }
