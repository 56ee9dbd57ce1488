package parse

// A format text is a row of pieces: literal text that every line repeats, and variables between it. The two dialects
// (nginx.go, apache.go) turn their spelling into pieces; choose.go decides which variable feeds which field, link.go
// makes steps of them.

// A piece is literal text or one variable of a format.
type piece struct {
	text string // the literal text, when use is useText
	use  use
	rank int // among the variables of a format that could feed the same field, the lowest rank does

	name   string // as the format spells it: "$status", "%{Referer}i"
	key    string // what Wants.Extra calls it
	fold   bool   // whether key is told without regard to case, as names of headers are
	path   bool   // whether the value begins with "/", so that it needs no text before it
	query  bool   // whether the value goes on where a path ends
	list   bool   // whether an unquoted value may hold ", " or " : " between its parts
	end    bool   // Apache: the moment when the request ended, not when it began
	layout layout // of useLayout
	extra  int    // its place in Wants.Extra, or −1
	idle   bool   // a stamp that another one makes superfluous: it is read to find its end
}

// A use is what the value of a variable means, and with that how it is read.
type use uint8

// The uses. Texts end where the text that follows them in the format begins; numbers and stamps know their own end.
const (
	useText use = iota // not a variable
	useSkip

	useClient
	useUser
	useRequest
	useMethod
	usePath
	useHost
	useReferer
	useAgent
	useForwarded

	useStatus
	useBytes
	useSeconds // request time
	useMillis  // the same in milliseconds
	useMicros  // the same in microseconds
	useUpstream

	useLocal      // dd/Mon/yyyy:hh:mm:ss zone
	useISO        // yyyy-mm-ddThh:mm:ss zone
	useEpoch      // seconds since the epoch, with a fraction or not
	useEpochMilli // milliseconds since the epoch
	useEpochMicro // microseconds since the epoch
	useLayout     // by a layout of strftime
	useMilliFrac  // three digits, the milliseconds of another stamp
	useMicroFrac  // six digits, the microseconds of another stamp
	useCount
)

// A kind tells what is known of a use.
type kind struct {
	noun  string // what a Fault calls it
	feeds Field  // which field it feeds; a request line feeds the path as well
	bad   string // the reason of a Fault where a number or a stamp cannot be read
}

var kinds = [useCount]kind{
	useSkip:       {noun: "next field", feeds: fieldCount},
	useClient:     {noun: "client", feeds: FieldClient},
	useUser:       {noun: "user", feeds: FieldUser},
	useRequest:    {noun: "request", feeds: FieldMethod},
	useMethod:     {noun: "method", feeds: FieldMethod},
	usePath:       {noun: "path", feeds: FieldPath},
	useHost:       {noun: "host", feeds: FieldHost},
	useReferer:    {noun: "referer", feeds: FieldReferer},
	useAgent:      {noun: "user agent", feeds: FieldAgent},
	useForwarded:  {noun: "forwarded addresses", feeds: FieldForwarded},
	useStatus:     {noun: "status", feeds: FieldStatus, bad: "status is not a number"},
	useBytes:      {noun: "byte count", feeds: FieldBytes, bad: "byte count is not a number"},
	useSeconds:    {noun: "request time", feeds: FieldRequestTime, bad: "request time is not a number of seconds"},
	useMillis:     {noun: "request time", feeds: FieldRequestTime, bad: "request time is not a number of milliseconds"},
	useMicros:     {noun: "request time", feeds: FieldRequestTime, bad: "request time is not a number of microseconds"},
	useUpstream:   {noun: "upstream time", feeds: FieldUpstreamTime, bad: "upstream time is not a number of seconds"},
	useLocal:      {noun: "time", feeds: FieldTime, bad: notLocal},
	useISO:        {noun: "time", feeds: FieldTime, bad: notISO},
	useEpoch:      {noun: "time", feeds: FieldTime, bad: notEpoch},
	useEpochMilli: {noun: "time", feeds: FieldTime, bad: "time is not a number of milliseconds"},
	useEpochMicro: {noun: "time", feeds: FieldTime, bad: "time is not a number of microseconds"},
	useLayout:     {noun: "time", feeds: FieldTime, bad: "time is not as the format spells it"},
	useMilliFrac:  {noun: "milliseconds", feeds: FieldTime, bad: "milliseconds are not three digits"},
	useMicroFrac:  {noun: "microseconds", feeds: FieldTime, bad: "microseconds are not six digits"},
}

// variable tells a variable from literal text.
func (p *piece) variable() bool { return p.use != useText }

// measured reports whether a value knows its own end: numbers and stamps do.
func (u use) measured() bool { return u >= useStatus }

// stamp reports whether a use is a moment or a part of one.
func (u use) stamp() bool { return u >= useLocal }

// fractional reports whether a use is only the fraction of a stamp.
func (u use) fractional() bool { return u == useMilliFrac || u == useMicroFrac }
