package servers

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// documents are the lines of several limits, joined as they would be pasted: for each place one document.
func documents(t *testing.T, s *Server, limits []Directives) map[string]any {
	t.Helper()
	once, lines := map[string][]string{}, map[string][]string{}
	for _, d := range limits {
		for _, b := range d.Blocks {
			if b.Once {
				once[b.Place] = b.Lines
			} else {
				lines[b.Place] = append(lines[b.Place], b.Lines...)
			}
		}
	}
	documents := map[string]any{}
	for place := range maps.Keys(lines) {
		text := strings.Join(append(once[place], lines[place]...), "\n")
		var document any
		if err := yaml.Unmarshal([]byte(text), &document); err != nil {
			t.Fatalf("%s, %s: %v\n%s", s.Name, place, err, text)
		}
		documents[place] = document
	}
	for place := range maps.Keys(once) {
		if lines[place] != nil {
			continue
		}
		var document any
		if err := yaml.Unmarshal([]byte(strings.Join(once[place], "\n")), &document); err != nil {
			t.Fatalf("%s, %s: %v", s.Name, place, err)
		}
		documents[place] = document
	}
	return documents
}

// find follows keys and indices of a document: "descriptors 0 rate_limit unit".
func find(t *testing.T, document any, path string) string {
	t.Helper()
	for word := range strings.FieldsSeq(path) {
		switch d := document.(type) {
		case map[string]any:
			document = d[word]
		case []any:
			var i int
			if _, err := fmt.Sscan(word, &i); err != nil || i >= len(d) {
				t.Fatalf("%s: %s in %v", path, word, d)
			}
			document = d[i]
		default:
			t.Fatalf("%s: %s in %v", path, word, document)
		}
	}
	return fmt.Sprint(document)
}

func TestLinesAreYAML(t *testing.T) {
	for _, s := range []*Server{&envoy, &envoyLocal, &traefik} {
		limits := s.samples()
		for i, p := range places() {
			d, err := s.Lines(limits[i%len(limits)], p.where(t))
			if err != nil {
				t.Fatal(err)
			}
			documents(t, s, []Directives{d})
		}
	}
}

// What stands in the lines of two limits, after parsing.
func TestValuesInYAML(t *testing.T) {
	proxies := []string{"10.0.0.0/8"}
	for _, c := range []struct {
		server *Server
		limits []string
		want   string // lines of place: path = value
	}{
		{&envoy, []string{"envoy:60/m", "envoy:5/s"}, `
rate limit service: domain = shadow
rate limit service: descriptors 0 key = masked_remote_address
rate limit service: descriptors 0 rate_limit unit = minute
rate limit service: descriptors 0 rate_limit requests_per_unit = 60
rate limit service: descriptors 0 shadow_mode = true
rate limit service: descriptors 1 key = header_match
rate limit service: descriptors 1 value = action_login
rate limit service: descriptors 1 descriptors 0 key = masked_remote_address
rate limit service: descriptors 1 descriptors 0 rate_limit unit = second
rate limit service: descriptors 1 descriptors 0 shadow_mode = true
virtual host: rate_limits 0 actions 0 masked_remote_address = map[v4_prefix_mask_len:24 v6_prefix_mask_len:64]
virtual host: rate_limits 1 actions 0 header_value_match headers 0 name = :path
virtual host: rate_limits 1 actions 0 header_value_match headers 0 string_match safe_regex regex = /login/?(\?.*)?
HTTP connection manager: original_ip_detection_extensions 0 typed_config xff_trusted_cidrs cidrs 0 address_prefix = 10.0.0.0
`},
		{&envoyLocal, []string{"token:10/s,burst=20", "token:6/30s"}, `
http_filters: 0 typed_config filter_enabled default_value numerator = 100
http_filters: 0 typed_config filter_enforced default_value numerator = 0
http_filters: 0 typed_config descriptors 0 token_bucket = map[fill_interval:1s max_tokens:20 tokens_per_fill:10]
http_filters: 0 typed_config descriptors 0 entries 0 = map[key:masked_remote_address]
http_filters: 1 typed_config descriptors 0 token_bucket = map[fill_interval:30s max_tokens:6 tokens_per_fill:6]
http_filters: 1 typed_config descriptors 0 entries 0 = map[key:header_match value:action_login]
http_filters: 1 name = shadow_action_login
`},
		{&traefik, []string{"traefik:10/s,burst=20", "traefik:30/m"}, `
dynamic configuration: http middlewares shadow-perclient rateLimit average = 10
dynamic configuration: http middlewares shadow-perclient rateLimit period = 1s
dynamic configuration: http middlewares shadow-perclient rateLimit burst = 20
dynamic configuration: http middlewares shadow-action_login rateLimit average = 30
dynamic configuration: http middlewares shadow-action_login rateLimit period = 1m
dynamic configuration: http middlewares shadow-action_login rateLimit burst = 1
dynamic configuration: http middlewares shadow-perclient rateLimit sourceCriterion ipStrategy = map[excludedIPs:[10.0.0.0/8] ipv6Subnet:64]
`},
	} {
		var limits []Directives
		for i, text := range c.limits {
			p := place{client: "addr/24,/64", from: "x-forwarded-for", trusted: proxies, action: []string{"", "/login"}[i]}
			d, err := c.server.Lines(text, p.where(t))
			if err != nil {
				t.Fatal(err)
			}
			if c.server == &traefik { // each router has its own
				d.Blocks = slices.DeleteFunc(d.Blocks, func(b Block) bool { return b.Place == "router" })
			}
			limits = append(limits, d)
		}
		all := documents(t, c.server, limits)
		for line := range strings.Lines(strings.TrimPrefix(c.want, "\n")) {
			at, want, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " = ")
			where, path, _ := strings.Cut(at, ": ")
			if got := find(t, all[where], path); got != want {
				t.Errorf("%s, %s: %s, want %s", c.server.Name, at, got, want)
			}
		}
	}
}
