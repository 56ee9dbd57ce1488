package redis

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"shadow/internal/mapped"
	"shadow/limit"
)

// A Call has one limit judge the next requests of one key. Redis does not charge again what it has charged for this
// host already, and answers as it did then: see numbers.go.
type Call struct {
	Limit  *Limit
	Key    string
	At     []limit.Time // in the order in which they are judged
	Places []limit.Time // where they have their place in time, ascending; nil: at At
	Index  int64        // how many of the key were there, where the first has its place, before it
	Since  limit.Time   // answers to requests from this place on are kept, to be asked again
	Alone  bool         // whether this host may have decided requests of the key alone since it last asked, from Since on

	// Memory holds what this host remembers of the key by itself. It repairs what Redis remembers, if no other host has
	// been there; nil: Redis has missed nothing.
	Memory *limit.State

	Refused  []int32         // the answer: indices into At, ascending
	Delayed  []limit.Delayed // those that are kept waiting
	Snapshot *limit.State    // what Redis knew of the key before this call, where this host may know less; else nil
	Resync   bool            // whether an earlier Snapshot may be lost: the next call for the key should have a Memory
	Err      error           // why there is no answer
}

// errForgotten says that a request was charged before, and the answer to it is not kept any more.
var errForgotten = errors.New("redis: charged before, and the verdict is not kept any more")

// arguments returns what the script takes besides the key.
func (c *Call) arguments(host string, clock Clock) []any {
	cell, begin := c.Limit.split(c.At[0])
	first, places := c.At[0], []byte(nil)
	if c.Places != nil {
		first, places = c.Places[0], packed(offsets(c.Places, begin)...)
	}
	since := min(c.Since, first)
	if distance(since, c.At[0]) >= reach/4 { // beyond what the script can count
		since = c.At[0] - reach/4
	}
	call := packed(int64(cell), c.Index, int64(since-begin), int64(clock), limit.Bit(c.Alone))
	return []any{c.Limit.header, host, call, packed(offsets(c.At, begin)...), places, c.packedMemory(begin)}
}

// offsets returns how much later than begin some times are.
func offsets(times []limit.Time, begin limit.Time) []int64 {
	return mapped.Of(times, func(t limit.Time) int64 { return int64(t - begin) })
}

// packed is a list of whole numbers in MessagePack (msgpack.org), which scripts read with cmsgpack.unpack.
func packed(numbers ...int64) []byte {
	const int32s, int64s, array32 = 0xd2, 0xd3, 0xdd // big-endian behind it; of an array its length, then the elements
	b := append(make([]byte, 0, 5+5*len(numbers)), array32)
	b = binary.BigEndian.AppendUint32(b, uint32(len(numbers)))
	for _, n := range numbers {
		switch {
		case 0 <= n && n <= math.MaxInt8:
			b = append(b, byte(n))
		case math.MinInt32 <= n && n <= math.MaxInt32:
			b = binary.BigEndian.AppendUint32(append(b, int32s), uint32(n))
		default:
			b = binary.BigEndian.AppendUint64(append(b, int64s), uint64(n))
		}
	}
	return b
}

// receive reads the answer.
func (c *Call) receive(answer []any, err error) error {
	c.Refused, c.Delayed, c.Snapshot, c.Resync = c.Refused[:0], c.Delayed[:0], nil, false
	if err != nil {
		return err
	}
	if len(answer) != 3 {
		return fmt.Errorf("redis: an answer of %d lists", len(answer))
	}
	var lists [3][]int64
	for i := range lists {
		if lists[i], err = numbersOf(answer[i]); err != nil {
			return err
		}
	}
	for _, index := range lists[0] {
		switch {
		case index < 0:
			return errForgotten
		case index >= int64(len(c.At)):
			return fmt.Errorf("redis: an answer to request %d of %d", index, len(c.At))
		}
		c.Refused = append(c.Refused, int32(index))
	}
	for late := range slices.Chunk(lists[1], 2) {
		if len(late) < 2 || late[0] < 0 || late[0] >= int64(len(c.At)) {
			return fmt.Errorf("redis: a delay %v of %d requests", late, len(c.At))
		}
		c.Delayed = append(c.Delayed, limit.Delayed{Index: int32(late[0]), By: limit.Time(late[1])})
	}
	return c.receiveSnapshot(lists[2])
}

func numbersOf(list any) ([]int64, error) {
	items, ok := list.([]any)
	if !ok {
		return nil, fmt.Errorf("redis: an answer of type %T where a list is wanted", list)
	}
	numbers := make([]int64, len(items))
	for i := range items {
		if numbers[i], ok = items[i].(int64); !ok {
			return nil, fmt.Errorf("redis: an answer of type %T where a number is wanted", items[i])
		}
	}
	return numbers, nil
}
