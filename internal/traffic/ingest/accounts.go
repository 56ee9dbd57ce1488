package ingest

import (
	"slices"

	"shadow/internal/lazy"
	"shadow/parse"
)

// Where a log names accounts, an address may be another unit than an account: a gateway stands for many of them, and
// one may send from a hundred machines. The beginning of a log shows it.

// Accounts tell how the accounts that a field names lie to addresses.
type Accounts struct {
	Field          string // as --client takes it
	Values, Shared int    // how many there are, on how many addresses with several of them
	Spread         int    // on how many addresses those are that have several; 0: addresses stand for accounts
}

// accountName fits the names of fields that say whose a request is. Sessions and devices are none: who drops them is
// another client.
var accountName = lazy.Regexp(`(?i)^[a-z0-9_.-]*(api[_.-]?key([_.-]?id)?|(account|tenant|consumer|customer)([_.-]?(id|name|username))?|user([_.-]?(id|name))?)$`)

const (
	mostNamed     = 4 // fields that are tried
	leastAccounts = 3
)

// AccountsIn looks at the beginning of a log, which choose chooses the format of, with further fields. false: no field
// names accounts that are another unit than addresses.
func AccountsIn(sample []byte, choose func(fields []string) (*parse.Format, error)) (found Accounts, is bool) {
	plain, err := choose(nil)
	if err != nil {
		return found, false
	}
	fields := slices.DeleteFunc(slices.Clone(FieldsOf(sample, plain)), func(name string) bool {
		return name == "remote_user" || !accountName().MatchString(name)
	})
	fields = fields[:min(len(fields), mostNamed)]
	format, err := choose(fields)
	if err != nil {
		return found, false
	}
	uses := make([]accountUse, 1+len(fields))
	for r := range records(sample, format) {
		uses[0].take(r.User, r.Client)
		for i := range fields {
			uses[1+i].take(r.Extra[i], r.Client)
		}
	}
	for i, name := range append([]string{"user"}, fields...) {
		if found, is = uses[i].tell(name); is {
			return found, true
		}
	}
	return found, false
}

// An accountUse is which accounts come from which addresses.
type accountUse struct {
	requests, named      int
	byAddress, byAccount map[string]map[string]int // requests
}

func (u *accountUse) take(account, address []byte) {
	u.requests++
	if len(account) == 0 || string(account) == "-" {
		return
	}
	if u.byAddress == nil {
		u.byAddress, u.byAccount = map[string]map[string]int{}, map[string]map[string]int{}
	}
	u.named++
	count := func(all map[string]map[string]int, key, other string) {
		if all[key] == nil {
			all[key] = map[string]int{}
		}
		all[key][other]++
	}
	count(u.byAddress, string(address), string(account))
	count(u.byAccount, string(account), string(address))
}

// several counts the keys that have several others, and their requests.
func several(all map[string]map[string]int) (keys, others, requests int) {
	seen := map[string]bool{}
	for _, of := range all {
		if len(of) < 2 {
			continue
		}
		keys++
		for other, n := range of {
			requests += n
			seen[other] = true
		}
	}
	return keys, len(seen), requests
}

// tell says that accounts are another unit: nearly all requests name one, by names that come again, and most of these come
// from addresses with several, or are of accounts with several addresses. Those without one would be one client.
func (u *accountUse) tell(field string) (a Accounts, is bool) {
	n := len(u.byAccount)
	if 10*u.named < 9*u.requests || n < leastAccounts || u.named < 2*n {
		return a, false
	}
	if keys, others, requests := several(u.byAddress); 2*requests >= u.named {
		return Accounts{Field: field, Values: others, Shared: keys}, true
	}
	if keys, others, requests := several(u.byAccount); 2*requests >= u.named {
		return Accounts{Field: field, Values: keys, Spread: others}, true
	}
	return a, false
}
