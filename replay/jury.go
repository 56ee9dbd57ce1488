package replay

import (
	"shadow/request"
	"shadow/traffic/evidence"
)

// A Jury judges the clients of a result by the evidence about them: that which the replay gathered, or what was found of
// it earlier and stored, whose figures are not known any more.
type Jury struct {
	result *Result
	rules  evidence.Rules
	site   evidence.SiteBaseline
}

// A Finding is what the evidence about a client comes to.
type Finding struct {
	Verdict evidence.Verdict
	Shared  bool     // whether many people seem to use the address
	Reasons []string // the signals that do not abstain; nil: not known
}

// NewJury returns nil where no evidence was gathered. Without rules it goes by those by default.
func NewJury(r *Result, rules *evidence.Rules) *Jury {
	if r.Evidence == nil && r.Findings == nil {
		return nil
	}
	j := &Jury{result: r, rules: evidence.DefaultRules}
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
func (j *Jury) Find(client int32) Finding {
	if j.result.Evidence == nil {
		return *j.result.Findings.At(client)
	}
	judged := j.judge(client)
	return Finding{Verdict: judged.Verdict, Shared: judged.Shared}
}

// Explain is the same with the reasons, as far as they are known.
func (j *Jury) Explain(client int32) Finding {
	f := j.Find(client)
	if j.result.Evidence != nil {
		judged := j.judge(client)
		f.Reasons = judged.Reasons(j.result.Evidence.At(client), j.claim(client))
	}
	return f
}

// Disguised reports whether a client claims to be a browser, and what it does contradicts that.
func (j *Jury) Disguised(client int32) bool {
	claim := j.claim(client)
	return claim == request.Browser && !evidence.Believed(claim, j.Find(client).Verdict)
}

func (j *Jury) judge(client int32) evidence.Assessment {
	return j.rules.Assess(j.result.Evidence.At(client), j.claim(client), &j.site)
}

func (j *Jury) claim(client int32) request.Class { return j.result.Clients.At(client).Class() }
