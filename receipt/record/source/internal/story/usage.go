package story

// A Usage is what a call of a model took. A nil count is not told.
type Usage struct {
	Input, Output *int64 // all that the model read, and wrote

	// Of the input, what came out of a cache and what was put into one; of the output, what
	// the model thought.
	CacheRead, CacheWrite, Reasoning *int64

	InputFloor, Floor bool // more was read than Input says, and written than Output does
	Apart             bool // Input is the sum of what was read anew, CacheRead and CacheWrite
}

// Apart is the use of a source that tells what was read anew apart from what came out of a
// cache and what was put into one. Without the first the sum is a floor.
func Apart(fresh, read, written, output *int64) Usage {
	u := Usage{Apart: true, CacheRead: read, CacheWrite: written, Output: output, InputFloor: fresh == nil}
	for _, n := range []*int64{fresh, read, written} {
		if n == nil {
			continue
		}
		if u.Input == nil {
			u.Input = new(int64)
		}
		*u.Input += *n
	}
	return u
}

// Told reports whether anything of the whole is told.
func (u Usage) Told() bool { return u.Input != nil || u.Output != nil }

// More reports whether a line tells more of a message than another.
func (u Usage) More(than Usage) bool {
	switch {
	case u.Output == nil:
		return than.Output == nil && than.Input == nil
	case than.Output == nil:
		return true
	}
	return *u.Output > *than.Output
}

// Differs reports whether two lines are not of one message: as long as it is written, counts grow,
// and what came out of a cache is as it was.
func (u Usage) Differs(from Usage) bool {
	differ := func(a, b *int64) bool { return a != nil && b != nil && *a != *b }
	less := func(a, b *int64) bool { return a != nil && b != nil && *a < *b }
	return differ(u.CacheRead, from.CacheRead) || differ(u.CacheWrite, from.CacheWrite) ||
		less(u.Input, from.Input) && !less(u.Output, from.Output) || less(from.Input, u.Input) && !less(from.Output, u.Output)
}

// complete marks as a lower bound the input of a usage in which a part is missing that others state.
func (u *Usage) complete(others Usage) {
	u.InputFloor = u.InputFloor || u.Apart && (u.CacheRead == nil && others.CacheRead != nil || u.CacheWrite == nil && others.CacheWrite != nil)
}

// A Message is one answer of a model, as all lines that name its id describe it.
type Message struct {
	Model, Provider string
	Agent           string // label of the agent; "" is the main one
	Finished        bool   // a line tells why it stopped: its counts are the last

	usage Usage
	first Place
	told  bool
}

// Use notes what a line tells of the message's use. Lines repeat it, and some tell it
// while the model still writes: the one with the most output counts.
func (m *Message) Use(s *Story, u Usage) {
	if m.told && u.Differs(m.usage) {
		s.Lacks(MessagesOfOneID)
	}
	if !m.told || u.More(m.usage) {
		m.usage, m.told = u, true
	}
}

// A Sum is what calls of a model took together, where a source tells no more.
type Sum struct {
	Model, Provider string
	Usage
	Cost string // dollars as decimal text; "" is not told
}

func (m *Message) write(o *object) {
	o.text("kind", "llm")
	o.text("agent", m.Agent)
	o.text("provider", m.Provider)
	o.text("model", m.Model)
	use := m.usage
	use.Floor = use.Floor || !m.Finished
	use.write(o)
}

// write tells each count, and which of them are told in part: a part of a count is no more
// whole than that. What was read, or written, and is not told, is missing in every sum.
func (u Usage) write(o *object) {
	var atLeast []string
	for _, x := range []struct {
		name  string
		n     *int64
		floor bool
		whole bool
	}{
		{"input_tokens", u.Input, u.InputFloor, true}, {"cache_read_input_tokens", u.CacheRead, u.InputFloor, false}, {"cache_creation_input_tokens", u.CacheWrite, u.InputFloor, false},
		{"output_tokens", u.Output, u.Floor, true}, {"reasoning_output_tokens", u.Reasoning, u.Floor, false},
	} {
		o.count(x.name, x.n)
		if x.floor && x.n != nil || x.whole && x.n == nil {
			atLeast = append(atLeast, x.name)
		}
	}
	o.texts("at_least", atLeast)
}

func (x *Sum) write(o *object) {
	o.text("kind", "turn")
	o.text("provider", x.Provider)
	o.text("model", x.Model)
	price(o, x.Cost)
	o.is("apart", true) // no other span tells these calls
	x.Usage.write(o)
}
