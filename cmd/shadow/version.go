package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set when a release is built: -ldflags "-X main.version=1.2.3".
var version = ""

// versionText is the version, or the revision that a development build was made from.
func versionText() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "development"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return "development-" + s.Value[:min(12, len(s.Value))]
		}
	}
	return "development"
}

// versionLine is what `shadow version` and `shadow --version` print.
func versionLine() string {
	return fmt.Sprintf("shadow %s %s/%s %s\n", versionText(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), versionLine())
			return err
		},
	}
}
