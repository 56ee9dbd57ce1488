package store

import (
	"testing"
)

func TestWhatGoesInComesOut(t *testing.T) {
	path := dbPath(t)
	m := makeRun(1, 3, 40, 50_000)
	storeRun(t, path, m, info)
	for i := range m.result.Policies {
		t.Log(m.result.Policies[i].Refused)
	}
	for _, q := range []string{"FROM runs", "FROM inputs", "FROM unreadable_lines", "FROM policy_totals", "FROM latest_class_totals", "FROM latest_client_totals LIMIT 3", "FROM latest_action_totals LIMIT 3", "FROM latest_would_blocks LIMIT 3", "SELECT policy, sum(count) FROM events GROUP BY ALL"} {
		t.Log(mustAsk(t, path, q))
	}
}
