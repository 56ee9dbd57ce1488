//go:build man

package commands

import (
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// A program that is built with the tag man writes the manual pages: shadow man FOLDER. Releases build one for that, so
// that none carries what writes them.
func init() {
	tagged = append(tagged, func() *cobra.Command {
		return &cobra.Command{
			Use: "man FOLDER", Short: "Write the manual pages into a folder", Hidden: true, Args: cobra.ExactArgs(1),
			RunE: func(_ *cobra.Command, args []string) error { return writeManual(args[0]) },
		}
	})
}

func writeManual(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	at, err := time.Parse(time.RFC3339, thisBuild().Date)
	if err != nil { // a page without its day is still a page
		at = time.Unix(0, 0)
	}
	at = at.UTC()
	root := newRoot()
	root.DisableAutoGenTag = true
	keepLines(root)
	return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Date: &at, Source: "shadow " + versionText(), Manual: "shadow"}, folder)
}

// keepLines marks the lines of descriptions that are set in, as Markdown wants them that keep their shape.
func keepLines(cmd *cobra.Command) {
	var text strings.Builder
	inside := false
	for line := range strings.Lines(cmd.Long) {
		if setIn := strings.HasPrefix(line, "  "); setIn != inside {
			inside = setIn
			text.WriteString("\n")
		}
		if inside {
			text.WriteString("  ")
		}
		text.WriteString(line)
	}
	cmd.Long = text.String()
	for _, sub := range cmd.Commands() {
		keepLines(sub)
	}
}
