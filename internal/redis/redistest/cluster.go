package redistest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"shadow/internal/mapped"
)

const slots = 16384

// A Cluster is a Redis Cluster on loopback.
type Cluster struct {
	Masters []*Server // as they were in the beginning
	Replica *Server   // of the first master
}

// StartCluster starts some masters, and a replica of the first. A node does not count as dead before 15 seconds, so
// that a busy machine makes none take over: TakeOver does.
func StartCluster(t testing.TB, masters int) *Cluster {
	t.Helper()
	c := &Cluster{}
	node := func() *Server {
		return StartTCP(t, "--cluster-enabled", "yes", "--cluster-node-timeout", "15000",
			"--cluster-replica-validity-factor", "0", "--repl-diskless-sync-delay", "0")
	}
	for i := range masters {
		s := node()
		s.Do(fmt.Sprintf("CLUSTER ADDSLOTSRANGE %d %d", i*slots/masters, (i+1)*slots/masters-1))
		s.Do(fmt.Sprintf("CLUSTER SET-CONFIG-EPOCH %d", i+1))
		c.Masters = append(c.Masters, s)
	}
	c.Replica = node()
	for _, s := range c.nodes() {
		s.Do(fmt.Sprintf("CLUSTER MEET 127.0.0.1 %d", c.Masters[0].Port))
	}
	c.WaitComplete()
	wait(t, "the replica knows all", func() bool {
		return strings.Count(c.Replica.Query("CLUSTER NODES"), "\n") == masters+1
	})
	c.Replica.Do("CLUSTER REPLICATE " + c.Masters[0].Query("CLUSTER MYID"))
	wait(t, "the replica follows", func() bool { return c.Replica.Info("replication")["master_link_status"] == "up" })
	wait(t, "all know the replica", func() bool {
		for _, s := range c.nodes() {
			if strings.Count(s.Query("CLUSTER NODES"), " slave ")+strings.Count(s.Query("CLUSTER NODES"), ",slave ") != 1 {
				return false
			}
		}
		return true
	})
	return c
}

// nodes returns the nodes that run.
func (c *Cluster) nodes() (running []*Server) {
	for _, s := range append([]*Server{c.Replica}, c.Masters...) {
		if s.cmd != nil {
			running = append(running, s)
		}
	}
	return running
}

// Address returns the value of --redis for the cluster.
func (c *Cluster) Address() string {
	hosts := mapped.Of(append([]*Server{c.Replica}, c.Masters...), (*Server).HostPort)
	return "redis+cluster://" + strings.Join(hosts, ",")
}

// WaitComplete waits until each running node says that all slots are served.
func (c *Cluster) WaitComplete() {
	for _, s := range c.nodes() {
		wait(s.t, "the cluster is complete", func() bool {
			return strings.Contains(s.Query("CLUSTER INFO"), "cluster_state:ok")
		})
	}
}

// WaitReplicated waits until a replica has all that a master has.
func (c *Cluster) WaitReplicated(master, replica *Server) {
	wait(master.t, "the replica has all", func() bool {
		to, from := replica.Info("replication"), master.Info("replication")
		return to["master_link_status"] == "up" && to["slave_repl_offset"] == from["master_repl_offset"]
	})
}

// TakeOver has a replica take the place of its master, with the votes of the others. how is "" where the master is to
// hand over all that it has, or FORCE where it is dead.
func (c *Cluster) TakeOver(replica *Server, how string) {
	id, isMaster := replica.Query("CLUSTER MYID"), func() bool { return replica.Info("replication")["role"] == "master" }
	for try := 0; !isMaster(); try++ {
		if try == 20 {
			replica.t.Fatalf("the replica does not take over:\n%s", replica.Query("CLUSTER NODES"))
		}
		if try%4 == 0 {
			_ = replica.ask(strings.TrimSpace("CLUSTER FAILOVER " + how)) // it may be at it
		}
		for end := time.Now().Add(2 * time.Second); !isMaster() && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		}
	}
	c.WaitComplete()
	for _, s := range c.nodes() {
		wait(replica.t, "all know the new master and its replica", func() bool {
			serves, follows := false, how != ""
			for line := range strings.Lines(s.Query("CLUSTER NODES")) {
				fields := strings.Fields(line) // id, address, flags, master, ping, pong, epoch, link, slots
				serves = serves || fields[0] == id && len(fields) > 8
				follows = follows || fields[3] == id
			}
			return serves && follows
		})
	}
}

// CutOff keeps a replica from getting more of what its master is told.
func (c *Cluster) CutOff(master, replica *Server) {
	replica.Signal(sigStop)
	master.Do("CLIENT KILL TYPE replica")
	wait(master.t, "the replica is cut off", func() bool { return master.Info("replication")["connected_slaves"] == "0" })
}

// Rejoin has a replica that was cut off go on.
func (c *Cluster) Rejoin(replica *Server) { replica.Signal(sigCont) }

// Info returns a section of INFO.
func (s *Server) Info(section string) map[string]string {
	s.t.Helper()
	fields := map[string]string{}
	for line := range strings.Lines(s.Query("INFO " + section)) {
		if name, value, found := strings.Cut(strings.TrimSpace(line), ":"); found {
			fields[name] = value
		}
	}
	return fields
}

// Query returns the text with which a server answers a command.
func (s *Server) Query(command string) string {
	s.t.Helper()
	text, err := s.ask(command).Text()
	if err != nil {
		s.t.Fatalf("%s: %v", command, err)
	}
	return text
}

// wait waits for something to come true.
func wait(t TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if is() {
			return
		}
	}
	t.Fatalf("%s: it never did", what)
}
