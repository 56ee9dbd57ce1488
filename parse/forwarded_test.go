package parse

import "testing"

// Beside the address of the peer, the headers in which proxies pass on the client's are what was forwarded; without it
// one of them is the client.
func TestHeadersOfProxies(t *testing.T) {
	const rest = ` [$time_local] "$request" $status`
	const line = ` [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 200`
	for _, c := range []struct{ format, line, client, forwarded, by string }{
		{`$remote_addr` + rest + ` "$http_x_forwarded_for"`, `10.0.0.1` + line + ` "192.0.2.7, 10.0.0.2"`, "10.0.0.1", "192.0.2.7, 10.0.0.2", "x-forwarded-for"},
		{`$remote_addr` + rest + ` "$http_cf_connecting_ip"`, `10.0.0.1` + line + ` "192.0.2.7"`, "10.0.0.1", "192.0.2.7", "cf-connecting-ip"},
		{`$remote_addr` + rest + ` "$http_x_real_ip"`, `10.0.0.1` + line + ` "192.0.2.7"`, "10.0.0.1", "192.0.2.7", "x-real-ip"},
		{`$remote_addr` + rest + ` "$http_true_client_ip" "$http_cf_connecting_ip"`, `10.0.0.1` + line + ` "192.0.2.8" "192.0.2.7"`, "10.0.0.1", "192.0.2.7", "cf-connecting-ip"},
		{`$remote_addr` + rest + ` "$http_cf_connecting_ip" "$http_x_forwarded_for"`, `10.0.0.1` + line + ` "192.0.2.7" "192.0.2.9"`, "10.0.0.1", "192.0.2.9", "x-forwarded-for"},
		{`$http_cf_connecting_ip` + rest, `192.0.2.7` + line, "192.0.2.7", "", "x-forwarded-for"},
		{`%h %t "%r" %>s "%{True-Client-IP}i"`, `10.0.0.1` + line + ` "192.0.2.7"`, "10.0.0.1", "192.0.2.7", "true-client-ip"},
		{`%h %t "%r" %>s "%{X-Real-IP}i"`, `10.0.0.1` + line + ` "192.0.2.7"`, "10.0.0.1", "192.0.2.7", "x-real-ip"},
	} {
		f, err := Compile(c.format, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var r Record
		if fault := f.NewParser().Parse([]byte(c.line), &r); !fault.OK() {
			t.Fatalf("%s: %s", c.line, fault.Reason)
		}
		if string(r.Client) != c.client || string(r.Forwarded) != c.forwarded || f.ForwardedBy() != c.by || f.Has(FieldForwarded) != (c.forwarded != "") {
			t.Errorf("%s: client %s, forwarded %q by %s; want %s, %q by %s", c.format, r.Client, r.Forwarded, f.ForwardedBy(), c.client, c.forwarded, c.by)
		}
	}
}
