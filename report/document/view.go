package document

import "fmt"

// A View is how a report meets its reader.
type View struct {
	Width int  // of the terminal; 0 without one
	Color bool // whether the terminal may be told to change colour
}

// A color is the number of a Select Graphic Rendition sequence.
type color int

// The colours.
const (
	Bold   color = 1
	Dim    color = 2
	Red    color = 31
	Yellow color = 33
)

// Paint returns a text in a colour, if the terminal may be told to.
func (v View) Paint(c color, s string) string {
	if !v.Color || s == "" {
		return s
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", c, s)
}
