package traffic

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
)

// A Carrier writes what one of several processes has found, or reads that and adds it to what is there: one function says
// both.
//
//	found in part 1 ──▶ To ──▶ bytes ─┐
//	found in part 2 ──▶ To ──▶ bytes ─┴─▶ From, one after the other ──▶ found in all
type Carrier struct {
	To   *Encoder // nil: it reads
	From *Decoder // nil: it writes
}

var errNoCount = errors.New("what was found makes no sense: a number is out of range")

// Sum adds up counts, which are never negative, as far as there are numbers for them.
func (c Carrier) Sum(counts ...*int64) {
	for _, n := range counts {
		more := *n
		c.Value(&more)
		switch {
		case c.To != nil:
		case more < 0:
			c.From.Fail(errNoCount)
		default:
			*n += min(more, math.MaxInt64-*n)
		}
	}
}

// Value carries all numbers that pointers lead to, and puts them in the place of what was there.
func (c Carrier) Value(pointers ...any) {
	for _, p := range pointers {
		c.value(reflect.ValueOf(p).Elem())
	}
}

func (c Carrier) value(v reflect.Value) {
	if c.From != nil { // so that it may be set, whatever field it is
		v = reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()
	}
	switch v.Kind() {
	case reflect.Pointer:
		if c.From != nil {
			v.Set(reflect.New(v.Type().Elem()))
		}
		c.value(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			c.value(v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			c.value(v.Index(i))
		}
	case reflect.Bool:
		if c.To != nil {
			c.To.Uint(map[bool]uint64{true: 1}[v.Bool()])
		} else {
			v.SetBool(c.From.Uint() > 0)
		}
	default:
		c.number(v)
	}
}

func (c Carrier) number(v reflect.Value) {
	switch {
	case c.To != nil && v.CanInt():
		c.To.Int(v.Int())
	case c.To != nil:
		c.To.Uint(v.Uint())
	case v.CanInt():
		n := c.From.Int()
		if v.SetInt(n); v.OverflowInt(n) {
			c.From.Fail(errNoCount)
		}
	default:
		n := c.From.Uint()
		if v.SetUint(n); v.OverflowUint(n) {
			c.From.Fail(errNoCount)
		}
	}
}

// ID carries the id of a name.
func (c Carrier) ID(kind NameKind, id *int32) {
	if c.To != nil {
		number := c.To.number(kind, *id)
		c.To.names(kind)
		c.To.Uint(uint64(number))
		return
	}
	c.From.addNames(kind)
	known, ok := c.From.names.id(kind, int32(c.From.Uint()))
	if !ok {
		c.From.Fail(errNoName)
	}
	*id = known
}

// ID16 carries an id that needs no more than two bytes.
func (c Carrier) ID16(kind NameKind, id *uint16) {
	wide := int32(*id)
	c.ID(kind, &wide)
	*id = uint16(wide)
}

// IDs carries the ids below n of which there is something to tell, and goes through them.
func (c Carrier) IDs(kind NameKind, n int, has func(id int32) bool) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		var ids []int32
		for id := range int32(n) {
			if c.To != nil && has(id) {
				ids = append(ids, id)
			}
		}
		for i := range c.times(len(ids)) {
			id := int32(0)
			if c.To != nil {
				id = ids[i]
			}
			if c.ID(kind, &id); !yield(id) {
				return
			}
		}
	}
}

// times carries a number, and counts up to it.
func (c Carrier) times(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		if c.To != nil {
			c.To.Uint(uint64(n))
		} else {
			n = c.From.Count()
		}
		for i := 0; i < n && (c.From == nil || c.From.err == nil) && yield(i); i++ {
		}
	}
}

// Counts adds up counts by the ids of names.
func (c Carrier) Counts(kind NameKind, counts *[]int64) {
	for id := range c.IDs(kind, len(*counts), func(id int32) bool { return (*counts)[id] != 0 }) {
		*counts = append(*counts, make([]int64, max(0, int(id)+1-len(*counts)))...)
		c.Sum(&(*counts)[id])
	}
}

// Entries carries a map of numbers to numbers: what reads goes through the entries. ids carries the ids of a key, if it
// has any.
func Entries[K comparable, V any](c Carrier, m map[K]V, ids func(key *K)) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		var keys []K
		if c.To != nil { // the same bytes each time
			keys = slices.SortedFunc(maps.Keys(m), func(x, y K) int { return strings.Compare(fmt.Sprint(x), fmt.Sprint(y)) })
		}
		for i := range c.times(len(keys)) {
			var key K
			var value V
			if c.To != nil {
				key, value = keys[i], m[keys[i]]
			}
			if c.Value(&key, &value); ids != nil {
				ids(&key)
			}
			if c.From != nil && !yield(key, value) {
				return
			}
		}
	}
}
