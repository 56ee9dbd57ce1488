package report

// Page is the report as a page, with what has changed.
func (m *Model) Page() *Page { return &Page{Model: m, Sections: m.pageHistory()} }

// pageHistory is what has changed, for a page: the sections that Markdown shows.
func (m *Model) pageHistory() []Section {
	if m.History == nil {
		return nil
	}
	changed := Section{Title: "What has changed"}
	for _, f := range m.History.facts() {
		changed.Notes = append(changed.Notes, f.label+": "+f.text)
	}
	all := []Section{changed}
	for i := range m.Policies[:m.view.detailed] {
		p := &m.History.Policies[i]
		for j, s := range p.sections(m) {
			section := Section{Title: p.Policy + ": " + s.title, Rows: s.grid.rows}
			if j == 0 {
				section.Notes = []string{sentence(p.headline(m, &m.Policies[i])) + "."}
			}
			for _, c := range s.grid.columns {
				section.Head = append(section.Head, c.head)
			}
			all = append(all, section)
		}
	}
	return all
}
