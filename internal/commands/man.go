//go:build man

package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"shadow/internal/commands/help"
)

// A program that is built with the tag man writes the manual pages: shadow man FOLDER. Releases build one for that, so
// that none carries what writes them.
func init() {
	tagged = append(tagged, func() *cobra.Command {
		return &cobra.Command{
			Use: "man FOLDER", Short: "Write the manual pages into man1 and man5 of a folder", Hidden: true,
			Args: cobra.ExactArgs(1),
			RunE: func(_ *cobra.Command, args []string) error { return writeManual(args[0]) },
		}
	})
}

func writeManual(folder string) error {
	for _, section := range []string{"man1", "man5"} {
		if err := os.MkdirAll(filepath.Join(folder, section), 0o755); err != nil {
			return err
		}
	}
	at, err := time.Parse(time.RFC3339, thisBuild().Date)
	if err != nil { // a page without its day is still a page
		at = time.Unix(0, 0)
	}
	at = at.UTC()
	page := filepath.Join(folder, "man5", "shadow.yaml.5")
	if err := os.WriteFile(page, []byte(configPage(at)), 0o644); err != nil { //nolint:gosec // a manual page is for everyone
		return err
	}
	root := newRoot()
	root.DisableAutoGenTag = true
	keepLines(root)
	header := &doc.GenManHeader{Section: "1", Date: &at, Source: "shadow " + versionText(), Manual: "shadow"}
	return doc.GenManTree(root, header, filepath.Join(folder, "man1"))
}

// configPage is the page of shadow.yaml: the commented file of shadow help config, as it is.
func configPage(at time.Time) string {
	text := strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "\n", "\n\\&").Replace(help.Config)
	return fmt.Sprintf(`.TH "SHADOW.YAML" 5 %q "shadow %s" "shadow"
.SH NAME
shadow.yaml \- which requests shadow judges, by which policies
.SH DESCRIPTION
.nf
\&%s.fi
.SH SEE ALSO
.BR shadow\-config (1),
.BR shadow\-config\-check (1)
`, at.Format("Jan 2006"), versionText(), strings.TrimSuffix(text, `\&`))
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
