package traffic

// Behind one address there may be an office, and one scraper may have a thousand. So that keys can be held against each
// other, people are counted in a unit that belongs to none of them: whoever the log can tell apart at all.

// A Visitor is one client with one user agent, and with one user, where the log tells users.
type Visitor struct {
	Client int32  // Tables.Clients
	User   int32  // Tables.Users, or NoUser
	Agent  uint16 // Tables.Agents
}

// Visitors gives each visitor that occurs a dense id. The zero value has seen nobody.
type Visitors struct {
	Column   []int32      // of each row of the batch that was taken in last
	Requests Paged[int64] // by visitor; those that only warm limits do not count

	who      Paged[Visitor] // by id
	ids      map[Visitor]int32
	evidence Paged[Evidence] // by id; empty if batches have no traces
	group    Group           // for evidence, whose requests must come in time order
}

// Take makes the column of a batch, and counts its requests.
func (v *Visitors) Take(b *Batch) {
	v.Column = v.Column[:0]
	for row, client := range b.Client {
		user := int32(NoUser)
		if b.User != nil {
			user = b.User[row]
		}
		v.Column = append(v.Column, v.id(Visitor{Client: client, User: user, Agent: b.Agent[row]}))
	}
	if b.Warm {
		return
	}
	for _, id := range v.Column {
		*v.Requests.At(id)++
	}
	if b.Traces != nil {
		v.gather(b)
	}
}

func (v *Visitors) id(who Visitor) int32 {
	id, known := v.ids[who]
	if known {
		return id
	}
	if v.ids == nil {
		v.ids = map[Visitor]int32{}
	}
	id = int32(len(v.ids))
	v.ids[who] = id
	v.who.Grow(len(v.ids))
	v.Requests.Grow(len(v.ids))
	*v.who.At(id) = who
	return id
}

// gather adds the batch to the evidence.
func (v *Visitors) gather(b *Batch) {
	v.evidence.Grow(v.Len())
	v.group.Sort(b, v.Column, v.Len())
	var start int32
	for i, end := range v.group.Ends {
		e := v.evidence.At(v.group.Keys[i])
		for j := start; j < end; j++ {
			row := v.group.Rows[j]
			e.Add(v.group.At[j], b.Status[row], 0, b.Traces[row]) // a visitor has one agent: no set is needed
		}
		start = end
	}
}

// Len is the number of visitors; the ids are 0 … Len−1.
func (v *Visitors) Len() int { return len(v.ids) }

// At is the visitor with an id.
func (v *Visitors) At(id int32) Visitor { return *v.who.At(id) }

// Classes are those of the visitors' agents, by id. Where evidence was gathered, who claims to be a browser and does what
// no browser does is of class unknown.
func (v *Visitors) Classes(agents *Agents, rules *EvidenceRules) []Class {
	classes := make([]Class, v.Len())
	var usual Customs
	for id := range int32(v.evidence.Len()) {
		usual.Add(v.evidence.At(id))
	}
	for id := range classes {
		class := agents.Class(int32(v.At(int32(id)).Agent))
		if class == Browser && rules != nil && id < v.evidence.Len() &&
			rules.Judge(v.evidence.At(int32(id)), class, &usual).Verdict == Bot {
			class = Unknown
		}
		classes[id] = class
	}
	return classes
}
