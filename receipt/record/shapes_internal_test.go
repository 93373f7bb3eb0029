package record

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
)

// A shape is an endless log that consists of one kind of expensive line.
type shape struct {
	name string
	form Form
	head string                           // lines that precede the repeated lines
	line func(b []byte, i int64) []byte   // appends line i, counted from 0; one step may append several lines
	tail func(b []byte, end int64) []byte // lines after the last repeated line; nil means the end of the task
	most int64                            // maximum number of lines; 0 means that the size determines it
}

// open returns a reader that generates at least size bytes of the shape.
func (s shape) open(size int64) io.Reader { return &stream{shape: s, left: size, buf: []byte(s.head)} }

type stream struct {
	shape
	left  int64
	next  int64
	buf   []byte
	at    int
	ended bool
}

func (s *stream) Read(p []byte) (int, error) {
	if s.at == len(s.buf) {
		s.buf, s.at = s.buf[:0], 0
		switch {
		case s.left > 0:
			for len(s.buf) < 1<<16 && (s.most == 0 || s.next < s.most) {
				s.buf = s.line(s.buf, s.next)
				s.next++
			}
			if s.left -= int64(len(s.buf)); s.next == s.most {
				s.left = 0
			}
		case s.ended:
			return 0, io.EOF
		default:
			s.buf, s.ended = s.end(s.buf), true
		}
	}
	n := copy(p, s.buf[s.at:])
	s.at += n
	return n, nil
}

func (s *stream) end(b []byte) []byte {
	switch {
	case s.tail != nil:
		return s.tail(b, s.next)
	case s.form == FormFrames:
		return append(b, `{"at":"2026-01-01T00:00:00Z","event":"task.completed","payload":{}}`+"\n"...)
	}
	return text(b, s.next, "task.completed", "{}")
}

// text appends event number i of a shape, counting from 0.
func text(b []byte, i int64, kind, payload string) []byte {
	return envelope(b, i, strconv.FormatInt(i+2, 10), "t", "t", kind, payload)
}

func envelope(b []byte, i int64, id, resource, task, kind, payload string) []byte {
	b = append(append(b, `{"id":"`...), id...)
	b = append(append(b, `","object":"event","event":"`...), kind...)
	b = append(append(b, `","resource":{"object":"task","id":"`...), resource...)
	b = append(append(b, `"},"created_at":"2026-01-01T00:00:00Z","task_id":"`...), task...)
	b = strconv.AppendInt(append(b, `","sequence":`...), i+2, 10)
	return append(append(append(b, `,"payload":`...), payload...), "}\n"...)
}

// upTo returns a copy of the shape that has a maximum number of lines.
func (s shape) upTo(most int64) shape {
	s.name, s.most = fmt.Sprintf("%s, %d", s.name, most), most
	return s
}

// one returns a shape that consists of events of one kind.
func one(name, kind string, payload func(n string) string) shape {
	return shape{name: name, form: FormEvents, head: started1, line: func(b []byte, i int64) []byte {
		return text(b, i, kind, payload(strconv.FormatInt(i, 10)))
	}}
}

// update returns a shape that consists of session updates of one kind.
func update(name string, params func(n string) string) shape {
	return framed(name, func(n string) string {
		return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{` + params(n) + `}}}`
	})
}

// framed returns a shape that consists of frames. Each step may append several frames.
func framed(name string, lines func(n string) string) shape {
	return shape{name: name, form: FormFrames, head: `{"at":"2026-01-01T00:00:00Z","event":"task.started","payload":{}}` + "\n", line: func(b []byte, i int64) []byte {
		return append(append(b, lines(strconv.FormatInt(i, 10))...), '\n')
	}}
}

const (
	started1 = `{"id":"1","object":"event","event":"task.started","resource":{"object":"task","id":"t"},"created_at":"2026-01-01T00:00:00Z","task_id":"t","sequence":1,"payload":{}}` + "\n"
)

// large returns the size of a large value in bytes. A line has at most canon.MaxBytes.
func large() int {
	if testsize.Full() || os.Getenv(gigabyteVariable) != "" {
		return 15 << 20
	}
	return 3 << 20
}

// long pads a string to 4 KB.
func long(n string) string { return n + filler[:4<<10-len(n)] }

// repeat returns n copies of a string, separated by commas.
func repeat(n int, part func(n string) string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(part(strconv.Itoa(i)))
	}
	return b.String()
}

// ones returns an array that contains as many values as fit into a line. Large values are created
// only when a shape that contains them is read.
func ones() string { return `[` + strings.Repeat("1,", large()/2) + `1]` }

var filler = strings.Repeat("x", 4<<10) // read only

// shapes returns all shapes. Unless a shape states otherwise, the names of the objects in the task
// differ from line to line.
func shapes() []shape {
	all := append(eventShapes(), frameShapes()...)
	for _, s := range all {
		switch s.name {
		case "many calls", "many calls in frames":
			all = append(all, s.upTo(30_000)) // its draft nearly reaches the maximum size of a receipt
		case "calls with one long name":
			all = append(all, s.upTo(10_000)) // its strings are stored once, but would be written ten thousand times
		}
	}
	return all
}

func eventShapes() []shape {
	ones := sync.OnceValue(ones)
	members := sync.OnceValue(func() string {
		return `{` + repeat(300_000, func(n string) string { return `"` + n + `":0` }) + `}`
	})
	deep := strings.Repeat("[", 900) + strings.Repeat("]", 900)
	reviewers := repeat(1000, func(n string) string { return `"reviewer_` + n + `"` })
	signatures := repeat(500, func(n string) string {
		return `{"reviewer":"` + n + `","signed_at":"2026-01-01T00:00:00Z","signature":"s"}`
	})
	writes := repeat(100, func(n string) string { return `{"path":"src/` + n + `.go","operation":"modify"}` })
	return []shape{
		one("small events", "user.message", func(string) string { return "{}" }),
		{"long ids", FormEvents, started1, func(b []byte, i int64) []byte {
			return envelope(b, i, long(strconv.FormatInt(i, 10)), "t", "t", "user.message", "{}")
		}, nil, 0},
		{"many resources", FormEvents, started1, func(b []byte, i int64) []byte {
			return envelope(b, i, strconv.FormatInt(i+2, 10), long("r"+strconv.FormatInt(i, 10)), "t", "user.message", "{}")
		}, func(b []byte, end int64) []byte { return envelope(b, 0, "end", "t", "t", "task.completed", "{}") }, 0},
		{"many tasks", FormEvents, started1, func(b []byte, i int64) []byte {
			return envelope(b, i, strconv.FormatInt(i+2, 10), long("r"+strconv.FormatInt(i, 10)), long("t"+strconv.FormatInt(i, 10)), "user.message", "{}")
		}, func(b []byte, end int64) []byte { return envelope(b, 0, "end", "t", "t", "task.completed", "{}") }, 0},
		{"the same events again", FormEvents, started1, func(b []byte, i int64) []byte {
			return text(b, 0, "tool.completed", `{"tool_call_id":"c","output":"`+filler+`"}`)
		}, func(b []byte, end int64) []byte { return text(b, 1, "task.completed", "{}") }, 0},
		one("unknown kinds", "vendor.other", func(n string) string { return `{"a":"` + long(n) + `"}` }),
		one("one call, many events", "tool.completed", func(n string) string {
			return `{"tool_call_id":"c","name":"tool","executor":"harn_builtin","duration_ms":` + n + `,"output":"` + filler[:512] + `","fs_writes":[` + writes + `]}`
		}),
		one("many calls", "tool.completed", func(n string) string {
			return `{"tool_call_id":"call_` + n + `","name":"tool","input":{"n":` + n + `},"output":"` + n + `","executor":"harn_builtin","kind":"edit","mutation_scope":"apply_workspace","run_id":"r","worker_id":"w","duration_ms":1,"execution_duration_ms":1}`
		}),
		one("calls with long names", "tool.requested", func(n string) string {
			return `{"tool_call_id":"` + long("c"+n) + `","name":"` + long("n"+n) + `","run_id":"` + long("r"+n) + `","worker_id":"` + long("w"+n) + `"}`
		}),
		one("calls with one long name", "tool.requested", func(n string) string {
			return `{"tool_call_id":"` + n + `","name":"` + filler + `","run_id":"` + filler + `","worker_id":"` + filler + `"}`
		}),
		one("long servers", "agent.mcp_tool_use", func(n string) string {
			return `{"tool_call_id":"` + n + `","name":"t","server":"` + filler + `","url":"https://` + strings.ToUpper(filler) + `/"}`
		}),
		one("many writes", "tool.completed", func(n string) string {
			return `{"tool_call_id":"c","fs_writes":[` + repeat(100, func(m string) string { return `{"path":"src/` + n + `/` + m + `/` + filler[:200] + `"}` }) + `]}`
		}),
		one("many hosts", "span.completed", func(n string) string {
			return `{"kind":"http","name":"` + long("n"+n) + `","url":"https://h` + n + `.example/` + filler[:1000] + `"}`
		}),
		one("many models", "span.completed", func(n string) string {
			return `{"kind":"llm","provider":"` + long(n) + `","model":"` + long(n) + `","cost":0.001,"input_tokens":1,"response":{"a":1}}`
		}),
		one("one long agent", "span.completed", func(n string) string {
			return `{"kind":"llm","provider":"p","model":"m","agent":"` + filler + `","cost":"0.000000000000000000001","response":` + n + `}`
		}),
		one("many artifacts", "artifact.created", func(n string) string {
			return `{"artifact_id":"a` + n + `","kind":"file","uri":"file:///` + filler[:1000] + n + `","applied":true,"path":"` + n + `"}`
		}),
		one("one artifact, many versions", "artifact.updated", func(n string) string {
			return `{"artifact_id":"a","kind":"file","uri":"file:///` + filler[:1000] + n + `"}`
		}),
		one("many memories", "agent.memory_read", func(n string) string {
			return `{"memory_id":"` + n + filler[:100] + `","uri":"u","sha256":"06363555054de198a87c4c743572dd5113a5fa5d298b9478a30c29ebb9d38b97"}`
		}),
		one("many handoffs", "agent.handoff", func(n string) string { return `{"task_id":"` + n + `","target_agent":"` + filler[:500] + `"}` }),
		one("many overrides", "replay.event_replayed", func(n string) string { return `{"override_key":"llm:main:` + n + `","reason":"` + filler[:500] + `"}` }),
		one("many approvals", "tool.approval_required", func(n string) string {
			return `{"approval_id":"a` + n + `","tool_call_id":"c` + n + `","action":"act"}`
		}),
		one("approvals of large questions", "tool.approval_required", func(n string) string { return `{"approval_id":"a` + n + `","input":"` + filler + filler + `"}` }),
		one("one approval, many reviewers", "user.tool_confirmation", func(n string) string {
			return `{"approval_id":"a","decision":"approved","actor":"reviewer_0","reviewers":[` + reviewers + `]}`
		}),
		one("approvals, many reviewers each", "tool.approved", func(n string) string { return `{"approval_id":"` + n + `","reviewers":[` + reviewers + `]}` }),
		one("approvals, many signatures each", "tool.approved", func(n string) string { return `{"approval_id":"` + n + `","signatures":[` + signatures + `]}` }),
		one("deep payloads", "tool.completed", func(n string) string { return `{"tool_call_id":"c","output":` + deep + `}` }),
		one("wide payloads", "tool.completed", func(n string) string { return `{"tool_call_id":"c","output":` + ones() + `}` }),
		one("wide payloads of unknown kinds", "vendor.other", func(n string) string { return `{"output":` + ones() + `}` }),
		one("many members", "tool.completed", func(n string) string { return `{"tool_call_id":"c","output":` + members() + `}` }),
		one("long strings", "tool.completed", func(n string) string { return `{"tool_call_id":"c","output":"` + strings.Repeat("y", large()) + `"}` }),
		one("long strings of escapes", "tool.completed", func(n string) string {
			return `{"tool_call_id":"c","output":"` + strings.Repeat(`\u0001`, large()/6) + `"}`
		}),
		one("model routes", "span.completed", func(n string) string {
			return `{"kind":"llm","provider":"p","model":"m","model_route":{"alternatives_considered":[` + repeat(100, func(m string) string {
				return `{"provider":"p` + m + `","model":"m` + n + `","reason":"` + filler[:2000] + `"}`
			}) + `]}}`
		}),
		one("spans", "span.started", func(n string) string { return `{"kind":"llm","span_id":"` + n + filler[:200] + `"}` }),
	}
}

func frameShapes() []shape {
	ones := sync.OnceValue(ones)
	options := repeat(1000, func(n string) string { return `{"optionId":"` + n + `","kind":"allow_once"}` })
	harn := func(n, more string) string {
		return `"_meta":{"harn":{"request_id":"q` + n + `","approval_request":{"id":"q` + n + `","action":"act"}` + more + `}}`
	}
	return []shape{
		update("small frames", func(string) string {
			return `"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"}`
		}),
		update("long frames", func(string) string {
			return `"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + strings.Repeat("y", large()) + `"}`
		}),
		update("thoughts", func(n string) string {
			return `"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"` + n + `"}`
		}),
		update("many calls in frames", func(n string) string {
			return `"sessionUpdate":"tool_call","toolCallId":"c` + n + `","title":"t","kind":"edit","status":"completed","rawInput":{"n":` + n + `},"rawOutput":"` + filler[:300] + `"`
		}),
		update("candidates", func(n string) string {
			return `"sessionUpdate":"tool_call","toolCallId":"` + long(n) + `","title":"` + long(n) + `","kind":"` + long(n) + `","rawInput":{"url":"` + long(n) + `"},"_meta":{"harn":{"parsing":true}}`
		}),
		update("one call, many updates", func(n string) string {
			return `"sessionUpdate":"tool_call_update","toolCallId":"c","title":"t","status":"in_progress","rawInput":{"n":` + n + `}`
		}),
		update("one call, many diffs", func(n string) string {
			return `"sessionUpdate":"tool_call_update","toolCallId":"c","title":"t","content":[` + repeat(4000, func(m string) string {
				return `{"type":"diff","path":"src/` + filler[:50] + m + `.go","newText":"a"}`
			}) + `]`
		}),
		update("calls, many diffs each", func(n string) string {
			return `"sessionUpdate":"tool_call_update","toolCallId":"c` + n + `","title":"t","content":[` + repeat(1000, func(m string) string {
				return `{"type":"diff","path":"` + m + `","newText":"a"}`
			}) + `]`
		}),
		update("one call, many places", func(n string) string {
			return `"sessionUpdate":"tool_call_update","toolCallId":"c","title":"t","locations":[` + repeat(1000, func(m string) string {
				return `{"path":"src/` + filler[:50] + m + `.go"}`
			}) + `]`
		}),
		update("many workers", func(n string) string {
			return `"sessionUpdate":"worker_update","workerId":"` + long(n) + `","workerName":"` + long(n) + `","status":"running","metadata":{"child_run_id":"` + n + `"}`
		}),
		update("one worker", func(n string) string {
			return `"sessionUpdate":"worker_update","workerId":"w","status":"progressed","metadata":{"child_run_id":"` + n + `"}`
		}),
		update("artifacts in frames", func(n string) string {
			return `"sessionUpdate":"artifact","artifactId":"` + n + `","kind":"file","uri":"file:///` + filler[:500] + n + `"`
		}),
		update("wide frames", func(string) string {
			return `"sessionUpdate":"tool_call_update","toolCallId":"c","title":"t","status":"completed","rawOutput":` + ones()
		}),
		framed("other sessions", func(n string) string {
			return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"` + long(n) + `","update":{"sessionUpdate":"agent_message_chunk"}}}`
		}),
		framed("requests without responses", func(n string) string {
			return `{"jsonrpc":"2.0","id":` + n + `,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"` + n + `","title":"t"},"options":[` + options + `]}}`
		}),
		framed("wide options", func(n string) string {
			return `{"jsonrpc":"2.0","id":` + n + `,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"` + n + `","title":"t"},"options":` + ones()[:1<<20] + `1]}}`
		}),
		framed("the same question, answered each time", func(n string) string {
			return `{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c","title":"t"}}}
{"jsonrpc":"2.0","id":1,"result":{"granted":true}}`
		}),
		framed("requests and responses", func(n string) string {
			return `{"jsonrpc":"2.0","id":` + n + `,"method":"host/tools/list"}
{"jsonrpc":"2.0","id":` + n + `,"result":{"tools":[]}}`
		}),
		framed("host tools", func(n string) string {
			return `{"jsonrpc":"2.0","id":` + n + `,"method":"builtin_call","params":{"name":"read","args":{"n":` + n + `}}}
{"jsonrpc":"2.0","id":` + n + `,"result":{"text":"` + filler[:300] + `"}}`
		}),
		framed("questions", func(n string) string {
			return `{"jsonrpc":"2.0","method":"harn.hitl.requested","params":{"sessionId":"s",` + harn(n, "") + `}}`
		}),
		framed("held answers", func(n string) string {
			return `{"jsonrpc":"2.0","id":` + n + `,"method":"harn.hitl.respond","params":{"sessionId":"s","request_id":"q` + n + `","approved":true,"reviewer":"r"}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"hitl_resolved","request_id":"z` + n + `","approved":true}}}`
		}),
		framed("held answers and events", func(n string) string {
			return `{"jsonrpc":"2.0","id":` + n + `,"method":"harn.hitl.respond","params":{"sessionId":"s","request_id":"q","approved":true,"reviewer":"r"}}
{"at":"2026-01-01T00:00:00Z","event":"span.started","payload":{"request_id":"none"}}`
		}),
		framed("prompts", func(n string) string {
			return `{"jsonrpc":"2.0","id":` + n + `,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"` + filler[:500] + `"}]}}`
		}),
		framed("loads", func(n string) string {
			return `{"jsonrpc":"2.0","id":` + n + `,"method":"session/load","params":{"sessionId":"s"}}`
		}),
	}
}
