package story

// A mention is a record that names a call besides the lines that state it. A call that no line
// states was made all the same.
type mention struct {
	call, kind string // the type of the record
	ended      bool   // the record states that the call returned
}

// stated reports whether a line states the call, and what it returned.
func (x mention) stated(s *Story) bool {
	c := s.Known(x.call)
	return c != nil && !(x.ended && c.Ended() == Open)
}
