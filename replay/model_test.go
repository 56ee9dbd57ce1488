package replay_test

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/limit"
	"shadow/replay"
)

// The model judges one request after the other, asks the limiter, and writes everything down under its name. It never
// forgets a key, but for the rule that concerns late requests.

// A verdictBook counts what one policy did, by names.
type verdictBook struct {
	Requests, Refused int64
	Events            map[eventName]int64
	Hits              map[string]hit
	ByAction          map[string]int64
	WorstMinute       limit.Time
	WorstRefused      int64
	Bytes, Upstream   int64
	Delays            replay.Delays
}

type eventName struct {
	At             limit.Time
	Client, Action string
	Status         uint16
}

type hit struct {
	Refused     int64
	First, Last limit.Time
}

func newBook() verdictBook {
	return verdictBook{Events: map[eventName]int64{}, Hits: map[string]hit{}, ByAction: map[string]int64{}}
}

// modelled judges lines, which stand in the order that counts. A key that was idle for longer than idle says is forgotten.
func modelled(lines []line, p policy.Policy, idle map[request.Key]limit.Time) verdictBook {
	book, minutes := newBook(), map[limit.Time]int64{}
	memories := make([]map[string]*memory, len(p.Parts))
	var delays []limit.Time
	for _, l := range lines {
		refused, delay := judgeLine(&l, p, memories, idle)
		if l.warm {
			continue
		}
		book.Requests++
		if delay > 0 {
			delays = append(delays, delay)
		}
		if refused {
			book.refuse(&l)
			minutes[l.at-(l.at%limit.Minute+limit.Minute)%limit.Minute]++
		}
	}
	for _, minute := range slices.Sorted(maps.Keys(minutes)) {
		if minutes[minute] > book.WorstRefused {
			book.WorstMinute, book.WorstRefused = minute, minutes[minute]
		}
	}
	book.delayed(delays)
	return book
}

// A memory holds what one limit of a policy knows of one key.
type memory struct {
	state         limit.State
	latest, place limit.Time
}

// judgeLine asks all limits that the line concerns, and charges all that count it.
func judgeLine(l *line, p policy.Policy, memories []map[string]*memory, idle map[request.Key]limit.Time) (refused bool, delay limit.Time) {
	place := max(l.at, l.place)
	if p.Combine != policy.Together {
		return judgeSeverally(l, p, memories, idle)
	}
	states, full := make([]*limit.State, len(p.Parts)), make([]bool, len(p.Parts))
	for i, part := range p.Parts {
		states[i] = remembered(l, &memories[i], part, place, idle)
		full[i] = part.Limiter.Wait(states[i], l.at) > 0
		refused = refused || full[i] && inScope(part.Match, l.marks)
	}
	for i, part := range p.Parts {
		if d, ok := part.Limiter.(limit.Delayer); ok && !refused && inScope(part.Match, l.marks) {
			delay = max(delay, d.Delay(states[i], l.at))
		}
	}
	for i, part := range p.Parts {
		if inScope(part.Count, l.marks) {
			part.Limiter.Charge(states[i], l.at, refused || full[i])
		} else if b, ok := part.Limiter.(limit.Barrer); ok && full[i] && inScope(part.Match, l.marks) {
			b.Bar(states[i], l.at)
		}
	}
	return refused, delay
}

// judgeSeverally asks one limit after the other and charges it with its own verdict: all of them, or in turn until one refuses.
// A key is seen by a limit that is not asked, too.
func judgeSeverally(l *line, p policy.Policy, memories []map[string]*memory, idle map[request.Key]limit.Time) (refused bool, delay limit.Time) {
	for i, part := range p.Parts {
		state := remembered(l, &memories[i], part, max(l.at, l.place), idle)
		if refused && p.Combine == policy.InTurn {
			continue
		}
		full := part.Limiter.Wait(state, l.at) > 0
		if d, ok := part.Limiter.(limit.Delayer); ok && !full && inScope(part.Match, l.marks) {
			delay = max(delay, d.Delay(state, l.at))
		}
		if inScope(part.Count, l.marks) {
			part.Limiter.Charge(state, l.at, full)
		} else if b, ok := part.Limiter.(limit.Barrer); ok && full && inScope(part.Match, l.marks) {
			b.Bar(state, l.at)
		}
		refused = refused || full && inScope(part.Match, l.marks)
	}
	if refused {
		delay = 0
	}
	return refused, delay
}

// remembered returns what a limit knows of the key of a line. It resets a key that was idle for longer than idle says.
func remembered(l *line, memories *map[string]*memory, part policy.Part, place limit.Time, idle map[request.Key]limit.Time) *limit.State {
	if *memories == nil {
		*memories = map[string]*memory{}
	}
	name := keyOfLine(l, part.By)
	m := (*memories)[name]
	if m == nil || l.at < m.latest-lateness || place != l.at && place-m.place > idle[part.By] {
		m = &memory{latest: l.at}
		(*memories)[name] = m
	}
	m.latest, m.place = max(m.latest, l.at), place
	return &m.state
}

// delayed writes down by how much requests were kept waiting.
func (b *verdictBook) delayed(by []limit.Time) {
	if len(by) == 0 {
		return
	}
	slices.Sort(by)
	b.Delays.Requests = int64(len(by))
	for _, d := range by {
		b.Delays.Total += d
	}
	b.Delays.P50, b.Delays.P99 = by[(len(by)*50+99)/100-1], by[(len(by)*99+99)/100-1]
}

func keyOfLine(l *line, by request.Key) string {
	var parts []string
	for _, p := range by.Parts() {
		part := ""
		switch p.Kind {
		case request.PartClient, request.PartHost: // bench has a host for each client
			part = l.client
		case request.PartNetwork:
			if part = networkText(l.client, "."); p.N > 32 {
				part = networkText(l.client, ":")
			}
		case request.PartASN, request.PartCountry, request.PartOwner: // one owner has all of IPv4; IPv6 has none that is known
			if part = l.client; strings.Contains(part, ".") {
				part = "AS64500"
			}
		case request.PartAction:
			part = l.action
		case request.PartAgent, request.PartPath: // bench has a path for each agent
			part = l.agent
		case request.PartUser:
			part = cmp.Or(l.user, l.client)
		case request.PartSegment, request.PartField: // bench has as values the agent, and the user
			part = l.agent
			if p.Kind == request.PartField {
				part = cmp.Or(l.user, l.client)
			}
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " ")
}

// keysJudged are keys of all kinds of parts.
var keysJudged = append(slices.Clone(request.UsualKeys),
	"path", "agent", "host+user+action", "client/24+agent", "segment:2", "asn", "country+action", "client/64+network", "field:session", "client+field:session", "client/24+user+segment:2+field:session")

// networkText returns an address without what follows the last separator, the address if it has none.
func networkText(addr, separator string) string {
	if i := strings.LastIndex(addr, separator); i >= 0 {
		return addr[:i]
	}
	return addr
}

func (b *verdictBook) refuse(l *line) {
	b.Refused++
	b.Events[eventName{l.at, l.client, l.action, l.status}]++
	b.ByAction[l.action]++
	b.Bytes += l.bytes
	b.Upstream += int64(l.spent)
	h, known := b.Hits[l.client]
	if !known {
		h.First, h.Last = l.at, l.at
	}
	b.Hits[l.client] = hit{h.Refused + 1, min(h.First, l.at), max(h.Last, l.at)}
}

// booked returns what the engine found, in the same form.
func (b *bench) booked(r *replay.Result, policy int) verdictBook {
	book, p := newBook(), &r.Policies[policy]
	book.Requests, book.Refused, book.Bytes, book.Upstream = p.Requests, p.Refused, p.BytesSaved, int64(p.UpstreamSaved)
	book.WorstMinute, book.WorstRefused = p.WorstMinute, p.WorstMinuteRefused
	if p.Delays != nil {
		book.Delays = *p.Delays
	}
	for _, e := range b.events {
		if int(e.policy) == policy {
			book.Events[eventName{e.At, b.tables.Clients.Name(e.Client), b.tables.Actions.Name(e.Action), e.Status}] += int64(e.Count)
		}
	}
	for h := range p.Hits.All() {
		book.Hits[b.tables.Clients.Name(h.Client)] = hit{h.Refused, h.First, h.Last}
		if found, ok := p.Hits.Find(h.Client); !ok || found != h {
			b.t.Errorf("Find(%d) = %+v, %v; want %+v", h.Client, found, ok, h)
		}
	}
	for id, n := range p.ByAction {
		if n > 0 {
			book.ByAction[b.tables.Actions.Name(int32(id))] = n
		}
	}
	return book
}

// drawn are the clients of logs: two networks of two.
var drawn = []string{"192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2"}

// drawLog draws a log in the order that counts: bursts and long pauses, some requests far too late, some lines warm.
func drawLog(t *rapid.T, idle limit.Time) (lines []line) {
	place := limit.Time(rapid.SampledFrom([]int{-3600, 0, 1_800_000_000}).Draw(t, "start")) * second
	warm := rapid.IntRange(-20, 20).Draw(t, "warm")
	steps := []limit.Time{0, 0, 0, 1, second, second, 5 * second, 31 * second, limit.Minute, idle - 1, idle, idle + 1, 2 * idle}
	hasLate := rapid.Bool().Draw(t, "has late ones")
	for i := range rapid.IntRange(0, 80).Draw(t, "lines") {
		place += rapid.SampledFrom(steps).Draw(t, "step")
		l := line{
			at: place, place: place, client: rapid.SampledFrom(drawn).Draw(t, "client"), user: rapid.SampledFrom([]string{"", "u", "v"}).Draw(t, "user"),
			action: rapid.SampledFrom([]string{"/x", "/y"}).Draw(t, "action"), agent: rapid.SampledFrom([]string{"curl/8", "-"}).Draw(t, "agent"),
			status: rapid.SampledFrom([]uint16{200, 404, 429, 503}).Draw(t, "status"), source: uint32(rapid.IntRange(0, 1).Draw(t, "source")),
			marks: uint64(rapid.IntRange(0, 7).Draw(t, "marks")), bytes: int64(i), spent: limit.Time(i * i), warm: i < warm,
		}
		if hasLate && rapid.IntRange(0, 4).Draw(t, "late") == 0 {
			l.at = place - rapid.SampledFrom([]limit.Time{second, lateness, lateness + 1, limit.Hour, idle}).Draw(t, "by")
		}
		lines = append(lines, l)
	}
	for i := 1; i < len(lines); i++ { // warm ends between two moments
		lines[i].warm = lines[i].warm || lines[i-1].warm && max(lines[i].at, lines[i].place) == max(lines[i-1].at, lines[i-1].place)
	}
	sortLines(lines)
	return lines
}

func sortLines(lines []line) {
	slices.SortStableFunc(lines, func(x, y line) int {
		return cmp.Or(cmp.Compare(max(x.at, x.place), max(y.at, y.place)), cmp.Compare(x.behind(), y.behind()), cmp.Compare(x.source, y.source))
	})
}

// behind returns 1 for a line that stands behind the others of its moment: of a refusal that is not late, and whose
// time has a fraction.
func (l *line) behind() int {
	if (l.status == 429 || l.status == 503) && l.place <= l.at && l.at%second != 0 {
		return 1
	}
	return 0
}

// cutLog cuts a log into batches between two moments, anywhere. Inputs come in turns of any length, so a batch is out of
// order but for the lines of one moment and input, of which those come first that stand behind the others.
func cutLog(t *rapid.T, lines []line) (batches [][]line) {
	for len(lines) > 0 {
		n := rapid.IntRange(1, len(lines)).Draw(t, "rows")
		for n < len(lines) && (max(lines[n].at, lines[n].place) == max(lines[n-1].at, lines[n-1].place)) {
			n++
		}
		for i := range n { // neither can a batch be warm in part
			if lines[i].warm != lines[0].warm {
				n = i
				break
			}
		}
		batch := slices.Clone(lines[:n])
		slices.SortStableFunc(batch, func(x, y line) int {
			return cmp.Or(cmp.Compare(y.source, x.source), cmp.Compare(y.behind(), x.behind()))
		})
		batches, lines = append(batches, batch), lines[n:]
	}
	return batches
}

// Whatever a limit counts by and however a log is cut, tallies, hits and events are those of the model.
func TestEngineAgainstModel(t *testing.T) {
	for _, by := range keysJudged {
		t.Run(by.String(), func(t *testing.T) {
			testneeds.Rapid(t, func(rt *rapid.T) {
				// So many that the refusals of eight and of the rest are tallied apart.
				policies, err := policy.ParseLimits([]string{
					"window:2/10s", "token:3/20s", "leaky:2/30s", "token:1/1m", "1..5:2/15s",
				}, by)
				check(t, err)
				idle := idleTimes(policies, lateness)
				lines := drawLog(rt, idle[by])
				b := newBenchOf(t, lateness, policies)
				b.judge(cutLog(rt, lines)...)
				r := b.result()
				for i, p := range policies {
					if got, want := b.booked(r, i), modelled(lines, p, idle); !reflect.DeepEqual(got, want) {
						rt.Fatalf("%s by %s:\n%+v, want\n%+v", p.Name, by, got, want)
					}
				}
				checkClients(rt, b, r, lines)
			})
		})
	}
}

// checkClients compares what is known of clients and actions apart from any policy.
func checkClients(t *rapid.T, b *bench, r *replay.Result, lines []line) {
	type client struct {
		requests, tools int64
		agent           string
	}
	want, actions := map[string]client{}, map[string]int64{}
	for _, l := range lines {
		c := want[l.client]
		if !l.warm {
			c.requests++
			if c.agent = l.agent; l.agent == "curl/8" {
				c.tools++
			}
			actions[l.action]++
		}
		want[l.client] = c
	}
	for name, w := range want {
		id, _ := b.tables.Clients.Find([]byte(name))
		c := r.Clients.At(id)
		got := client{requests: c.Requests(), tools: c.ByClass[request.Tool]}
		if got.requests > 0 {
			got.agent = b.tables.Agents.Name(c.LastAgent)
		}
		if got != w {
			t.Fatalf("client %s: %+v, want %+v", name, got, w)
		}
	}
	for id, n := range r.Actions {
		if name := b.tables.Actions.Name(int32(id)); n != actions[name] {
			t.Fatalf("action %s: %d requests, want %d", name, n, actions[name])
		}
	}
}
