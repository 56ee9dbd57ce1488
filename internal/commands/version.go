package commands

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"sync"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"shadow/internal/lazy"
	"shadow/internal/store"
	"shadow/internal/store/duck"
	"shadow/report/format"
)

// A Release holds what a release says of itself: its version without v, the commit, and the commit's time (RFC 3339).
// The zero value is a development build.
type Release struct{ Version, Commit, Date string }

// release holds what the release says of this program.
var release Release

// A build says what a program was made of.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"` // "": unknown
	Date     string `json:"date"`   // of the commit, RFC 3339; "": unknown
	Platform string `json:"platform"`
	Go       string `json:"go"`
	DuckDB   string `json:"duckdb"`          // "": there is none in it
	Schema   *int   `json:"database_schema"` // of its databases; nil: it has none
}

// buildInfo returns what the Go command noted.
var buildInfo = sync.OnceValues(debug.ReadBuildInfo)

// thisBuild returns what is known of this program: what the release said, else what the Go command noted.
func thisBuild() build {
	b := build{Version: release.Version, Commit: release.Commit, Date: release.Date, Platform: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(), DuckDB: duck.Version()}
	if duck.Built {
		schema := store.SchemaVersion
		b.Schema = &schema
	}
	if info, ok := buildInfo(); release.Version == "" && ok {
		b.noted(info)
	}
	return b
}

// ofTag matches a version that the Go command takes from a tag.
var ofTag = lazy.Regexp(`^v(\d+\.\d+\.\d+)$`)

// noted takes what the Go command noted: of a checkout its commit, of a tagged one, as go install asks for, its version too.
func (b *build) noted(info *debug.BuildInfo) {
	if m := ofTag().FindStringSubmatch(info.Main.Version); m != nil {
		b.Version = m[1]
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		}
	}
}

// versionText returns the version, or the commit that a development build was made from.
func versionText() string {
	switch b := thisBuild(); {
	case b.Version != "":
		return b.Version
	case b.Commit != "":
		return "development-" + b.Commit[:min(12, len(b.Commit))]
	default:
		return "development"
	}
}

// versionLine returns what `shadow --version` prints, the first line of `shadow version`.
func versionLine() string {
	return fmt.Sprintf("shadow %s %s/%s %s\n", versionText(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

func newVersion() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, and what this program was made of",
		Example: `  shadow version
  shadow version --output json | jq -r .commit`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return writeVersion(cmd.OutOrStdout(), output)
		},
	}
	addOutput(cmd, &output, "version", []string{"table", "json"})
	return cmd
}

func writeVersion(w io.Writer, output string) error {
	b := thisBuild()
	if output == "json" {
		b.Version = versionText()
		return format.WriteJSON(w, format.VersionSchema, b)
	}
	if _, err := io.WriteString(w, versionLine()); err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if b.Commit != "" {
		fmt.Fprintf(t, "commit\t%s %s\n", b.Commit, b.Date)
	}
	if b.Schema == nil {
		fmt.Fprintf(t, "nostore\twithout DuckDB, Redis and metrics\n")
	} else {
		fmt.Fprintf(t, "DuckDB\t%s\nschema\t%d\n", b.DuckDB, *b.Schema)
	}
	return t.Flush()
}
