package main

import (
	"slices"

	"shadow/limit"
	"shadow/policy"
)

// prepare looks up everything that the flags name.
func (r *keysRun) prepare(args []string) error {
	if err := r.verify(); err != nil {
		return err
	}
	config, err := loadConfig(r.config)
	if err != nil {
		return err
	}
	if r.tried, err = r.chosen(); err != nil {
		return err
	}
	if r.question, err = r.ask(); err != nil {
		return err
	}
	if err := r.choose(); err != nil {
		return err
	}
	if r.reading, err = r.readingFlags.options(&config, r.remembered(), r.started); err != nil {
		return err
	}
	r.reading.Users, r.reading.NoUsers = true, true // visitors are told apart by them
	if !r.claims {
		r.wanted = true
		if r.reading.Tracer, r.options.Evidence, err = r.evidenceFlags.choose(&config); err != nil {
			return err
		}
	}
	r.options.Tables, r.options.Lateness = r.reading.Tables, r.reading.Lateness
	r.options.Action, r.options.Stop = r.action, r.cmd.Context().Err
	return r.expand(args)
}

// verify finds flags that contradict each other.
func (r *keysRun) verify() error {
	flags := r.cmd.Flags()
	switch {
	case r.quiet && r.verbose:
		return usage("--quiet and --verbose are opposites: state one")
	case r.claims && (r.beacon != "" || r.robots != ""):
		return usage("--claims looks for no evidence: leave it out, or --evidence-path and --robots")
	case len(r.limits) > 0 && (flags.Changed("per") || flags.Changed("refuse")):
		return usage("--limit names the limit; --per and --refuse look for one: state one or the other")
	case len(r.limits) > 0 && r.action != "":
		return usage("--limit judges all requests: leave out --action")
	}
	return verifyOutput(r.output)
}

// longerPeriods are tried where no key separates by a window of the default length.
var longerPeriods = []limit.Time{10 * limit.Minute, limit.Hour}

// choose makes what the question needs: the limits by each key, or windows.
func (r *keysRun) choose() error {
	if len(r.limits) == 0 {
		r.options.Keys = r.question.By
		var err error
		if r.options.Periods, err = periods(r.per); err == nil && !r.cmd.Flags().Changed("per") {
			r.options.Periods = append(r.options.Periods, longerPeriods...)
			r.question.Longer = len(longerPeriods)
		}
		return err
	}
	r.question.Refuse = nil
	for _, key := range r.tried {
		policies, err := policy.ParseLimits(r.limits, key)
		if err != nil {
			return badFlag("limit", "", err)
		}
		r.policies = append(r.policies, policies...)
	}
	r.arrange()
	r.options.Limits = len(r.policies)
	return nil
}

// arrange puts the policies of each limit together, in the order of the keys.
func (r *keysRun) arrange() {
	n := len(r.policies) / len(r.tried)
	byKey := r.policies
	r.policies = nil
	for i := range n {
		r.question.Limits = append(r.question.Limits, byKey[i].Name)
		for j := range r.tried {
			r.policies = append(r.policies, byKey[j*n+i])
		}
	}
}

// remembered are the limits that remember for longest by any key, as policies: how logs are read goes by that.
func (r *keysRun) remembered() []policy.Policy {
	if len(r.policies) > 0 {
		return r.policies
	}
	spec := limit.Spec{Algorithm: "window", Count: 1, Period: slices.Max(r.options.Periods)}
	var all []policy.Policy
	for _, key := range r.tried {
		if p, err := policy.New(spec, key); err == nil {
			all = append(all, p)
		}
	}
	return all
}
