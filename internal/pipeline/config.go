package pipeline

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"

	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/textfile"
)

// A configText is the text of a configuration. It may come from a pipe, so it is read once.
type configText struct {
	name string // "": there is none
	text []byte
}

// standardInput stands for it on the command line.
const standardInput = "-"

// largeConfig is from how many bytes on it matters how much is left behind while a configuration is read.
const largeConfig = 16 << 20

// frugal has garbage collected often, until what it returns is called, if a text is large.
func frugal(text []byte) func() {
	if len(text) < largeConfig {
		return func() {}
	}
	runtime.GC()
	before := debug.SetGCPercent(20)
	return func() { debug.SetGCPercent(before) }
}

// mostConfig is the most bytes that a configuration may have.
const mostConfig = 1 << 30

// readConfig reads the file that was named, or the one in the working directory, or none.
func (s *Source) readConfig() (*configText, error) {
	if s.config != nil {
		return s.config, nil
	}
	name := s.ConfigFile
	if name == standardInput {
		return nil, Usage("a configuration is read from a file; " +
			"`shadow config check -` checks one from standard input")
	}
	if name == "" {
		if _, err := os.Stat(DefaultConfig); s.NoConfig || errors.Is(err, fs.ErrNotExist) {
			return new(configText), nil
		}
		name = DefaultConfig
	}
	text, err := textfile.Read(name, mostConfig)
	if err != nil {
		return nil, Usage("%w", err)
	}
	s.config = &configText{name, text}
	return s.config, nil
}

// loadConfig returns what the configuration says.
func (s *Source) loadConfig() (config policy.Config, err error) {
	c, err := s.readConfig()
	if err != nil || c.name == "" {
		return config, err
	}
	defer frugal(c.text)()
	config, err = policy.ParseConfig(c.name, c.text)
	return config, knownProblems(c.name, err)
}

// Names returns the names of the policies and actions of the configuration; none if it cannot be read.
func (s *Source) Names() (policies, actions []string) {
	config, err := s.loadConfig()
	if err != nil {
		return nil, nil
	}
	policies = mapped.Add(policies, config.Policies, func(set policy.Set) string { return set.Name })
	return policies, actionNames(&config)
}

// mostUserConfig is the most bytes that a user's own file may have.
const mostUserConfig = 1 << 20

// Defaults returns the values that files state for flags that are not given, those first that go before the others: of
// the configuration, then of the user's own file. That may be out of reach, as for a service without a home.
func (s *Source) Defaults() (levels [][]policy.Default, err error) {
	c, err := s.readConfig()
	if err != nil {
		return nil, err
	}
	var files []configText
	if c.name != "" {
		files = append(files, *c)
	}
	if name := userConfig(); name != "" {
		if _, err := os.Stat(name); err == nil {
			text, err := textfile.Read(name, mostUserConfig)
			if err != nil {
				return nil, Usage("%w", err)
			}
			files = append(files, configText{name, text})
		}
	}
	for _, file := range files {
		restore := frugal(file.text)
		level, err := policy.ParseDefaults(file.name, file.text, file.name == userConfig())
		if restore(); err != nil {
			return nil, knownProblems(file.name, err)
		}
		levels = append(levels, level)
	}
	return levels, nil
}

// userConfig returns where the file of the user lies, whether it is there or not; "" where the user has no home.
// https://specifications.freedesktop.org/basedir-spec: a relative path is none.
func userConfig() string {
	folder := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(folder) {
		home := os.Getenv("HOME")
		if !filepath.IsAbs(home) {
			return ""
		}
		folder = filepath.Join(home, ".config")
	}
	return filepath.Join(folder, "shadow", DefaultConfig)
}
