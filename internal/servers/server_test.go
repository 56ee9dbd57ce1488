package servers

import "testing"

// The server of a log is told by its format's name, or by its text where it has none.
func TestOfFormat(t *testing.T) {
	for of, want := range map[[2]string]string{
		{"combined", "$remote_addr - $remote_user"}:             "nginx",
		{"vhost-combined", "$host $remote_addr - $remote_user"}: "nginx",
		{"main", ""}:            "nginx",
		{"nginx json", ""}:      "nginx",
		{"ingress-nginx", ""}:   "nginx",
		{"alb", ""}:             "nginx",
		{"cloudflare json", ""}: "nginx",
		{"custom", `$host $remote_addr "$request"`}: "nginx",
		{"custom", `%v %h %l %u %t "%r" %>s %b`}:    "apache",
		{"apache-iso", `%h %l %u [%{…}t] "%r"`}:     "apache",
		{"traefik", `%h - %u %t "%r" %>s %b`}:       "traefik",
		{"traefik json", ""}:                        "traefik",
		{"haproxy", ""}:                             "haproxy",
		{"caddy json", ""}:                          "caddy",
		{"envoy", ""}:                               "envoy",
		{"envoy json", ""}:                          "envoy",
		{"istio", ""}:                               "envoy",
		{"custom", `$client:$port [$time_local] $fe $be $timers $status`}: "haproxy",
		{"lighttpd", `%h %V %u %t "%r" %>s %b`}:                           "nginx",
		{"haproxy with $http_user_agent", `$remote_addr:$remote_port`}:    "haproxy",
	} {
		if got := OfFormat(of[0], of[1]).Name; got != want {
			t.Errorf("%q: %s, want %s", of, got, want)
		}
	}
}
