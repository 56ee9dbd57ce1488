package match

import (
	"slices"

	"shadow/internal/policy"
	"shadow/internal/traffic"
	"shadow/internal/traffic/intern"
	"shadow/parse"
)

// Costs find what requests cost a limit. Each distinct text of a field is read as a number once.
type Costs struct {
	Of policy.Costs

	columns []int                     // of each cost that is the number in a field: where in Batch.Values that is
	texts   *intern.Dict              // what Batch.Values are
	numbers intern.PagedSlice[number] // by id of these
}

// A number holds the number that a text says.
type number struct {
	n          int64
	read, none bool // none: it says no number
}

// NewCosts returns Costs for requests whose values are those of tables.
func NewCosts(of policy.Costs, tables *traffic.Tables) Costs {
	c := Costs{Of: of}
	for i := range of {
		c.columns = append(c.columns, -1)
		if of[i].Field.Number {
			c.columns[i], c.texts = slices.Index(tables.Parts, of[i].Field), tables.Values
		}
	}
	return c
}

// At returns the cost of the request of a row.
func (c *Costs) At(b *traffic.Batch, row int32, marks uint64) int64 {
	i := c.Of.For(marks)
	if i < 0 {
		return 1
	}
	if c.Of[i].Taken {
		return b.Took[row]
	}
	n := b.Bytes[row]
	if column := c.columns[i]; c.Of[i].Field.Number { // never the bytes in its place
		var none bool
		if n, none = c.number(b.Values[column][row]); none {
			return 1
		}
	}
	return c.Of[i].Of(n)
}

// number returns the number that the text with an id says; none: it says no number.
func (c *Costs) number(id int32) (n int64, none bool) {
	if id == traffic.NoValue {
		return 0, true
	}
	if int(id) >= c.numbers.Len() {
		c.numbers.Grow(c.texts.Len())
	}
	its := c.numbers.At(id)
	if !its.read {
		n, ok := parse.RoundUp(c.texts.Bytes(id))
		*its = number{n, true, !ok}
	}
	return its.n, its.none
}
