package store

import (
	"fmt"
	"math"
	"strconv"
)

// Events says of how many policies, the first ones, a run keeps each would-block event. Tallies are kept for all.
type Events int32

// AllEvents keeps the events of every policy, DefaultEvents those of as many as one looks at side by side.
const (
	AllEvents     Events = math.MaxInt32
	DefaultEvents Events = 20
)

// ParseEvents reads "all", "none" or a number of policies.
func ParseEvents(text string) (Events, error) {
	switch text {
	case "all":
		return AllEvents, nil
	case "none":
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("events %q: want all, none, or for how many policies", text)
	}
	return Events(n), nil
}

// String is the text that ParseEvents reads.
func (e Events) String() string {
	switch e {
	case AllEvents:
		return "all"
	case 0:
		return "none"
	}
	return strconv.Itoa(int(e))
}

// Set makes Events a flag value.
func (e *Events) Set(text string) error {
	n, err := ParseEvents(text)
	if err == nil {
		*e = n
	}
	return err
}

// Type is what the flag's help calls the value.
func (e *Events) Type() string { return "all|none|N" }

// Of is for how many of so many policies events are kept.
func (e Events) Of(policies int) int { return min(int(e), policies) }
