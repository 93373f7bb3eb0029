package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/attest"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/batch"
	"github.com/receiptkit/receiptkit/receipt/bundle"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/replay"
	"github.com/receiptkit/receiptkit/receipt/stream"
	"github.com/receiptkit/receiptkit/redact"
)

// A judge contains the keys and the requirements for an input.
type judge struct {
	*receipt.Verifier
	set    *keys.Set
	policy receipt.Policy
}

// verifiers caches the verifiers for unaltered keys and policies, because creating a verifier takes
// longer than verifying an input.
type verifiers struct{ sync.Map }

// judge writes the result for an input. The result contains the verdict, hash, checks, and notes
// for each receipt, and the verdict for the entire input. If an input cannot be verified, the
// result is "refused".
func (m *mill) judge(in *input, w *bytes.Buffer) {
	err := error(nil)
	if in.task == "check_bundle" {
		err = in.judgeBundle(w)
	} else if j, wrong := m.known.of(in); wrong != nil {
		err = wrong
	} else if in.task == "check_replay" {
		err = in.judgeReplay(j, w)
	} else {
		err = in.judgeStream(j, w)
	}
	if err != nil {
		fmt.Fprint(w, " refused")
	}
}

func (in *input) judgeBundle(w *bytes.Buffer) error {
	b, err := bundle.Parse(in.files[0].data)
	if err == nil {
		markers := bundle.RefuseMarkers
		switch o := in.Options.Options; {
		case o.Markers:
			markers = bundle.AllowMarkers
		case o.Strict:
			markers = bundle.RefuseHeuristics
		}
		_, err = bundle.Check(b, markers)
	}
	if found := (*bundle.Error)(nil); errors.As(err, &found) {
		fmt.Fprintf(w, "refuted %s %s %q", found.Kind, found.Path, found.Rule)
		return nil
	}
	fmt.Fprint(w, "verified")
	return err
}

// of returns the judge for an input.
func (v *verifiers) of(in *input) (*judge, error) {
	o, key := in.Options.Options, ""
	for _, f := range in.files {
		if f.role == "trust" || f.role == "policy" {
			key += f.role + " " + f.name + " "
			if f.name == "" {
				return newJudge(in)
			}
		}
	}
	key = fmt.Sprintf("%s %q %q %q %v", key, o.Scope, o.At, o.Issuer, o.Strict)
	if j, ok := v.Load(key); ok {
		return j.(*judge), nil
	}
	j, err := newJudge(in)
	if err == nil {
		v.Store(key, j)
	}
	return j, err
}

func newJudge(in *input) (*judge, error) {
	j, o := &judge{set: new(keys.Set)}, in.Options.Options
	var all []*keys.PublicKey
	for _, f := range in.files {
		var err error
		switch f.role {
		case "policy":
			var more []*keys.PublicKey
			j.policy, more, err = keys.ParsePolicy(f.data)
			all = append(all, more...)
		case "trust":
			j.set, err = keys.ParseSet(f.data)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(all) > 0 {
		return nil, errors.ErrUnsupported // this is a tlog-policy, which no case uses
	}
	if o.At != "" {
		at, err := time.Parse(time.RFC3339, o.At)
		if err != nil {
			return nil, err
		}
		j.policy.At = at
	}
	if o.Issuer != "" {
		j.policy.Issuer = o.Issuer
	}
	j.policy.Strict, j.policy.IntegrityOnly = o.Strict, o.Scope == "integrity"
	var trust receipt.Trust // there are no keys if only integrity is checked
	if !j.policy.IntegrityOnly {
		trust = j.set
	}
	var err error
	j.Verifier, err = receipt.NewVerifier(trust, j.policy)
	return j, err
}

func (in *input) judgeStream(j *judge, w *bytes.Buffer) error {
	given := in.Options.Options
	o := stream.Options{Jobs: 1, Partial: given.Partial, Unordered: given.Unordered, Continuity: stream.Continuity{Count: given.Count}}
	for text, digest := range map[*string]*canon.Digest{&given.Previous: &o.Continuity.Previous, &given.Head: &o.Continuity.Head} {
		if d, err := canon.ParseDigest(*text); err == nil {
			*digest = d
		} else if *text != "" {
			return err
		}
	}
	subjects, err := subjectsOf(given.Commit, given.Subjects)
	if err != nil {
		return err
	}
	o.Unwrap = attest.NewOpener(j.set, j.policy, subjects...).Unwrap

	evidence, sources, err := in.evidence(&o)
	if err != nil {
		return err
	}
	v, err := j.With(evidence)
	if err != nil {
		return err
	}
	run := stream.VerifyFiles(context.Background(), v, sources, o)
	for rep := range run.Reports() {
		writeReport(w, rep)
	}
	summary, err := run.Summary()
	if summary != nil {
		writeSummary(w, summary)
	}
	return err
}

func subjectsOf(commit string, subjects []string) (list []attest.Subject, err error) {
	if commit != "" {
		subjects = append([]string{"gitCommit:" + commit}, subjects...)
	}
	for _, text := range subjects {
		s, err := attest.ParseSubject(text)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// evidence returns the evidence and the receipts in an input.
func (in *input) evidence(o *stream.Options) (e receipt.Evidence, sources []stream.Source, err error) {
	for i, f := range in.files {
		switch f.role {
		case "receipts":
			sources = append(sources, stream.Source{Name: fmt.Sprint(i), Open: opener(f.data)})
		case "checkpoint":
			o.Checkpoint = f.data
		case "proof":
			p, wrong := tlog.ParseProof(f.data)
			e.Proofs, err = append(e.Proofs, p), wrong
		case "batch":
			m, wrong := batch.ParseManifest(f.data)
			e.Batches, err = append(e.Batches, m), wrong
		case "disclosures":
			d, wrong := redact.ParseDisclosures(f.data)
			e.Disclosures, err = append(e.Disclosures, d), wrong
		}
		if err != nil {
			return e, nil, err
		}
	}
	return e, sources, nil
}

func (in *input) judgeReplay(j *judge, w *bytes.Buffer) error {
	role := map[string][]byte{}
	for _, f := range in.files {
		role[f.role] = f.data
	}
	log, err := replay.ReadLog(bytes.NewReader(role["log"]), "")
	if err != nil {
		return err
	}
	request, err := replay.ParseRequest(role["request"])
	if err != nil {
		return err
	}
	plan, err := replay.NewPlan(context.Background(), log, request, nil)
	if err != nil {
		return err
	}

	var source *canon.Document
	if data := role["source"]; data != nil {
		source = new(canon.Document)
		rep := new(receipt.Report)
		j.VerifyBytes(data, source, rep)
		if writeReport(w, rep); rep.Verdict != receipt.Verified {
			return nil
		}
	}
	doc, rep := new(canon.Document), new(receipt.Report)
	j.VerifyBytes(role["receipts"], doc, rep)
	err = plan.Check(j.Verifier, rep, doc, source)
	writeReport(w, rep)
	return err
}

func writeReport(w *bytes.Buffer, rep *receipt.Report) {
	fmt.Fprintf(w, "[%d %v %v", rep.Index, rep.Verdict, rep.ReceiptHash)
	for _, c := range rep.Checks {
		fmt.Fprintf(w, " %v:%v", c.Step, c.Status)
		if c.Code != "" {
			fmt.Fprintf(w, " %s %q", c.Code, c.Pointer)
		}
	}
	for _, s := range rep.Signatures {
		fmt.Fprintf(w, " :%v", s.Status)
	}
	for _, n := range append(rep.NotChecked, rep.Warnings...) {
		fmt.Fprintf(w, " %s %q", n.Code, n.Pointer)
	}
	w.WriteString(" ] ")
}

func writeSummary(w *bytes.Buffer, s *stream.Summary) {
	fmt.Fprintf(w, "whole %v %d/%d/%d/%d", s.Verdict(), s.Verified, s.Refuted, s.Undecided, s.Copies)
	for _, f := range s.Findings {
		fmt.Fprintf(w, " %s", f.Code)
	}
	for _, n := range s.NotChecked {
		fmt.Fprintf(w, " %s", n.Code)
	}
	for _, segment := range s.Streams {
		fmt.Fprintf(w, " %v", segment.Head)
	}
}

func opener(data []byte) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
}
