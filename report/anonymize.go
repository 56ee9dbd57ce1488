package report

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"shadow/internal/lazy"
	"shadow/internal/traffic"
	"shadow/internal/traffic/intern"
	"shadow/report/history"
)

// A report that leaves the house shows clients under other names. Two ways:
//
//	hash    a keyed hash (HMAC with SHA-256): the same client has the same name wherever the key is the same, and
//	        without the key no reader can find out which, by trying all addresses either
//	prefix  the network that an address lies in, /24 or /48; what is no address becomes a hash
//
// Ids become names in one place, traffic.Tables, which asks an Anonymizer there. Addresses, mail addresses and names of
// clients in other texts, such as agents, actions, warnings and conditions of policies, are renamed as well. The command
// and lines of logs are left out, and of files only the last part of the name stays.

// Anonymizations are the values of --anonymize.
func Anonymizations() []string { return []string{"hash", "prefix"} }

// An Anonymizer renames clients. A nil one leaves them as they are.
type Anonymizer struct {
	mode    string
	key     []byte
	clients *intern.Dict // whose names texts may have; nil: not known
}

// NewAnonymizer renames in one of Anonymizations.
func NewAnonymizer(mode string, key []byte) (*Anonymizer, error) {
	if !slices.Contains(Anonymizations(), mode) {
		return nil, fmt.Errorf("anonymization %q: want one of %s", mode, strings.Join(Anonymizations(), ", "))
	}
	return &Anonymizer{mode: mode, key: key}, nil
}

// The networks that stand for an address: what providers give to a customer, or less.
const (
	prefix4 = 24
	prefix6 = 48
)

// AnonymousClient begins the hash of a client.
const AnonymousClient = "client-"

// Name returns the name that the report shows for a client.
func (a *Anonymizer) Name(client string) string {
	if a == nil || client == "-" {
		return client
	}
	if a.mode == "prefix" {
		if network, ok := networkOf(client); ok {
			return network
		}
	}
	mac := hmac.New(sha256.New, a.key)
	mac.Write([]byte(client))
	return AnonymousClient + hex.EncodeToString(mac.Sum(nil)[:8])
}

// networkOf is the network that an address, or a smaller network, lies in.
func networkOf(name string) (string, bool) {
	address, err := netip.ParseAddr(name)
	bits := 128
	if err != nil {
		network, err := netip.ParsePrefix(name)
		if err != nil {
			return "", false
		}
		address, bits = network.Addr(), network.Bits()
	}
	most := prefix6
	if address = address.WithZone(""); address.Is4() {
		most = prefix4
	}
	network, err := address.Prefix(min(bits, most))
	return network.String(), err == nil
}

// Know has texts name the clients of a dictionary otherwise.
func (a *Anonymizer) Know(clients *intern.Dict) {
	if a != nil {
		a.clients = clients
	}
}

// Rename has outputs show people under the names that a gives them.
func (a *Anonymizer) Rename(t *traffic.Tables) {
	if a != nil {
		t.Rename = traffic.Rename{Client: a.Name, Text: a.Text, Agent: a.addresses}
	}
}

// Text renames the clients in a text, and all addresses and mail addresses.
func (a *Anonymizer) Text(text string) string {
	if a == nil {
		return text
	}
	text = a.addresses(text)
	if a.clients == nil {
		return text
	}
	return word().ReplaceAllStringFunc(text, func(word string) string {
		name := strings.TrimRight(word, ".")
		if _, known := a.clients.Find([]byte(name)); !known || isAddress(name) {
			return word
		}
		return a.Name(name) + word[len(name):]
	})
}

// addresses renames the addresses and mail addresses in a text.
func (a *Anonymizer) addresses(text string) string {
	text = mail().ReplaceAllStringFunc(text, a.Name)
	return a.inText(a.inText(text, address6(), false), address4(), true)
}

var (
	mail     = lazy.Regexp(`(?i)[\pL\pN._%+'-]+(@|%40|\s?[\[(]at[\])]\s?)[\pL\pN-]+(\.[\pL\pN-]+)*`)
	word     = lazy.Regexp(`[\pL\pN._@+-]+`)
	address6 = lazy.Regexp(`[0-9A-Fa-f]*:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*(/[0-9]+)?`)
	address4 = lazy.Regexp(`[0-9]{1,3}(\.[0-9]{1,3}){3}(/[0-9]+)?`)
)

// inText renames the addresses among what a pattern finds. A word that goes on behind an address is none; neither is a
// version, which stands behind a name and a slash and ends in zeros.
func (a *Anonymizer) inText(text string, like *regexp.Regexp, four bool) string {
	var b strings.Builder
	done := 0
	for _, at := range like.FindAllStringIndex(text, -1) {
		first, end := at[0], at[1]
		if !four {
			first, end = bounds6(text, first, end)
		}
		found := text[first:end]
		bare, _, _ := strings.Cut(found, "/")
		if !isAddress(bare) || goesOn(text, first, end, four) || four && isVersion(text[:first], bare) {
			continue
		}
		if network, ok := networkOf(found); ok && a.mode == "prefix" {
			bare, found = found, network
		} else {
			found = a.Name(bare)
		}
		b.WriteString(text[done:first])
		b.WriteString(found)
		done = first + len(bare)
	}
	b.WriteString(text[done:])
	return b.String()
}

// bounds6 leaves out colons and groups around an IPv6 address: the punctuation of a sentence, a word before it.
func bounds6(text string, first, end int) (int, int) {
	for from := first; from < end; {
		for to := end; to > from; to-- {
			if bare, _, _ := strings.Cut(text[from:to], "/"); isAddress(bare) {
				return from, to
			}
			if c := text[to-1]; c != ':' && c != '.' {
				break
			}
		}
		next := strings.IndexByte(text[from:end], ':')
		if next < 0 {
			break
		}
		from += next + 1
	}
	return first, end
}

func isAddress(name string) bool {
	_, err := netip.ParseAddr(name)
	return err == nil && name != "::"
}

// goesOn reports whether the text around an address makes it a part of something else.
func goesOn(text string, first, end int, four bool) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:first])
	after, _ := utf8.DecodeRuneInString(text[end:])
	if !four {
		return isWord(before) || isWord(after)
	}
	digit := func(at int) bool { return 0 <= at && at < len(text) && '0' <= text[at] && text[at] <= '9' }
	return digit(first-1) || digit(end) || before == '.' && digit(first-2) || after == '.' && digit(end+1)
}

func isWord(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }

// isVersion reports whether 120.0.0.0 is one: behind Chrome/.
func isVersion(before, address string) bool {
	name, slash := strings.CutSuffix(before, "/")
	last, _ := utf8.DecodeLastRuneInString(name)
	return slash && unicode.IsLetter(last) && strings.HasSuffix(address, ".0.0")
}

const leftOut = "(left out)"

// anonymize renames what the head of a report tells, and leaves out what may name people.
func (h *Head) anonymize(a *Anonymizer) {
	if a == nil {
		return
	}
	h.Anonymized, h.Command = a.mode, leftOut // flags may name users as well
	for i := range h.Warnings {
		h.Warnings[i] = a.Text(h.Warnings[i])
	}
	for i := range h.Findings {
		h.Findings[i] = h.Findings[i].Anonymized(a.Text)
	}
	for i := range h.Input.Files {
		f := &h.Input.Files[i]
		f.Name, f.Problem = a.File(f.Name), a.Text(f.Problem)
	}
	for i := range h.Input.Copies {
		c := &h.Input.Copies[i]
		c.Name, c.Of = a.File(c.Name), a.File(c.Of)
	}
	for i := range h.Input.Faults {
		f := &h.Input.Faults[i]
		f.File, f.Reason, f.Text = a.File(f.File), a.Text(f.Reason), a.Line(f.Text)
	}
}

// Line returns a line of a log as it may be shown.
func (a *Anonymizer) Line(text string) string {
	if a == nil {
		return text
	}
	return leftOut
}

// File returns the name that the report shows for a file: the last part of its name.
func (a *Anonymizer) File(name string) string {
	if a == nil {
		return name
	}
	return a.Text(filepath.Base(name))
}

func (p *Policy) anonymize(a *Anonymizer) {
	p.Policy, p.Semantics, p.Nginx = a.Text(p.Policy), a.Text(p.Semantics), a.Text(p.Nginx)
	for i := range p.Parts {
		part := &p.Parts[i]
		for _, text := range []*string{&part.Match, &part.Count, &part.text} {
			*text = a.Text(*text)
		}
	}
	if p.Harm != nil && p.Harm.Usage != nil {
		p.Harm.Usage.Action = a.Text(p.Harm.Usage.Action)
	}
}

// SetHistory adds to a report what has changed. It renames clients as the report does.
func (m *Model) SetHistory(h *history.History, a *Anonymizer) {
	for i := range h.Policies {
		p := &h.Policies[i]
		p.Policy = a.Text(p.Policy)
		for _, movers := range p.Lists() {
			for j := range movers {
				movers[j].Client = a.Name(movers[j].Client)
			}
		}
	}
	m.History = h
	if len(h.Degraded) > 0 {
		m.Warnings = append(m.Warnings,
			"verdicts were degraded in runs that this is compared with: "+strings.Trim(strings.ReplaceAll(fmt.Sprint(h.Degraded),
				" ", ", "), "[]"))
	}
	for _, p := range h.Policies {
		if p.Changed {
			m.Warnings = append(m.Warnings,
				"policy "+p.Policy+": it did not stand for the same limits in all runs that it is compared with")
		}
	}
}
