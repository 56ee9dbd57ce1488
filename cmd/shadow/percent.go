package main

import (
	"fmt"
	"strconv"
	"strings"
)

// A percent is a flag such as 5%. The sign may be left out.
type percent float64

func (p *percent) Set(text string) error {
	v, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !(v >= 0 && v <= 100) {
		return fmt.Errorf("want a share from 0%% to 100%%, such as 5%%")
	}
	*p = percent(v)
	return nil
}

func (p *percent) String() string { return strconv.FormatFloat(float64(*p), 'g', -1, 64) + "%" }

// Type is what --help calls the value.
func (p *percent) Type() string { return "percent" }
