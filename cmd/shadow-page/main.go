//go:build js && wasm

// Command shadow-page is the engine in a browser: a question about logs comes in as JSON, and its answer goes out as JSON.
// It runs in a worker, and reads what the worker's files.js serves as files. The first question is suggest, which opens
// logs; then page has the page that asks all others, see package explore.
//
//	shadowAsk(question, tell)   tell(text) is called for each step, and in the end for the answer
//
//	{"id":1,"ask":"suggest","files":["access.log"],"options":{"for":["haproxy"]}}
//	{"id":1,"progress":{"name":"reading","pass":1,"passes":0,"done":1048576,"all":5242880}}
//	{"id":1,"answer":{"schema":"shadow.suggest/1", … }}
//	{"id":1,"error":"--scale \"x\": want …"}
//	{"id":2,"ask":"page"}
//	{"id":2,"answer":"<!DOCTYPE html> … "}
//	{"id":3,"ask":"move","limit":"window:6/30s"}
package main

import (
	"context"
	"encoding/json"
	"sync"
	"syscall/js"
	"time"

	"shadow/internal/pipeline"
	"shadow/internal/pipeline/explore"
)

// A release states its version: -ldflags "-X main.version=1.2.3".
var version = "development"

func main() {
	js.Global().Set("shadowAsk", js.FuncOf(func(_ js.Value, args []js.Value) any {
		text, tell := args[0].String(), args[1]
		go answer([]byte(text), func(line []byte) { tell.Invoke(string(line)) })
		return nil
	}))
	select {}
}

// A question is what a page asks.
type question struct {
	explore.Request
	ID      int64               `json:"id"`
	Files   []string            `json:"files"`
	Options map[string][]string `json:"options"` // flags of the command, without dashes
}

// A reply is all that is told but answers.
type reply struct {
	ID       int64     `json:"id"`
	Progress *progress `json:"progress,omitempty"`
	Error    string    `json:"error,omitempty"`
}

// A progress says how far a pass has come.
type progress struct {
	Name   string `json:"name"`
	Pass   int    `json:"pass"`
	Passes int    `json:"passes"` // 0: not known yet
	Done   int64  `json:"done"`   // bytes
	All    int64  `json:"all"`    // 0: not known
}

// asking is locked while a question is answered: the next one waits.
var asking sync.Mutex

// answer answers a question. What it tells is a line of JSON, but for the answer, which stays as the command writes it.
func answer(text []byte, tell func([]byte)) {
	asking.Lock()
	defer asking.Unlock()
	var q question
	err := json.Unmarshal(text, &q)
	say := func(r reply) {
		r.ID = q.ID
		line, err := json.Marshal(r)
		if err != nil {
			panic(err) // numbers and texts have JSON
		}
		tell(line)
	}
	var found []byte
	if err == nil {
		found, err = ask(context.Background(), &q, func(p pipeline.Pass) (stop func()) {
			return watch(p, func(now progress) { say(reply{Progress: &now}) })
		})
	}
	if err != nil {
		say(reply{Error: err.Error()})
		return
	}
	head, err := json.Marshal(reply{ID: q.ID})
	if err != nil {
		panic(err)
	}
	line := append(head[:len(head)-1], `,"answer":`...)
	tell(append(append(line, found...), '}'))
}

// tick is the time between two reports of progress.
const tick = 100 * time.Millisecond

// watch tells how far a pass has come until stop is called.
func watch(p pipeline.Pass, tell func(progress)) (stop func()) {
	end := make(chan struct{})
	go func() {
		ticks := time.NewTicker(tick)
		defer ticks.Stop()
		for {
			done, all := p.At()
			tell(progress{Name: p.Name, Pass: p.Number, Passes: p.Of, Done: done, All: all})
			select {
			case <-end:
				return
			case <-ticks.C:
			}
		}
	}()
	return func() { close(end) }
}
