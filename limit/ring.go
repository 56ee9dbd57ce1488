package limit

// A Ring holds the times of a key's admitted requests that still lie inside a rolling window.
type Ring struct {
	times []Time
}
