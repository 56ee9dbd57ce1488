package findings

import (
	"testing"

	"shadow/limit"
	"shadow/request"
	"shadow/traffic"
	"shadow/traffic/ingest"
)

// one is a client that sends a hundred requests, all for one action, at an interval of a minute.
func one(address, agent, action string) (*clients, *heavy, *client) {
	tables := traffic.NewTables()
	tables.Clients.ID([]byte(address))
	tables.Agents.ID([]byte(agent))
	tables.Actions.ID([]byte(action))
	l := &clients{seen: &seen{Options: Options{Read: &ingest.Options{Tables: tables}}}}
	l.all.Grow(1)
	c := l.all.At(0)
	c.classes[request.Tool] = 100
	h := &heavy{counted: 100, first: 0, last: limit.Hour}
	h.actions[0], h.agents[0] = often{0, 100}, often{0, 100}
	h.gaps[6] = 99
	return l, h, c
}

// Each bound of what makes a health check, from both sides.
func TestBoundsOfHealthChecks(t *testing.T) {
	for name, c := range map[string]struct {
		change func(h *heavy, c *client)
		want   bool
	}{
		"one that is": {func(*heavy, *client) {}, true},
		"a monitor by name": {func(h *heavy, c *client) {
			c.classes[request.Monitor], c.classes[request.Tool], h.counted = 90, 10, 1000
		}, true},
		"nearly one": {func(h *heavy, c *client) {
			c.classes[request.Monitor], c.classes[request.Tool], h.counted = 89, 11, 1000
		}, false},
		"nine tenths for one action":    {func(h *heavy, _ *client) { h.actions[0].n = 90 }, true},
		"less than that":                {func(h *heavy, _ *client) { h.actions[0].n = 89 }, false},
		"4 % by browsers":               {func(_ *heavy, c *client) { c.classes[request.Browser], c.classes[request.Tool] = 4, 96 }, true},
		"5 % by browsers":               {func(_ *heavy, c *client) { c.classes[request.Browser], c.classes[request.Tool] = 5, 95 }, false},
		"9 % errors":                    {func(_ *heavy, c *client) { c.errors = 9 }, true},
		"10 % errors":                   {func(_ *heavy, c *client) { c.errors = 10 }, false},
		"gaps of two powers":            {func(h *heavy, _ *client) { h.gaps[7] = 30 }, true},
		"a tenth at other gaps":         {func(h *heavy, _ *client) { h.gaps[9] = 11 }, true},
		"more of them":                  {func(h *heavy, _ *client) { h.gaps[9] = 12 }, false},
		"20 gaps":                       {func(h *heavy, _ *client) { h.gaps[6] = 20 }, true},
		"19 gaps":                       {func(h *heavy, _ *client) { h.gaps[6] = 19 }, false},
		"some in the same second":       {func(h *heavy, _ *client) { h.gaps[0] = 9 }, true},
		"a tenth in the same second":    {func(h *heavy, _ *client) { h.gaps[0] = 10 }, false},
		"ten minutes of it":             {func(h *heavy, _ *client) { h.last = 10 * limit.Minute }, true},
		"less than ten minutes":         {func(h *heavy, _ *client) { h.last = 10*limit.Minute - 1 }, false},
		"the longest gaps":              {func(h *heavy, _ *client) { h.gaps[6], h.gaps[15] = 0, 27; h.gaps[1] = 3 }, true},
		"not enough of the longest":     {func(h *heavy, _ *client) { h.gaps[6], h.gaps[15] = 0, 26; h.gaps[1] = 3 }, false},
		"the longest gaps but one, too": {func(h *heavy, _ *client) { h.gaps[6], h.gaps[14], h.gaps[15] = 0, 20, 20 }, true},
	} {
		l, h, record := one("192.0.2.1", "probe/1.0", "/Health")
		c.change(h, record)
		if got := l.isHealthCheck(h, record); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for action, want := range map[string]bool{"/": true, "/shop": false, "/READY": true} {
		l, h, record := one("10.0.0.1", "probe/1.0", action)
		h.gaps[6] = 0 // from within it need not be regular
		if got := l.isHealthCheck(h, record); got != want {
			t.Errorf("%s: %v", action, got)
		}
	}
}

// The server itself is known by its address, by what Apache says to itself, or by the work of WordPress.
func TestBoundsOfOwnServers(t *testing.T) {
	for name, c := range map[string]struct {
		address, agent, action string
		change                 func(h *heavy, c *client)
		want                   bool
	}{
		"loopback":                  {"127.0.0.1", "curl/8.5.0", "/a", nil, true},
		"loopback, 5 % by browsers": {"::1", "curl/8.5.0", "/a", func(_ *heavy, c *client) { c.classes[request.Browser], c.classes[request.Tool] = 5, 95 }, false},
		"another address":           {"192.0.2.1", "curl/8.5.0", "/a", nil, false},
		"a dummy connection":        {"192.0.2.1", "Apache (internal dummy connection)", "/a", nil, true},
		"WordPress":                 {"192.0.2.1", "WordPress/6.5; https://x.example", "/wp-cron.php", nil, true},
		"a tenth of its requests":   {"192.0.2.1", "WordPress/6.5", "/wp-cron.php", func(h *heavy, _ *client) { h.actions[0].n = 10 }, true},
		"less than that":            {"192.0.2.1", "WordPress/6.5", "/wp-cron.php", func(h *heavy, _ *client) { h.actions[0].n = 9 }, false},
		"another program":           {"192.0.2.1", "curl/8.5.0", "/wp-cron.php", nil, false},
	} {
		l, h, record := one(c.address, c.agent, c.action)
		if c.change != nil {
			c.change(h, record)
		}
		if got := l.isOwnServer(h, record); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Each bound of what makes an attacker, and of how much attackers must send.
func TestBoundsOfAttackers(t *testing.T) {
	for name, c := range map[string]struct {
		c     client
		total int64
		kind  Site
		want  bool
	}{
		"half errors":               {client{errors: 100}, 4000, People, true},
		"fewer errors":              {client{errors: 99}, 4000, People, false},
		"passwords":                 {client{logins: 160}, 4000, People, true},
		"fewer passwords":           {client{logins: 159}, 4000, People, false},
		"passwords, and files":      {client{logins: 160, files: 2}, 4000, People, false},
		"passwords, and hardly any": {client{logins: 160, files: 1}, 4000, People, true},
		"a twentieth":               {client{errors: 200}, 4000, People, true},
		"less than that":            {client{errors: 200}, 4001, People, false},
		"a twentieth of an API":     {client{errors: 200}, 4000, API, true},
	} {
		l, _, record := one("192.0.2.1", "curl/8.5.0", "/a")
		l.ranks, l.total, l.kind = []uint16{0}, c.total, c.kind
		*record = c.c
		record.classes[request.Tool] = 200
		if got := len(l.attackers()) > 0; got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	// Each alone, on an API.
	l, _, _ := one("192.0.2.1", "curl/8.5.0", "/a")
	l.Read.Tables.Clients.ID([]byte("192.0.2.2"))
	l.all.Grow(2)
	l.ranks, l.total, l.kind = []uint16{0, 0}, 4000, API
	for id, n := range []uint32{200, 199} {
		l.all.At(int32(id)).classes[request.Tool], l.all.At(int32(id)).errors = n, n
	}
	if ids := l.attackers(); len(ids) != 1 || ids[0] != 0 {
		t.Errorf("on an API: %v", ids)
	}
}

func TestIsLogin(t *testing.T) {
	for action, want := range map[string]bool{"/login": true, "/WP-Login.php": true, "/shop": false, "/xmlrpc.php": true} {
		if IsLogin(action) != want {
			t.Errorf("%s: %v", action, !want)
		}
	}
}
