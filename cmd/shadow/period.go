package main

import "shadow/limit"

// A period is a flag such as 20m or 1d.
type period limit.Time

func (p *period) Set(text string) error {
	v, err := limit.ParsePeriod(text)
	if err == nil {
		*p = period(v)
	}
	return err
}

func (p *period) String() string { return limit.FormatPeriod(limit.Time(*p)) }

// Type is what --help calls the value.
func (p *period) Type() string { return "duration" }
