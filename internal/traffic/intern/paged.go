package intern

// A PagedSlice is a growing array of zero values that never moves, so growing costs no copy and leaves no garbage. Its index
// is a dense id.
type PagedSlice[T any] struct {
	pages []*[pageSize]T
	n     int
}

const (
	pageBits = 10
	pageSize = 1 << pageBits
)

// Len returns the number of elements.
func (p *PagedSlice[T]) Len() int { return p.n }

// At returns the element with an id below Len. The pointer stays valid.
func (p *PagedSlice[T]) At(id int32) *T { return &p.pages[id>>pageBits][id&(pageSize-1)] }

// Grow makes the array n elements long, unless it is longer already.
func (p *PagedSlice[T]) Grow(n int) {
	for len(p.pages)*pageSize < n {
		p.pages = append(p.pages, new([pageSize]T))
	}
	p.n = max(p.n, n)
}
