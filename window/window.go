package window

import (
	"fmt"

	"shadow/limit"
)

// The limits that are called window, by their options:
//
//	window:N/W                      Rolling: at most N admitted in any (t−W, t]
//	window:N/W,charge=all           Attempts: at most N requests in any (t−W, t], refused ones too
//	window:N/W,step=P               Stepped: recalculated every P
//	window:N/W,step=P,max=M         and then at most M
//	window:N/W,step=P,charge=all    and refused requests count

// New makes the window that spec describes: window:N/W with the options charge, max and step.
func New(spec limit.Spec) (limit.Limiter, error) {
	args := spec.Args()
	all := chargesAll(args)
	most := args.Int("max", -1)
	step := args.Duration("step", 0)
	if err := args.Err(); err != nil {
		return nil, err
	}
	if step > 0 {
		return newStepped(spec, step, most, all)
	}
	if most >= 0 {
		return nil, fmt.Errorf("limit %q: max=%d bounds what a window gets every step; write step=PERIOD with it", spec, most)
	}
	w, err := rolling(spec)
	if all {
		return &Attempts{w}, err
	}
	return &w, err
}

// chargesAll reads the option charge: whether refused requests count as well.
func chargesAll(args *limit.Args) bool {
	return args.Choice("charge", "admitted", "admitted", "all") == "all"
}
