package limit

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// People write limits and lengths of time in other words: 6/min, 100rpm, 10 requests per 30 seconds, 5/15min. An error
// about such a text says how it is spelt here, if that is a limit.

// unitWords are other words for units, without an s at their end.
var unitWords = map[string]string{
	"": "s", "ms": "ms", "msec": "ms", "millisecond": "ms", "s": "s", "sec": "s", "second": "s", "m": "m", "min": "m",
	"minute": "m", "h": "h", "hr": "h", "hour": "h", "d": "d", "day": "d", "w": "w", "week": "w",
}

// wordy finds ALGORITHM: (1), the counts (2), the number (3) and the unit (4) of a period, and options (5).
var wordy = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^((?:[a-z][-a-z0-9~]*:)?)(\d[\d.,:]*)\s*(?:r|reqs?|requests?|hits?)?\s*(?:/|per|p)\s*` +
		`(\d*)\s*([A-Za-z]*)((?:[,\s].*)?)$`)
})

// didYouMean adds to an error how a limit is spelt that is written in other words.
func didYouMean(text string, err error) error {
	part := wordy().FindStringSubmatch(text)
	if part == nil {
		return err
	}
	period := respeltPeriod(part[3] + part[4])
	options := strings.Join(strings.Fields(strings.ReplaceAll(part[5], ", ", " ")), ",")
	if options != "" && options[0] != ',' {
		options = "," + options
	}
	near := part[1] + part[2] + "/" + period + options
	if _, wrong := parseAll(near); period == "" || near == text || wrong != nil {
		return err
	}
	return fmt.Errorf("is no limit; did you mean %s?", near)
}

// respeltPeriod returns the length of time that was meant, "" for none: 15min is 15m, and seconds need no unit.
func respeltPeriod(text string) string {
	number := strings.TrimRightFunc(text, func(c rune) bool { return c == ' ' || unicode.IsLetter(c) })
	word := strings.ToLower(strings.TrimSpace(text[len(number):]))
	unit := cmp.Or(unitWords[word], unitWords[strings.TrimSuffix(word, "s")])
	if number == "" && word != "" {
		number = "1"
	}
	if _, err := parsePeriod(number + unit); err != nil || number == "" {
		return ""
	}
	return number + unit
}

// wordyPeriod is an error about a length of time, with the one that was meant.
func wordyPeriod(text string) error {
	if near := respeltPeriod(text); near != "" {
		return fmt.Errorf("is no length of time; did you mean %s?", near)
	}
	return errNoPeriod
}

var errNoPeriod = errors.New("want a length of time, such as 30s, 1m, 500ms, h or 2d")
