//go:build unix && !nostore

package commands

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
)

// A podSpec is what runs in a pod.
type podSpec struct {
	Containers []struct {
		Command, Args []string
		Env           []struct{ Name, Value string }
		VolumeMounts  []struct{ Name string }
	}
	Volumes []struct{ Name string }
}

// What contrib has for Kubernetes runs with the folders of a test in the place of volumes: the tail until it is ended, and
// the night once. Each mount has its volume.
func TestKubernetes(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "access.log"), contentOf(t, "../../sample-logs/shop-combined.log"), 0o600))
	pods := map[string]podSpec{}
	for d := yaml.NewDecoder(bytes.NewReader(contentOf(t, "../../contrib/kubernetes/shadow.yaml"))); ; {
		var object struct {
			Kind string
			Data map[string]string
			Spec struct {
				Template    struct{ Spec podSpec }
				JobTemplate struct {
					Spec struct{ Template struct{ Spec podSpec } }
				} `yaml:"jobTemplate"`
			}
		}
		err := d.Decode(&object)
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
		for name, text := range object.Data {
			must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		pods[object.Kind] = object.Spec.Template.Spec
		if object.Kind == "CronJob" {
			pods[object.Kind] = object.Spec.JobTemplate.Spec.Template.Spec
		}
	}
	here := strings.NewReplacer("/var/log/nginx", dir, "/etc/shadow", dir, "0.0.0.0:9598", "127.0.0.1:0").Replace

	args := pods["DaemonSet"].Containers[0].Args
	for i := range args {
		args[i] = here(args[i])
	}
	tail := command(t, dir, args...)
	var said bytes.Buffer
	tail.Stderr = &said
	must(t, tail.Start())
	for end := time.Now().Add(time.Minute); !existsFile(filepath.Join(dir, "tail.state")) && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	if !existsFile(filepath.Join(dir, "tail.state")) {
		t.Errorf("the tail keeps nothing: %s", said.Bytes())
	}
	must(t, tail.Process.Signal(os.Interrupt))
	if err := tail.Wait(); err != nil {
		t.Errorf("the tail ended with %v: %s", err, said.Bytes())
	}

	night := exec.Command("sh", "../../contrib/nightly/"+pods["CronJob"].Containers[0].Command[0])
	night.Env = append(os.Environ(), "SHADOW_DIR="+dir, "SHADOW_SINCE=2026-03-01")
	for _, v := range pods["CronJob"].Containers[0].Env {
		night.Env = append(night.Env, v.Name+"="+here(v.Value))
	}
	if out, err := night.CombinedOutput(); err != nil {
		t.Errorf("the night ended with %v: %s", err, out)
	}
	if policies := storedPolicies(t, filepath.Join(dir, "shadow.db")); !strings.Contains(policies, "logins") {
		t.Errorf("the night judged %s", policies)
	}

	for kind, pod := range pods {
		volumes := map[string]bool{}
		for _, v := range pod.Volumes {
			volumes[v.Name] = true
		}
		for _, c := range pod.Containers {
			for _, m := range c.VolumeMounts {
				if !volumes[m.Name] {
					t.Errorf("%s mounts %s, which is no volume", kind, m.Name)
				}
			}
		}
	}
}
