package findings

// means says of each code what such a finding does to an answer.
var means = map[string]string{
	"judged_at_start": "a limit counts a request when it begins; a download or a long poll is logged when it ends",
	"not_http": "a server answers such a line before it asks any limiter; if these are requests in another writing, " +
		"most of the traffic is missing from every figure",
	"whole_seconds": "limits over a few seconds may refuse more or fewer than is reported; --band says how many",
}

// Means says what a finding of this code does to an answer.
func Means(code string) string { return means[code] }
