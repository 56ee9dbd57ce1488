package job

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A cluster holds Flink on this machine, each part a process of its own:
//
//	shadow-beam ─▶ Beam's job server ─▶ job manager ─▶ two task managers ─▶ a worker each, which is shadow-beam again
//
// A task manager has room for the whole job, so that one of them can be lost.
type cluster struct {
	dir      string // of configurations, logs and temporary files
	fetched  string // what scale/flink/get fetched
	rest     string // address of the job manager
	jobs     string // address of the job server
	managers []*process
	started  []*process // all parts
	memory   int64      // of all parts together, in kB, where it was highest
}

// A process is one that was started.
type process struct {
	number int
	ended  chan struct{}
	err    error         // how it ended
	cpu    time.Duration // that it took
}

const slots = 2 // of a task manager, and parallel parts of a job

// settings configures a job manager and task managers. Scripts of Flink compute the sizes of memory from few of them; here
// all of them stand.
const settings = `
jobmanager.rpc.address: localhost
jobmanager.rpc.port: %d
rest.address: localhost
rest.port: %d
io.tmp.dirs: %s
cluster.evenly-spread-out-slots: true
restart-strategy.type: fixed-delay
restart-strategy.fixed-delay.attempts: 3
restart-strategy.fixed-delay.delay: 1 s
heartbeat.interval: 1000
heartbeat.timeout: 15000
taskmanager.host: localhost
taskmanager.numberOfTaskSlots: %d
taskmanager.cpu.cores: 1.0
taskmanager.memory.task.heap.size: 384m
taskmanager.memory.task.off-heap.size: 0m
taskmanager.memory.framework.heap.size: 128m
taskmanager.memory.framework.off-heap.size: 128m
taskmanager.memory.network.min: 64m
taskmanager.memory.network.max: 64m
taskmanager.memory.managed.size: 128m
taskmanager.memory.jvm-metaspace.size: 256m
taskmanager.memory.jvm-overhead.min: 128m
taskmanager.memory.jvm-overhead.max: 128m
`

const logging = `
rootLogger.level = INFO
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
`

// newCluster starts a cluster, which ends with the test.
func newCluster(t testing.TB) *cluster {
	t.Helper()
	fetched, err := exec.Command("../../flink/get", "--there").CombinedOutput()
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s", fetched)
		}
		t.Skipf("%s", fetched)
	}
	manager, rest, jobs := freePort(t), freePort(t), freePort(t)
	c := &cluster{
		dir: t.TempDir(), fetched: strings.TrimSpace(string(fetched)),
		rest: fmt.Sprint("localhost:", rest), jobs: fmt.Sprint("localhost:", jobs),
	}
	t.Cleanup(func() { c.showLogs(t) })
	c.write(t, "config.yaml", fmt.Sprintf(settings, manager, rest, c.dir, slots))
	c.write(t, "log4j.properties", logging)
	c.java(t, "job-manager", 384, "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint")
	for i := range 2 {
		name := fmt.Sprint("task-manager-", i)
		c.managers = append(c.managers, c.java(t, name, 512, "org.apache.flink.runtime.taskexecutor.TaskManagerRunner"))
	}
	return c
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "localhost:0")
	check(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func (c *cluster) write(t testing.TB, name, text string) {
	t.Helper()
	check(t, os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o600))
}

// java starts a part of Flink with a heap of so many MiB.
func (c *cluster) java(t testing.TB, name string, heap int, class string) *process {
	t.Helper()
	return c.start(t, name, exec.Command("java", fmt.Sprintf("-Xmx%dm", heap), "-XX:MaxDirectMemorySize=384m",
		"-Dlog4j.configurationFile="+filepath.Join(c.dir, "log4j.properties"), "-cp", c.fetched+"/flink/*",
		class, "--configDir", c.dir))
}

// start starts a process, whose output goes to a file of its name. It and its children end with the test, even if
// that is killed.
func (c *cluster) start(t testing.TB, name string, cmd *exec.Cmd) *process {
	t.Helper()
	output, err := os.Create(filepath.Join(c.dir, name+".log"))
	check(t, err)
	defer output.Close()
	cmd.Stdout, cmd.Stderr = output, output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	check(t, cmd.Start())
	p := &process{number: cmd.Process.Pid, ended: make(chan struct{})}
	c.started = append(c.started, p)
	go func() {
		p.err = cmd.Wait()
		p.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		close(p.ended)
	}()
	t.Cleanup(func() {
		syscall.Kill(-p.number, syscall.SIGKILL)
		<-p.ended
	})
	return p
}

// showLogs shows the ends of all logs if the test has failed.
func (c *cluster) showLogs(t testing.TB) {
	if !t.Failed() {
		return
	}
	logs, _ := filepath.Glob(filepath.Join(c.dir, "*.log"))
	for _, name := range logs {
		text, _ := os.ReadFile(name)
		t.Logf("%s ends:\n%s", filepath.Base(name), text[max(0, len(text)-3000):])
	}
}

// ask reads what the job manager tells.
func (c *cluster) ask(path string, answer any) error {
	r, err := http.Get("http://" + c.rest + path)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	return json.NewDecoder(r.Body).Decode(answer)
}

// ready reports whether both task managers and the job server are there.
func (c *cluster) ready() bool {
	var overview struct {
		Managers int `json:"taskmanagers"`
	}
	if err := c.ask("/overview", &overview); err != nil || overview.Managers != 2 {
		return false
	}
	conn, err := net.Dial("tcp", c.jobs)
	if err != nil {
		return false
	}
	return conn.Close() == nil
}

// lastJob returns the name of the last job.
func (c *cluster) lastJob(t testing.TB) string {
	t.Helper()
	var all struct {
		Jobs []struct {
			ID    string `json:"jid"`
			Start int64  `json:"start-time"`
		}
	}
	check(t, c.ask("/jobs/overview", &all))
	last := all.Jobs[0]
	for _, j := range all.Jobs {
		if j.Start > last.Start {
			last = j
		}
	}
	return last.ID
}

// failures returns how often a part of the last job failed.
func (c *cluster) failures(t testing.TB) int {
	t.Helper()
	var found struct {
		History struct{ Entries []any } `json:"exceptionHistory"`
	}
	check(t, c.ask("/jobs/"+c.lastJob(t)+"/exceptions", &found))
	return len(found.History.Entries)
}

// within waits until something holds, or fails the test.
func within(t testing.TB, most time.Duration, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(most); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v", what, most)
		}
	}
}
