package window

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"shadow/internal/testneeds"
	"shadow/limit"
	"shadow/limit/limittest"
)

var (
	_ limit.Approximation = Cloudflare{}
	_ limit.Approximation = AWS{}
)

// drawFrom draws a limit with one of the periods and a count from least on.
func drawFrom(algorithm string, least int64, periods ...limit.Time) func(*rand.Rand) limit.Spec {
	return func(r *rand.Rand) limit.Spec {
		return limit.Spec{Algorithm: algorithm, Count: least + r.Int64N(8), Period: periods[r.IntN(len(periods))]}
	}
}

var (
	drawEnvoy      = drawFrom("envoy", 1, limit.Second, limit.Minute, limit.Hour, limit.Day, limit.Week)
	drawCloudflare = drawFrom("cloudflare~", 1, 10*limit.Second, limit.Minute, 65535*limit.Second)
	drawAWS        = drawFrom("aws~", 10, limit.Minute, 2*limit.Minute, 5*limit.Minute, 10*limit.Minute)
)

func TestEnvoy(t *testing.T) {
	limittest.Run(t, limittest.Suite{Draw: drawEnvoy, New: NewEnvoy, Model: modelFixed})
}

// modelPoll is the model of a window that is looked at as p says.
func modelPoll(p poll, options string) func(limit.Spec) limittest.Model {
	return func(s limit.Spec) limittest.Model {
		s.Options = fmt.Sprintf("every=%dus%s", p.every, options)
		if p.delay > 0 {
			s.Options += fmt.Sprintf(",delay=%dus", p.delay)
		}
		if p.phase > 0 {
			s.Options += fmt.Sprintf(",phase=%dus", p.phase)
		}
		return modelPolled(s)
	}
}

// An approximation and each of its variants is the limiter that it says it is.
func TestApproximations(t *testing.T) {
	shifted := func(s limit.Spec) limittest.Model { return modelShifted(s, s.Period/2) }
	charged := func(s limit.Spec) limittest.Model {
		s.Options = "charge=all"
		return modelCounter(s)
	}
	aws := []func(limit.Spec) limittest.Model{modelPoll(awsMiddle, ",charge=all")}
	for _, p := range awsOthers {
		aws = append(aws, modelPoll(p, ",charge=all"))
	}
	for _, test := range []struct {
		name   string
		draw   func(*rand.Rand) limit.Spec
		models []func(limit.Spec) limittest.Model // of the middle assumption and of the variants
	}{
		{"cloudflare", drawCloudflare, []func(limit.Spec) limittest.Model{
			modelCounter, shifted, charged, model, modelPoll(poll{every: 3 * limit.Second}, ""),
		}},
		{"aws", drawAWS, aws},
	} {
		for i, m := range test.models {
			t.Run(fmt.Sprint(test.name, i), func(t *testing.T) {
				limittest.Run(t, limittest.Suite{Draw: test.draw, New: nth(i), Model: m})
			})
		}
		if l, err := build(test.draw(testneeds.Rand(t, 1, 2))); err != nil || len(l.(limit.Approximation).Variants())+1 != len(test.models) {
			t.Errorf("%s has other variants than tests (%v)", test.name, err)
		}
	}
}

// nth makes an approximation, or if n > 0 its nth variant.
func nth(n int) func(limit.Spec) (limit.Limiter, error) {
	return func(s limit.Spec) (limit.Limiter, error) {
		l, err := build(s)
		if err != nil || n == 0 {
			return l, err
		}
		return l.(limit.Approximation).Variants()[n-1], nil
	}
}

func TestPresetErrors(t *testing.T) {
	for text, want := range map[string]string{
		"envoy:6/30s":              "per second, minute, hour, day or week, not per 30s; want one such as envoy:6/m",
		"envoy:6/2m":               "not per 2m",
		"envoy:6/m,align=first":    "envoy takes no options",
		"cloudflare~:6/5s":         "Cloudflare does not offer 5s; want one of 10s, 15s, 20s, 30s, 40s, 45s, 1m, 90s",
		"cloudflare~:6/m,burst=3":  "cloudflare~ takes no options",
		"cloudflare~:268435457/1h": "has room for",
		"aws~:100/30s":             "AWS WAF does not offer 30s; want one of 1m, 2m, 5m, 10m",
		"aws~:9/5m":                "at least 10",
		"aws~:268435456/5m":        "less than 268435456",
		"aws~:100/5m,every=1s":     "aws~ takes no options",
	} {
		spec, err := limit.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := build(spec); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), fmt.Sprintf("limit %q: ", spec)) {
			t.Errorf("%s: %v, want it to say %s", text, err, want)
		}
	}
}

// What presets and variants mean, in the words of reports.
func TestPresetSemantics(t *testing.T) {
	var got strings.Builder
	for _, text := range []string{"envoy:60/m", "cloudflare~:60/m", "aws~:100/5m"} {
		l := must(t, text)
		fmt.Fprintf(&got, "%s\n    %s\n", text, l.(limit.Describer).Semantics())
		if a, ok := l.(limit.Approximation); ok {
			for _, v := range a.Variants() {
				fmt.Fprintf(&got, "    or %s\n", v.(limit.Describer).Semantics())
				if shape := v.(limit.Describer).Shape(); shape.Period != 1*limit.Minute && shape.Period != 5*limit.Minute {
					t.Errorf("%s: %+v", text, shape)
				}
				if level := v.(limit.Leveler).Level(new(limit.State), 0); level != 0 {
					t.Errorf("%s: level %v", text, level)
				}
			}
		}
	}
	limittest.Golden(t, "testdata/presets.golden", got.String())
}

func BenchmarkPresets(b *testing.B) {
	limittest.Bench(b, build, "envoy:60/m", "cloudflare~:60/m", "aws~:100/5m")
}
