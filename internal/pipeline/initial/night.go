package initial

import (
	"cmp"
	"io"
	"path/filepath"
	"strings"

	"shadow/contrib"
	"shadow/internal/escape"
	"shadow/internal/pipeline"
	"shadow/internal/policy"
)

// writeCrontab writes that of contrib/nightly, for these logs and the policies of shadow.yaml.
func (f *Init) writeCrontab(logs []string) error {
	f.ConfigFile = f.File
	var limits []string
	if _, err := f.Build(f.Started, func(c *policy.Config) ([]policy.Policy, error) {
		for _, p := range c.Policies {
			limits = append(limits, "--policy", p.Name)
		}
		return nil, nil
	}); err != nil {
		return err
	}
	var names []string // shadow.yaml, then logs
	for _, name := range append([]string{cmp.Or(f.File, pipeline.DefaultConfig)}, logs...) {
		absolute, err := filepath.Abs(name)
		if err != nil || name == "-" {
			return pipeline.Usage("a night reads files, not standard input: name the log")
		}
		names = append(names, absolute)
	}
	variables := `SHADOW_LOGS="` + pipeline.Words(names[1:]...) + "\"\n"
	if limits != nil {
		variables += `SHADOW_LIMITS="` + pipeline.Words(limits...) + "\"\n"
	}
	flat := strings.ReplaceAll(variables, "\n", "") + strings.ReplaceAll(pipeline.Words(names[0]), `"`, "")
	if strings.Count(flat, `"`) != 2*strings.Count(variables, "\n") || escape.Visible(flat) != flat {
		return pipeline.Usage("a name with %q, or with what is not visible, cannot stand in a crontab: give it another one", `"`)
	}
	text := "# The night finds it there: install -D -m 644 " + pipeline.Words(names[0]) + " /var/lib/shadow/shadow.yaml\n" +
		"# With shadow-night.timer of systemd in the place of cron, SHADOW_… go into /etc/default/shadow-night.\n"
	_, err := io.WriteString(f.Out, text+strings.Replace(contrib.Crontab, "SHADOW_LOGS=/var/log/nginx\n", variables, 1))
	return err
}
