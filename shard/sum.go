package shard

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"

	"shadow/replay"
	"shadow/request"
	"shadow/sweep"
	"shadow/traffic"
	"shadow/traffic/ingest"
)

// A Sum is what judging some shards of a set has come to. Sums of different shards of one set, judged in the same way, add up to
// what judging all requests comes to. Whatever else is refused.
type Sum struct {
	SumMeta
	Tallies []byte // replay.Sum.Save; nil: of nothing yet
}

// A SumMeta says what a Sum is of.
type SumMeta struct {
	Set    string
	Shards int
	By     request.Key
	Has    []int           // the shards, ascending
	Facts  []*ingest.Facts // of the parts of the set
	Late   int64
	Asked  string     // how they were judged: sums of others do not add up
	Count  int        // policies
	Curves *sweep.Sum `json:",omitempty"` // nil: none
}

// NewSum is that of what was judged of a set. asked says how.
func NewSum(s *Set, late int64, asked string, policies int, of *replay.Sum, curves *sweep.Sum) (*Sum, error) {
	var b bytes.Buffer
	to := traffic.NewEncoder(of.Tables(), &b)
	of.Save(to)
	if err := to.Flush(); err != nil {
		return nil, err
	}
	return &Sum{SumMeta{s.Set, s.Shards, s.By, s.Has, s.Parts, late, asked, policies, curves}, b.Bytes()}, nil
}

var sumMagic = []byte("shadow sum 1\n")

// MarshalBinary writes the sum.
func (s *Sum) MarshalBinary() ([]byte, error) {
	meta, err := json.Marshal(&s.SumMeta)
	if err != nil {
		return nil, err
	}
	b := binary.AppendUvarint(bytes.Clone(sumMagic), uint64(len(meta)))
	b = append(append(b, meta...), s.Tallies...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, checksums)), nil
}

var errSum = errors.New("the sum of a shard is damaged, or is of another version of shadow: judge the shard again")

// UnmarshalBinary reads it.
func (s *Sum) UnmarshalBinary(b []byte) error {
	n := len(b) - 4
	if n < 0 || crc32.Checksum(b[:n], checksums) != binary.LittleEndian.Uint32(b[n:]) {
		return errSum
	}
	b, ok := bytes.CutPrefix(b[:n], sumMagic)
	size, k := binary.Uvarint(b)
	if !ok || k <= 0 || size > uint64(len(b)-k) {
		return errSum
	}
	if err := json.Unmarshal(b[k:k+int(size)], &s.SumMeta); err != nil || len(s.Facts) == 0 || s.Shards < 1 || s.Shards > MostShards {
		return errSum
	}
	s.Tallies = bytes.Clone(b[k+int(size):])
	return nil
}

// A Total adds sums up.
type Total struct {
	SumMeta
	sum   *replay.Sum
	names []string // of what each shard came from, by shard
}

// NewTotal is a sum of nothing yet.
func NewTotal() *Total { return new(Total) }

// An AddError says why two sums do not add up.
type AddError struct{ Text string }

func (e *AddError) Error() string { return e.Text }

// Add adds a sum, which came from somewhere. After an error the total is of no use.
func (t *Total) Add(s *Sum, from string) error {
	if t.sum == nil {
		t.SumMeta = s.SumMeta
		t.Has, t.Late, t.Curves, t.names = nil, 0, nil, make([]string, s.Shards)
		t.sum = replay.NewSum(traffic.NewTables(), s.Count)
	} else if err := t.fits(s, from); err != nil {
		return err
	}
	for _, shard := range s.Has {
		if shard < 0 || shard >= len(t.names) {
			return errSum
		}
		if i, found := slices.BinarySearch(t.Has, shard); found {
			return &AddError{fmt.Sprintf("shard %d is in %s and in %s: its requests would count twice", shard, t.names[shard], from)}
		} else if t.names[shard] = from; true {
			t.Has = slices.Insert(t.Has, i, shard)
		}
	}
	if s.Curves != nil {
		if t.Curves == nil {
			t.Curves = s.Curves
		} else if err := t.Curves.Add(s.Curves); err != nil {
			return &AddError{from + ": " + err.Error()}
		}
	}
	t.Late += s.Late
	tables := t.sum.Tables()
	decoder := traffic.NewDecoder(s.Tallies, tables, tables.Actions.ID)
	t.sum.Add(decoder)
	decoder.End()
	if decoder.Err() != nil {
		return fmt.Errorf("%s: %w", from, errSum)
	}
	return nil
}

// fits reports why a sum cannot be added.
func (t *Total) fits(s *Sum, from string) error {
	first := t.names[t.Has[0]]
	refuse := func(format string, values ...any) error {
		return &AddError{fmt.Sprintf("%s and %s do not add up: ", first, from) + fmt.Sprintf(format, values...)}
	}
	switch {
	case s.Shards != t.Shards:
		return refuse("one is of %d shards, the other of %d", t.Shards, s.Shards)
	case s.By != t.By:
		return refuse("one is divided by %s, the other by %s", t.By, s.By)
	case s.Set != t.Set:
		return refuse("they are of different logs, or these were read in different ways")
	case !SameFacts(s.Facts, t.Facts):
		return refuse("their shards were packed from different parts, or the logs changed in between")
	case s.Asked != t.Asked:
		return refuse("they were judged in different ways: %s; %s", t.Asked, s.Asked)
	case (s.Curves == nil) != (t.Curves == nil):
		return refuse("only one has curves")
	case s.Count != t.Count:
		return refuse("they have other numbers of policies")
	}
	return nil
}

// Missing are the shards that are not there yet.
func (t *Total) Missing() (missing []int) {
	for shard := range t.Shards {
		if _, found := slices.BinarySearch(t.Has, shard); !found {
			missing = append(missing, shard)
		}
	}
	return missing
}

// Whole fails unless all shards are there.
func (t *Total) Whole() error {
	if t.sum == nil {
		return &AddError{"there is no run of a shard"}
	}
	if missing := t.Missing(); len(missing) > 0 {
		return &AddError{fmt.Sprintf("%d of %d shards are missing: %s; judge these, and add all again", len(missing), t.Shards, Ranges(missing))}
	}
	return nil
}

// Sum is the total as a sum, to which others may be added.
func (t *Total) Sum() (*Sum, error) {
	var b bytes.Buffer
	to := traffic.NewEncoder(t.sum.Tables(), &b)
	t.sum.Save(to)
	err := to.Flush()
	return &Sum{t.SumMeta, b.Bytes()}, err
}

// Counted is what was counted.
func (t *Total) Counted() *replay.Sum { return t.sum }

// Stats are those of the logs.
func (t *Total) Stats() (*ingest.Stats, error) { return ingest.Join(t.Facts, t.Late) }

// Ranges are numbers that ascend, as text: 3, 5-8.
func Ranges(numbers []int) string {
	var texts []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		text := strconv.Itoa(numbers[i])
		if j > i {
			text += "-" + strconv.Itoa(numbers[j])
		}
		texts = append(texts, text)
		i = j + 1
	}
	return strings.Join(texts, ", ")
}
