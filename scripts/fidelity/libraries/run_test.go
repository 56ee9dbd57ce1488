// Package fidelity runs Go libraries that limit rates on a schedule, in a bubble whose clock a test moves:
//
//	go test -c -o run.test . && ./run.test -kind ulule -count 6 -period 30s < schedule
//
// The first line of its output has a digit for each request, 1 for one that was admitted.
package fidelity

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/didip/tollbooth/v7"
	"github.com/go-chi/httprate"
	"github.com/go-redis/redis_rate/v10"
	"github.com/gofiber/fiber/v3"
	fiberlimiter "github.com/gofiber/fiber/v3/middleware/limiter"
	"github.com/juju/ratelimit"
	"github.com/labstack/echo/v5/middleware"
	"github.com/redis/go-redis/v9"
	"github.com/sethvargo/go-limiter/memorystore"
	"github.com/throttled/throttled/v2"
	throttledstore "github.com/throttled/throttled/v2/store/memstore"
	ulule "github.com/ulule/limiter/v3"
	"github.com/ulule/limiter/v3/drivers/store/memory"
	"github.com/valyala/fasthttp"
	"golang.org/x/time/rate"
)

var (
	kind   = flag.String("kind", "", "the library")
	count  = flag.Int("count", 0, "requests")
	period = flag.Duration("period", 0, "in this time")
	burst  = flag.Int("burst", 0, "at once, where the library wants it")
)

// A limiter says whether it admits a request of a client now.
type limiter func(client string) (bool, error)

var ctx = context.Background()

// fake are the libraries that ask Go's clock.
var fake = map[string]func() (limiter, error){
	"ulule": func() (limiter, error) {
		store := memory.NewStoreWithOptions(ulule.StoreOptions{Prefix: "l", CleanUpInterval: time.Hour})
		l := ulule.New(store, ulule.Rate{Limit: int64(*count), Period: *period})
		return func(client string) (bool, error) {
			c, err := l.Get(ctx, client)
			return !c.Reached, err
		}, nil
	},
	"go-limiter": func() (limiter, error) {
		store, err := memorystore.New(&memorystore.Config{Tokens: uint64(*count), Interval: *period})
		return func(client string) (bool, error) {
			_, _, _, ok, err := store.Take(ctx, client)
			return ok, err
		}, err
	},
	"httprate": func() (limiter, error) {
		l := httprate.NewRateLimiter(*count, *period)
		return func(client string) (bool, error) {
			return !l.OnLimit(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil), client), nil
		}, nil
	},
	"xtime": func() (limiter, error) {
		all := map[string]*rate.Limiter{}
		return func(client string) (bool, error) {
			if all[client] == nil {
				all[client] = rate.NewLimiter(rate.Every(*period/time.Duration(*count)), *burst)
			}
			return all[client].Allow(), nil
		}, nil
	},
	"throttled": func() (limiter, error) {
		store, err := throttledstore.NewCtx(0)
		if err != nil {
			return nil, err
		}
		quota := throttled.RateQuota{MaxRate: throttled.PerDuration(*count, *period), MaxBurst: *burst}
		l, err := throttled.NewGCRARateLimiterCtx(store, quota)
		return func(client string) (bool, error) {
			refused, _, err := l.RateLimitCtx(ctx, client, 1)
			return !refused, err
		}, err
	},
	"juju": func() (limiter, error) {
		all := map[string]*ratelimit.Bucket{}
		return func(client string) (bool, error) {
			if all[client] == nil {
				all[client] = ratelimit.NewBucket(*period/time.Duration(*count), int64(*burst))
			}
			return all[client].TakeAvailable(1) == 1, nil
		}, nil
	},
	"echo": func() (limiter, error) {
		store := middleware.NewRateLimiterMemoryStoreWithConfig(middleware.RateLimiterMemoryStoreConfig{
			Rate: float64(*count) / period.Seconds(), Burst: *burst,
		})
		return store.Allow, nil
	},
	"tollbooth": func() (limiter, error) {
		l := tollbooth.NewLimiter(float64(*count)/period.Seconds(), nil)
		if *burst > 0 {
			l.SetBurst(*burst)
		}
		return func(client string) (bool, error) { return tollbooth.LimitByKeys(l, []string{client}) == nil, nil }, nil
	},
	"fiber":         func() (limiter, error) { return fiberBy(fiberlimiter.FixedWindow{}), nil },
	"fiber-sliding": func() (limiter, error) { return fiberBy(fiberlimiter.SlidingWindow{}), nil },
}

// fiberBy asks the middleware of Fiber, once its clock has ticked.
func fiberBy(kind fiberlimiter.Handler) limiter {
	app := fiber.New()
	app.Use(fiberlimiter.New(fiberlimiter.Config{
		Max: *count, Expiration: *period, LimiterMiddleware: kind,
		KeyGenerator: func(c fiber.Ctx) string { return c.Get("Client") },
	}))
	app.Get("/", func(fiber.Ctx) error { return nil })
	handle := app.Handler()
	return func(client string) (bool, error) {
		synctest.Wait()
		ctx := &fasthttp.RequestCtx{}
		ctx.Request.Header.Set("Client", client)
		ctx.Request.SetRequestURI("/")
		handle(ctx)
		return ctx.Response.StatusCode() != http.StatusTooManyRequests, nil
	}
}

func TestRun(t *testing.T) {
	if *kind == "" {
		t.Skip("no library is named")
	}
	out := &strings.Builder{}
	if _, ok := inRedis[*kind]; ok {
		runRedis(t, out)
	} else {
		synctest.Test(t, func(t *testing.T) { run(t, out) })
	}
	fmt.Println(out)
}

func run(t *testing.T, out *strings.Builder) {
	var ask limiter
	each(t, func(at time.Time, client string) bool {
		if ask == nil { // on a whole minute, where windows of limiters may begin
			time.Sleep(time.Until(at.Truncate(time.Minute)))
			var err error
			if ask, err = fake[*kind](); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Until(at))
		ok, err := ask(client)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}, out)
	fmt.Println(out)
	os.Exit(0) // which ends what the libraries do in the background
}

// inRedis lists what asks Redis, each with the variable that names its script.
var inRedis = map[string]string{"redis_rate": "", "spring": "FIDELITY_SPRING", "tyk": "FIDELITY_TYK"}

// runRedis has redis_rate, or a script, ask a server whose clock is moved.
func runRedis(t *testing.T, out *strings.Builder) {
	server := miniredis.RunT(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	ask := byRedisRate(client)
	var last time.Time
	if name := inRedis[*kind]; name != "" {
		text, err := os.ReadFile(os.Getenv(name))
		if err != nil {
			t.Fatal(err)
		}
		script := redis.NewScript(string(text))
		ask = map[string]limiter{"spring": bySpring(client, script), "tyk": byTyk(client, script, &last)}[*kind]
	}
	each(t, func(at time.Time, who string) bool {
		if !last.IsZero() {
			server.FastForward(at.Sub(last)) // what expires
		}
		last = at
		server.SetTime(at)
		ok, err := ask(who)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}, out)
}

func byRedisRate(client *redis.Client) limiter {
	l := redis_rate.NewLimiter(client)
	quota := redis_rate.Limit{Rate: *count, Burst: *burst, Period: *period}
	return func(who string) (bool, error) {
		answer, err := l.Allow(ctx, who, quota)
		return err == nil && answer.Allowed > 0, err
	}
}

// bySpring asks as RedisRateLimiter does: the moment is left to the script.
func bySpring(client *redis.Client, script *redis.Script) limiter {
	return func(who string) (bool, error) {
		answer, err := script.Run(ctx, client, []string{who + ".tokens", who + ".timestamp"}, *count, *burst, "", 1).Slice()
		return err == nil && answer[0] == int64(1), err
	}
}

// byTyk asks as limitRedis does, without its sentinel. Requests of one moment come a nanosecond after one another: its
// log holds moments, and no two of a gateway are the same.
func byTyk(client *redis.Client, script *redis.Script, now *time.Time) limiter {
	var last time.Time
	var ties time.Duration
	return func(who string) (bool, error) {
		if ties++; !now.Equal(last) {
			last, ties = *now, 0
		}
		at := now.Add(ties)
		since := at.Add(-*period).UnixNano()
		answer, err := script.Run(ctx, client, []string{who}, at.UnixNano(), since, *count, int(period.Seconds())).Slice()
		return err == nil && answer[0].(int64) <= int64(*count)-1, err
	}
}

// each reads the schedule.
func each(t *testing.T, ask func(at time.Time, client string) bool, out *strings.Builder) {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var at int64
		var client string
		if _, err := fmt.Sscan(lines.Text(), &at, &client); err != nil {
			t.Fatal(err)
		}
		if ask(time.UnixMicro(at), client) {
			out.WriteByte('1')
		} else {
			out.WriteByte('0')
		}
	}
}
