package story

// A Usage is what a call of a model took. A nil count is not told.
type Usage struct {
	Input, CacheRead, CacheWrite, Output *int64
	Floor                                bool // more was written than Output says
}

// total is all that the model read; nil when nothing of it is told.
func (u Usage) total() *int64 {
	var sum int64
	told := false
	for _, n := range []*int64{u.Input, u.CacheRead, u.CacheWrite} {
		if n != nil {
			sum, told = sum+*n, true
		}
	}
	if !told {
		return nil
	}
	return &sum
}

// More reports whether a line tells more of a message than another.
func (u Usage) More(than Usage) bool {
	return than.Output == nil || u.Output != nil && *u.Output > *than.Output
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
func (m *Message) Use(u Usage) {
	if !m.told || u.More(m.usage) {
		m.usage, m.told = u, true
	}
}

// A Sum is what calls of a model took together, where a source tells no more.
type Sum struct {
	Model, Provider string
	Usage
	Cost      string // dollars as decimal text; "" is not told
	InputPart bool   // more was read than is told
}

func (m *Message) write(o *object) {
	o.text("kind", "llm")
	o.text("agent", m.Agent)
	o.text("provider", m.Provider)
	o.text("model", m.Model)
	m.usage.write(o, !m.Finished || m.usage.Floor, false)
}

func (u Usage) write(o *object, floor, part bool) {
	input := u.total()
	o.count("input_tokens", input)
	o.count("output_tokens", u.Output)
	var atLeast []string
	if part && input != nil {
		atLeast = append(atLeast, "input_tokens")
	}
	if floor && u.Output != nil {
		atLeast = append(atLeast, "output_tokens")
	}
	o.texts("at_least", atLeast)
}

func (x *Sum) write(o *object) {
	o.text("kind", "turn")
	o.text("provider", x.Provider)
	o.text("model", x.Model)
	price(o, x.Cost)
	o.is("apart", true) // no other span tells these calls
	x.Usage.write(o, x.Floor, x.InputPart)
}
