package samplelogs

import (
	"fmt"
	"strconv"
	"time"
)

// A Format is how lines are written.
type Format uint8

// The formats, as nginx and Apache name them or as their users do.
const (
	Combined Format = iota
	Common          // no referer, no agent
	Vhost           // Apache's vhost_combined: %v:%p before all else
	Timed           // combined, then $request_time $upstream_response_time $msec
	JSON            // nginx with escape=json, one object a line
)

var formatNames = []string{"combined", "common", "vhost", "timed", "json"}

// String is the format's name, which Set takes.
func (f Format) String() string { return formatNames[f] }

// Set makes a Format a flag.
func (f *Format) Set(name string) error {
	for i, n := range formatNames {
		if n == name {
			*f = Format(i)
			return nil
		}
	}
	return fmt.Errorf("unknown format %q; known are %v", name, formatNames)
}

var hosts = []string{"shop.example", "www.shop.example", "journal.example"}

// A lineWriter turns events into lines. It keeps the text of the second that it wrote last.
type lineWriter struct {
	format  Format
	site    *site
	agents  []agent
	address func(dst []byte, client int32) []byte
	buffer  []byte

	second int64 // Unix time of local and iso
	local  []byte
	iso    []byte
}

// An answer is what the server does with a request.
type answer struct {
	status   int
	size     int64
	took     int64 // milliseconds
	upstream bool  // whether an upstream server was asked
}

// line is valid until the next call.
func (w *lineWriter) line(r *random, e *event) []byte {
	w.tick(e.stamp / 1000)
	a := w.answer(r, e)
	dst := w.buffer[:0]
	if w.format == JSON {
		dst = w.appendJSON(dst, e, a)
	} else {
		dst = w.appendText(dst, e, a)
	}
	w.buffer = dst
	return dst
}

func (w *lineWriter) tick(second int64) {
	if second == w.second {
		return
	}
	w.second = second
	t := time.Unix(second, 0).UTC()
	w.local = t.AppendFormat(w.local[:0], "[02/Jan/2006:15:04:05 -0700]")
	w.iso = t.AppendFormat(w.iso[:0], "2006-01-02T15:04:05-07:00")
}

// answer draws what the server makes of a request: mostly what was asked for, sometimes an error.
func (w *lineWriter) answer(r *random, e *event) answer {
	t := &w.site.targets[e.target]
	asset := e.target < w.site.home
	a := answer{status: 200, size: t.size, took: r.between(0, 2)}
	if !asset {
		a.upstream, a.took = true, 8+r.below(60)+t.size/700
	}
	switch chance := r.below(1000); {
	case e.status != 0:
		a.status = int(e.status)
	case asset && chance < 120:
		a.status, a.size = 304, 0
	case chance < 12:
		a.status, a.size = 404, 548
	case chance < 15 && !asset:
		a.status, a.size, a.took = 502, 552, 3000+a.took
	case chance < 30 && !asset:
		a.status, a.size = 301, 162
	}
	return a
}

func (w *lineWriter) appendText(dst []byte, e *event, a answer) []byte {
	if w.format == Vhost {
		dst = append(append(dst, host(e)...), ":443 "...)
	}
	dst = w.address(dst, e.client)
	dst = append(dst, " - "...)
	dst = append(w.appendUser(dst, e, "-"), ' ')
	dst = append(dst, w.local...)
	dst = append(dst, ` "`...)
	dst = w.appendRequest(dst, e)
	dst = append(dst, `" `...)
	dst = strconv.AppendInt(dst, int64(a.status), 10)
	dst = append(dst, ' ')
	dst = strconv.AppendInt(dst, a.size, 10)
	if w.format != Common {
		dst = append(dst, ` "`...)
		dst = w.appendReferer(dst, e, "-")
		dst = append(dst, `" "`...)
		dst = append(dst, w.agents[e.agent].text...)
		dst = append(dst, '"')
	}
	if w.format == Timed { // $request_time $upstream_response_time $msec
		dst = append(appendMillis(append(dst, ' '), a.took), ' ')
		if a.upstream {
			dst = appendMillis(dst, max(0, a.took-1))
		} else {
			dst = append(dst, '-')
		}
		dst = appendMillis(append(dst, ' '), e.stamp)
	}
	return append(dst, '\n')
}

func (w *lineWriter) appendJSON(dst []byte, e *event, a answer) []byte {
	dst = append(append(dst, `{"time_iso8601":"`...), w.iso...)
	dst = appendMillis(append(dst, `","msec":`...), e.stamp)
	dst = w.address(append(dst, `,"remote_addr":"`...), e.client)
	dst = w.appendUser(append(dst, `","remote_user":"`...), e, "")
	dst = append(append(dst, `","host":"`...), host(e)...)
	dst = w.appendRequest(append(dst, `","request":"`...), e)
	dst = strconv.AppendInt(append(dst, `","status":`...), int64(a.status), 10)
	dst = strconv.AppendInt(append(dst, `,"body_bytes_sent":`...), a.size, 10)
	dst = appendMillis(append(dst, `,"request_time":`...), a.took)
	dst = append(dst, `,"upstream_response_time":"`...)
	if a.upstream {
		dst = appendMillis(dst, max(0, a.took-1))
	}
	dst = w.appendReferer(append(dst, `","http_referer":"`...), e, "")
	dst = append(append(dst, `","http_user_agent":"`...), w.agents[e.agent].text...)
	return append(dst, "\"}\n"...)
}

func (w *lineWriter) appendRequest(dst []byte, e *event) []byte {
	t := &w.site.targets[e.target]
	dst = append(append(dst, t.method...), ' ')
	dst = append(dst, t.path...)
	if w.agents[e.agent].species == browser {
		return append(dst, " HTTP/2.0"...)
	}
	return append(dst, " HTTP/1.1"...)
}

// appendReferer leaves it out for every fourth client, whose browser sends none.
func (w *lineWriter) appendReferer(dst []byte, e *event, empty string) []byte {
	switch {
	case e.referer == none || mix(uint64(e.client))>>32%4 == 0:
		return append(dst, empty...)
	case e.referer == outside:
		return append(dst, "https://google.com/"...)
	}
	return append(append(dst, "https://shop.example"...), w.site.targets[e.referer].path...)
}

// appendUser names the partner who calls the programming interface; no other client logs in.
func (w *lineWriter) appendUser(dst []byte, e *event, nobody string) []byte {
	if e.target < w.site.api.first || w.agents[e.agent].species != tool {
		return append(dst, nobody...)
	}
	return strconv.AppendInt(append(dst, "partner"...), 1+int64(e.client%9), 10)
}

// host is the virtual host that a client came to.
func host(e *event) string { return hosts[mix(uint64(e.client))>>8%8%uint64(len(hosts))] }

// appendMillis appends milliseconds as seconds with three decimals.
func appendMillis(dst []byte, ms int64) []byte {
	dst = strconv.AppendInt(dst, ms/1000, 10)
	ms %= 1000
	return append(dst, '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10))
}
