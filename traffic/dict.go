package traffic

// A Dict gives each distinct name a dense id, from 0 in the order of arrival. Any number of goroutines may call it.
// It never forgets.
type Dict struct{}

// ID returns the id of name, which it takes in if it is new. It keeps no reference to name.
func (d *Dict) ID(name []byte) int32 { panic("to be written") }

// Name returns the name of an id that ID has returned.
func (d *Dict) Name(id int32) string { panic("to be written") }

// Len is the number of names; the ids are 0 … Len−1.
func (d *Dict) Len() int { panic("to be written") }
