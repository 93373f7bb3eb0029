package conformance

import (
	"context"
	"maps"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/harness/conformance/internal/wire"
)

// A statement is posted to the server, either as a resource or as a member that becomes a resource.
type statement struct {
	kind  string // of the resource
	path  string // to post to
	list  string // path of the list that contains the resource, or "" if there is none
	says  object // the expected content
	under string // member of the body that contains the statement, or "" for the entire body
}

// A posted resource was created by the server from a statement.
type posted struct {
	id string
	of *statement
}

// readsBack posts a statement, and expects it in the response, in the resource, and in the list of
// resources.
func readsBack(ctx context.Context, s *suite, st statement) *posted {
	var body any = st.says
	if st.under != "" {
		body = object{st.under: st.says}
	}
	made := s.post(ctx, "", body, "%s", raw(st.path))
	if made.Is(404, 405, 501) || made.Is(403) && st.kind == "workspace" {
		skip("a %s cannot be created here", st.kind)
	}
	expect(made.Status(200, 201, 202).Object(st.kind).Has("id"))
	p := &posted{text(made.Root(), "id"), &st}
	st.in(made.Root(), "POST /"+st.path)
	p.read(ctx, s)
	return p
}

// read expects that the resource contains the statement, both when the resource is requested by ID
// and in the list of resources.
func (p *posted) read(ctx context.Context, s *suite) {
	alone := expect(s.get(ctx, "v1/%ss/%s", raw(p.of.kind), p.id).Status(200).Object(p.of.kind))
	if p.of.in(alone.Root(), alone.Request.String()); p.of.list == "" {
		return
	}
	for _, item := range items(ctx, s, p.of.list, 200) {
		if text(item, "id") == p.id {
			p.of.in(item, "GET /"+p.of.list)
			return
		}
	}
	fail("GET /%s: expected the %s %s, found none", p.of.list, p.of.kind, wire.Quote(p.id))
}

// in expects that a resource contains everything that was posted.
func (st *statement) in(n canon.Node, where string) {
	want, err := canon.Parse(encode(st.says))
	must(err)
	if want, got, at := differing(want.Root(), n); at != nil {
		fail("%s: at %s: expected %s, as it was posted, found %s", where, wire.Quote(*at), wire.Quote(string(want.Raw())), wire.Quote(string(got.Raw())))
	}
}

// differing returns the first place where a value differs from the posted value. Objects may have
// additional members.
func differing(said, got canon.Node) (want, found canon.Node, at *string) {
	if said.Kind() != got.Kind() || said.Kind() == canon.KindArray && said.Len() != got.Len() {
		p := said.Pointer()
		return said, got, &p
	}
	switch said.Kind() {
	case canon.KindObject:
		for name, value := range said.Members() {
			if want, found, at = differing(value, got.Member(name.String())); at != nil {
				return want, found, at
			}
		}
	case canon.KindArray:
		var have []canon.Node
		for _, value := range got.Elements() {
			have = append(have, value)
		}
		for i, value := range said.Elements() {
			if want, found, at = differing(value, have[i]); at != nil {
				return want, found, at
			}
		}
	default:
		if wire.Canonical(said) != wire.Canonical(got) {
			p := said.Pointer()
			return said, got, &p
		}
	}
	return canon.Node{}, canon.Node{}, nil
}

func workspaceReadsBack(ctx context.Context, s *suite) {
	p := readsBack(ctx, s, statement{kind: "workspace", path: "v1/workspaces", says: object{"name": "reads back " + s.id, "root": "harn://conformance/" + s.id + "/back", "metadata": s.meta()}})
	p.changed(ctx, s, object{"metadata": object{"changed": s.id}})
}

// changed patches a resource, and then expects both the change and the earlier content.
func (p *posted) changed(ctx context.Context, s *suite, says object) {
	a := expect(s.patch(ctx, "", says, "v1/%ss/%s", raw(p.of.kind), p.id).Status(200, 405, 501))
	if a.Code != 200 {
		return
	}
	maps.Copy(p.of.says, says)
	p.of.in(a.Root(), a.Request.String())
	p.read(ctx, s)
}

func sessionReadsBack(ctx context.Context, s *suite) {
	ensureWorkspace(ctx, s)
	first := []object{s.words("the first message"), s.words("the second message")}
	body := object{"workspace_id": s.workspace, "initial_messages": first, "metadata": s.meta()}
	made := expect(s.post(ctx, "", body, "v1/sessions").Status(201, 200).Object("session").Has("id"))
	id := text(made.Root(), "id")
	p := &posted{id, &statement{kind: "session", list: path("v1/sessions?workspace_id=%s", s.workspace), says: object{"workspace_id": s.workspace, "metadata": s.meta()}}}
	p.of.in(made.Root(), made.Request.String())
	p.read(ctx, s)

	at := path("v1/sessions/%s/messages", id)
	list := items(ctx, s, at, 200)
	for i, says := range first {
		if i >= len(list) {
			fail("GET /%s: expected %d initial messages, found %d", at, len(first), len(list))
		}
		(&statement{says: says}).in(list[i], "GET /"+at)
	}
	p.changed(ctx, s, object{"summary": "changed in the run " + s.id})
}

func messageReadsBack(ctx context.Context, s *suite) {
	session := newSession(ctx, s)
	at := path("v1/sessions/%s/messages", session)
	says := s.words("a message to be read back")
	says["metadata"] = s.meta()
	readsBack(ctx, s, statement{kind: "message", path: at, list: at, says: says, under: "message"})
}

func taskReadsBack(ctx context.Context, s *suite) {
	session := newSession(ctx, s)
	at := path("v1/sessions/%s/tasks", session)
	p := readsBack(ctx, s, statement{kind: "task", path: at, list: at, says: object{"input": s.words("a task to be read back"), "metadata": s.meta()}})
	p.of.says["session_id"], p.of.says["workspace_id"] = session, s.workspace
	p.read(ctx, s)
}

func artifactReadsBack(ctx context.Context, s *suite) {
	session := newSession(ctx, s)
	says := s.artifact()
	says["session_id"] = session
	readsBack(ctx, s, statement{kind: "artifact", path: "v1/artifacts", list: path("v1/artifacts?session_id=%s", session), says: says})
}

// unknownIDs sends requests that contain nonexistent IDs, in every place where a request can refer
// to a resource.
func unknownIDs(ctx context.Context, s *suite) {
	session := newSession(ctx, s)
	tasks := path("v1/sessions/%s/tasks", session)
	task := object{"input": message("a task that refers to nothing of the run " + s.id)}
	for _, of := range []struct {
		path    string
		body    object
		members []string
	}{
		{tasks, task, []string{"parent_task_id", "persona_id", "branch_id"}},
		{"v1/tasks", task, []string{"session_id"}},
		{"v1/sessions", object{"workspace_id": s.workspace}, []string{"workspace_id", "persona_id", "vault_ids", "memory_ids", "skill_ids"}},
		{"v1/artifacts", s.artifact(), []string{"workspace_id", "session_id", "task_id"}},
	} {
		for _, name := range of.members {
			body := maps.Clone(of.body)
			if body[name] = s.absent(); strings.HasSuffix(name, "_ids") {
				body[name] = []string{s.absent()}
			}
			a := expect(s.post(ctx, "", body, "%s", raw(of.path)))
			if a.Code < 400 || a.Code >= 500 && a.Code != 501 {
				must(a.Fail("expected a request whose %s is of nothing to be refused, found %d", name, a.Code).Err)
			}
		}
	}
	if list := items(ctx, s, tasks, 200); len(list) > 0 {
		fail("GET /%s: expected no task of requests that were refused, found %d", tasks, len(list))
	}
}
