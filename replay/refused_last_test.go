package replay_test

import (
	"context"
	"path/filepath"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/traffictest"
	"shadow/parse/detect"
	"shadow/replay"
)

// Servers that enforced a limit say by the status which clients they refused, and the limit refuses the same requests. They log a request
// when it is answered, so that those which they kept waiting stand behind those that they refused at the same moment: in the order
// of the log alone, 95.5 and 99.06 % agree. How the log is cut into batches makes no difference.
func TestRefusedComeLastOfAMoment(t *testing.T) {
	dir := testneeds.Shared(t, "verdicts")
	for _, test := range []struct {
		file, format, limit string
		percent             float64
	}{
		{"nginx2-5rs-burst10-delay5-enforced", secondFormat, "nginx:5r/s,burst=10,delay=5", 99.86},
		{"openresty-limit-req-4rs-burst6", secondFormat, "nginx:4r/s,burst=6", 99.84},
		{"nginx-12rm-burst6-nodelay-enforced", firstFormat, "nginx:12r/m,burst=6,nodelay", 99.7},
	} {
		t.Run(test.file, func(t *testing.T) {
			var first int64
			for i, rows := range []int{0, 1000, 37} {
				o := traffictest.Options(t)
				o.Batch, o.Format = rows, detect.Choice{Format: test.format}
				reader, err := ingest.NewReader(context.Background(), []string{filepath.Join(dir, test.file+".log.gz")}, nil, o)
				check(t, err)
				policies, err := policy.ParseLimits([]string{test.limit}, request.ByClient)
				check(t, err)
				var agree agreement
				e := replay.New(replay.Options{Tables: o.Tables, Policies: policies, Lateness: o.Lateness, Observer: &agree})
				check(t, e.Run(reader))
				check(t, reader.Close())
				if agree.judged != reader.Stats().Parsed || agree.judged < 9_000 {
					t.Fatalf("%d of %d requests judged", agree.judged, reader.Stats().Parsed)
				}
				percent := 100 * float64(agree.same) / float64(agree.judged)
				if i == 0 {
					first = agree.same
					t.Logf("%d of %d verdicts agree, %.2f %%", agree.same, agree.judged, percent)
				}
				if percent < test.percent || agree.same != first {
					t.Errorf("batches of %d: %d verdicts agree, %.2f %%; want %.2f %%, and %d as in one batch",
						rows, agree.same, percent, test.percent, first)
				}
			}
		})
	}
}

const (
	firstFormat = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" ` +
		`$msec $request_time $limit_req_status "$http_x_name" $http_x_rid $connection $connection_requests $pid`
	secondFormat = `$remote_addr - - [$time_local] "$request" $status $body_bytes_sent "-" "$http_user_agent" ` +
		`$msec $request_time $limit_req_status $http_x_rid`
)

// An agreement counts the requests that the first policy and the server judged alike.
type agreement struct{ judged, same int64 }

func (a *agreement) Observe(b *traffic.Batch, verdicts []replay.Verdicts) error {
	refused := map[int32]bool{}
	for _, row := range verdicts[0].Refused {
		refused[row] = true
	}
	for row, status := range b.Status {
		a.judged++
		if refused[int32(row)] == (status == 429) {
			a.same++
		}
	}
	return nil
}
