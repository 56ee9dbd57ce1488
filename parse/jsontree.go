package parse

import (
	"fmt"
	"strings"
)

// The keys of a mapping form a tree, as the objects of a line do:
//
//	ts        → time
//	request   ┬ uri → path
//	          └ headers ─ User-Agent → agent
//
// The scanner walks line and tree together. A key that the tree does not have leads to nil, whose children are nil.
//
// Some write pairs, {"name":"User-Agent","value":"curl"}, in an array. A key names such by brackets: headers[User-Agent].
// The value may be an object of OpenTelemetry, {"stringValue":"curl"}.
type jsonNode struct {
	targets []jsonTarget
	edges   [][]jsonEdge // by hash of the key
	pairs   *jsonNode    // of an array of pairs: its children are those of the names
	single  bool         // an array of more than one element is a fault: each is a request
}

type jsonEdge struct {
	key string
	to  *jsonNode
}

// A jsonTarget is what the value of a key is good for.
type jsonTarget struct {
	slot slot
	rank uint8 // among the keys of one field; 0 is the best
	unit int8  // of a duration: the power of ten that makes it microseconds

	number uint16 // of the key, where it is only asked whether it occurs
}

// A slot is a place for one value: a Field of the record, or one of those below.
type slot uint8

const (
	slotRequest slot = slot(fieldCount) + iota // the request line
	slotStart                                  // the time when the request began
	slotName                                   // the name of a pair
	slotQuery                                  // the query of a path that lacks it
	slotExtra                                  // the first of Options.Extra
	slotCount   = slotExtra + MaxExtra
)

const jsonBuckets = 64 // for at most some 100 keys

// maxKeyPath bounds how deep a mapping may reach, far below maxJSONDepth.
const maxKeyPath = 16

// newJSONTree is the tree of a mapping and of the further fields that are wanted.
func newJSONTree(m FieldMapping, extra []string) (*jsonNode, error) {
	root := &jsonNode{}
	for _, f := range jsonFields {
		for rank, key := range m[f.name] {
			t := jsonTarget{slot: f.slot, rank: uint8(min(rank, 255)), unit: f.unit}
			if f.unit == UnitSeconds {
				t.unit = unitOfKey(key)
			} else if f.slot == slot(FieldPath) && strings.HasSuffix(key, wholeTarget) {
				t.unit = queried
			} else if f.slot == slot(FieldClient) && isAppended(key) {
				t.unit = appended
			}
			if err := root.add(key, t); err != nil {
				return nil, err
			}
		}
	}
	for i, name := range extra {
		for rank, key := range extraKeys(name) {
			if err := root.add(key, jsonTarget{slot: slotExtra + slot(i), rank: uint8(rank)}); err != nil {
				return nil, err
			}
		}
	}
	return root, nil
}

// add hangs a target at a path, and at the flat keys of the same spelling: of request.uri, "uri" within the object
// "request", and "request.uri".
func (n *jsonNode) add(path string, t jsonTarget) error {
	path, name, paired := strings.Cut(strings.TrimSuffix(path, "]"), "[")
	steps := strings.Split(path, ".")
	if path == "" || len(steps) > maxKeyPath {
		return fmt.Errorf("JSON key %q: want one to %d names with dots between them", path, maxKeyPath)
	}
	for i, at := range steps {
		n.grow(strings.ReplaceAll(strings.Join(steps[i:], "."), "!", "")).aim(name, paired, t)
		n = n.grow(strings.TrimSuffix(at, "!"))
		n.single = n.single || strings.HasSuffix(at, "!")
	}
	return nil
}

// aim adds a target to a node, or to the pair of a name in it.
func (n *jsonNode) aim(name string, paired bool, t jsonTarget) {
	if !paired {
		n.targets = append(n.targets, t)
		return
	}
	if n.pairs == nil {
		n.pairs = &jsonNode{}
		for _, key := range []string{"name", "key"} {
			n.grow(key).aim("", false, jsonTarget{slot: slotName})
		}
	}
	pair := n.pairs.grow(name)
	pair.aim("", false, t)
	for _, key := range []string{"stringValue", "intValue", "doubleValue"} {
		pair.grow(key).aim("", false, t)
	}
}

// grow returns the child with this key, a new one if need be.
func (n *jsonNode) grow(key string) *jsonNode {
	if n.edges == nil {
		n.edges = make([][]jsonEdge, jsonBuckets)
	}
	if to := n.child([]byte(key)); to != nil {
		return to
	}
	to, h := &jsonNode{}, jsonHash([]byte(key))
	n.edges[h] = append(n.edges[h], jsonEdge{key, to})
	return to
}

// child returns the node that key leads to, or nil.
func (n *jsonNode) child(key []byte) *jsonNode {
	if n == nil || n.edges == nil || len(key) == 0 {
		return nil
	}
	for _, e := range n.edges[jsonHash(key)] {
		if e.key == string(key) {
			return e.to
		}
	}
	return nil
}

// jsonHash tells keys apart by their length, first and last byte: enough for the few keys of a log.
func jsonHash(key []byte) int {
	if len(key) == 0 {
		return 0
	}
	return (len(key)*31 + int(key[0])*7 + int(key[len(key)-1])*3) % jsonBuckets
}
