package store

import (
	"slices"

	"shadow/limit"
)

// OverTime hands over how many requests the policies of a result refused in each minute in which they refused any: of those
// policies whose events are kept, in all runs that have them.
func (r *Reader) OverTime(l *Loaded, take func(policy int, minute limit.Time, refused int64)) error {
	left, err := r.withoutEvents(l)
	if err != nil {
		return err
	}
	return r.each(`SELECT run, policy, epoch_us(date_trunc('minute', time)) AS minute, sum(count)::BIGINT
		FROM events WHERE run IN `+idList(l.runs)+` GROUP BY ALL ORDER BY minute, run, policy`, func(b *block, row int) error {
		id, err := l.policies.at(values[int32](b, 0)[row], values[int32](b, 1)[row])
		if err == nil && !slices.Contains(left, id) {
			take(int(id), limit.Time(values[int64](b, 2)[row]), values[int64](b, 3)[row])
		}
		return err
	})
}

// withoutEvents are the policies of a result of which some run keeps no events.
func (r *Reader) withoutEvents(l *Loaded) (left []int32, err error) {
	err = r.each(`SELECT run, policy FROM policies WHERE run IN `+idList(l.runs)+` AND NOT events_kept`, func(b *block, row int) error {
		id, err := l.policies.at(values[int32](b, 0)[row], values[int32](b, 1)[row])
		left = append(left, id)
		return err
	})
	return left, err
}
