package parse

// A format text is a row of tokens: literal text that every line repeats, and variables between it. The two dialects
// (nginx.go, apache.go) turn their spelling into tokens; choose.go decides which variable feeds which field, link.go
// makes steps of them.

// A token is literal text or one variable of a format.
type token struct {
	text string // the literal text, when kind is kindText
	kind fieldKind
	rank int // among the variables of a format that could feed the same field, the lowest rank does

	name     string   // as the format spells it: "$status", "%{Referer}i"
	key      string   // what Options.Extra calls it
	fold     bool     // whether key is compared without regard to case, as names of headers are
	path     bool     // whether the value begins with "/", so that it needs no text before it
	query    bool     // whether the value goes on where a path ends
	list     bool     // whether an unquoted value may hold ", " or " : " between its parts
	end      bool     // Apache: the time when the request ended, not when it began
	strptime strptime // of kindStrptime
	header   string   // in which proxies pass on the client's address; in lower case
	extra    int      // its place in Options.Extra, or −1
	idle     bool     // a stamp that another one makes superfluous: it is read to find its end
}

// A fieldKind is what the value of a variable means, and with that how it is read.
type fieldKind uint8

// The kinds. Texts end where the text that follows them in the format begins; numbers and stamps know their own end.
const (
	kindText fieldKind = iota // not a variable
	kindSkip

	kindClient
	kindUser
	kindRequest
	kindMethod
	kindPath
	kindHost
	kindReferer
	kindAgent
	kindForwarded
	kindQuery // of a path that lacks it

	kindStatus
	kindBytes
	kindSeconds // request time
	kindMillis  // the same in milliseconds
	kindMicros  // the same in microseconds
	kindTimers  // HAProxy's TR/Tw/Tc/Tr/Ta: five numbers of milliseconds, of which the last is the request time
	kindUpstream

	kindLocal      // dd/Mon/yyyy:hh:mm:ss zone
	kindISO        // yyyy-mm-ddThh:mm:ss zone
	kindEpoch      // seconds since the epoch, with a fraction or not
	kindEpochMilli // milliseconds since the epoch
	kindEpochMicro // microseconds since the epoch
	kindStrptime   // by a format of strftime
	kindMilliFrac  // three digits, the milliseconds of another stamp
	kindMicroFrac  // six digits, the microseconds of another stamp
	kindCount
)

// A kindInfo has what is known of a kind.
type kindInfo struct {
	noun  string // what a Fault calls it
	feeds Field  // which field it feeds; a request line feeds the path as well
	bad   string // the reason of a Fault where a number or a stamp cannot be read
}

var kindInfos = [kindCount]kindInfo{
	kindSkip:       {noun: "next field", feeds: fieldCount},
	kindClient:     {noun: "client", feeds: FieldClient},
	kindUser:       {noun: "user", feeds: FieldUser},
	kindRequest:    {noun: "request", feeds: FieldMethod},
	kindMethod:     {noun: "method", feeds: FieldMethod},
	kindPath:       {noun: "path", feeds: FieldPath},
	kindHost:       {noun: "host", feeds: FieldHost},
	kindReferer:    {noun: "referer", feeds: FieldReferer},
	kindAgent:      {noun: "user agent", feeds: FieldAgent},
	kindForwarded:  {noun: "forwarded addresses", feeds: FieldForwarded},
	kindQuery:      {noun: "query", feeds: FieldPath},
	kindStatus:     {noun: "status", feeds: FieldStatus, bad: "status is not a number"},
	kindBytes:      {noun: "byte count", feeds: FieldBytes, bad: "byte count is not a number"},
	kindSeconds:    {noun: "request time", feeds: FieldRequestTime, bad: "request time is not a number of seconds"},
	kindMillis:     {noun: "request time", feeds: FieldRequestTime, bad: "request time is not a number of milliseconds"},
	kindMicros:     {noun: "request time", feeds: FieldRequestTime, bad: "request time is not a number of microseconds"},
	kindTimers:     {noun: "request time", feeds: FieldRequestTime, bad: "timers do not end in a number of milliseconds"},
	kindUpstream:   {noun: "upstream time", feeds: FieldUpstreamTime, bad: "upstream time is not a number of seconds"},
	kindLocal:      {noun: "time", feeds: FieldTime, bad: notLocal},
	kindISO:        {noun: "time", feeds: FieldTime, bad: notISO},
	kindEpoch:      {noun: "time", feeds: FieldTime, bad: notEpoch},
	kindEpochMilli: {noun: "time", feeds: FieldTime, bad: "time is not a number of milliseconds"},
	kindEpochMicro: {noun: "time", feeds: FieldTime, bad: "time is not a number of microseconds"},
	kindStrptime:   {noun: "time", feeds: FieldTime, bad: "time is not as the format spells it"},
	kindMilliFrac:  {noun: "milliseconds", feeds: FieldTime, bad: "milliseconds are not three digits"},
	kindMicroFrac:  {noun: "microseconds", feeds: FieldTime, bad: "microseconds are not six digits"},
}

// variable reports whether a token is no literal text.
func (p *token) variable() bool { return p.kind != kindText }

// measured reports whether a value knows its own end: numbers and stamps do.
func (k fieldKind) measured() bool { return k >= kindStatus }

// stamp reports whether a value is a timestamp or part of one.
func (k fieldKind) stamp() bool { return k >= kindLocal }

// fractional reports whether a value is only the fraction of a stamp.
func (k fieldKind) fractional() bool { return k == kindMilliFrac || k == kindMicroFrac }
