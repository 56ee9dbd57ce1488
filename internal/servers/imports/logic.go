package imports

import "shadow/internal/servers/imports/neutral"

// A logic reads a condition word by word: terms that are negated, put into parentheses, and joined, as in VCL (&& || !)
// and in the rules of Cloudflare (and or not).
type logic struct {
	words   []string
	term    func(l *logic) (set neutral.Set, known bool) // takes the words of one term
	unknown int                                          // terms that no condition says: they are taken to fit
}

// next takes a word; "" at the end.
func (l *logic) next() string {
	word := l.peek()
	l.words = l.words[min(1, len(l.words)):]
	return word
}

func (l *logic) peek() string {
	if len(l.words) == 0 {
		return ""
	}
	return l.words[0]
}

// take takes the next word if it is one of some.
func (l *logic) take(words ...string) bool {
	for _, w := range words {
		if len(l.words) > 0 && l.words[0] == w {
			l.next()
			return true
		}
	}
	return false
}

func (l *logic) either() neutral.Set {
	set := l.both()
	for l.take("||", "or") {
		set = neutral.Union(set, l.both())
	}
	return set
}

func (l *logic) both() neutral.Set {
	set := l.one()
	for l.take("&&", "and") {
		set = set.And(l.one())
	}
	return set
}

func (l *logic) one() neutral.Set {
	switch {
	case l.take("!", "not"):
		before := l.unknown
		if set := l.one(); l.unknown == before {
			return set.Except()
		}
		return neutral.Set{}
	case l.take("("):
		set := l.either()
		l.take(")")
		return set
	}
	set, known := l.term(l)
	if !known {
		l.unknown++
		return neutral.Set{}
	}
	return set
}

// group takes the words up to the parenthesis that ends those before.
func (l *logic) group() (words []string) {
	for open := 1; len(l.words) > 0; {
		word := l.next()
		switch word {
		case "(":
			open++
		case ")":
			if open--; open == 0 {
				return words
			}
		}
		words = append(words, word)
	}
	return words
}
