package corpus

import "fmt"

// bareBytes is the maximum length of a full receipt with empty lists.
const bareBytes = 2_350

// parts are the elements of the lists of a full receipt.
type parts struct {
	approvals, materials, writes, egress, calls, handoffs, artifacts []string
}

// parts draws elements until there is no room for the next one.
func (s source) parts(e envelope, room int) parts {
	var p parts
	for {
		to, element := s.part(e, &p)
		room -= len(element) + len(",")
		if room < 0 {
			return p
		}
		*to = append(*to, element)
	}
}

// part draws one element, usually a tool call, and returns the list to which it belongs.
func (s source) part(e envelope, p *parts) (*[]string, string) {
	switch s.IntN(16) {
	case 0:
		return &p.approvals, s.approval(e)
	case 1:
		return &p.materials, s.material()
	case 2, 3:
		return &p.writes, s.fileWrite()
	case 4:
		return &p.egress, s.networkEgress()
	case 5:
		return &p.handoffs, s.handoff()
	case 6:
		return &p.artifacts, s.artifact()
	}
	return &p.calls, s.toolCall()
}

func (s source) approval(e envelope) string {
	return fmt.Sprintf(`{"approval_id":%q,"actor":"user_maintainer_1","action":"workspace.patch.apply","decision":%q,"decided_at":%q,"quorum_proof":{"required":1,"satisfied":1},"evidence_hash":%q}`,
		s.id("approval"), s.one("approved", "approved", "denied"), stamp(s.before(e.issued, 600)), s.digest())
}

func (s source) material() string {
	return fmt.Sprintf(`{"kind":%q,"id":%q,"uri":"artifact://%s","sha256":%q,"content_type":"application/jsonl"}`,
		s.one("llm_provider_response", "mcp_tool_return"), s.id("material"), s.id("artifact"), s.digest())
}

func (s source) fileWrite() string {
	path := fmt.Sprintf("src/%s/%s.rs", s.one("beds", "paths", "größe"), s.hex(4))
	if s.IntN(4) == 0 {
		return fmt.Sprintf(`{"path":%q,"operation":"create","before_sha256":null,"after_sha256":%q}`, path, s.digest())
	}
	return fmt.Sprintf(`{"path":%q,"operation":"modify","before_sha256":%q,"after_sha256":%q}`, path, s.digest(), s.digest())
}

func (s source) networkEgress() string {
	return fmt.Sprintf(`{"destination":"api.example.com","purpose":%s,"bytes_sent":%d}`, quote(s.text(4)), s.IntN(1<<20))
}

func (s source) toolCall() string {
	return fmt.Sprintf(`{"tool":%q,"call_id":%q,"status":%q,"input_hash":%q,"output_hash":%q,"metadata":{"summary":%s,"duration_ms":%d,"score":%s,"cached":%t}}`,
		s.one("git.apply_patch", "shell.run", "fs.read", "http.get"), s.id("call"), s.one("succeeded", "succeeded", "failed"),
		s.digest(), s.digest(), quote(s.text(3+s.IntN(20))), s.IntN(90_000), s.amount(), s.IntN(2) == 0)
}

func (s source) handoff() string {
	return fmt.Sprintf(`{"target_agent":"agent_reviewer","task_id":%q,"status":"completed","receipt_id":%q}`, s.id("task"), s.id("receipt"))
}

func (s source) artifact() string {
	return fmt.Sprintf(`{"artifact_id":%q,"kind":"patch","uri":"artifact://%s","sha256":%q}`, s.id("artifact"), s.id("patch"), s.digest())
}
