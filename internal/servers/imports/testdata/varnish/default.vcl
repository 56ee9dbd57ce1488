# From varnish/varnish-modules src/vmod_vsthrottle.vcc: its example, with what stands around such calls
vcl 4.1;
import vsthrottle;

acl office { "192.0.2.0"/24; "2001:db8::"/32; }
backend default { .host = "192.0.2.11"; .port = "8080"; }

sub rates {
    /* an outer limit */
    if (vsthrottle.is_denied(client.identity, 15, 10s, 30s)) {
        return (synth(429, "Too Many Requests"));
    }
    if (req.http.Key && vsthrottle.is_denied("apikey:" + req.http.Key, 30, 60s)) {
        return (synth(429, "Too Many Requests"));
    }
}

sub vcl_recv {
    if (client.ip ~ office) { return (pass); }
    if (req.method == "PURGE") {
        if (!client.ip ~ office) { return (synth(405)); }
        return (purge);
    }
    call rates;
    if (req.method == "POST" || req.method == "PUT") {
        if (vsthrottle.is_denied("rw" + client.identity, 2, 10s)) {
            return (synth(429, "Too Many Requests"));
        }
    } elsif (req.url ~ "^/search" && std.port(server.ip) == 80) {
        if (vsthrottle.is_denied("search" + req.http.X-Unknown + now, 5, 1m)) { return (synth(429)); }
    } else {
        if (req.http.host == "shop.example" && vsthrottle.is_denied(client.ip, 100, 60s)) { set req.http.X-Slow = "1"; }
    }
}

sub vcl_miss {
    if (vsthrottle.is_denied("miss", 1000, 10s)) { return (synth(503)); }
}
