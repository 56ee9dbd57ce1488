package traffic

import (
	"shadow/limit"
	"shadow/parse"
)

// Stats is what reading told about the inputs. Lines = Parsed + Unreadable, Parsed = Excluded + Warm + judged requests.
type Stats struct {
	Lines       int64 // lines read, empty ones too
	Bytes       int64 // bytes read, after decompression
	Parsed      int64 // lines that became a Record
	Unreadable  int64
	Excluded    int64      // by --exclude and its kin, or outside --since and --until
	Warm        int64      // judged before --since and not counted
	Late        int64      // came more than --lateness behind what had been read of the same input
	Refusals    int64      // requests that the server itself had answered with 429 or 503, excluded ones not among them
	FirstAt     limit.Time // of the requests that were neither excluded nor warm
	LastAt      limit.Time
	Resolution  limit.Time // of the stamps: limit.Second, Millisecond or Microsecond
	HasAgents   bool       // whether any format that was read has a user agent
	HasUpstream bool       // whether any has upstream times
	Inputs      []InputStats
	Faults      []FaultAt // the first few
}

// InputStats is what reading told about one input.
type InputStats struct {
	Name                      string // as given, or as found by a glob or in a directory
	Format                    string // Format.Name
	FormatText                string // Format.Text
	Compression               string // "", "gzip", "zstd", "bzip2" or "xz"
	Size                      int64  // of the file as it lies on disk, in bytes; -1 when unknown (standard input)
	Head, Tail                uint64 // hashes of its first and last block on disk; 0 when unknown
	Lines, Parsed, Unreadable int64
	FirstAt, LastAt           limit.Time
	Problem                   string // what ended the input early: "truncated gzip …"; empty if nothing did
}

// FaultAt is an unreadable line and where it stands.
type FaultAt struct {
	Input string // InputStats.Name
	Line  int64  // from 1; 0 when reading began in the middle of the file
	Fault parse.Fault
	Text  string // the beginning of the line, with control characters replaced
}
