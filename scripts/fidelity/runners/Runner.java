import com.google.common.base.Stopwatch;
import com.google.common.base.Ticker;
import com.google.common.util.concurrent.RateLimiter;
import io.github.bucket4j.Bandwidth;
import io.github.bucket4j.Bucket;
import io.github.bucket4j.TimeMeter;
import io.github.resilience4j.ratelimiter.RateLimiterConfig;
import io.github.resilience4j.ratelimiter.internal.AtomicRateLimiter;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * Runs limiters of Java on a schedule, with their libraries on the class path:
 *
 * <p>java Runner.java KIND COUNT SECONDS [BURST] < schedule > verdicts
 */
public class Runner {
    static long micros;

    public static void main(String[] args) throws Exception {
        String kind = args[0];
        int count = Integer.parseInt(args[1]);
        Duration period = Duration.ofSeconds(Long.parseLong(args[2]));
        int burst = args.length > 3 ? Integer.parseInt(args[3]) : count;
        Map<String, BooleanSupplier> all = new HashMap<>();
        StringBuilder out = new StringBuilder();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            micros = Long.parseLong(words[0]);
            out.append(all.computeIfAbsent(words[1], client -> limiter(kind, count, period, burst)).getAsBoolean() ? '1' : '0');
        }
        System.out.println(out);
    }

    static BooleanSupplier limiter(String kind, int count, Duration period, int burst) {
        if (kind.equals("resilience4j")) {
            RateLimiterConfig config = RateLimiterConfig.custom()
                .limitForPeriod(count).limitRefreshPeriod(period).timeoutDuration(Duration.ZERO).build();
            AtomicRateLimiter limiter = new AtomicRateLimiter("test", config, () -> micros * 1000);
            return limiter::acquirePermission;
        }
        if (kind.equals("guava")) {
            return guava(count / (double) period.toSeconds())::tryAcquire;
        }
        // As TimeMeter.SYSTEM_MILLISECONDS, which is the clock unless another is given.
        TimeMeter clock = new TimeMeter() {
            public long currentTimeNanos() { return micros / 1000 * 1_000_000; }
            public boolean isWallClockBased() { return true; }
        };
        Bandwidth limit = kind.equals("greedy")
            ? Bandwidth.builder().capacity(burst).refillGreedy(count, period).build()
            : Bandwidth.builder().capacity(burst).refillIntervally(count, period).build();
        Bucket bucket = Bucket.builder().addLimit(limit).withCustomTimePrecision(clock).build();
        return () -> bucket.tryConsume(1);
    }

    /** Makes a limiter whose stopwatch is another: nothing public sets it. */
    static RateLimiter guava(double rate) {
        try {
            Class<?> kind = Class.forName(RateLimiter.class.getName() + "$SleepingStopwatch");
            Method system = kind.getDeclaredMethod("createFromSystemTimer");
            system.setAccessible(true);
            Object clock = system.invoke(null);
            Field stopwatch = clock.getClass().getDeclaredField("stopwatch");
            stopwatch.setAccessible(true);
            stopwatch.set(clock, Stopwatch.createStarted(new Ticker() {
                public long read() { return micros * 1000; }
            }));
            Method create = RateLimiter.class.getDeclaredMethod("create", double.class, kind);
            create.setAccessible(true);
            return (RateLimiter) create.invoke(null, rate, clock);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
