package objecttest

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// Where the server lies, and who may read it.
const (
	Bucket = "logs"
	Region = "eu-west-1"
	Key    = "AKIATESTTESTTESTTEST"
	Secret = "a-secret-of-tests"
)

// A Server is an S3 server on loopback.
type Server struct {
	URL string

	backend *s3mem.Backend
	store   http.Handler
	mu      sync.Mutex                                    // guards what follows
	fault   func(http.ResponseWriter, *http.Request) bool // see Fail; nil: there is none
	asked   []string                                      // methods and URIs, with ranges
}

// New starts a server with one empty bucket, and has the clients of this process find it by the usual variables.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{backend: s3mem.New()}
	if err := s.backend.CreateBucket(Bucket); err != nil {
		t.Fatal(err)
	}
	quiet := gofakes3.WithLogger(gofakes3.StdLog(log.New(io.Discard, "", 0)))
	s.store = gofakes3.New(s.backend, quiet, gofakes3.WithTimeSkewLimit(0)).Server()
	listening := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, strings.TrimSpace(r.Method+" "+r.RequestURI+" "+r.Header.Get("Range")))
		fault := s.fault
		s.mu.Unlock()
		if fault != nil && fault(w, r) {
			return
		}
		if code := refusal(r); code != "" {
			Refuse(w, http.StatusForbidden, code)
			return
		}
		s.store.ServeHTTP(w, r)
	}))
	t.Cleanup(listening.Close)
	s.URL = listening.URL
	for _, setting := range s.Env() {
		name, value, _ := strings.Cut(setting, "=")
		t.Setenv(name, value)
	}
	return s
}

// Env returns the variables by which a client finds the server and may read it, and no others.
func (s *Server) Env() []string {
	return []string{
		"AWS_ENDPOINT_URL=" + s.URL, "AWS_REGION=" + Region, "AWS_ACCESS_KEY_ID=" + Key, "AWS_SECRET_ACCESS_KEY=" + Secret,
		"AWS_CONFIG_FILE=/nonexistent", "AWS_SHARED_CREDENTIALS_FILE=/nonexistent", "AWS_EC2_METADATA_DISABLED=true", "AWS_PROFILE=",
		"AWS_SESSION_TOKEN=",
	}
}

// Put stores an object.
func (s *Server) Put(t testing.TB, key string, content []byte) {
	t.Helper()
	if _, err := s.backend.PutObject(Bucket, key, nil, bytes.NewReader(content), int64(len(content)), nil); err != nil {
		t.Fatal(err)
	}
}

// Fail has a function answer requests in the place of the server, where it returns true.
func (s *Server) Fail(fault func(http.ResponseWriter, *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// Asked returns what was asked since the last call.
func (s *Server) Asked() (asked []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked, s.asked = s.asked, nil
	return asked
}

// Cut answers with the first bytes only, so many of them, and breaks the connection.
func (s *Server) Cut(w http.ResponseWriter, r *http.Request, n int) {
	s.store.ServeHTTP(&cutting{w, n}, r)
	panic(http.ErrAbortHandler)
}

// A cutting writer drops what comes behind its first bytes.
type cutting struct {
	http.ResponseWriter
	left int
}

func (w *cutting) Write(p []byte) (int, error) {
	n := min(len(p), w.left)
	w.left -= n
	if n > 0 {
		if _, err := w.ResponseWriter.Write(p[:n]); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// MustMatch refuses what asks for another version than the object has, as S3 does and gofakes3 does not.
func (s *Server) MustMatch(w http.ResponseWriter, r *http.Request) bool {
	want := r.Header.Get("If-Match")
	if want == "" {
		return false
	}
	object, err := s.backend.HeadObject(Bucket, strings.TrimPrefix(r.URL.Path, "/"+Bucket+"/"))
	if err != nil || fmt.Sprintf("%q", fmt.Sprintf("%x", object.Hash)) == want {
		return false
	}
	Refuse(w, http.StatusPreconditionFailed, "PreconditionFailed")
	return true
}

// Refuse answers with an error as S3 does.
func Refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprint(w, xml.Header)
	type refused struct {
		XMLName xml.Name `xml:"Error"`
		Code    string
		Message string
	}
	_ = xml.NewEncoder(w).Encode(refused{Code: code, Message: "a test says so"})
}

// refusal checks the signature of a request (AWS Signature Version 4), and returns the code with which S3 refuses it, or
// "". The clients' own signer makes the signature that it should have.
func refusal(r *http.Request) string {
	text := r.Header.Get("Authorization")
	rest, found := strings.CutPrefix(text, "AWS4-HMAC-SHA256 ")
	if !found {
		return "AccessDenied"
	}
	parts := map[string]string{}
	for part := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		parts[name] = value
	}
	scope := strings.Split(parts["Credential"], "/")
	if len(scope) != 5 || scope[0] != Key {
		return "InvalidAccessKeyId"
	}
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil {
		return "AccessDenied"
	}
	again, err := http.NewRequestWithContext(r.Context(), r.Method, "http://"+r.Host+r.RequestURI, http.NoBody)
	if err != nil {
		return "AccessDenied"
	}
	for name := range strings.SplitSeq(parts["SignedHeaders"], ";") {
		if values := r.Header.Values(name); len(values) > 0 {
			again.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	again.ContentLength = r.ContentLength
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	who := aws.Credentials{AccessKeyID: Key, SecretAccessKey: Secret}
	if err := signer.SignHTTP(r.Context(), who, again, r.Header.Get("X-Amz-Content-Sha256"), "s3", scope[2], at); err != nil {
		return "AccessDenied"
	}
	if again.Header.Get("Authorization") != text {
		return "SignatureDoesNotMatch"
	}
	return ""
}
