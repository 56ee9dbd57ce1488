package calibrate

// pairsFrom: where the best single limit is wrong on more than one request in so many, pairs of limits are tried.
const pairsFrom = 100

func (s *search) pairs() {}
