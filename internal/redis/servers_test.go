//go:build !nostore

package redis

import "testing"

// Who takes over has lost nothing if it has all of its master's stream that this host was answered.
func TestWhoHasLostNothing(t *testing.T) {
	const none = "0000000000000000000000000000000000000000"
	a := info{run: "a", stream: "A", offset: 100, followed: none}
	for _, test := range []struct {
		name  string
		later info
		lost  bool
	}{
		{"the same server", info{run: "a", stream: "A", offset: 120}, false},
		{"its first replica came", info{run: "a", stream: "A2", offset: 120}, false},
		{"a replica with all", info{run: "b", stream: "B", followed: "A", followedNext: 101}, false},
		{"a replica that lacks a byte", info{run: "b", stream: "B", followed: "A", followedNext: 100}, true},
		{"a replica of a server that was never met", info{run: "b", stream: "B", followed: "C", followedNext: 500}, true},
		{"started again, empty", info{run: "b", stream: "B"}, true},
		{"another took over, and gave back, unseen", info{run: "a", stream: "A3", followed: "B", followedNext: 500}, true},
		{"a replica, which answers nothing", info{run: "b", stream: "A", replica: true}, false},
	} {
		for _, saved := range []bool{false, true} {
			var s servers
			s.meet(parseInfo("run_id:a\r\nrole:master\r\nmaster_replid:A\r\nmaster_replid2:"+none+"\r\n"), false)
			s.settle(nil)
			s.meet(a, true)
			if saved { // in a checkpoint, from which another tail goes on
				runs, relied := s.met()
				s = servers{}
				s.settle(relied, runs...)
			}
			if s.meet(test.later, false); s.restarted() > 0 != test.lost {
				t.Errorf("%s (saved: %v): lost %v, want %v", test.name, saved, !test.lost, test.lost)
			}
		}
	}
}

// A cluster says what is missing from it.
func TestIncompleteCluster(t *testing.T) {
	for text, want := range map[string]string{
		"cluster_state:ok\r\ncluster_slots_assigned:16384\r\ncluster_slots_ok:16384\r\n": "",
		"cluster_state:fail\r\ncluster_slots_ok:10923\r\n": "the cluster serves 10923 of 16384 slots, cluster_state:fail; " +
			"redis-cli --cluster check HOST:PORT says what is missing",
		"cluster_state:ok\r\ncluster_slots_ok:16383\r\n": "the cluster serves 16383 of 16384 slots, cluster_state:ok; " +
			"redis-cli --cluster check HOST:PORT says what is missing",
	} {
		got := ""
		if err := incomplete(text); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
