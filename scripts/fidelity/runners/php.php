<?php
// Runs limiters of PHP on a schedule: php php.php KIND COUNT SECONDS [BURST] < schedule > verdicts
// The clock is a function microtime in the namespaces that ask it, and Carbon's time for tests.

namespace Symfony\Component\RateLimiter\Policy {
    function microtime(bool $float = false) { return $GLOBALS['now']; }
}

namespace Symfony\Component\RateLimiter\Storage {
    function microtime(bool $float = false) { return $GLOBALS['now']; }
}

namespace {
    error_reporting(E_ALL & ~E_DEPRECATED);
    [, $kind, $count, $seconds] = $argv;
    $now = 0.0;

    function symfony(string $policy, int $count, int $seconds, int $burst): callable
    {
        require_once 'Symfony/Component/RateLimiter/autoload.php';
        $config = ['id' => 'test', 'policy' => $policy, 'limit' => $count, 'interval' => "$seconds seconds"];
        if ($policy == 'token_bucket') {
            $config['limit'] = $burst ?: $count;
            $config['rate'] = ['interval' => "$seconds seconds", 'amount' => $count];
            unset($config['interval']);
        }
        $factory = new Symfony\Component\RateLimiter\RateLimiterFactory(
            $config, new Symfony\Component\RateLimiter\Storage\InMemoryStorage());
        $all = [];
        return function (string $client) use (&$all, $factory): bool {
            $all[$client] ??= $factory->create($client);
            return $all[$client]->consume()->isAccepted();
        };
    }

    // As its middleware does: ask, then hit. The store keeps files, with times of ten digits: later than the schedule by
    // so many whole minutes.
    function laravel(int $count, int $seconds): callable
    {
        require_once 'Illuminate/Cache/autoload.php';
        require_once 'Illuminate/Filesystem/autoload.php';
        require_once 'Illuminate/Support/autoload.php';
        $folder = sys_get_temp_dir() . '/fidelity-' . getmypid();
        $files = new Illuminate\Filesystem\Filesystem();
        register_shutdown_function(fn () => $files->deleteDirectory($folder));
        $cache = new Illuminate\Cache\Repository(new Illuminate\Cache\FileStore($files, $folder));
        $limiter = new Illuminate\Cache\RateLimiter($cache);
        return function (string $client) use ($limiter, $count, $seconds): bool {
            Illuminate\Support\Carbon::setTestNow(
                Illuminate\Support\Carbon::createFromFormat('U.u', sprintf('%.6F', $GLOBALS['now'] + 16_666_667 * 60)));
            if ($limiter->tooManyAttempts($client, $count)) {
                return false;
            }
            $limiter->hit($client, $seconds);
            return true;
        };
    }

    $ask = $kind == 'laravel' ? laravel($count, $seconds) : symfony($kind, $count, $seconds, $argv[4] ?? 0);
    $out = '';
    while (($line = fgets(STDIN)) !== false) {
        [$at, $client] = explode(' ', trim($line));
        $now = $at / 1e6;
        $out .= $ask("c$client") ? '1' : '0';
    }
    echo $out, "\n";
}
