// Runs the token bucket of Envoy's local rate limit on a schedule: envoy COUNT SECONDS BURST < schedule > verdicts
//
// bucket.inc is envoy/common/token_bucket.h and source/common/common/token_bucket_impl.{h,cc} without what they include.
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>

#define PURE = 0
#define ASSERT(condition)

namespace Envoy {
using MonotonicTime = std::chrono::time_point<std::chrono::steady_clock>;
struct TimeSource {
	MonotonicTime now;
	MonotonicTime monotonicTime() const { return now; }
};
} // namespace Envoy

#include "bucket.inc"

int main(int argc, char **argv)
{
	if (argc != 4) {
		std::cerr << "want COUNT SECONDS BURST\n";
		return 1;
	}
	Envoy::TimeSource clock;
	std::map<int, std::unique_ptr<Envoy::AtomicTokenBucketImpl>> buckets;
	const double rate = atof(argv[1]) / atof(argv[2]); // as RateLimitTokenBucket has it
	long long at, boot = 0;
	int client;
	while (std::cin >> at >> client) {
		if (!boot)
			boot = at - 1000000; // its clock is the machine's time since it was started
		clock.now = Envoy::MonotonicTime(std::chrono::microseconds(at - boot));
		auto &bucket = buckets[client];
		if (!bucket)
			bucket = std::make_unique<Envoy::AtomicTokenBucketImpl>(atoll(argv[3]), clock, rate);
		std::cout << bucket->consume();
	}
	std::cout << "\n";
	return 0;
}
