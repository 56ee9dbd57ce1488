package limit

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A count may stand for many: a list "6,10,20", a range "5..50", a range with a step "5..50:5", or a list of these.

// maxSpecs bounds how many limits one text may stand for.
const maxSpecs = 10_000

var errTooMany = fmt.Errorf("stands for more than %d limits; take a larger step, such as 10..10000:10", maxSpecs)

// each returns a copy of s for every count that the text names, in its order.
func (s Spec) each(counts string) ([]Spec, error) {
	var specs []Spec
	for part := range strings.SplitSeq(counts, ",") {
		first, last, step, err := parseRange(part)
		if err != nil {
			return nil, err
		}
		if (last-first)/step >= maxSpecs-int64(len(specs)) {
			return nil, errTooMany
		}
		more := (last - first) / step
		specs = slices.Grow(specs, int(more)+1)
		for ; more >= 0; more-- {
			s.Count = first
			specs = append(specs, s)
			first += step
		}
	}
	return specs, nil
}

// parseRange reads "6" as 6, 6, 1 and "5..50:5" as 5, 50, 5.
func parseRange(text string) (first, last, step int64, err error) {
	from, to, isRange := strings.Cut(text, "..")
	if first, err = parseCount(from); err != nil || !isRange {
		return first, first, 1, err
	}
	to, by, hasStep := strings.Cut(to, ":")
	if !hasStep {
		by = "1"
	}
	if last, err = parseCount(to); err != nil {
		return 0, 0, 0, err
	}
	if step, err = parseCount(by); err != nil {
		return 0, 0, 0, fmt.Errorf("the step of a range: %w", err)
	}
	if last < first {
		return 0, 0, 0, fmt.Errorf("the range %s ends before it begins; want the smaller number first, such as 5..50", text)
	}
	return first, last, step, nil
}

// parseCount reads a positive whole number. An r behind it, as in nginx's 10r/s, is taken for what it says: requests.
func parseCount(text string) (int64, error) {
	if digits, requests := strings.CutSuffix(text, "r"); requests && digits != "" {
		text = digits
	}
	for i := range len(text) {
		if !isDigit(text[i]) {
			return 0, noCount(text)
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("the count %s is too large", text)
	case err != nil:
		return 0, noCount(text)
	case n == 0:
		return 0, errors.New("the count must be at least 1")
	}
	return n, nil
}

func noCount(text string) error {
	return fmt.Errorf("%q is no count; want a whole number, a list or a range before the slash, such as 6/30s, 6,10,20/30s or 5..50:5/30s", text)
}
