package haproxycfg

import (
	"slices"
	"strings"

	"shadow/internal/lazy"
)

// Words of each section that limit nothing, or that are judged, and actions likewise. Those of Limited are told as lost.
var (
	ProxyWords = wordSet(`acl backlog balance bind bind-process capture clitcpka-cnt clitcpka-idle clitcpka-intvl clitimeout compression
		contimeout cookie declare default-server default_backend description disabled dispatch email-alert enabled errorfile errorfiles errorloc
		errorloc302 errorloc303 error-log-format external-check filter force-be-switch force-persist fullconn grace guid hash-balance-factor
		hash-preserve-affinity hash-type http-after-response http-check http-error http-request http-response http-reuse http-send-name-header id
		ignore-persist load-server-state-from-file log log-format log-format-sd log-steps log-tag max-keep-alive-queue max-session-srv-conns
		maxconn mode no option persist rate-limit redirect redispatch reqadd reqdel reqidel reqirep reqrep retries retry-on rspadd rspdel
		rspidel rspirep rsprep server server-state-file-name server-template source srvtcpka-cnt srvtcpka-idle srvtcpka-intvl srvtimeout stats
		stick stick-table tcp-check tcp-request tcp-response timeout transparent unique-id-format unique-id-header use-fcgi-app use-server
		use_backend`)
	GlobalWords = wordSet(`51degrees-data-file busy-polling ca-base chroot close-spread-time cluster-secret cpu-map cpu-policy crt-base daemon
		default-path description deviceatlas-json-file expose-deprecated-directives expose-experimental-directives external-check
		fd-hard-limit gid grace group h1-accept-payload-with-any-method h1-case-adjust h1-case-adjust-file hard-stop-after harden.reject-privileged-ports.tcp
		insecure-fork-wanted insecure-setuid-wanted issuers-chain-path key-base limited-quic localpeer log log-send-hostname log-tag
		lua-load lua-load-per-thread lua-prepend-path master-worker maxcompcpuusage maxcomprate maxconn maxpipes
		maxsslconn maxzlibmem mworker-max-reloads nbproc nbthread no node no-quic noepoll noevports nogetaddrinfo nokqueue nopoll
		noreuseport nosplice numa-cpu-mapping pidfile pp2-never-send-local presetenv profiling.memory profiling.tasks quiet resetenv
		server-state-base server-state-file set-dumpable set-var set-var-fmt setenv setcap spread-checks stats strict-limits
		thread-group thread-groups thread-hard-limit uid ulimit-n unix-bind unsetenv user warn-blocked-traffic-after wurfl-data-file zero-warning`)
	ActionWords = wordSet(`add-header allow accept cache-use capture close del-header deny disable-l7-retry do-log do-resolve early-hint
		expect-proxy inspect-delay redirect reject return sc-inc-gpc0 set-dst set-dst-port set-fc-mark set-fc-tos set-header set-log-level
		set-mark set-nice set-priority-class set-priority-offset set-query set-src-port set-timeout set-tos set-var silent-drop strict-mode
		replace-header replace-value switch-mode tarpit track-sc0 track-sc1 track-sc2 wait-for-body wait-for-handshake`)
	Limited = lazy.Regexp(`(?i)limit|throttl|rate|flood|(^|-)ban(-|$)|block|deny|tarpit|reject|^(track-)?sc|gpc|gpt|table`)
	// Lost are words that change what rules behind them judge, or end them.
	Lost = wordSet(`add-acl auth del-acl del-map monitor monitor-uri normalize-uri pause replace-path replace-pathq replace-uri send-spoe-group
		set-bandwidth-limit set-map set-method set-path set-pathq set-src set-uri unset-var use-service`)
)

func wordSet(text string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		all[word] = true
	}
	return all
}

// Action returns the word behind http-request and the like; "": there is none that could limit.
func Action(words []string) string {
	at := 1
	switch {
	case len(words) < 2 || words[0] != "http-request" && words[0] != "tcp-request" && !strings.HasSuffix(words[0], "-response"):
		return ""
	case words[0] != "http-request" && slices.Contains([]string{"connection", "content", "session"}, words[1]) && len(words) > 2:
		at = 2
	}
	word, _, _ := strings.Cut(words[at], "(")
	if strings.HasSuffix(words[0], "-response") && !Limited().MatchString(strings.TrimPrefix(word, "deny")) {
		return "" // of an answer
	} else if strings.HasSuffix(words[0], "-response") && !strings.HasPrefix(word, "silent") && word != "reject" {
		return words[0] + " " + word
	}
	return word
}
