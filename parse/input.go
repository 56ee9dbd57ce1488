package parse

// A Block is a run of whole lines of one input.
type Block struct {
	Data   []byte // whole lines; the last one may lack its line feed at the end of the input
	Line   int64  // number of its first line, from 1; 0 when reading began in the middle of the file (see SkipTo)
	Offset int64  // of its first byte in the input (after decompression)
}
