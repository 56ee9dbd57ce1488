//go:build !nostore

package redis

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"shadow/internal/redis/redistest"
	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/limit"
)

// cli runs redis-cli, until it succeeds or time is up.
func cli(t *testing.T, args ...string) string {
	t.Helper()
	var out []byte
	var err error
	for range 100 {
		if out, err = exec.Command("redis-cli", args...).CombinedOutput(); err == nil && !strings.Contains(string(out), "ERR") {
			return string(out)
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("redis-cli %v: %v\n%s", args, err, out)
	return ""
}

// eventually waits for something to come true.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 300 {
		if is() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("%s: it never did", what)
}

// A cluster of three nodes and a replica, which takes over from its master when that is killed.
func TestClusterFailover(t *testing.T) {
	t.Parallel()
	testneeds.Program(t, "redis-cli")
	var nodes [4]*server
	for i := range nodes {
		nodes[i] = startTCP(t, "--cluster-enabled", "yes", "--cluster-node-timeout", "1000", "--cluster-config-file", fmt.Sprintf("nodes%d.conf", i))
	}
	at := (*server).HostPort
	cli(t, "--cluster", "create", at(nodes[0]), at(nodes[1]), at(nodes[2]), "--cluster-yes")
	port := func(s *server) string { return fmt.Sprint(s.Port) }
	stable := func() bool {
		return strings.Contains(cli(t, "-p", port(nodes[1]), "cluster", "info"), "cluster_state:ok")
	}
	eventually(t, "the cluster is complete", stable)
	master := strings.TrimSpace(cli(t, "-p", port(nodes[0]), "cluster", "myid"))
	cli(t, "--cluster", "add-node", at(nodes[3]), at(nodes[0]), "--cluster-slave", "--cluster-master-id", master)
	eventually(t, "the replica follows", func() bool {
		return strings.Contains(cli(t, "-p", port(nodes[3]), "info", "replication"), "master_link_status:up")
	})

	a, err := ParseAddress(fmt.Sprintf("redis+cluster://%s,%s", at(nodes[1]), at(nodes[2])))
	if err != nil {
		t.Fatal(err)
	}
	r := Open(Options{Address: a, Host: "h", Timeout: time.Second})
	defer r.Close()
	got, _ := trouble(t, r, limits(t, request.ByClient, ofEach[:6]...), map[int]func(*host){
		40: func(*host) { nodes[0].Kill() },
		80: func(h *host) {
			eventually(t, "the replica takes over", func() bool {
				return strings.Contains(cli(t, "-p", port(nodes[3]), "info", "replication"), "role:master") && stable()
			})
			recovered(h)
		},
	})
	wantDegraded(t, got, true)
	for i, s := range nodes[1:] {
		c := s.client()
		if n := c.DBSize(context.Background()).Val(); n == 0 {
			t.Errorf("node %d of the cluster has no keys", i+1)
		}
		c.Close()
	}
}

// A cluster is asked while a slot moves from one node to another. What is wrong with one is said so that it can be mended.
func TestClusterMovesAndBreaks(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, 3)
	from, to := c.Masters[1], c.Masters[2]
	open := func(address, host string) *Conn {
		a, err := ParseAddress(address)
		if err != nil {
			t.Fatal(err)
		}
		r := Open(Options{Address: a, Host: host, Timeout: 20 * time.Second})
		t.Cleanup(func() { r.Close() })
		return r
	}
	terms := Terms{Lateness: limit.Hour, Idle: limit.Hour, MaxLag: time.Hour}
	limiter, err := NewLimit("p", &limits(t, request.ByClient, "token:6/30s")[0].Parts[0], terms)
	if err != nil {
		t.Fatal(err)
	}
	var calls []*Call // of which some are for each node
	for i := range 50 {
		at := limit.Time(1_700_000_000) * limit.Second
		calls = append(calls, &Call{Limit: limiter, Key: fmt.Sprint(i), At: slices.Repeat([]limit.Time{at}, 5), Since: at})
	}
	r := open(c.Address(), "h")
	ask := func(wantRefused int) {
		t.Helper()
		for _, c := range calls {
			for i := range c.At {
				c.At[i] += limit.Millisecond
			}
		}
		if err := r.Judge(context.Background(), calls); err != nil {
			t.Fatal(err)
		}
		for _, c := range calls {
			if len(c.Refused) != wantRefused {
				t.Errorf("%d of %s are refused, want %d", len(c.Refused), c.Key, wantRefused)
			}
		}
	}
	ask(0)

	// One key moves, with its slot, which some of the calls are for meanwhile.
	slot := ""
	for _, c := range calls {
		if text := cli(t, "-p", fmt.Sprint(from.Port), "cluster", "keyslot", limiter.key(c.Key)); slot == "" {
			if n := strings.TrimSpace(text); slices.Contains([]string{"6", "7", "8", "9"}, n[:1]) && len(n) == 4 {
				slot = n
				key := limiter.key(c.Key)
				from.Do("CLUSTER SETSLOT " + slot + " MIGRATING " + to.Query("CLUSTER MYID"))
				to.Do("CLUSTER SETSLOT " + slot + " IMPORTING " + from.Query("CLUSTER MYID"))
				cli(t, "-p", fmt.Sprint(from.Port), "migrate", "127.0.0.1", fmt.Sprint(to.Port), key, "0", "5000")
			}
		}
	}
	if slot == "" {
		t.Fatal("no key lies in the middle of the second node")
	}
	ask(4) // answered with ASK
	for _, s := range []*redistest.Server{to, from, c.Masters[0]} {
		s.Do("CLUSTER SETSLOT " + slot + " NODE " + to.Query("CLUSTER MYID"))
	}
	ask(5) // answered with MOVED
	if n := r.servers.restarted(); n > 0 {
		t.Errorf("%d servers have lost something", n)
	}

	err = open("redis://"+from.HostPort(), "single").Judge(context.Background(), calls)
	if err == nil || !strings.Contains(err.Error(), "its address is redis+cluster://HOST: MOVED") {
		t.Errorf("a node taken for a single server: %v", err)
	}

	from.Do("CLUSTER DELSLOTS 7000")
	wantState := func(s *redistest.Server) bool { return strings.Contains(s.Query("CLUSTER INFO"), "cluster_state:fail") }
	eventually(t, "a slot is missing", func() bool { return wantState(from) })
	if err := r.Ping(context.Background()); err == nil || !strings.Contains(err.Error(), "of 16384 slots, cluster_state:fail") {
		t.Errorf("a slot is missing: %v", err)
	}
}

// The node of this cluster has no slots.
func TestClusterWithoutSlots(t *testing.T) {
	t.Parallel()
	s := startTCP(t, "--cluster-enabled", "yes")
	a, err := ParseAddress("redis+cluster://" + s.HostPort())
	if err != nil {
		t.Fatal(err)
	}
	r := Open(Options{Address: a, Host: "h", Timeout: 10 * time.Second})
	defer r.Close()
	if err := r.Ping(context.Background()); err == nil || !strings.Contains(err.Error(), "serves 0 of 16384 slots") {
		t.Errorf("a cluster without slots: %v", err)
	}
}

// Sentinels name another master when the one there was is killed.
func TestSentinelFailover(t *testing.T) {
	t.Parallel()
	master := startTCP(t)
	replica := startTCP(t, "--replicaof", "127.0.0.1", fmt.Sprint(master.Port))
	eventually(t, "the replica follows", func() bool {
		return strings.Contains(cli(t, "-p", fmt.Sprint(replica.Port), "info", "replication"), "master_link_status:up")
	})
	sentinel := redistest.StartSentinel(t, master.Server)
	eventually(t, "the sentinel knows the replica", func() bool {
		return strings.Contains(cli(t, "-p", fmt.Sprint(sentinel.Port), "sentinel", "replicas", "shadowmaster"), fmt.Sprint(replica.Port))
	})
	a, err := ParseAddress(fmt.Sprintf("redis+sentinel://127.0.0.1:%d/shadowmaster", sentinel.Port))
	if err != nil {
		t.Fatal(err)
	}
	r := Open(Options{Address: a, Host: "h", Timeout: time.Second})
	defer r.Close()
	got, _ := trouble(t, r, limits(t, request.ByClient, ofEach[:6]...), map[int]func(*host){
		40: func(*host) { master.Kill() },
		80: func(h *host) {
			eventually(t, "the replica takes over", func() bool {
				return strings.Contains(cli(t, "-p", fmt.Sprint(replica.Port), "info", "replication"), "role:master")
			})
			recovered(h)
		},
	})
	wantDegraded(t, got, true)
}

// Several addresses are a ring. A key stays where it is, also while its server is gone.
func TestRing(t *testing.T) {
	t.Parallel()
	one, two := startTCP(t), startTCP(t)
	a, err := ParseAddress(one.Address(), two.Address())
	if err != nil {
		t.Fatal(err)
	}
	r := Open(Options{Address: a, Host: "h", Timeout: time.Second})
	defer r.Close()
	got, _ := trouble(t, r, limits(t, request.ByClient, ofEach[:6]...), map[int]func(*host){
		40: func(*host) { one.Kill() },
		60: func(h *host) { one.Start(); recovered(h) },
	})
	wantDegraded(t, got, true)
	for _, s := range []*server{one, two} {
		c := s.client()
		if n := c.DBSize(context.Background()).Val(); n == 0 {
			t.Errorf("%s has no keys", s.Address())
		}
		c.Close()
	}
}
