package judges

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// Caddy reads the file, makes its matchers and validates all. The directive rate_limit is not of its own; what stands for
// its module here takes the directives that its documentation has, and counts nothing:
// https://github.com/mholt/caddy-ratelimit#readme

func init() {
	caddy.RegisterModule(new(rateLimit))
	httpcaddyfile.RegisterHandlerDirective("rate_limit", func(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
		r := new(rateLimit)
		return r, r.UnmarshalCaddyfile(h.Dispenser)
	})
	httpcaddyfile.RegisterDirectiveOrder("rate_limit", "before", "basic_auth")
	judges["caddy"] = func(_ *testing.T, x text) error {
		whole := "{\nadmin off\nauto_https off\n" + x.block("global options") + "}\nhttp://localhost {\n" + x.block("in the site") + "}\n"
		c, warnings, err := caddyfile.Adapter{ServerType: httpcaddyfile.ServerType{}}.Adapt([]byte(whole), nil)
		if err != nil {
			return err
		}
		for _, w := range warnings {
			if w.Directive != "" || w.File != "Caddyfile" {
				return fmt.Errorf("%s", w.Message)
			}
		}
		var config caddy.Config
		if err := json.Unmarshal(c, &config); err != nil {
			return err
		}
		return caddy.Validate(&config)
	}
}

// rateLimit has what is told of zones.
type rateLimit struct {
	Zones map[string]*zone `json:"zones"`
}

type zone struct {
	Key      string                   `json:"key"`
	Window   caddy.Duration           `json:"window"`
	Events   int                      `json:"events"`
	Prefixes [2]int                   `json:"prefixes"`
	MatchRaw caddyhttp.RawMatcherSets `json:"match" caddy:"namespace=http.matchers"`
}

func (*rateLimit) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.rate_limit", New: func() caddy.Module { return new(rateLimit) }}
}

func (r *rateLimit) ServeHTTP(w http.ResponseWriter, q *http.Request, next caddyhttp.Handler) error {
	return next.ServeHTTP(w, q)
}

func (r *rateLimit) Provision(ctx caddy.Context) error {
	for _, z := range r.Zones {
		if _, err := ctx.LoadModule(z, "MatchRaw"); err != nil {
			return err
		}
	}
	return nil
}

func (r *rateLimit) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	r.Zones = map[string]*zone{}
	for d.Next() {
		for inner := d.Nesting(); d.NextBlock(inner); {
			if d.Val() != "zone" {
				return d.Errf("%s is no zone", d.Val())
			}
			z := new(zone)
			if !d.NextArg() || r.Zones[d.Val()] != nil {
				return d.Errf("a zone without a name of its own")
			}
			r.Zones[d.Val()] = z
			for inside := d.Nesting(); d.NextBlock(inside); {
				if err := z.read(d); err != nil {
					return err
				}
			}
			if z.Window <= 0 || z.Events <= 0 || z.Key == "" {
				return d.Errf("a zone without key, window or events")
			}
		}
	}
	return nil
}

func (z *zone) read(d *caddyfile.Dispenser) (err error) {
	name := d.Val()
	if name == "match" {
		set, err := caddyhttp.ParseCaddyfileNestedMatcherSet(d)
		z.MatchRaw = append(z.MatchRaw, set)
		return err
	}
	var value string
	if !d.AllArgs(&value) {
		return d.ArgErr()
	}
	switch name {
	case "key":
		z.Key = value
	case "window":
		length, err := caddy.ParseDuration(value)
		z.Window = caddy.Duration(length)
		return err
	case "events":
		z.Events, err = strconv.Atoi(value)
	case "ipv4_prefix":
		z.Prefixes[0], err = strconv.Atoi(value)
	case "ipv6_prefix":
		z.Prefixes[1], err = strconv.Atoi(value)
	default:
		return d.Errf("%s is nothing of a zone", name)
	}
	return err
}
