package policy

// A page has no configuration, and the validator of schemas would take most of the time in which an engine starts.

// check takes no configuration.
func (d *document) check(top node, _ any) { d.fail(top, "a page takes no configuration") }
