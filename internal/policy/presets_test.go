package policy

import (
	"fmt"
	"strings"
	"testing"

	"shadow/internal/request"
	"shadow/limit/limittest"
)

// Each name is what it says, keeps its own text, and shows its options and an example that can be read.
func TestPresets(t *testing.T) {
	var got strings.Builder
	for _, p := range Presets {
		texts := []string{p.Example}
		for option := range strings.SplitSeq(p.Options, ", ") {
			name, value, _ := strings.Cut(option, "=")
			for word := range strings.SplitSeq(value, "|") {
				switch word {
				case "":
					word = name
				case "N":
					word = name + "=30"
				case "PERIOD":
					word = name + "=1h"
				default:
					word = name + "=" + word
				}
				if text := p.Example + "," + word; option != "" && !strings.Contains(p.Example, name) {
					texts = append(texts, text)
				}
			}
		}
		for _, text := range texts {
			policies, err := ParseLimits([]string{text}, request.ByClient)
			if err != nil {
				fmt.Fprintf(&got, "%s\n    %v\n", text, err)
				continue
			}
			if policies[0].Name != text && policies[0].Name != canonical(t, text) {
				t.Errorf("%s is called %s", text, policies[0].Name)
			}
			fmt.Fprintf(&got, "%s\n    %s\n", text, policies[0].Text())
		}
		if p.System == "" || p.Setting == "" || !strings.HasPrefix(p.Example, p.Name+":") {
			t.Errorf("%+v", p)
		}
	}
	for _, text := range []string{
		"rate-limiter-flexible:6/30s,block=10s", "spring-cloud-gateway:10/m", "spring-cloud-gateway:10/s,burst=4", "symfony:6/30s",
		"symfony:6/30s,policy=fixed,burst=3", "lua-resty-limit-req:10/m", "ingress-nginx:10/h", "kong:10/w", "go-limiter:100000/s",
		"nestjs-throttler:6/30s,block=10s", "guava:10/m", "echo:10/m", "nestjs-throttlr:6/30s",
		"mod-qos:1/30s", "mod-qos:6/1500ms", "aspnet-core:6/30s,limiter=sliding,segments=7", "aspnet-core:6/30s,burst=9",
		"krakend:2000000/s", "krakendd:6/30s", "aws-api-gatway:10/s",
		"express-rate-limit:6/30s,burst=3", "expres-rate-limit:6/30s", "fixed:6/30s,block=10s",
	} {
		_, err := ParseLimits([]string{text}, request.ByClient)
		if err == nil {
			t.Errorf("%s is read", text)
			continue
		}
		message, _, _ := strings.Cut(err.Error(), "; there are") // all names
		fmt.Fprintf(&got, "%s\n    %s\n", text, message)
	}
	limittest.Golden(t, "testdata/presets.golden", got.String())
}

// canonical is a limit as it is shown.
func canonical(t *testing.T, text string) string {
	specs, err := parseLimit(text)
	if err != nil {
		t.Fatal(err)
	}
	return specs[0].String()
}

// Options that go with every limit go with names, too; a list stands for several limits, and several make a policy.
func TestPresetsAreLimits(t *testing.T) {
	policies, err := ParseLimits([]string{
		"express-rate-limit:6,10/30s,cooldown=5m", "each:rate-limiter-flexible:20/2s+rate-limiter-flexible:60/20s",
	}, request.BySite)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range policies {
		got = append(got, p.Name+" = "+p.Text())
	}
	want := []string{
		"express-rate-limit:6/30s,cooldown=5m = fixed:6/30s,align=first,clock=1ms,cooldown=5m",
		"express-rate-limit:10/30s,cooldown=5m = fixed:10/30s,align=first,clock=1ms,cooldown=5m",
		"each:rate-limiter-flexible:20/2s+rate-limiter-flexible:60/20s = " +
			"each:fixed:20/2s,align=first,clock=1ms+fixed:60/20s,align=first,clock=1ms",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
