package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A size is a flag such as 64MiB: a whole number of bytes, KiB, MiB or GiB.
type size int64

// sizeUnits are from large to small, so that a size is written in the largest that fits.
var sizeUnits = []struct {
	name  string
	bytes int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}, {"", 1}}

func (s *size) Set(text string) error {
	for _, u := range sizeUnits {
		digits, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n < 1 || n > math.MaxInt64/u.bytes {
			break
		}
		*s = size(n * u.bytes)
		return nil
	}
	return fmt.Errorf("want a size, such as 64MiB")
}

func (s *size) String() string {
	for _, u := range sizeUnits {
		if int64(*s)%u.bytes == 0 && *s != 0 {
			return fmt.Sprint(int64(*s)/u.bytes, u.name)
		}
	}
	return "0"
}

// Type is what --help calls the value.
func (s *size) Type() string { return "size" }
