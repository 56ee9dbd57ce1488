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

// writeNight writes a file of contrib/nightly, for these logs and the policies of shadow.yaml.
func (f *Init) writeNight(logs []string) error {
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
	variables := []string{"SHADOW_LOGS=" + pipeline.Words(names[1:]...)}
	if limits != nil {
		variables = append(variables, "SHADOW_LIMITS="+pipeline.Words(limits...))
	}
	cron, systemd := "", ""
	for _, v := range variables {
		if strings.Contains(v, `"`) || escape.Visible(v) != v {
			return pipeline.Usage("%s: such a name cannot stand in a crontab: give it another one", v)
		}
		name, value, _ := strings.Cut(v, "=")
		cron += name + `="` + value + "\"\n"
		systemd += `Environment="` + strings.NewReplacer("%", "%%", `\`, `\\`).Replace(v) + "\"\n"
	}
	text := strings.Replace(contrib.Crontab, "SHADOW_LOGS=/var/log/nginx\n", cron, 1)
	if f.Night == "systemd" {
		text = "# shadow-night.service; contrib/nightly/crontab says how to make its user\n" +
			strings.Replace(contrib.NightService, "EnvironmentFile=", systemd+"EnvironmentFile=", 1) +
			"\n# shadow-night.timer\n" + contrib.NightTimer
	}
	_, err := io.WriteString(f.Out, "# The night finds it there: install -D -m 644 "+pipeline.Words(names[0])+" /var/lib/shadow/shadow.yaml\n"+text)
	return err
}
