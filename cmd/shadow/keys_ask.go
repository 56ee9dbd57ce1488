package main

import (
	"slices"
	"strings"

	"shadow/report/keys"
	"shadow/suggest"
	"shadow/traffic"
	"shadow/traffic/useragent"
)

// Keys need to know two sides only: those to be stopped are counted as tools, those to be spared as browsers, all others as
// unknown.
const (
	toStop  = useragent.Tool
	toSpare = useragent.Browser
)

// ask is what the flags ask, and how visitors are to be counted for it.
func (r *keysRun) ask() (q keys.Question, err error) {
	stop, err := classesOf("stop", r.stop)
	if err != nil {
		return q, err
	}
	spare, err := classesOf("spare", r.spare)
	if err != nil {
		return q, err
	}
	for _, class := range stop {
		if slices.Contains(spare, class) {
			return q, usage("%s are both to be stopped and to be spared: state them once", pluralOf(class))
		}
	}
	if asked := r.cmd.Flags().Changed("stop") && slices.Contains(stop, disguised) || slices.Contains(spare, disguised); r.claims && asked {
		return q, usage("--claims believes every claim, so nobody is disguised: leave one out")
	}
	q.Stop, q.Spare = []useragent.Class{toStop}, []useragent.Class{toSpare}
	q.StopNames, q.SpareNames = wordsOf(stop), wordsOf(spare)
	r.options.Side = sideOf(stop, spare)
	if q.Refuse, err = r.shares(); err != nil {
		return q, err
	}
	for _, key := range r.tried {
		q.By = append(q.By, traffic.Key(key))
	}
	return q, nil
}

// sideOf says on which side a visitor is.
func sideOf(stop, spare []useragent.Class) func(useragent.Class, bool) useragent.Class {
	return func(class useragent.Class, contradicted bool) useragent.Class {
		if contradicted {
			class = disguised
		}
		switch {
		case slices.Contains(stop, class):
			return toStop
		case slices.Contains(spare, class):
			return toSpare
		}
		return useragent.Unknown
	}
}

func wordsOf(classes []useragent.Class) (words []string) {
	for _, class := range classes {
		words = append(words, classWord(class))
	}
	return words
}

// classesOf reads a list of classes.
func classesOf(flag string, names []string) (classes []useragent.Class, err error) {
	for _, name := range names {
		i := slices.IndexFunc(classNames(), func(known string) bool { return name == known || name+"s" == known })
		if i < 0 {
			return nil, usage("--%s %q: want some of %s; %s", flag, name, strings.Join(classNames(), ", "), suggest.Explain(name))
		}
		if class := useragent.Class(i); !slices.Contains(classes, class) {
			classes = append(classes, class)
		}
	}
	if len(classes) == 0 {
		return nil, usage("--%s: want some of %s", flag, strings.Join(classNames(), ", "))
	}
	return classes, nil
}

// disguised is the class of those who claim to be browsers, which their evidence contradicts.
const disguised = useragent.ClassCount

// classNames are the classes as --stop and --spare take them.
func classNames() (names []string) {
	for class := range disguised + 1 {
		names = append(names, pluralOf(class))
	}
	return names
}

// classWord is a class in one word, disguised among them.
func classWord(class useragent.Class) string {
	if class == disguised {
		return suggest.Disguised.String()
	}
	return class.String()
}

func pluralOf(class useragent.Class) string {
	if class == useragent.Unknown || class == disguised {
		return classWord(class)
	}
	return class.String() + "s"
}
