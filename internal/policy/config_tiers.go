package policy

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"shadow/internal/request"
)

// exemptTier is the name of the tier that no policy judges.
const exemptTier = "exempt"

type memberEntry struct {
	Addresses, Users list[text]
	Field            struct {
		Name   text
		Values list[text]
	}
	File located[text]
}

// readMembers reads who is in a tier.
func (r *configReader) readMembers(name string, m located[memberEntry]) request.Tier {
	t, before := request.Tier{Name: name, Field: string(m.value.Field.Name)}, len(r.problems)
	join := func(kind memberKind, v located[text]) {
		if err := r.join(&t, kind, string(v.value)); err != nil {
			r.fail(v.at, "%v", err)
		}
	}
	for _, v := range m.value.Addresses {
		join(anAddress, v)
		at := r.beginning(v.at)
		for i, text := range r.bulk[at.Line] {
			if err := r.join(&t, anAddress, text); err != nil {
				r.add(Problem{r.name, r.line(at.Line) + 1 + i, at.Column, err.Error()})
			}
		}
		delete(r.bulk, at.Line)
	}
	for _, v := range m.value.Users {
		join(aUser, v)
	}
	for _, v := range m.value.Field.Values {
		join(aValue, v)
	}
	if m.value.File.at != nil {
		r.readMemberFile(&t, m.value.File)
	}
	if t.Len() == 0 && len(r.problems) == before && r.damaged[m.at] == nil && m.value.Field.Name != "" {
		r.fail(m.at, "the tier %q is empty; want addresses, users, or values of its field", name)
	}
	return t
}

// A memberKind is by what clients are in a tier.
type memberKind uint8

const (
	anAddress memberKind = iota
	aUser
	aValue // of the tier's field
)

// A member is what one entry of a tier stands for; two texts of a network are the same one.
type member struct {
	kind        memberKind
	field, text string
}

// join takes an entry into a tier. It complains about what another tier names already, since there it would never
// count.
func (r *configReader) join(t *request.Tier, kind memberKind, text string) error {
	m, list := member{kind: kind, text: text}, &t.Users
	switch kind {
	case anAddress:
		if p, ok := parseNetwork(text); ok {
			return r.joinNetwork(t, text, p)
		}
		list = &t.Networks
	case aValue:
		m.field, list = t.Field, &t.Values
	}
	owner, named := r.owners[m]
	if !named {
		r.owners[m] = t.Name
		*list = append(*list, text)
	}
	return joined(text, t.Name, owner, named)
}

// joinNetwork is join for a network.
func (r *configReader) joinNetwork(t *request.Tier, text string, p netip.Prefix) error {
	owner, named := r.nets.claim(p, t.Name)
	if !named {
		t.Networks = append(t.Networks, text)
	}
	return joined(text, t.Name, owner, named)
}

// joined is the error of an entry of a tier that one has already, perhaps in another spelling.
func joined(text, tier, owner string, named bool) error {
	switch {
	case !named:
		return nil
	case owner == tier:
		return fmt.Errorf("%q stands in this tier twice", text)
	}
	return fmt.Errorf("%q is in the tier %q already; the first one counts", text, owner)
}

// The members of a tier may stand in a file of their own, one on a line:
//
//	# customers of the pro plan
//	192.0.2.0/24
//	alice          # a user, or where the tier names a field, a value of it
//
// What looks like an address is one.

// maxMemberFile is the largest size of such a file, in bytes.
const maxMemberFile = 64 << 20

// byteOrderMark is the mark that some editors put before a text.
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

// cutComment returns what stands on a line before a #, which must begin the line or follow a blank.
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

// Addresses and networks as people write them. What reads requests compiles them; here they are checked, since here is
// known where they stand.

// parseNetwork reads an address or a prefix. An IPv4 network in its IPv6 form is one of IPv4.
func parseNetwork(text string) (netip.Prefix, bool) {
	if addr, err := netip.ParseAddr(text); err == nil {
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), addr.Zone() == ""
	}
	p, err := netip.ParsePrefix(text)
	if err != nil || !p.Addr().Is4In6() {
		return p, err == nil
	}
	return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96), p.Bits() >= 96
}

// networkProblem returns what is wrong with the text of a network.
func networkProblem(text string) error {
	p, ok := parseNetwork(text)
	switch {
	case text == "private":
	case !ok:
		return fmt.Errorf("%q is neither an address nor a prefix such as 192.0.2.0/24", text)
	case p != p.Masked():
		return fmt.Errorf("%q has bits beyond its length; %s is meant, perhaps", text, p.Masked())
	}
	return nil
}

// likeNetwork reports whether a text is meant to be an address or a prefix, well written or not.
func likeNetwork(text string) bool {
	if head, _, cut := strings.Cut(text, "/"); cut {
		_, ok := parseNetwork(head)
		return ok || likeAddress(head)
	}
	_, ok := parseNetwork(text)
	return ok || likeAddress(text)
}

// likeAddress reports whether a text consists of four numbers, or of groups of hexadecimal digits with colons between.
func likeAddress(text string) bool {
	text, _, _ = strings.Cut(text, "%") // fe80::1%eth0
	numbers := strings.Split(text, ".")
	noNumber := func(s string) bool { return strings.Trim(s, "0123456789") != "" }
	if len(numbers) == 4 && !slices.ContainsFunc(numbers, noNumber) {
		return true
	}
	return strings.Count(text, ":") > 1 && strings.Trim(text, "0123456789abcdefABCDEF:.") == ""
}
