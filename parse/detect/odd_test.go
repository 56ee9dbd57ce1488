package detect

import (
	"path/filepath"
	"strings"
	"testing"

	"shadow/internal/testneeds"
)

// TestSharedOddFormats says of each odd file what becomes of it: "auto" reads it, or a stated format does, or it is
// refused for a reason. Lines are counted as a whole reading of the file does, so empty ones and comments are
// unreadable.
func TestSharedOddFormats(t *testing.T) {
	cases := []struct {
		file, format string // "" is auto
		want         string // the name of the format, or what the refusal says
		read         int    // lines
		unreadable   int
	}{
		{"crowdsec-apache2-logs", "", "combined", 9, 4},       // 2 with a virtual host, 2 of an error log
		{"crowdsec-apache2-malformed", "", "combined", 11, 0}, // TLS bytes and the like as requests
		{"crowdsec-caddy-json", "", "caddy json", 12, 2},      // one of another logger, one comment
		{"crowdsec-dos-switching-ua", "", "combined", 15, 0},
		{"crowdsec-haproxy", "", "--format haproxy", 0, 0},
		{"crowdsec-haproxy", "haproxy", "haproxy", 5, 3}, // 3 failed handshakes: no requests
		{"crowdsec-nginx-login-bruteforce", "", "error log", 0, 0},
		{"crowdsec-nginx-logs", "", "is not known", 0, 0}, // a mixture of four formats, none with half of the lines
		{"crowdsec-nginx-logs", "combined", "combined", 9, 5},
		{"crowdsec-nginx-malformed", "", "combined", 12, 0},
		{"crowdsec-nginx-proxy-manager", "", "is not known", 0, 0},
		{"crowdsec-nginx-proxy-manager", proxyManager, "custom", 14, 8}, // its other kinds of lines
		{"crowdsec-traefik-clf", "", "traefik", 9, 2},                   // 2 are not of an access log
		{"crowdsec-traefik-json", "", "traefik json", 7, 1},             // the same
		{"crowdsec-upsun", "", "is not known", 0, 0},                    // a journal of lines behind a name of their own
		{"elastic-apache-basic", "", "combined", 16, 2},                 // one identity, one virtual host
		{"elastic-apache-ssl-request", "", "is not known", 0, 0},
		{"elastic-apache-ssl-request", `%t %h %{SSL_PROTOCOL}x %{SSL_CIPHER}x "%r" %b`, "custom", 2, 0},
		{"elastic-apache-vhost", "", "vhost-combined", 2, 0},
		{"elastic-nginx-ingress", "", "ingress-nginx", 6, 0},
		{"elastic-nginx-with-host", "", "vhost-combined", 10, 2}, // 2 with a list and an address behind it
		{"elastic-nginx-xff-first", "", "combined", 7, 2},        // the same
		{"extract-408-vhost", "", "vhost-combined", 106, 0},
		{"extract-dst-change", "", "combined", 1180, 0},
		{"extract-escaped-quotes", "", "combined", 81, 0},
		{"extract-ipv6-clients", "", "combined", 400, 0},
		{"extract-long-lines", "", "combined", 42, 0},
		{"extract-tls-bytes", "", "combined", 33, 1},       // a virtual host
		{"fail2ban-apache-badbots", "", "combined", 11, 8}, // 7 comments and empty lines, a virtual host
		{"fail2ban-nginx-limit-req-errorlog", "", "error log", 0, 0},
		{"fantasticmao-nginx-json", "", "nginx json", 8, 0},
		{"gonx-example-custom", "", "bare with $request_time", 1000, 0},
		{"gonx-example-custom", `$remote_addr [$time_local] "$request" $status $request_length $body_bytes_sent $request_time "$size" $read $made`, "custom", 1000, 0},
		{"lnav-access", "", "combined", 3, 0},
		{"lnav-bad-access", "", "combined", 3, 1}, // one line lacks the identity
		{"lnav-shop-access", "", "main", 1000, 0},
		{"matomo-alb", "", "alb", 1, 0},
		{"matomo-caddy_json", "", "caddy json", 3, 0},
		{"matomo-common", "", "common", 1, 0},
		{"matomo-common_complete", "", "vhost-combined", 1, 0},
		{"matomo-common_encoding_big5", "", "vhost-combined", 1, 0},
		{"matomo-common_vhost", "", "vhost-common", 1, 0},
		{"matomo-custom_regex_custom_date", "", "is not known", 0, 0},
		{"matomo-custom_regex_custom_date", `%h %l %u [%{%B - %d, %Y:%H:%M:%S}t] "%r" %>s %b`, "custom", 1, 0},
		{"matomo-elb", "", "elb", 3, 1}, // a comment
		{"matomo-gandi", "", "is not known", 0, 0},
		{"matomo-gandi", `$host $remote_addr - $remote_user [$time_local] ($took s) "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"`, "custom", 2, 0},
		{"matomo-ncsa_extended", "", "combined", 1, 0},
		{"matomo-nginx_json", "", "json", 2, 0},
		{"mtail-apache-combined", "", "combined", 5, 0},
		{"mtail-lighttpd", "", "apache-common", 19, 0},
		{"mtail-lighttpd", `%h %V %u %t "%r" %>s %b %I %O %T "%{Referer}i" "%{User-Agent}i"`, "custom", 19, 0},
		{"netdata-common", "", "common", 500, 44},                // prose between the lines
		{"netdata-custom", "", "is not known", 0, 0},             // no access log
		{"netdata-custom_time_fields", "", "is not known", 0, 0}, // nor this
		{"netdata-full", "", "vhost-common", 500, 48},            // prose
	}
	seen := map[string]bool{}
	for _, c := range cases {
		seen[c.file+".log"] = true
		t.Run(strings.TrimSpace(c.file+" "+c.format), func(t *testing.T) {
			data := testneeds.Content(t, sharedFiles(t, "odd-formats/"+c.file+".log")[0])
			d, err := Choice{Format: c.format}.For(data)
			if err != nil {
				if !strings.Contains(err.Error(), c.want) || c.read > 0 {
					t.Errorf("refused: %v", err)
				}
				return
			}
			var r reading
			r.read(d.Format, data)
			t.Log(&r)
			if d.Format.Name != c.want || r.lines != c.read || r.unreadable != c.unreadable {
				t.Errorf("%s reads all but %d of %d lines, want %s and all but %d of %d",
					d.Format.Name, r.unreadable, r.lines, c.want, c.unreadable, c.read)
			}
		})
	}
	for _, path := range sharedFiles(t, "odd-formats/*.log") {
		if !seen[filepath.Base(path)] {
			t.Errorf("nothing is said of %s", path)
		}
	}
}

// proxyManager holds the format that Nginx Proxy Manager calls "proxy".
const proxyManager = `[$time_local] $upstream_cache_status $upstream_status $status - $request_method $scheme $host "$request_uri" ` +
	`[Client $remote_addr] [Length $body_bytes_sent] [Gzip $gzip_ratio] [Sent-to $server] "$http_user_agent" "$http_referer"`
