package main

import (
	"slices"
	"strings"

	"shadow/report/keys"
	"shadow/request"
	"shadow/suggest"
)

// Keys need to know two sides only: the target is counted as tools, the protected as browsers, all others as unknown.
const (
	toStop  = request.Tool
	toSpare = request.Browser
)

// ask is what the flags ask, and how visitors are to be counted for it.
func (r *keysRun) ask() (q keys.Question, err error) {
	stop, err := classesOf("target", r.target)
	if err != nil {
		return q, err
	}
	spare, err := classesOf("protect", r.protect)
	if err != nil {
		return q, err
	}
	for _, class := range stop {
		if slices.Contains(spare, class) {
			return q, usage("%s are both target and protected: state them once", pluralOf(class))
		}
	}
	if asked := r.cmd.Flags().Changed("target") && slices.Contains(stop, disguised) || slices.Contains(spare, disguised); r.claims && asked {
		return q, usage("--claims believes every claim, so nobody is disguised: leave one out")
	}
	q.Stop, q.Spare = []request.Class{toStop}, []request.Class{toSpare}
	q.StopNames, q.SpareNames = wordsOf(stop), wordsOf(spare)
	r.options.Side = sideOf(stop, spare)
	if q.Refuse, err = r.shares(); err != nil {
		return q, err
	}
	q.By = append(q.By, r.tried...)
	return q, nil
}

// sideOf says on which side a visitor is.
func sideOf(stop, spare []request.Class) func(request.Class, bool) request.Class {
	return func(class request.Class, contradicted bool) request.Class {
		if contradicted {
			class = disguised
		}
		switch {
		case slices.Contains(stop, class):
			return toStop
		case slices.Contains(spare, class):
			return toSpare
		}
		return request.Unknown
	}
}

func wordsOf(classes []request.Class) (words []string) {
	for _, class := range classes {
		words = append(words, classWord(class))
	}
	return words
}

// classesOf reads a list of classes.
func classesOf(flag string, names []string) (classes []request.Class, err error) {
	for _, name := range names {
		i := slices.IndexFunc(classNames(), func(known string) bool { return name == known || name+"s" == known })
		if i < 0 {
			return nil, usage("--%s %q: want some of %s; %s", flag, name, strings.Join(classNames(), ", "), suggest.Explain(name))
		}
		if class := request.Class(i); !slices.Contains(classes, class) {
			classes = append(classes, class)
		}
	}
	if len(classes) == 0 {
		return nil, usage("--%s: want some of %s", flag, strings.Join(classNames(), ", "))
	}
	return classes, nil
}

// disguised is the class of those who claim to be browsers, which their evidence contradicts.
const disguised = request.ClassCount

// classNames are the classes as --target and --protect take them.
func classNames() (names []string) {
	for class := range disguised + 1 {
		names = append(names, pluralOf(class))
	}
	return names
}

// classWord is a class in one word, disguised among them.
func classWord(class request.Class) string {
	if class == disguised {
		return suggest.Disguised.String()
	}
	return class.String()
}

func pluralOf(class request.Class) string {
	if class == request.Unknown || class == disguised {
		return classWord(class)
	}
	return class.String() + "s"
}
