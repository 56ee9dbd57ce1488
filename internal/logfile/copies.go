package logfile

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"hash/fnv"
	"io"
	"io/fs"
	"slices"
)

// Which of many files hold the same log. Logs lie about in copies:
//
//	access.log.1, access.log.1.gz      compressed, and the original not yet removed
//	access.log, old/access.log         copied last week: the log begins with its copy
//	access.log, current -> access.log  a link
//
// Neither names nor beginnings prove that: hosts behind one load balancer log the same health checks. So files with one
// head, or one first line, are compared byte by byte, after decompression, until they differ or one ends. A file that
// holds nothing but the beginning of another one, or all of it, is a copy. Files that no other one resembles cost a look
// at their heads.
//
// Short files may be equal by chance. Those that are not proven copies are read, and reported as doubtful.

const (
	equalLines  = 2  // lines that prove that two files with the same content are copies
	prefixLines = 10 // lines that prove that a file was copied from a longer one that begins with it
)

// A Copy is a file that need not be read, because another file holds all its lines.
type Copy struct {
	Name string
	Of   string // the file that is read
	How  How
}

// How says in what way a file is a copy.
type How string

// The ways to be a copy.
const (
	SameFile  How = "link"      // another name of the same file
	SameLines How = "copy"      // the same content
	Beginning How = "beginning" // the content with which the other one begins
)

// Copies lists files that resemble each other.
type Copies struct {
	Found  []Copy // need not be read
	Doubts []Copy // may be copies, are too short to prove it, and are to be read
}

// FindCopies finds the copies among files. Of two files with the same content it prefers one that is not compressed,
// and else the first. A file that is not regular, or cannot be read, is no copy.
func FindCopies(ctx context.Context, names []string) (Copies, error) {
	if len(names) < 2 {
		return Copies{}, nil
	}
	f := newFinder()
	for some := range slices.Chunk(names, looksAtOnce) {
		if err := ctx.Err(); err != nil {
			return Copies{}, err
		}
		for _, r := range lookAtAll(some) {
			f.add(&r)
		}
	}
	slices.SortStableFunc(f.all, func(x, y *suspect) int { return compareBool(x.compressed, y.compressed) })
	return f.find(ctx)
}

// compareBool orders false before true.
func compareBool(x, y bool) int {
	switch {
	case x == y:
		return 0
	case y:
		return -1
	}
	return 1
}

// A suspect is a file that may be a copy.
type suspect struct {
	path       string
	info       fs.FileInfo
	compressed bool
	head       headKey
	lead       uint64              // of the first line, or as much of it as counts
	of         *suspect            // what it is a copy of; nil: of nothing
	how        How                 // … and in what way
	doubt      *suspect            // what it may be a copy of
	twins      map[string]*suspect // files with the same content that are not proven copies, by their names without the codec

	damaged bool // whether damage ended it, as the last comparison found
}

// A headKey is the same for all files with one head.
type headKey struct {
	sum   uint64
	bytes int // less than HeadBlock: it is the whole content
}

// mostLead is the most bytes of a first line that count.
const mostLead = 1024

// A finder finds copies.
type finder struct {
	all    []*suspect // preferred ones first
	x, y   []byte     // buffers of a comparison
	byHead map[headKey][]*suspect
}

func newFinder() *finder { return &finder{byHead: map[headKey][]*suspect{}} }

// add takes in a file that is preferred less than those before it. Empty files are equal and hold nothing: they are
// left out.
func (f *finder) add(r *Sibling) {
	s := &suspect{path: r.Path, info: r.Info, compressed: r.Compressed, head: headKey{r.ID.Head, r.ID.HeadBytes}}
	if s.head.bytes == 0 {
		return
	}
	lead := r.Head[:min(len(r.Head), mostLead)]
	if n := bytes.IndexByte(lead, '\n'); n >= 0 {
		lead = lead[:n+1]
	}
	s.lead = sum(lead)
	f.all = append(f.all, s)
}

// find compares what resembles each other, and returns what it has found in the order of the files.
func (f *finder) find(ctx context.Context) (c Copies, err error) {
	for _, s := range f.all {
		if err := f.byHeads(ctx, s); err != nil {
			return c, err
		}
	}
	if err := f.byLeads(ctx); err != nil {
		return c, err
	}
	for _, s := range f.all {
		switch {
		case s.of != nil:
			c.Found = append(c.Found, Copy{Name: s.path, Of: s.kept().path, How: s.how})
		case s.doubt != nil:
			c.Doubts = append(c.Doubts, Copy{Name: s.path, Of: s.doubt.kept().path, How: s.how})
		}
	}
	return c, nil
}

// byHeads compares a file with those that have the same head: they are its copies, or differ behind their heads.
func (f *finder) byHeads(ctx context.Context, s *suspect) error {
	others := f.byHead[s.head]
	for i := 0; i < len(others); {
		o := others[i]
		c, err := f.compare(ctx, o, s)
		if err != nil {
			return err
		}
		switch {
		case c.order == 0 && c.same && o.damaged && !s.damaged && c.proves(o, s):
			o.of, o.how = s, SameLines
			others[i] = s
			return nil
		case c.order == 0 && c.same:
			s.settle(o, &c)
			return nil
		case c.same && c.order > 0 && c.proves(o, s):
			s.of, s.how = o, Beginning
			return nil
		case c.same && c.order < 0 && c.proves(o, s):
			o.of, o.how = s, Beginning
			others = slices.Delete(others, i, i+1)
			continue
		}
		i++
	}
	f.byHead[s.head] = append(others, s)
	return nil
}

// settle makes a file that has the content of another one its copy, or notes the doubt.
func (s *suspect) settle(other *suspect, c *comparison) {
	if c.proves(other, s) {
		s.of, s.how = other, SameLines
		return
	}
	name := Uncompressed(s.path)
	if twin := other.twins[name]; twin != nil {
		s.of, s.how = twin, SameLines
		return
	}
	if other.twins == nil {
		other.twins = map[string]*suspect{}
	}
	other.twins[name] = s
	s.doubt = other
}

// byLeads compares files that are shorter than a head with those of the same first line that are longer.
func (f *finder) byLeads(ctx context.Context) error {
	groups := map[uint64][]*suspect{}
	for _, s := range f.all {
		if s.of == nil && s.doubt == nil {
			groups[s.lead] = append(groups[s.lead], s)
		}
	}
	for _, s := range f.all { // in their order, so that the outcome is always the same
		group := groups[s.lead]
		delete(groups, s.lead)
		if len(group) > 1 {
			if err := f.byLead(ctx, group); err != nil {
				return err
			}
		}
	}
	return nil
}

// byLead compares the files of one first line: the longest first, with those whose content is the beginning of its head.
func (f *finder) byLead(ctx context.Context, group []*suspect) error {
	slices.SortStableFunc(group, func(x, y *suspect) int { return cmp.Compare(y.head.bytes, x.head.bytes) })
	shortest := group[len(group)-1].head.bytes
	for _, s := range group {
		if s.head.bytes == shortest {
			return nil
		}
		r, ok := SiblingAt(s.path)
		if !ok || !sameFile(r.Info, s.info) {
			continue
		}
		beginning, summed := fnv.New64a(), 0 // the sum of the head's first bytes, shorter ones first
		for _, o := range slices.Backward(group) {
			if o.head.bytes >= len(r.Head) {
				break
			}
			if o.of != nil || o.doubt != nil {
				continue
			}
			beginning.Write(r.Head[summed:o.head.bytes])
			summed = o.head.bytes
			if beginning.Sum64() != o.head.sum {
				continue
			}
			c, err := f.compare(ctx, s, o)
			switch {
			case err != nil:
				return err
			case !c.same || c.order <= 0:
			case c.proves(s, o):
				o.of, o.how = s, Beginning
			default:
				o.doubt = s
			}
		}
	}
	return nil
}

// A comparison holds the outcome of comparing two files.
type comparison struct {
	same  bool // up to the end of the shorter one, or of both
	order int  // of their lengths: −1 if the first is shorter, 0 if both are as long
	lines int  // of the shorter one
}

// proves reports whether the lines that two files share, and their names, prove that one is a copy.
func (c *comparison) proves(x, y *suspect) bool {
	if c.order == 0 && Uncompressed(x.path) == Uncompressed(y.path) {
		return true
	}
	return ProveCopy(c.lines, c.order == 0 || nameOf(x.path) == nameOf(y.path))
}

// ProveCopy reports whether so many lines prove that a file is a copy of another one, which has no more or begins with them.
func ProveCopy(lines int, noMore bool) bool {
	return lines >= prefixLines || noMore && lines >= equalLines
}

// compareBytes is the number of bytes of two files that are compared at once.
const compareBytes = 128 << 10

// compare reads two files up to where they differ or one ends. Damage ends a file.
func (f *finder) compare(ctx context.Context, x, y *suspect) (c comparison, err error) {
	a, err := x.open()
	if err != nil {
		return c, nil // the reader of the file will say what is wrong
	}
	defer a.close()
	b, err := y.open()
	if err != nil {
		return c, nil
	}
	defer b.close()
	if f.x == nil {
		f.x, f.y = make([]byte, compareBytes), make([]byte, compareBytes)
	}
	last := byte('\n')
	for ctx.Err() == nil {
		n, xErr := readFull(a, f.x)
		m, yErr := readFull(b, f.y)
		k := min(n, m)
		if !bytes.Equal(f.x[:k], f.y[:k]) || unreadable(a, xErr) || unreadable(b, yErr) {
			return c, nil
		}
		c.lines += bytes.Count(f.x[:k], lineFeed)
		if k > 0 {
			last = f.x[k-1]
		}
		if k < compareBytes {
			if last != '\n' {
				c.lines++
			}
			x.damaged, y.damaged = n <= m && xErr != io.EOF, m <= n && yErr != io.EOF
			c.same, c.order = true, cmp.Compare(n, m)
			return c, nil
		}
	}
	return c, ctx.Err()
}

var lineFeed = []byte{'\n'}

// unreadable reports whether an error that ended the content says that more of a file is there and cannot be had.
func unreadable(c *content, err error) bool {
	var path *fs.PathError
	return errors.As(err, &path) || isTooLarge(err) || storeError(c.raw.err) != nil
}

// open opens the content that the file had when it was looked at.
func (s *suspect) open() (*content, error) {
	f, err := open(s.path)
	if err != nil {
		return nil, err
	}
	if o, ok := f.(*objectFile); ok {
		o.readAhead(o.info.Size, false)
	}
	if info, err := f.Stat(); err != nil || !sameFile(info, s.info) {
		f.Close()
		return nil, errGone
	}
	raw := &limited{f, s.info.Size(), nil}
	c, err := openContent(raw, func() { f.Close() })
	if err == nil {
		c.raw = raw
	}
	return c, err
}

// kept returns the file that is read in the place of a copy.
func (s *suspect) kept() *suspect {
	for s.of != nil {
		s = s.of
	}
	return s
}
