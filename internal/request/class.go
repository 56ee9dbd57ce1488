package request

// A Class is what the user agent claims to be.
type Class uint8

// The classes, in the order in which reports show them.
const (
	Browser Class = iota
	Crawler       // declares itself as one
	Tool          // curl, python-requests and their like
	Monitor       // an uptime or health checker
	Unknown       // no agent, or none that we know
	ClassCount
)

var classNames = [ClassCount]string{"browser", "crawler", "tool", "monitor", "unknown"}

// String is the class in one lower-case word.
func (c Class) String() string { return classNames[c] }

// Classes are the names of all classes.
func Classes() []string { return classNames[:] }
