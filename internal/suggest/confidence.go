package suggest

import "math"

// MostHit is the largest share of all clients of a kind that a limit may hit, with 95 % confidence, given that it hit
// so many of a sample: the exact one-sided bound of the binomial distribution, the largest p for which
//
//	P(X ≤ hit) ≥ 5 %,   X ~ binomial(clients, p)
//
// rounded up, so that it never understates. Of none hit it is 1 − 0.05^(1/clients), which the rule of three (see
// Goal.Sample) rounds to 3/clients. The sample must not have chosen the limit. There are less than 2³¹ clients; if
// there are none, the share is up to 100 %.
//
// Source: C. J. Clopper, E. S. Pearson, The use of confidence or fiducial limits illustrated in the case of the
// binomial, Biometrika 26 (1934), 404–413.
func MostHit(clients, hit int64) Percent { return mostHit(clients, hit, 0.05) }

// MostHitOf is MostHit for the one of several tried that looks best: by Bonferroni's correction the bound of each may be
// wrong that much less often, so that with 95 % confidence none of them is.
func MostHitOf(clients, hit int64, tried int) Percent {
	return mostHit(clients, hit, 0.05/float64(max(1, tried)))
}

// mostHit is MostHit for another probability of being wrong.
func mostHit(clients, hit int64, wrong float64) Percent {
	if hit >= clients {
		return whole
	}
	// Where np is whole, P(X ≤ np) is at least 1/2 (R. Kaas, J. M. Buhrman, Mean, median and mode in binomial
	// distributions, Statistica Neerlandica 34 (1980), 13–18). So the bound lies above hit/clients.
	low, high := Percent(hit*int64(whole)/clients), whole
	for high-low > 1 {
		middle := (low + high) / 2
		// Rounding errors, of the logarithms most of all, move the share by less than this.
		const slack = 1e-10
		if binomial(clients, hit, float64(middle)/float64(whole)-slack) > wrong {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// binomial is P(X ≤ k) of a binomial distribution for k < np, and 1 for others. From k down terms get smaller; about √n
// of them are large enough to count.
func binomial(n, k int64, p float64) float64 {
	if float64(k) >= float64(n)*p {
		return 1
	}
	term := math.Exp(logFactorial(n) - logFactorial(k) - logFactorial(n-k) +
		float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
	sum := term
	for odds := p / (1 - p); k > 0 && term > sum*1e-17; k-- {
		term *= float64(k) / float64(n-k+1) / odds
		sum += term
	}
	return sum
}

func logFactorial(n int64) float64 {
	log, _ := math.Lgamma(float64(n) + 1)
	return log
}
