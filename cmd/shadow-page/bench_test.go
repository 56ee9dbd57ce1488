//go:build !js

package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"shadow/report/format"
	samplelogs "shadow/sample-logs"
)

// BenchmarkBrowser measures what a visitor waits for: the page until it is ready, and a log until its answer and the first
// figures of its page. It tells the most memory of a process of the browser, on Linux.
//
//	go test ./cmd/shadow-page -run - -bench Browser -benchtime 1x
func BenchmarkBrowser(b *testing.B) {
	site := serve(b, buildSite(b), false)
	for _, lines := range []int64{200_000, 1_000_000} {
		b.Run(fmt.Sprintf("lines=%d", lines), func(b *testing.B) {
			log := filepath.Join(b.TempDir(), "access.log")
			file, err := os.Create(log)
			must(b, err)
			_, err = samplelogs.New(samplelogs.Config{Lines: lines, Seed: 1}).WriteTo(file)
			must(b, err)
			must(b, file.Close())
			var ready, answer, figures time.Duration
			for b.Loop() {
				begin := time.Now()
				ctx := openBrowser(b, site.URL+under)
				until(b, ctx, `engine.then(() => "ready")`)
				ready += lap(&begin)
				drop(b, ctx, log)
				frame := frameOf(b, ctx, format.Count(lines, "request")+" by ")
				answer += lap(&begin)
				until(b, frame, `document.querySelector("#groups .sum") ? "there" : ""`)
				figures += lap(&begin)
				if runtime.GOOS == "linux" {
					b.ReportMetric(float64(mostMemory(b, chromedp.FromContext(ctx).Browser.Process().Pid))/1000, "MB")
				}
			}
			b.ReportMetric(ready.Seconds()/float64(b.N), "s-ready")
			b.ReportMetric(answer.Seconds()/float64(b.N), "s-answer")
			b.ReportMetric(figures.Seconds()/float64(b.N), "s-figures")
		})
	}
}

// lap returns the time since a moment, and makes it now.
func lap(begin *time.Time) time.Duration {
	now := time.Now()
	defer func() { *begin = now }()
	return now.Sub(*begin)
}

// mostMemory returns the most memory, in units of 1,024 bytes, that one of the processes below another has ever had.
func mostMemory(tb testing.TB, pid int) (most int) {
	tb.Helper()
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	must(tb, err)
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); fields[0] == "VmHWM:" {
			most, err = strconv.Atoi(fields[1])
			must(tb, err)
		}
	}
	tasks, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task/*/children"))
	must(tb, err)
	for _, task := range tasks {
		children, err := os.ReadFile(task)
		must(tb, err)
		for _, child := range strings.Fields(string(children)) {
			pid, err := strconv.Atoi(child)
			must(tb, err)
			most = max(most, mostMemory(tb, pid))
		}
	}
	return most
}
