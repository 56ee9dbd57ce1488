package suggest

// LessRoom leaves room for the states of few limits, until the test calls what it returns.
func LessRoom() (restore func()) {
	before := stateBytes
	stateBytes = 100 << 10
	return func() { stateBytes = before }
}
