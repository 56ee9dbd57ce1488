package policy

import (
	"slices"
	"testing"

	"shadow/limit"
)

// What is written by a preset is known by it, whichever other names it has.
func TestKnownAs(t *testing.T) {
	for _, text := range []string{
		"lua-resty-limit-count:15/5s", "ulule-limiter:15/5s", "express-rate-limit:6/30s", "rate-limiter-flexible:60/1m,block=2m",
		"fastify-rate-limit:20/2s,continue", "flask-limiter:6/30s,strategy=moving", "laravel:60/1m", "resilience4j:6/30s", "httprate:20/2s",
		"bucket4j:6/30s,burst=20,refill=intervally", "symfony:6/30s,policy=token,burst=20", "rack-attack:20/2s", "kong:60/1m,window=sliding",
		"lua-resty-limit-req:10/1s,burst=20", "spring-cloud-gateway:10/1s,burst=20", "django-rest-framework:6/30s",
		"mod-qos:6/30s", "tyk:6/30s", "fiber:6/30s,window=sliding", "upstash-ratelimit:6/30s,window=token,burst=20", "cloud-armor:100/1m,ban=10m",
		"gubernator:6/30s,algorithm=leaky,burst=9", "aspnet-core:6/30s", "aws-api-gateway:10/1s,burst=20",
	} {
		spec, err := limit.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if spec, err = presetOf(spec.Algorithm).inOurWords(spec); err != nil {
			t.Fatal(err)
		}
		if known := KnownAs(spec); !slices.Contains(known, text) {
			t.Errorf("%s, which is %s, is known as %v", text, spec, known)
		}
	}
	for _, text := range []string{"haproxy:6/30s", "window:6/30s,charge=all,step=10s", "token:6/1us"} {
		spec, err := limit.Parse(text)
		if known := KnownAs(spec); err != nil || len(known) > 0 && text[0] != 't' {
			t.Errorf("%s is known as %v, %v", text, known, err)
		}
	}
}
