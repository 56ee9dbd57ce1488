package pipeline

import (
	"context"
	"io"
	"testing"
	"time"
)

// What is read slowly is written to its end, though the signal has come.
func TestPatientWriter(t *testing.T) {
	reader, writer := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	w := &PatientWriter{Ctx: ctx, To: writer}
	go func() {
		_, _ = io.WriteString(w, "one")
		_, err := io.WriteString(w, "two")
		writer.CloseWithError(err)
	}()
	time.Sleep(50 * time.Millisecond)
	if text, err := io.ReadAll(reader); err != nil || string(text) != "onetwo" {
		t.Errorf("%q, %v", text, err)
	}
	_, unread := io.Pipe()
	w, begin := &PatientWriter{Ctx: ctx, To: unread}, time.Now()
	for range 50 { // the first takes a second
		if _, err := io.WriteString(w, "three"); err != errNotRead {
			t.Error(err)
		}
	}
	if took := time.Since(begin); took > 25*lastWords {
		t.Errorf("took %v", took)
	}
}
