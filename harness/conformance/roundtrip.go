package conformance

import (
	"context"
	"fmt"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/harness/conformance/internal/wire"
)

// A statement is what a client posts: a resource, or a member that becomes one.
type statement struct {
	kind  string // of the resource
	path  string // to which it is posted
	list  string // that contains it; "" for none
	says  object // what it has to be read as
	under string // member of the body that it is posted as; "" for the body itself
}

// posted is a resource as a server answered the post, and its ID.
type posted struct {
	id string
	of *statement
}

// readsBack posts a statement, and expects it in the answer, alone, and in its list.
func readsBack(ctx context.Context, s *suite, st statement) (*posted, error) {
	var body any = st.says
	if st.under != "" {
		body = object{st.under: st.says}
	}
	made := s.post(ctx, "", body, "%s", raw(st.path))
	if made.Is(404, 405, 501) || made.Is(403) && st.kind == "workspace" {
		return nil, skipped("a %s cannot be created here", st.kind)
	}
	if made.Status(200, 201, 202).Object(st.kind).Has("id").Err != nil {
		return nil, made.Err
	}
	p := &posted{text(made.Root(), "id"), &st}
	if err := st.in(made.Root(), "POST /"+st.path); err != nil {
		return nil, err
	}
	return p, p.read(ctx, s)
}

// read expects a statement alone and in its list.
func (p *posted) read(ctx context.Context, s *suite) error {
	alone := s.get(ctx, "v1/%ss/%s", raw(p.of.kind), p.id).Status(200).Object(p.of.kind)
	if alone.Err != nil {
		return alone.Err
	}
	if err := p.of.in(alone.Root(), alone.Request.String()); err != nil || p.of.list == "" {
		return err
	}
	list, err := items(ctx, s, p.of.list, 200)
	if err != nil {
		return err
	}
	for _, item := range list {
		if text(item, "id") == p.id {
			return p.of.in(item, "GET /"+p.of.list)
		}
	}
	return fmt.Errorf("GET /%s: expected the %s %s, found none", p.of.list, p.of.kind, wire.Quote(p.id))
}

// in expects a resource to contain what was posted.
func (st *statement) in(n canon.Node, where string) error {
	want, err := canon.Parse(encode(st.says))
	if err != nil {
		return err
	}
	if want, got, at := differing(want.Root(), n); at != nil {
		return fmt.Errorf("%s: at %s: expected %s, as it was posted, found %s", where, wire.Quote(*at), wire.Quote(string(want.Raw())), wire.Quote(string(got.Raw())))
	}
	return nil
}

// differing returns the first place where a value does not contain what was said: objects may
// have more members.
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

func workspaceReadsBack(ctx context.Context, s *suite) error {
	p, err := readsBack(ctx, s, statement{kind: "workspace", path: "v1/workspaces", says: object{"name": "reads back " + s.id, "root": "harn://conformance/" + s.id + "/back", "metadata": s.meta()}})
	if err != nil {
		return err
	}
	return p.changed(ctx, s, object{"metadata": object{"changed": s.id}})
}

// changed patches a resource, and expects the change and what was posted before.
func (p *posted) changed(ctx context.Context, s *suite, says object) error {
	a := s.patch(ctx, "", says, "v1/%ss/%s", raw(p.of.kind), p.id).Status(200, 405, 501)
	if a.Err != nil || a.Code != 200 {
		return a.Err
	}
	for name, value := range says {
		p.of.says[name] = value
	}
	if err := p.of.in(a.Root(), a.Request.String()); err != nil {
		return err
	}
	return p.read(ctx, s)
}

func sessionReadsBack(ctx context.Context, s *suite) error {
	if err := ensureWorkspace(ctx, s); err != nil {
		return err
	}
	first := []object{s.words("the first message"), s.words("the second message")}
	body := object{"workspace_id": s.workspace, "initial_messages": first, "metadata": s.meta()}
	made := s.post(ctx, "", body, "v1/sessions").Status(201, 200).Object("session").Has("id")
	if made.Err != nil {
		return made.Err
	}
	id := text(made.Root(), "id")
	p := &posted{id, &statement{kind: "session", list: path("v1/sessions?workspace_id=%s", s.workspace), says: object{"workspace_id": s.workspace, "metadata": s.meta()}}}
	if err := p.of.in(made.Root(), made.Request.String()); err != nil {
		return err
	}
	if err := p.read(ctx, s); err != nil {
		return err
	}

	at := path("v1/sessions/%s/messages", id)
	list, err := items(ctx, s, at, 200)
	if err != nil {
		return err
	}
	for i, says := range first {
		if i >= len(list) {
			return fmt.Errorf("GET /%s: expected %d initial messages, found %d", at, len(first), len(list))
		}
		if err := (&statement{says: says}).in(list[i], "GET /"+at); err != nil {
			return err
		}
	}
	return p.changed(ctx, s, object{"summary": "changed in the run " + s.id})
}

func messageReadsBack(ctx context.Context, s *suite) error {
	session, err := newSession(ctx, s)
	if err != nil {
		return err
	}
	at := path("v1/sessions/%s/messages", session)
	says := s.words("a message to be read back")
	says["metadata"] = s.meta()
	_, err = readsBack(ctx, s, statement{kind: "message", path: at, list: at, says: says, under: "message"})
	return err
}

func taskReadsBack(ctx context.Context, s *suite) error {
	session, err := newSession(ctx, s)
	if err != nil {
		return err
	}
	at := path("v1/sessions/%s/tasks", session)
	p, err := readsBack(ctx, s, statement{kind: "task", path: at, list: at, says: object{"input": s.words("a task to be read back"), "metadata": s.meta()}})
	if err != nil {
		return err
	}
	p.of.says["session_id"], p.of.says["workspace_id"] = session, s.workspace
	return p.read(ctx, s)
}

func artifactReadsBack(ctx context.Context, s *suite) error {
	session, err := newSession(ctx, s)
	if err != nil {
		return err
	}
	says := s.artifact()
	says["session_id"] = session
	_, err = readsBack(ctx, s, statement{kind: "artifact", path: "v1/artifacts", list: path("v1/artifacts?session_id=%s", session), says: says})
	return err
}

// unknownIDs refers to what does not exist wherever a request can.
func unknownIDs(ctx context.Context, s *suite) error {
	session, err := newSession(ctx, s)
	if err != nil {
		return err
	}
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
			body := object{}
			for name, value := range of.body {
				body[name] = value
			}
			if body[name] = s.absent(); strings.HasSuffix(name, "_ids") {
				body[name] = []string{s.absent()}
			}
			a := s.post(ctx, "", body, "%s", raw(of.path))
			if a.Err == nil && (a.Code < 400 || a.Code >= 500 && a.Code != 501) {
				a.Fail("expected a request whose %s is of nothing to be refused, found %d", name, a.Code)
			}
			if a.Err != nil {
				return a.Err
			}
		}
	}
	list, err := items(ctx, s, tasks, 200)
	if err == nil && len(list) > 0 {
		err = fmt.Errorf("GET /%s: expected no task of requests that were refused, found %d", tasks, len(list))
	}
	return err
}
