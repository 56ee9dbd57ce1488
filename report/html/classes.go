package html

import (
	"shadow/request"
	"shadow/sweep"
)

// The classes of a page's charts: those of clients, and where it is known who is disguised, these as a class of their
// own beside the browsers that are not.

// A pageClass is one of them.
type pageClass struct {
	name string
	of   func(numbers *sweep.Classes, hidden int64) int64 // what is its own; hidden is what the disguised have of the browsers'
}

func (c *Curves) classes() (classes []pageClass) {
	for class := range request.ClassCount {
		own := func(numbers *sweep.Classes, _ int64) int64 { return numbers[class] }
		if class != request.Browser || c.Hidden == nil {
			classes = append(classes, pageClass{class.String(), own})
			continue
		}
		rest := func(numbers *sweep.Classes, hidden int64) int64 { return max(0, numbers[class]-hidden) } // 0: requests that are not known
		classes = append(classes, pageClass{class.String(), rest},
			pageClass{"disguised", func(_ *sweep.Classes, hidden int64) int64 { return hidden }})
	}
	return classes
}

// hidden are the disguised, none where nobody is told apart.
func (c *Curves) hidden() sweep.Disguised {
	if c.Hidden == nil {
		return sweep.Disguised{}
	}
	return *c.Hidden
}
