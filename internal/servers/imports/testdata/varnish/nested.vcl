vcl 4.1;
import vsthrottle;
include "backends.vcl";

sub vcl_recv {
    if (req.url ~ "^/api/" && vsthrottle.is_denied(client.identity, 50, 10s)) {
        if (vsthrottle.is_denied("often" + client.identity, 20, 1h)) {
            return (synth(403));
        }
        return (synth(429));
    }
    if (vsthrottle.is_denied(client.identity, 500, 10s)) { return (synth(429)); }
}
