// Package rows has what a pipeline finds as rows of Parquet: what each shard found of clients in, what all of them add
// up to out. Columns have the names of those of shadow's database where they mean the same.
package rows

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// A Client holds what one shard found of a client, apart from any limit.
type Client struct {
	Client  string `parquet:"client,snappy"`
	Agent   string `parquet:"agent,dict,snappy"` // of its last request there
	Browser int64  `parquet:"browser,snappy"`    // requests by the class of their agent
	Crawler int64  `parquet:"crawler,snappy"`
	Tool    int64  `parquet:"tool,snappy"`
	Monitor int64  `parquet:"monitor,snappy"`
	Unknown int64  `parquet:"unknown,snappy"`

	// Where its last request stands. Of clients that are in one shard only, or in slices of time, all but the slice is 0.
	Slice  int32 `parquet:"slice,snappy"`
	At     int64 `parquet:"last_us,snappy"`     // microseconds since the epoch
	Behind bool  `parquet:"last_behind,snappy"` // refused by the server: behind others
	Source int64 `parquet:"last_input,snappy"`
	Line   int64 `parquet:"last_line,snappy"`
}

// A Hit is a client that a policy refused at least once, in one shard.
type Hit struct {
	Policy  int32  `parquet:"policy,dict,snappy"`  // as in the job
	Variant int32  `parquet:"variant,dict,snappy"` // of an approximation: which one, from 1; 0: as it is reported
	Client  string `parquet:"client,snappy"`
	Refused int64  `parquet:"refused,snappy"`
	First   int64  `parquet:"first_refused_us,snappy"`
	Last    int64  `parquet:"last_refused_us,snappy"`
}

// A Tally is a figure that adds up: rows that are alike in all but the count.
type Tally struct {
	Policy  int32  `parquet:"policy,dict,snappy"` // All: of no policy
	Variant int32  `parquet:"variant,dict,snappy"`
	What    string `parquet:"what,dict,snappy"` // one of the words below
	Name    string `parquet:"name,dict,snappy"` // of an action or an agent
	Time    int64  `parquet:"time_us,snappy"`   // of a minute, or how long a delay is
	Count   int64  `parquet:"count,snappy"`
}

// All is the policy of what is counted apart from policies.
const All = -1

// What a Tally counts.
const (
	Requests = "requests"     // judged
	Late     = "late"         // requests that came too late
	Action   = "action"       // requests by action; of a policy, refused ones
	Agent    = "agent"        // that occurs; it counts shards
	Time     = "time"         // requests by time
	Refused  = "refused"      // of a policy
	Bytes    = "bytes_saved"  // that these were answered with
	Upstream = "upstream_us"  // that upstreams spent on these
	Minute   = "minute"       // refused requests by minute
	Delay    = "delay"        // requests that had to wait, by how long
	Delays   = "delay_total"  // how long all of them had to
	Coarse   = "delay_coarse" // to the power of two of how many microseconds delays are rounded up; the highest counts
	Length   = "time_length"  // how long each stretch of Time is; the highest counts
)

// A Run is the one row that makes results whole. It is written last.
type Run struct {
	Version int32  `parquet:"version"`      // of this layout
	Job     string `parquet:"job,snappy"`   // JSON: what was asked
	Files   string `parquet:"files,snappy"` // JSON: all files, with their sizes and checksums
	Facts   string `parquet:"facts,snappy"` // JSON: what reading told, by byte range
}

// Version is the number of the layout.
const Version = 1

// Append writes rows as Parquet.
func Append[T any](w io.Writer, rows []T) error {
	p := parquet.NewGenericWriter[T](w)
	_, err := p.Write(rows)
	return errors.Join(err, p.Close())
}

// most is the most rows that are read at once.
const most = 4096

// Each reads rows of Parquet. What is no such Parquet, hostile files too, is an error.
func Each[T any](data []byte, do func(*T) error) (err error) {
	defer func() { // the library's readers of pages panic where they find nonsense
		if p := recover(); p != nil {
			err = fmt.Errorf("makes no sense: %v", p)
		}
	}()
	file, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return err
	}
	r := parquet.NewGenericReader[T](file)
	defer r.Close()
	rows := make([]T, most)
	for {
		n, err := r.Read(rows)
		for i := range rows[:n] {
			if err := do(&rows[i]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		clear(rows)
	}
}
