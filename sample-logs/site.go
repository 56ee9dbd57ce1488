package samplelogs

import "fmt"

// The shop: 2,000 request targets. Pages show assets; a browser that views a page fetches them.

// A target is one thing that can be asked for.
type target struct {
	method string
	path   string  // with its query
	size   int64   // bytes of an ordinary answer
	assets []int32 // what the page shows, by index
}

const (
	pathCount    = 2000
	productCount = 1100
	imageCount   = 500
)

// A site is all targets, and where each kind begins.
type site struct {
	targets                        []target
	home, login, robots, health    int32
	pages, products, api, listings span
}

// A span is a run of targets.
type span struct{ first, count int32 }

func (s span) at(i int64) int32 { return s.first + int32(i) }

var (
	materials = []string{"oak", "linen", "brass", "wool", "cork", "slate", "walnut", "enamel", "ash", "jute", "glass"}
	things    = []string{
		"lamp", "table", "chair", "bowl", "rug", "shelf", "mirror", "vase", "stool", "clock",
		"basket", "kettle", "cushion", "bench", "tray", "throw", "hook", "candle", "frame", "desk",
	}
	queries = []string{"desk+lamp", "gift", "sale", "wool+rug", "round+table", "clock", "small+shelf", "glass"}
)

// newSite builds the shop. Assets come first, so that pages can point at them.
func newSite() *site {
	s := &site{}
	shell := s.add(4, func(i int) target {
		path := []string{"/static/app.css", "/static/app.js", "/static/logo.svg", "/static/text.woff2"}[i]
		return target{path: path, size: int64(9000 + 17000*i)}
	})
	images := s.add(imageCount, func(i int) target {
		return target{path: fmt.Sprintf("/img/%s-%03d.webp", things[i%len(things)], i), size: int64(14000 + i*613%90000)}
	})
	s.home = s.page(shell, images, 4, "/", 21000)
	s.robots = s.plain("GET", "/robots.txt", 124)
	s.health = s.plain("GET", "/health", 2)
	s.login = s.plain("POST", "/login", 1840)
	s.addPages(shell, images)
	s.api = s.add(pathCount-len(s.targets), func(i int) target {
		return target{path: fmt.Sprintf("/api/v1/stock/%d", 1000+7*i), size: int64(180 + i%90)}
	})
	return s
}

// addPages adds what people look at: the account, the basket, listings, searches, products and articles.
func (s *site) addPages(shell, images span) {
	first := int32(len(s.targets))
	s.page(shell, images, 0, "/account", 5200)
	s.page(shell, images, 2, "/basket", 8800)
	s.listings.first = int32(len(s.targets))
	for i := range 12 * len(materials) {
		s.page(shell, images, 5, fmt.Sprintf("/list/%s?page=%d", materials[i%len(materials)], 1+i/len(materials)), 31000)
	}
	s.listings.count = int32(len(s.targets)) - s.listings.first
	for i, q := range queries {
		s.page(shell, images, 4, fmt.Sprintf("/search?q=%s", q), int64(18000+900*i))
	}
	s.products.first = int32(len(s.targets))
	for i := range productCount {
		path := fmt.Sprintf("/product/%s-%s-%d", materials[i%len(materials)], things[i%len(things)], 1000+i)
		s.page(shell, images, 1+i%3, path, int64(12000+i*37%9000))
	}
	s.products.count = int32(len(s.targets)) - s.products.first
	for i := range 40 {
		s.page(shell, images, 2, fmt.Sprintf("/journal/%d/the-%s-workshop", 2021+i%5, materials[i%len(materials)]), 16400)
	}
	s.pages = span{first, int32(len(s.targets)) - first}
}

func (s *site) add(n int, make func(i int) target) span {
	first := int32(len(s.targets))
	for i := range n {
		t := make(i)
		t.method = "GET"
		s.targets = append(s.targets, t)
	}
	return span{first, int32(n)}
}

func (s *site) plain(method, path string, size int64) int32 {
	s.targets = append(s.targets, target{method: method, path: path, size: size})
	return int32(len(s.targets)) - 1
}

// page adds a page that shows the shell (style, script, logo, font) and so many images.
func (s *site) page(shell, images span, count int, path string, size int64) int32 {
	id := s.plain("GET", path, size)
	t := &s.targets[id]
	for i := range shell.count {
		t.assets = append(t.assets, shell.first+i)
	}
	for i := range count {
		t.assets = append(t.assets, images.at(int64((int(id)*7+i*31)%imageCount)))
	}
	return id
}
