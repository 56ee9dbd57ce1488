package report

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"

	"shadow/lazy"
	"shadow/report/history"
)

// A report that leaves the house shows clients under other names. Two ways:
//
//	hash    a keyed hash (HMAC with SHA-256): the same client has the same name wherever the key is the same, and nobody
//	        without the key can find out which, by trying all addresses either
//	prefix  the network that an address lies in, /24 or /48; what is no address becomes a hash
//
// The command and the texts of unreadable lines are left out, of files only the last part of the name stays, and
// addresses in warnings and in conditions of policies are renamed as well. Actions and user agents stay as they are.

// Anonymizations are the values of --anonymize.
func Anonymizations() []string { return []string{"hash", "prefix"} }

// An Anonymizer renames clients. A nil one leaves them as they are.
type Anonymizer struct {
	mode string
	key  []byte
}

// NewAnonymizer renames in one of Anonymizations.
func NewAnonymizer(mode string, key []byte) (*Anonymizer, error) {
	for _, known := range Anonymizations() {
		if mode == known {
			return &Anonymizer{mode, key}, nil
		}
	}
	return nil, fmt.Errorf("anonymization %q: want one of %s", mode, strings.Join(Anonymizations(), ", "))
}

// The networks that stand for an address: what providers give to a customer, or less.
const (
	prefix4 = 24
	prefix6 = 48
)

// Name is what a client is called.
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
	return "client-" + hex.EncodeToString(mac.Sum(nil)[:8])
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

// Text renames the addresses in a text.
func (a *Anonymizer) Text(text string) string {
	if a == nil {
		return text
	}
	return addressLike().ReplaceAllStringFunc(text, func(word string) string {
		if network, ok := networkOf(word); ok && a.mode == "prefix" {
			return network
		}
		bare, _, _ := strings.Cut(word, "/")
		bare = strings.TrimRight(bare, ".:")
		if _, err := netip.ParseAddrPort(bare); err == nil {
			bare = bare[:strings.LastIndexByte(bare, ':')]
		}
		if _, err := netip.ParseAddr(bare); err != nil {
			return word
		}
		return a.Name(bare) + word[len(bare):]
	})
}

// addressLike is what an address or a network may be made of.
var addressLike = lazy.Regexp(`([0-9A-Fa-f:.]*[0-9A-Fa-f][.:][0-9A-Fa-f:.]*|::[0-9A-Fa-f:.]*)(/[0-9]+)?`)

const leftOut = "(left out)"

// Anonymize renames all clients of the report, and leaves out what may name them.
func (m *Model) Anonymize(a *Anonymizer) {
	if a == nil {
		return
	}
	m.Anonymized, m.Command = a.mode, leftOut // flags may name users as well
	for i := range m.Warnings {
		m.Warnings[i] = a.Text(m.Warnings[i])
	}
	for i := range m.Findings {
		m.Findings[i] = m.Findings[i].Anonymized(a.Text)
	}
	for i := range m.Input.Files {
		f := &m.Input.Files[i]
		f.Name, f.Problem = a.File(f.Name), a.Text(f.Problem)
	}
	for i := range m.Input.Copies {
		c := &m.Input.Copies[i]
		c.Name, c.Of = a.File(c.Name), a.File(c.Of)
	}
	for i := range m.Input.Faults {
		f := &m.Input.Faults[i]
		f.File, f.Reason, f.Text = a.File(f.File), a.Text(f.Reason), leftOut
	}
	for i := range m.Policies {
		m.Policies[i].anonymize(a)
	}
	for i := range m.clients {
		m.clients[i].of.Client = a.Name(m.clients[i].of.Client)
	}
}

// File is what a file is called: the last part of its name.
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
	for i := range p.TopClients {
		p.TopClients[i].Client = a.Name(p.TopClients[i].Client)
	}
	if h := p.Harm; h != nil {
		for _, s := range []*Streak{h.Lockout, h.Busiest} {
			if s != nil {
				s.Client = a.Name(s.Client)
			}
		}
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
