package findings

const besides = "nothing protects or targets such clients in an answer, and its lines exempt those that the limit would hit, " +
	"unless only their user agent says what they are. Anyone can send such requests, so make sure that they are yours"

// means says of each code what such a finding does to an answer.
var means = map[string]string{
	"accounts":      "a limit by address is none by account: several share one, or one has several",
	"admin_indexed": "strangers find these pages by a search: who may see them should have to log in",
	"api_or_app":    "there are few browsers to protect, or none: all clients are, and those far above the rest are targets",
	"attacker":      "a limit is for such clients: without them in the log, none that stops them would be found",
	"bot_network": "a limit by address sees many small clients, one by network sees a bot; its browsers are disguised, unless " +
		"referers are all that they lack",
	"forged_crawler":       "who forges a crawler's name is a target, as a disguised browser is; a rule by user agent lets it through",
	"forged_forwarded_for": "a limit that counts by the first entry of the header is evaded by writing another one",
	"health_check":         besides,
	"heavy_client":         "every figure about requests is about this client, for a large part",
	"holes":                "a time without lines may be one without a log, so busy hours may be missing",
	"inner_hosts":          "inner services are no visitors: leave them out with --exclude; a proxy's clients stand in its header, which --client-from reads",
	"key_missing":          "who leaves out what a limit counts by is limited as a client, by address",
	"masked_addresses": "a network sends more than one address in it, so a limit by address refuses less, and hits others: it is " +
		"one by network that is judged",
	"one_network":      "limits by address see many small clients where one network sends; one by network would see it",
	"own_server":       besides,
	"partial":          "who sends a request a second seems to send a tenth of that in a sample of a tenth: limits come out too strict",
	"password_guessed": "the limit comes too late for these accounts",
	"proxy_as_client":  "a limit by address counts many people as one, and refuses them together",
	"secrets_served":   "what was served is known to strangers: a limit does not take it back",
	"shared_addresses": "a limit by address is harsher to these people than to others",
	"client_missing":   "requests without a client share one limit: many people may be refused for each other",
	"clock": "a limit counts requests by their times: wrong ones move requests together or apart, and every figure " +
		"with them",
	"copies": "lines that count twice make every client twice as busy",
	"enforced": "clients that a limit refused sent less than they would have, so peaks are lower than without it; " +
		"a log from before, or with that limit in dry run, shows them",
	"few_clients":     "what holds for these clients may not hold for the next ones: judge more days",
	"folded_paths":    "a server that counts by path refuses less than is reported",
	"judged_at_start": "a limit counts a request when it begins; a download or a long poll is logged when it ends",
	"no_agents": "browsers, crawlers and tools are unknown; with user agents in the log, as combined has " +
		"them, they are not. shadow suggest --protect all=99% protects a share of all clients",
	"not_http": "a server answers such a line before it asks any limiter; if these are requests in another writing, " +
		"most of the traffic is missing from every figure",
	"short_log":     "peaks of other hours and days are not in it: judge a day at least, better a week",
	"stray_lines":   "one line of another year would make every figure by time one of years",
	"whole_seconds": "limits over a few seconds may refuse more or fewer than is reported; --band says how many",
}

// Means says what a finding of this code does to an answer.
func Means(code string) string { return means[code] }
