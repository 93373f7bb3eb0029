package story

import (
	"crypto/sha256"
	"hash"
	"iter"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A Story is the content of the logs of one task. It is not safe for concurrent use.
type Story struct {
	Kind     string // name of the source, such as claude-transcript
	Inexact  bool   // the current line was repaired, so its digests would differ from the digests of the original line
	Relaying bool   // the current line repeats a line from the log of another agent

	About
	Calls
	Messages
	Handoffs
	Gaps
	clock

	Logs      []*Log
	sessions  sessions
	tiers     [2]tier // first and last tier that any line records
	prompts   prompts
	hooks     hooks
	published index[published]
	changes   index[change]
}

// About describes the task as a whole. Some values depend on the order of the logs. An empty string
// means that no log records the value.
type About struct {
	Model, Provider string   // the selected model, which is the first that was named
	Workspace       string   // the directory in which the agent worked, as an absolute path
	Roots           []string // other directories in which the agent worked, as absolute paths, each once
	Program         string   // name of the agent, if another program wrote the log
	Policy          string   // a name for the rules under which the agent worked
	Versions        []string // versions of the program that wrote the log, each once
	Commit          string   // Git commit, in hexadecimal digits
	Branches        []string // Git branches, each once
	Trace           string   // ID of the trace
	Agent           string   // the agent that wrote all lines; "" if the main session or a second agent also wrote lines
	Wall            *int64   // in milliseconds, as counted by the source itself
	End             End
	Inferred        bool   // End was inferred from the end of a turn, because no line records the end of the task
	Failure         string // a word that states why the task failed; never text from the log
	Over            bool   // lines record when the task ended, but not necessarily how
	Endless         bool   // the last line of a log cannot be read
}

// An End states how the task ended. The zero End means that no line records it.
type End int

const (
	EndUnknown End = iota
	EndSucceeded
	EndFailed
	EndCanceled
)

// In records a directory in which the agent worked. The first directory is the workspace.
func (a *About) In(dir string) {
	if a.Workspace == "" {
		a.Workspace = dir
	}
	if dir != a.Workspace {
		a.Roots = Once(a.Roots, dir)
	}
}

// Version records a version of the program that wrote the log.
func (a *About) Version(v string) { a.Versions = Once(a.Versions, v) }

// Branch records a Git branch.
func (a *About) Branch(name string) { a.Branches = Once(a.Branches, name) }

// Ended returns the outcome of the task, which is unknown if the last line of a log was not read.
func (a *About) Ended() End {
	if a.Endless {
		return EndUnknown
	}
	return a.End
}

// open reports whether the task may have continued after the last line that was read.
func (a *About) open() bool { return a.Endless || a.End == EndUnknown && !a.Over }

// A Log describes a file that was read.
type Log struct {
	Name                           string
	Digest                         canon.Digest
	Bytes                          int64
	Lines                          int
	Unreadable, Repaired, Overlong int  // number of lines that are not JSON objects, that contain a lone surrogate, or that are too long
	Cut                            bool // the log ends in the middle of a line
}

// lacks reports whether a part of the log was not read.
func (l *Log) lacks() bool { return l.Unreadable > 0 || l.Overlong > 0 || l.Cut }

func (l *Log) members() event.Members {
	return event.Members{
		"name": l.Name, "sha256": l.Digest, "bytes": l.Bytes, "lines": int64(l.Lines), "cut": l.Cut,
		"unreadable_lines": some(l.Unreadable), "repaired_lines": some(l.Repaired), "overlong_lines": some(l.Overlong),
	}
}

// some returns a pointer to n, or nil if n is 0.
func some(n int) *int64 {
	if n == 0 {
		return nil
	}
	count := int64(n)
	return &count
}

// New returns an empty story for logs of a kind.
func New(kind string) *Story {
	s := &Story{Kind: kind}
	s.Calls.story, s.Messages.story, s.Handoffs.story = s, s, s
	return s
}

// Begin starts another log, to which the following lines belong. A line without a time is assigned
// the time of the previous line in its log.
func (s *Story) Begin(name string) *Log {
	l := &Log{Name: name}
	s.Logs, s.now = append(s.Logs, l), time.Time{}
	return l
}

// Stamped is like At, but parses an RFC 3339 date-time in a JSON value, and returns the time. If
// the value is present but invalid, it is unknown when the task began and ended.
func (s *Story) Stamped(n canon.Node) (at time.Time) {
	if at = Stamp(n); at.IsZero() && !event.Absent(n) {
		s.Note("unreadable_times")
		s.Partly = true
	}
	s.At(at)
	return at
}

// Dated is like Stamped, but for a time that every line of this type must contain.
func (s *Story) Dated(n canon.Node) {
	if s.Stamped(n).IsZero() {
		s.Partly = true
	}
}

// Clocked is like Stamped, but for a time in milliseconds since 1970.
func (s *Story) Clocked(n canon.Node) {
	at := Millis(n)
	if at.IsZero() && !event.Absent(n) {
		s.Note("unreadable_times")
		s.Partly = true
	}
	s.At(at)
}

// sessions contains the IDs of the sessions that appear in the lines.
type sessions struct {
	all   []string
	name  string // the session of the story itself
	at    Place  // position of the latest line that named the session
	owned bool   // the source specifies its own session, regardless of the names in later lines
}

// Names records a session that is named in a line. The story belongs to the session that is named
// in the latest line, unless the source specifies its session with Own.
func (s *Story) Names(id string) {
	if id == "" {
		return
	}
	x := &s.sessions
	x.all = Once(x.all, id)
	if here := s.Here(); x.name == "" || !x.owned && !here.Before(x.at) {
		x.at, x.name = here, id
	}
}

// Own records the session of the story.
func (s *Story) Own(id string) {
	if s.Another(id); id != "" {
		s.sessions.name, s.sessions.owned = id, true
	}
}

// Another records a session that is named in a line but is not the story's session.
func (s *Story) Another(id string) { s.sessions.all = Once(s.sessions.all, id) }

// Session returns the story's session, or "" if no line has named it.
func (s *Story) Session() string { return s.sessions.name }

// A tier is a trust tier with the position of the line that records it.
type tier struct {
	name string
	at   Place
}

// Tier records a trust tier that a line contains.
func (s *Story) Tier(name string) {
	if name == "" {
		return
	}
	t := tier{name, s.Here()}
	if first := s.tiers[0]; first.name == "" || t.at.Before(first.at) {
		s.tiers[0] = t
	}
	if last := s.tiers[1]; last.name == "" || last.at.Before(t.at) {
		s.tiers[1] = t
	}
}

// hooks contains the runs of hooks.
type hooks struct {
	runs  map[string]map[string]int // by the form in which runs are stated, and by name
	lines map[string]bool           // IDs of the lines that stated runs
}

// maxHookLines is the maximum number of lines whose copies are recognized.
const maxHookLines = 1 << 16

// Hooks counts the runs of a hook by its event and name. The command of a hook is not used, because
// it may contain secrets. Some logs record a run in several forms, and the form with the most runs
// is used. A line whose ID has already been counted is a copy.
func (s *Story) Hooks(way, name string, runs int, line string) {
	x := &s.hooks
	if x.lines[line] {
		return
	}
	if x.runs == nil {
		x.runs, x.lines = map[string]map[string]int{}, map[string]bool{}
	}
	if line != "" && len(x.lines) < maxHookLines {
		x.lines[line] = true
		s.Keep(partCost + len(line))
	}
	x.runs[way] = count(x.runs[way], name, runs)
}

// ran returns the number of runs of each hook, by name.
func (x *hooks) ran() map[string]int {
	all := map[string]int{}
	for _, told := range x.runs {
		for name, runs := range told {
			all[name] = max(all[name], runs)
		}
	}

	return all
}

// prompts contains the number of requests from people, and the digest of the JSON array of their
// contents (RFC 8785). The contents are not stored.
type prompts struct {
	count   int
	sum     hash.Hash
	lines   map[string]bool // IDs of lines that were counted
	inexact bool            // a line was repaired, so its original is unknown
}

// Prompt records a request from a person. If a line has an ID that was read before, it is a copy.
func (s *Story) Prompt(line string, words canon.Node) {
	p := &s.prompts

	// Logs may contain copies of lines, for example, after a session has been resumed.
	if p.lines[line] {
		return
	}
	if p.sum == nil {
		p.sum, p.lines = sha256.New(), map[string]bool{}
	}
	if line != "" {
		p.lines[line] = true
		s.Keep(partCost + len(line))
	}
	p.inexact = p.inexact || s.Inexact
	p.sum.Write([]byte("[,"[min(p.count, 1):][:1]))
	p.sum.Write(words.AppendCanonical(nil))
	p.count++
}

// members returns a description of the prompts, or nil if there are none.
func (p *prompts) members() any {
	if p.count == 0 {
		return nil
	}
	m := event.Members{"count": int64(p.count)}
	if !p.inexact {
		p.sum.Write([]byte("]"))
		m["sha256"] = canon.Digest(p.sum.Sum(nil))
	}

	return m
}

// published is a result of the task that is stored at a URL.
type published struct {
	kind, url string
	tool      string // tool that uploaded the result; "" if the log only links to it
	number    int
	first     Place
}

// Publish records a published result once. The argument tool is the tool that uploaded it, or "" if
// there is none.
func (s *Story) Publish(kind, url, tool string) {
	if !event.IsHTTP(url) {
		s.Lacks(GarbledPart)
		return
	}
	if p, fresh := s.published.entry(s, url); fresh {
		*p = published{kind, url, tool, len(s.published.Order), s.Here()}
	}
}

func (p *published) link() event.Members {
	return event.Members{"artifact_id": p.kind + "_" + strconv.Itoa(p.number), "kind": p.kind, "uri": p.url}
}

func (p *published) send() event.Members {
	return event.Members{"kind": "http", "url": p.url, "name": p.tool}
}

// Changed records that a file changed. If no call wrote the file, something else changed it.
func (s *Story) Changed(path string) {
	if path = Joined(s, path); path == "" {
		s.Lacks(WriteUnread)
		return
	}
	if x, fresh := s.changes.entry(s, path); fresh {
		*x = change{path, s.Here()}
	}
}

// wrote reports whether a call changed a file. The path may be relative to the workspace.
func (s *Story) wrote(path string) bool {
	for _, c := range thatWrote(s.Calls.list.Order) {
		for _, w := range c.writes {
			if w.Path == path || s.Workspace+"/"+w.Path == path {
				return true
			}
		}
	}
	return false
}

// Objects yields the elements of a list that are objects. Any other element, and a value that is
// not a list, is counted as garbled. An absent list is permitted.
func (s *Story) Objects(list canon.Node) iter.Seq[canon.Node] {
	return func(yield func(canon.Node) bool) {
		if !event.Absent(list) && list.Kind() != canon.KindArray {
			s.Lacks(GarbledPart)
		}
		for _, n := range list.Elements() {
			if n.Kind() != canon.KindObject {
				s.Lacks(GarbledPart)
				s.Partly = true // the value may contain a time
			} else if !yield(n) {
				return
			}
		}
	}
}

// Digest returns the SHA-256 of the RFC 8785 form of a value, or the zero digest if the line was
// repaired.
func (s *Story) Digest(n canon.Node) canon.Digest {
	if s.Inexact || event.Absent(n) {
		return canon.Digest{}
	}
	return event.HashOf(n)
}

// Held returns the state of a file that contains the text in a JSON string. The state is unknown if
// n is not a string, or if the line was repaired.
func (s *Story) Held(n canon.Node) State {
	if s.Inexact || n.Kind() != canon.KindString {
		return State{}
	}
	return Held(n.Text())
}

// DigestIn is like Digest, but for JSON in a string. If the string is not JSON, DigestIn returns
// the digest of its text.
func (s *Story) DigestIn(n canon.Node) canon.Digest {
	if s.Inexact || n.Kind() != canon.KindString {
		return s.Digest(n)
	}
	if doc, err := canon.Parse(n.Text()); err == nil {
		return doc.Digest()
	}

	return canon.Sum(n.Text())
}

// ReadAll reports whether every line was read and no ignored record has a type that begins with
// prefix. Only then does the absence of a line have a meaning.
func (s *Story) ReadAll(prefix string) bool {
	return s.knows(prefix) && !slices.ContainsFunc(s.Logs, (*Log).lacks)
}

// Passed lists the parts of the logs that were not read.
type Passed struct {
	Records                        map[string]int // of unknown types
	Unreadable, Repaired, Overlong int            // lines
	Timeless                       bool           // no line has a time
	Cut                            []string       // logs that end in the middle of a line
	Agents                         []string       // agents that worked for this agent and whose logs were not read
	Sessions                       []string       // sessions that the logs name, in order
}

// Passed returns the parts that have not been read.
func (s *Story) Passed() Passed {
	p := Passed{Timeless: s.first.IsZero(), Records: maps.Clone(s.ignored), Agents: slices.Clone(s.missing), Sessions: slices.Clone(s.sessions.all)}
	for _, l := range s.Logs {
		p.Unreadable, p.Repaired, p.Overlong = p.Unreadable+l.Unreadable, p.Repaired+l.Repaired, p.Overlong+l.Overlong
		if l.Cut {
			p.Cut = append(p.Cut, l.Name)
		}
	}

	return p
}

// TaskID returns the ID of the task: the ID of its session or, if no line names a session, an ID
// derived from the digests of the logs.
func (s *Story) TaskID() string {
	name := s.Session()
	if s.Agent != "" && name != "" {
		name += ".agent-" + s.Agent
	}
	if name != "" && len(name) <= event.MaxText {
		return name
	}
	var all []byte

	for _, l := range s.Logs {
		all = append(all, l.Digest[:]...)
	}

	return Unnamed(all)
}

// Unnamed returns the ID of a task without a session, derived from the concatenated digests of its
// logs.
func Unnamed(digests []byte) string {
	return "log_" + canon.Sum(digests).String()[len("sha256:"):][:16]
}

// Tell passes the events of the story to add: first the logs, then the actions in time order, and
// then the end. Each event is a JSON object that is valid until add returns. It returns an error if
// a limit was exceeded, or the error that add returned.
func (s *Story) Tell(task string, add func([]byte) error) error { return tell(s, task, add) }

// Empty reports whether the story has no content.
func (s *Story) Empty() bool {
	return s.Session() == "" && s.first.IsZero() && len(s.Calls.list.Order) == 0 && len(s.Messages.list.Order) == 0 && len(s.sums) == 0 && len(s.atLeast) == 0 && !s.partial
}
