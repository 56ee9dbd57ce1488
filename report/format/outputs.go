package format

import (
	"fmt"
	"strings"
)

// Outputs are the values of --output.
func Outputs() []string { return []string{"table", "json", "csv", "markdown"} }

// PageOutputs are those of reports that can also be a page.
func PageOutputs() []string { return append(Outputs(), "html") }

// UnknownOutput is the error of an output that is none of formats.
func UnknownOutput(format string, formats []string) error {
	return fmt.Errorf("output %q: want one of %s", format, strings.Join(formats, ", "))
}
