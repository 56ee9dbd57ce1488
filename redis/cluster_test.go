package redis

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"shadow/redis/redistest"
	"shadow/request"
	"shadow/testneeds"
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
