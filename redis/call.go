package redis

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"shadow/limit"
)

// A Call has one limit judge the next requests of one key. What Redis has charged for this host already, it answers as it did
// then and does not charge again: see number.go.
type Call struct {
	Limit  *Limit
	Key    string
	At     []limit.Time // in the order in which they are judged
	Places []limit.Time // where they have their place in time, ascending; nil: at At
	Index  int64        // how many of the key were there, where the first has its place, before it
	Since  limit.Time   // answers to requests from this place on are kept, to be asked again
	Alone  bool         // whether this host may have decided requests of the key alone since it last asked, from Since on

	// Memory is what this host remembers of the key by itself. It repairs what Redis remembers, if no other host has been
	// there; nil: Redis has missed nothing.
	Memory *limit.State

	Refused []int32         // the answer: indices into At, ascending
	Delayed []limit.Delayed // those that are kept waiting
	Told    *limit.State    // what this host would have to remember from before to know as much as Redis; nil: what it does
	Missed  bool            // whether that may be lost: the next call for the key should have a Memory
	Err     error           // why there is no answer
}

// errForgotten says that a request was charged before, and the answer to it is not kept any more.
var errForgotten = errors.New("share: charged before, and the verdict is not kept any more")

// send puts the call into a pipeline.
func (c *Call) send(ctx context.Context, p redis.Pipeliner, host string, clock Clock) *redis.Cmd {
	cell, into := c.Limit.split(c.At[0])
	offset := func(t limit.Time) int64 { return int64(into + (t - c.At[0])) }
	times := newList(len(c.At))
	for _, t := range c.At {
		times = appendInt(times, offset(t))
	}
	var places []byte
	if c.Places != nil {
		places = newList(len(c.At))
		for _, t := range c.Places {
			places = appendInt(places, offset(t))
		}
	}
	call := packed(int64(cell), c.Index, offset(c.since()), int64(clock), bit(c.Alone))
	return p.EvalSha(ctx, c.Limit.script.Hash(), []string{c.Limit.key(c.Key)}, c.Limit.header, host, call, times, places, c.seed(cell))
}

// since is c.Since, brought within reach.
func (c *Call) since() limit.Time {
	first := c.At[0]
	if c.Places != nil {
		first = c.Places[0]
	}
	since := min(c.Since, first)
	if distance(since, c.At[0]) >= reach/4 {
		since = c.At[0] - reach/4
	}
	return since
}

// receive reads the answer.
func (c *Call) receive(cmd *redis.Cmd) error {
	c.Refused, c.Delayed, c.Told, c.Missed = c.Refused[:0], c.Delayed[:0], nil, false
	answer, err := cmd.Slice()
	if err != nil {
		return err
	}
	if len(answer) != 3 {
		return fmt.Errorf("share: an answer of %d lists", len(answer))
	}
	if err := c.receiveRefused(answer[0]); err != nil {
		return err
	}
	if err := c.receiveDelayed(answer[1]); err != nil {
		return err
	}
	return c.receiveTold(answer[2])
}

func (c *Call) receiveRefused(list any) error {
	numbers, err := numbersOf(list)
	if err != nil {
		return err
	}
	for _, n := range numbers {
		index, _ := n.(int64)
		switch {
		case index < 0:
			return errForgotten
		case index >= int64(len(c.At)):
			return fmt.Errorf("share: an answer to request %d of %d", index, len(c.At))
		}
		c.Refused = append(c.Refused, int32(index))
	}
	return nil
}

func (c *Call) receiveDelayed(list any) error {
	numbers, err := numbersOf(list)
	if err != nil {
		return err
	}
	for i := 0; i+1 < len(numbers); i += 2 {
		index, _ := numbers[i].(int64)
		by, _ := numbers[i+1].(int64)
		if index < 0 || index >= int64(len(c.At)) {
			return fmt.Errorf("share: an answer to request %d of %d", index, len(c.At))
		}
		c.Delayed = append(c.Delayed, limit.Delayed{Index: int32(index), By: limit.Time(by)})
	}
	return nil
}

func numbersOf(list any) ([]any, error) {
	numbers, ok := list.([]any)
	if !ok {
		return nil, fmt.Errorf("share: an answer of type %T where a list is wanted", list)
	}
	return numbers, nil
}
