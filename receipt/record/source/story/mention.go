package story

// A mention is a record that names a call besides the lines that state it. A call that no line
// states was made all the same.
type mention struct {
	call, kind string // the type of the record
	ended      bool   // the record states that the call returned
}

// Mention notes that a record of a type names a call. If no line states the call, or its ID is "",
// the record is counted as unread.
func (s *Story) Mention(call, kind string) { s.mention(mention{call, kind, false}) }

// MentionEnd is Mention for a record of what the call returned. A line has to state that, too.
func (s *Story) MentionEnd(call, kind string) { s.mention(mention{call, kind, true}) }

func (s *Story) mention(x mention) {
	switch {
	case x.call == "":
		s.Ignored(x.kind)
	case !s.mentions[x]:
		if s.mentions == nil {
			s.mentions = map[mention]bool{}
		}
		s.mentions[x] = true
		s.Keep(partCost + len(x.call))
	}
}

// settle counts the mentions of calls that no line stated.
func (s *Story) settle() {
	for x := range s.mentions {
		if c := s.Known(x.call); c == nil || x.ended && c.Ended() == Open {
			s.Ignored(x.kind)
		}
	}
	s.mentions = nil
}
