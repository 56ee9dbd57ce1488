// Package local serves the page of a session to the browser of who runs it, and to no other program.
package local

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"shadow/internal/pipeline/explore"
)

// A Server listens on the loopback interface. Three walls stand before the log:
//
//	the address   its path is a secret of 128 bits or more, which no other page and no other user knows
//	Host          must be this machine, by whatever port (ssh -L): no name of a stranger's can be made to lead here
//	Origin        of what asks must be the page: a script of another page cannot ask
type Server struct {
	asked  Asked
	listen net.Listener
	path   string // /SECRET/
}

// Asked answers the questions of a page, and writes it.
type Asked interface {
	Answer(ctx context.Context, q explore.Request) (json.RawMessage, error)
	WritePage(ctx context.Context, w io.Writer) error
}

// mostQuestion is the most bytes of a question.
const mostQuestion = 16 << 10

// Listen makes a server that listens at a port, 0 for any that is free. Who asks waits until Serve.
func Listen(ctx context.Context, port uint16) (*Server, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, err
	}
	return &Server{listen: listener, path: "/" + rand.Text() + "/"}, nil
}

// Handler returns what answers for a page at another server, whose requests for all below a secret path it is to get.
func Handler(asked Asked) (path string, h http.Handler) {
	s := &Server{asked: asked, path: "/" + rand.Text() + "/"}
	return s.path, s
}

// Address returns where the page is.
func (s *Server) Address() string { return "http://" + s.listen.Addr().String() + s.path }

// Close ends a server that does not serve.
func (s *Server) Close() { _ = s.listen.Close() } // no question was asked

// Serve has it answered until ctx ends.
func (s *Server) Serve(ctx context.Context, asked Asked) error {
	s.asked = asked
	server := &http.Server{
		Handler: s, MaxHeaderBytes: 64 << 10, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second,
		IdleTimeout: 10 * time.Minute, BaseContext: func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // who asks sees that it is gone
	defer stop()
	if err := server.Serve(s.listen); ctx.Err() == nil {
		return err
	}
	return nil
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	for name, value := range map[string]string{
		"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
		"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
		"Content-Security-Policy": "frame-ancestors 'none'",
	} {
		head.Set(name, value)
	}
	rest, known := s.belowPath(r.URL.Path)
	host, _, err := net.SplitHostPort(r.Host)
	here := err == nil && slices.Contains([]string{"127.0.0.1", "localhost", "::1"}, host)
	switch origin := r.Header.Get("Origin"); {
	case !here || origin != "" && origin != "http://"+r.Host:
		http.Error(w, "this page is for the machine that it is on", http.StatusForbidden)
	case !known:
		http.Error(w, "not found: open the address that shadow explore has printed, all of it", http.StatusNotFound)
	case rest == "" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		var page bytes.Buffer
		if err := s.asked.WritePage(r.Context(), &page); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		head.Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(page.Bytes()) // who asked may be gone
	case rest == "ask" && r.Method == http.MethodPost:
		s.ask(w, r)
	default:
		http.NotFound(w, r)
	}
}

// belowPath returns the rest of a path behind the secret.
func (s *Server) belowPath(path string) (rest string, known bool) {
	if len(path) < len(s.path) || subtle.ConstantTimeCompare([]byte(path[:len(s.path)]), []byte(s.path)) == 0 {
		return "", false
	}
	return strings.TrimPrefix(path, s.path), true
}

// ask answers a question.
func (s *Server) ask(w http.ResponseWriter, r *http.Request) {
	var q explore.Request
	status, answer := http.StatusOK, []byte(nil)
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostQuestion)).Decode(&q)
	if err == nil {
		answer, err = s.asked.Answer(r.Context(), q)
	}
	if err != nil {
		status = http.StatusBadRequest
		answer, _ = json.Marshal(map[string]string{"error": err.Error()}) // a text can be written
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(answer) // who asked may be gone
}
