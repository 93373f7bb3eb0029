package story

import (
	"cmp"
	"iter"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A Story is what the logs of one task tell. It is not safe for concurrent use.
type Story struct {
	Kind string // of the source, such as claude-transcript

	// What a source tells of the whole, in the order of its log. "" is not told.
	Model, Provider string   // the model that was chosen: the first that was named
	Workspace       string   // the folder in which the agent worked, an absolute path
	Roots           []string // other folders in which it worked, absolute paths, each once
	Policy          string   // a name for the rules under which it worked
	Versions        []string // of the program that wrote the log, each once
	Commit          string   // of git, in hexadecimal digits
	Branches        []string // of git, each once
	Trace           string   // id of the trace
	Agent           string   // the one agent that all of it is of; "": the session
	Wall            *int64   // milliseconds that the source counted itself
	End             End
	Inferred        bool   // End was concluded from the end of a turn; no line states the task's own
	Failure         string // a word for why the task failed; never a text of the log
	Partly          bool   // only some lines tell times: there may be earlier and later ones

	logs     []*log
	sessions []string
	session  Place // the latest-stamped line that named one, and which
	named    string
	owned    bool      // the source says which, whatever lines name later
	tiers    [2]string // of the first and the last line that named one
	tiered   [2]Place  // where those lines are

	now         time.Time // of the line that is read
	first, last time.Time
	order       int
	inexact     bool
	relaying    bool // the line repeats one of another agent's log

	calls    index[Call]
	messages index[Message]
	sums     []*Sum
	handoffs index[Handoff]

	published index[published]
	prompts   prompts
	cost      *big.Rat // of all sessions

	hooks     map[string]map[string]int // by the way in which they are told
	hookLines map[string]bool           // ids of the lines that told them
	ignored   map[string]int
	mentions  map[mention]bool
	notes     map[string]int
	untold    []string
	atLeast   []string
	missing   []string // agents of which no log was read
	estimated bool
	partial   bool // each list and count is a lower bound
	decided   bool // approvals are told
	endless   bool // a log has a last line that cannot be read
	over      bool // lines tell when the task was over

	kept int // bytes, about
	err  error
}

// An End is how the task ended. The zero End is not told.
type End int

const (
	EndUnknown End = iota
	EndSucceeded
	EndFailed
	EndCanceled
)

// New returns a story of logs of a kind.
func New(kind string) *Story {
	return &Story{Kind: kind, hooks: map[string]map[string]int{}, hookLines: map[string]bool{}, ignored: map[string]int{}, notes: map[string]int{}}
}

// Begin says that the lines of another log follow. A line that tells no time is as old as
// the one before it in its log.
func (s *Story) Begin(name string) {
	s.logs = append(s.logs, &log{name: name})
	s.now = time.Time{}
}

// Logs is how many logs were begun.
func (s *Story) Logs() int { return len(s.logs) }

// At says when the line that is read was written. The zero time is not told.
func (s *Story) At(at time.Time) {
	if at.IsZero() {
		return
	}
	s.now = at
	if s.first.IsZero() || at.Before(s.first) {
		s.first = at
	}
	if at.After(s.last) {
		s.last = at
	}
}

// Stamped is At for a member that is an RFC 3339 date-time, and returns it. One that is there
// and cannot be read leaves open when all began and was over.
func (s *Story) Stamped(n canon.Node) time.Time {
	at := Stamp(n)
	if at.IsZero() && !event.Absent(n) {
		s.Note("unreadable_times")
		s.Partly = true
	}
	s.At(at)
	return at
}

// Span is when the first and the last of the lines were written; zero where none tells.
func (s *Story) Span() (first, last time.Time) { return s.first, s.last }

// Now is when the line that is read was written; zero where nothing tells.
func (s *Story) Now() time.Time { return s.now }

// mark takes the next place in the order.
func (s *Story) mark() Place {
	s.order++
	return Place{s.now, s.order}
}

// Here is where the line that is read stands.
func (s *Story) Here() Place { return s.mark() }

// Names notes a session that a line names. That of the latest line is the story's own,
// unless the source says otherwise with Own.
func (s *Story) Names(id string) {
	if id == "" {
		return
	}
	s.sessions = Once(s.sessions, id)
	if m := s.mark(); s.named == "" || !s.owned && !m.Before(s.session) {
		s.session, s.named = m, id
	}
}

// Session is the session that the story is of, "" as long as nothing tells.
func (s *Story) Session() string { return s.named }

// Another notes a session that a line names, and that is not the story's own.
func (s *Story) Another(id string) { s.sessions = Once(s.sessions, id) }

// Own says which session the story is of.
func (s *Story) Own(id string) {
	if id != "" {
		s.sessions = Once(s.sessions, id)
		s.named, s.owned = id, true
	}
}

// Tier notes a trust tier that a line tells.
func (s *Story) Tier(tier string) {
	if tier == "" {
		return
	}
	here := s.mark()
	if s.tiers[0] == "" || here.Before(s.tiered[0]) {
		s.tiers[0], s.tiered[0] = tier, here
	}
	if s.tiers[1] == "" || s.tiered[1].Before(here) {
		s.tiers[1], s.tiered[1] = tier, here
	}
}

// In notes a folder in which the agent worked. The first is the workspace.
func (s *Story) In(dir string) {
	if s.Workspace == "" {
		s.Workspace = dir
	}
	if dir != s.Workspace {
		s.Roots = Once(s.Roots, dir)
	}
}

// Version notes a version of the program that wrote the log, Branch a branch of git.
func (s *Story) Version(v string) { s.Versions = Once(s.Versions, v) }
func (s *Story) Branch(name string) {
	s.Branches = Once(s.Branches, name)
}

// maxNames bounds lists of names that a log repeats.
const maxNames = 64

// Once appends a name that is not there yet.
func Once(list []string, name string) []string {
	if name == "" || len(list) >= maxNames {
		return list
	}
	for _, have := range list {
		if have == name {
			return list
		}
	}
	return append(list, name)
}

// Hooks counts runs of a hook, by its event and its name; its command may hold secrets. Some
// logs tell a run in several ways: the way that tells most of a hook counts. A line with an id
// that told runs before is a copy.
func (s *Story) Hooks(way, name string, runs int, line string) {
	if s.hookLines[line] {
		return
	}
	if line != "" && len(s.hookLines) < maxHookLines {
		s.hookLines[line] = true
		s.charge(0, partCost+len(line))
	}
	if s.hooks[way] == nil {
		s.hooks[way] = map[string]int{}
	}
	count(s.hooks[way], name, runs)
}

// maxHookLines bounds the lines that are known again.
const maxHookLines = 1 << 16

// ran are the runs of hooks, by the names of these.
func (s *Story) ran() map[string]int {
	all := map[string]int{}
	for _, told := range s.hooks {
		for name, runs := range told {
			all[name] = max(all[name], runs)
		}
	}
	return all
}

// Ignored counts a record of a type that the source does not know.
func (s *Story) Ignored(kind string) { count(s.ignored, kind, 1) }

// Note counts what was read and has no place in a receipt. The name is the source's own
// word, never a text of the log.
func (s *Story) Note(name string) { count(s.notes, name, 1) }

// more is the name under which what is beyond maxNames is counted.
const more = "(others)"

func count(of map[string]int, name string, n int) {
	name = event.Shorten(name)
	if name == "" {
		name = "None"
	}
	if _, have := of[name]; !have && len(of) >= maxNames {
		name = more
	}
	of[name] += n
}

// Untold says that a place of the receipt is not told. AtLeast says that what is told of
// it is not all.
func (s *Story) Untold(at ...string)  { s.untold = union(s.untold, at) }
func (s *Story) AtLeast(at ...string) { s.atLeast = union(s.atLeast, at) }

func union(list, more []string) []string {
	for _, at := range more {
		if !slices.Contains(list, at) {
			list = append(list, at)
		}
	}
	return list
}

// Decided says that lines tell what persons decided: that there is no approval is told.
func (s *Story) Decided() { s.decided = true }

// Estimated says that the costs are what the agent reckons, and no bill.
func (s *Story) Estimated() { s.estimated = true }

// Unreadable counts a line that is no JSON object, Repaired one in which half of a
// character was replaced, Overlong one that is too long to be read, Cut a log that ends in
// the middle of its last line.
func (s *Story) Unreadable() { s.logs[len(s.logs)-1].unreadable++ }
func (s *Story) Repaired()   { s.logs[len(s.logs)-1].repaired++ }
func (s *Story) Overlong()   { s.logs[len(s.logs)-1].overlong++ }
func (s *Story) Cut()        { s.logs[len(s.logs)-1].cut = true }

// Endless says that the last line of a log could not be read: how the task ended is not told.
func (s *Story) Endless() { s.endless = true }

// Over says that lines tell when the task was over, whether or not they tell how it ended.
func (s *Story) Over() { s.over = true }

// open reports whether the task may have gone on after the last line that was read.
func (s *Story) open() bool { return s.endless || s.End == EndUnknown && !s.over }

// Ended is how the task ended, as far as all lines could be read.
func (s *Story) Ended() End {
	if s.endless {
		return EndUnknown
	}
	return s.End
}

// Read says what was read of the latest log.
func (s *Story) Read(digest canon.Digest, bytes int64, lines int) {
	l := s.logs[len(s.logs)-1]
	l.digest, l.bytes, l.lines = digest, bytes, lines
}

// Inexact says that the line that is read is not told as it was written, so that digests
// of it would be of something else. It holds until it is called again.
func (s *Story) Inexact(is bool) { s.inexact = is }

// Digest is that of a JSON value: SHA-256 of its RFC 8785 form. It is zero where a line is
// not told exactly.
func (s *Story) Digest(n canon.Node) canon.Digest {
	if s.inexact || event.Absent(n) {
		return canon.Digest{}
	}
	return event.HashOf(n)
}

// Relaying says that the line that is read repeats one of another agent's log. It holds until
// it is called again.
func (s *Story) Relaying(is bool) { s.relaying = is }

// Exact reports whether digests of the line that is read are those of what was written.
func (s *Story) Exact() bool { return !s.inexact }

// Fail notes a limit that was met.
func (s *Story) Fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// Err is the limit that was met, if one was. Nothing is told then.
func (s *Story) Err() error { return s.err }

// Costs of what is kept, about.
const (
	entryCost = 512
	partCost  = 192
)

// charge counts what is kept, within the limits of a recording.
func (s *Story) charge(entries, bytes int) {
	if s.kept += bytes; s.kept > event.MaxKept && s.err == nil {
		s.err = event.OverLimit(s.order, "MaxKept", int64(s.kept))
	}
	if entries > event.MaxEntries && s.err == nil {
		s.err = event.OverLimit(s.order, "MaxEntries", int64(entries))
	}
}

// Keep counts what a reader keeps itself until the end, about, within the same limits.
func (s *Story) Keep(bytes int) { s.charge(0, bytes) }

// Name reports a text of a log that can be a name: not empty, and not longer than a
// recording keeps. Others are counted and not told.
func (s *Story) Name(n canon.Node) string { return Joined(s, n.Text()) }

// Joined is Name for a text that is made of several of a log.
func Joined[T string | []byte](s *Story, text T) string {
	if len(text) > event.MaxText {
		s.Note("names_too_long")
		return ""
	}
	return string(text)
}

// Passed returns what was passed over so far.
func (s *Story) Passed() Passed {
	p := Passed{Timeless: s.first.IsZero(), Records: maps.Clone(s.ignored), Agents: slices.Clone(s.missing), Sessions: slices.Clone(s.sessions)}
	for _, l := range s.logs {
		p.Unreadable, p.Repaired, p.Overlong = p.Unreadable+l.unreadable, p.Repaired+l.repaired, p.Overlong+l.overlong
		if l.cut {
			p.Cut = append(p.Cut, l.name)
		}
	}
	return p
}

// Missing says that no log of an agent was read that worked for this one: what it did and
// took is not all here.
func (s *Story) Missing(agent string) {
	s.missing = Once(s.missing, agent)
	s.Lacks(PartMissing)
}

// Lacks counts a gap.
func (s *Story) Lacks(g Gap) {
	if g != PartMissing {
		s.Note(string(g))
	}
	leaves := g.leaves()
	s.AtLeast(leaves...)
	s.partial = s.partial || leaves == nil
}

// Call returns the call of an id.
func (s *Story) Call(id string) *Call {
	c, fresh := s.calls.entry(s, id)
	if fresh {
		c.ID = id
	}
	return c
}

// Known returns the call of an id, nil when no line asked for it yet.
func (s *Story) Known(id string) *Call {
	if c := s.calls.ByID[id]; c != nil && c.requested {
		return c
	}
	return nil
}

// Mention notes that a record of a type names a call, and that it states that the call returned. If
// no line states that, or the ID of the call is "", the record is counted as unread.
func (s *Story) Mention(call, kind string, ended bool) {
	switch x := (mention{call, kind, ended}); {
	case call == "":
		s.Ignored(kind)
	case !s.mentions[x]:
		if s.mentions == nil {
			s.mentions = map[mention]bool{}
		}
		s.mentions[x] = true
		s.charge(0, partCost+len(call))
	}
}

// Calls yields the calls that were asked for, in the order of their lines.
func (s *Story) Calls() iter.Seq[*Call] {
	return func(yield func(*Call) bool) {
		for _, c := range s.calls.Order {
			if c.requested && !yield(c) {
				return
			}
		}
	}
}

// ReadAll reports whether every line was read, and no record of a type that begins in this way
// was passed over. Only then does the absence of a line mean anything.
func (s *Story) ReadAll(prefix string) bool {
	for kind := range s.ignored {
		if strings.HasPrefix(kind, prefix) || kind == more {
			return false
		}
	}
	return !slices.ContainsFunc(s.logs, (*log).lacks)
}

// HasCalls reports whether all calls of an agent were read, as whoever gave it work counts them.
func (s *Story) HasCalls(agent string) bool {
	h := s.handoffs.ByID[agent]
	if h == nil || h.Calls == nil {
		return false
	}
	n := int64(0)
	for c := range s.Calls() {
		if c.Agent == agent && c.outcome != Open {
			n++
		}
	}
	return n == *h.Calls
}

// Prompt notes what a person asked for. A line with an id that was read before is a copy.
func (s *Story) Prompt(line string, words canon.Node) { s.prompts.add(s, line, words) }

// Publish notes a resource that the task left at a URL, once. A tool, if there is one, sent
// it there.
func (s *Story) Publish(kind, url, tool string) {
	if !event.IsHTTP(url) {
		s.Lacks(GarbledPart)
		return
	}
	if p, fresh := s.published.entry(s, url); fresh {
		*p = published{kind, url, tool, len(s.published.Order), s.mark()}
	}
}

// Message returns the message of an id.
func (s *Story) Message(id string) (m *Message, fresh bool) {
	m, fresh = s.messages.entry(s, id)
	if fresh {
		m.first = s.mark()
	}
	return m, fresh
}

// MessageAt is Message for one that was at another place.
func (s *Story) MessageAt(id string, at Place) *Message {
	m, _ := s.Message(id)
	m.first = at
	return m
}

// Took adds a sum.
func (s *Story) Took(sum Sum) {
	s.sums = append(s.sums, &sum)
	s.charge(len(s.sums), entryCost)
}

// Cost adds what a session cost in all, dollars as decimal text. Decimals are added as
// such: 0.1 and 0.2 are 0.3.
func (s *Story) Cost(amount string) {
	n, ok := new(big.Rat).SetString(amount)
	if !ok {
		return
	}
	if s.cost == nil {
		s.cost = new(big.Rat)
	}
	s.cost.Add(s.cost, n)
}

// Priced reports whether anything was told of what the sessions cost.
func (s *Story) Priced() bool { return s.cost != nil }

// account is what all sessions cost; "" is not told.
func (s *Story) account() string {
	if s.cost == nil {
		return ""
	}
	return strings.TrimSuffix(strings.TrimRight(s.cost.FloatString(maxDecimals), "0"), ".")
}

// Handoff returns the work of an id. Without one it is told apart by a label.
func (s *Story) Handoff(id, label string) *Handoff {
	key := id
	if id == "" {
		key = label
	}
	h, fresh := s.handoffs.entry(s, key)
	if fresh {
		h.task, h.label, h.first = key, id == "", s.mark()
	}
	return h
}

// Given returns the work of an id, nil when no line gave it.
func (s *Story) Given(id string) *Handoff { return s.handoffs.ByID[id] }

// Handed returns the ids of the work that was given to other agents, as far as the source
// gives them any.
func (s *Story) Handed() (ids []string) {
	for _, h := range s.handoffs.Order {
		if !h.label {
			ids = append(ids, h.task)
		}
	}
	return ids
}

// Nobodys reports whether work was given to another agent of which no line tells the id.
func (s *Story) Nobodys() bool {
	return slices.ContainsFunc(s.handoffs.Order, func(h *Handoff) bool { return h.label })
}

// TaskID is the name under which the story is told: that of its session, or, where no line
// names one, one made of the digests of the logs.
func (s *Story) TaskID() string {
	name := s.named
	if s.Agent != "" && name != "" {
		name += ".agent-" + s.Agent
	}
	if name != "" && len(name) <= event.MaxText {
		return name
	}
	var all []byte
	for _, l := range s.logs {
		all = append(all, l.digest[:]...)
	}
	return Unnamed(all)
}

// Unnamed is the id of what has no session, by the digests of its logs, one after the other.
func Unnamed(digests []byte) string {
	return "log_" + canon.Sum(digests).String()[len("sha256:"):][:16]
}

// Tell gives the events of the story to a function, each a JSON object that is valid until
// the function returns: first what was read, then what happened, in the order of the
// instants, then the end. The error is a limit that was met, or what the function returned.
func (s *Story) Tell(task string, add func([]byte) error) error {
	for x := range s.mentions {
		if !x.stated(s) {
			s.Ignored(x.kind)
		}
	}
	if s.mentions = nil; s.err != nil {
		return s.err
	}
	t := &teller{Story: s, task: cmp.Or(task, s.TaskID()), add: add}
	t.emit("source.read", t.begun(), t.about)
	t.emit("task.started", t.begun(), func(o *object) { o.text("autonomy_tier", s.tiers[0]) })
	for _, d := range t.deeds() {
		t.emit(d.kind, d.at.at, d.payload)
	}
	if amount := s.account(); amount != "" {
		t.emit("span.updated", t.over(), func(o *object) { o.text("kind", "usage"); price(o, amount) })
	}

	t.emit(t.ending(), t.over(), func(o *object) {
		o.text("autonomy_tier", s.tiers[1])
		if s.Failure != "" {
			o.within("failure", func(o *object) { o.text("code", s.Failure) })
		}
	})
	return t.err
}

// Empty reports whether nothing was told.
func (s *Story) Empty() bool {
	return s.named == "" && s.first.IsZero() && len(s.calls.Order) == 0 && len(s.messages.Order) == 0 && len(s.sums) == 0 && len(s.atLeast) == 0 && !s.partial
}
