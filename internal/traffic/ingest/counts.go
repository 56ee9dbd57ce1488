package ingest

// Counts are figures of reading that add up: over blocks, batches, nights and machines.
type Counts struct {
	Lines      int64    `json:"lines"` // read, empty ones too; Lines = Parsed + Unreadable
	Bytes      int64    `json:"bytes"` // read, after decompression
	Parsed     int64    `json:"parsed"`
	Unreadable int64    `json:"unreadable"`
	Excluded   int64    `json:"excluded"`           // by --exclude and its kin, or outside --since and --until
	NotHTTP    ByStatus `json:"not_http,omitempty"` // lines of the time that counts whose request is not HTTP, excluded ones not among them
	Moved      int64    `json:"moved,omitempty"`    // requests that took part at the moment when they began: their stamp less the request time
	Late       int64    `json:"late"`               // came more than --lateness behind what had been read of the same input
}

// numbers are the Counts that are one number.
func (c *Counts) numbers() [7]*int64 {
	return [...]*int64{&c.Lines, &c.Bytes, &c.Parsed, &c.Unreadable, &c.Excluded, &c.Moved, &c.Late}
}

// Add adds what was counted elsewhere.
func (c *Counts) Add(others *Counts) {
	theirs := others.numbers()
	for i, n := range c.numbers() {
		*n += *theirs[i]
	}
	c.NotHTTP.AddAll(others.NotHTTP)
}

// Since returns what was counted since c was as before.
func (c *Counts) Since(before *Counts) Counts {
	since, theirs := *c, before.numbers()
	for i, n := range since.numbers() {
		*n -= *theirs[i]
	}
	since.NotHTTP = c.NotHTTP.Less(before.NotHTTP)
	return since
}
