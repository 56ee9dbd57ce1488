package policy

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"shadow/request"
)

// The members of a tier may stand in a file of their own, one on a line:
//
//	# customers of the pro plan
//	192.0.2.0/24
//	alice          # a user, or where the tier names a field, a value of it
//
// What looks like an address is one.

// maxMemberFile is how large such a file may be, in bytes.
const maxMemberFile = 64 << 20

// byteOrderMark is what some editors put before a text.
const byteOrderMark = "\uFEFF"

// readMemberFile reads the file that a tier names.
func (r *configReader) readMemberFile(t *request.Tier, file located[text]) {
	name, at := string(file.value), file.at
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(r.name), name)
	}
	text, err := readSmall(name)
	if err != nil {
		r.fail(at, "%v", err)
		return
	}
	number, entries := 0, 0
	for line := range strings.Lines(strings.TrimPrefix(text, byteOrderMark)) {
		number++
		entry := cutComment(line)
		if entry == "" {
			continue
		}
		entries++
		if err := r.addMember(t, entry); err != nil {
			before, _, _ := strings.Cut(line, entry)
			r.add(Problem{File: name, Line: number, Column: 1 + utf8.RuneCountInString(before), Text: err.Error()})
		}
	}
	if entries == 0 {
		r.fail(at, "%s has no entries", name)
	}
}

// readSmall reads a file that is not larger than maxMemberFile.
func readSmall(name string) (string, error) {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("there is no file %s", name)
	}
	if err != nil {
		return "", err
	}
	defer file.Close()
	var text strings.Builder
	n, err := io.Copy(&text, io.LimitReader(file, maxMemberFile+1))
	if n > maxMemberFile {
		return "", fmt.Errorf("%s is larger than %d MiB", name, maxMemberFile>>20)
	}
	return text.String(), err
}

// cutComment is what stands on a line before a #, which must begin the line or follow a blank.
func cutComment(line string) string {
	for i := range len(line) {
		if line[i] == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			line = line[:i]
			break
		}
	}
	return strings.TrimSpace(line)
}

// addMember takes an entry of a file in.
func (r *configReader) addMember(t *request.Tier, entry string) error {
	p, isNetwork := parseNetwork(entry)
	switch {
	case strings.ContainsFunc(entry, isControl):
		return fmt.Errorf("%q has a control character in it", entry)
	case isNetwork && p == p.Masked():
		return r.joinNetwork(t, entry, p)
	case likeNetwork(entry):
		if err := networkProblem(entry); err != nil {
			return err
		}
		return r.join(t, anAddress, entry)
	case t.Field != "":
		return r.join(t, aValue, entry)
	}
	return r.join(t, aUser, entry)
}
