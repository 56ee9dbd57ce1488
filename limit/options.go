package limit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Options follow the period: names, or names with a value, split by commas. In canonical form they are in the order
// of their names, and numbers and lengths of time are in canonical form too, so that equal specs compare equal.

// canonicalOptions brings "initial=03,burst=10" into the form "burst=10,initial=3".
func canonicalOptions(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	options := strings.Split(text, ",")
	for i, o := range options {
		canonical, err := canonicalOption(o)
		if err != nil {
			return "", err
		}
		options[i] = canonical
	}
	slices.SortFunc(options, func(a, b string) int { return strings.Compare(optionName(a), optionName(b)) })
	for i := 1; i < len(options); i++ {
		if optionName(options[i-1]) == optionName(options[i]) {
			return "", fmt.Errorf("the option %s stands there twice", optionName(options[i]))
		}
	}
	return strings.Join(options, ","), nil
}

func optionName(option string) string {
	name, _, _ := strings.Cut(option, "=")
	return name
}

func canonicalOption(option string) (string, error) {
	name, value, hasValue := strings.Cut(option, "=")
	switch {
	case !isName(name):
		return "", fmt.Errorf("%q is no option; want a name or name=value, such as burst=10 (several limits go into several texts)", option)
	case !hasValue:
		return name, nil
	case value == "":
		return "", fmt.Errorf("the option %s= lacks its value; want one such as %s=10", name, name)
	}
	return name + "=" + canonicalValue(value), nil
}

// canonicalValue shortens whole numbers and lengths of time; it leaves other values alone.
func canonicalValue(value string) string {
	if !isDigit(value[0]) {
		return value
	}
	if n, err := strconv.ParseInt(value, 10, 64); err == nil {
		return strconv.FormatInt(n, 10)
	}
	length, suffix, hasSuffix := strings.Cut(value, "/") // cooldown=30s/extend
	if p, err := ParsePeriod(length); err == nil {
		length = FormatPeriod(p)
	}
	if hasSuffix {
		return length + "/" + suffix
	}
	return length
}
