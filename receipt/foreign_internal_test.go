package receipt

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/merkle/tlog"
)

// A rawTrust returns the results of a function for signatures of third-party receipts.
type rawTrust struct {
	Trust
	check func(s *ForeignSignature) (*Key, *SignatureError)
}

func (t rawTrust) Len() int { return 1 }

func (t rawTrust) CheckRaw(_ []byte, s *ForeignSignature) (*Key, *SignatureError) { return t.check(s) }

// TestForeignVerdicts verifies the verdict for each combination of signatures, checks, and
// requirements.
func TestForeignVerdicts(t *testing.T) {
	noon := time.Date(2026, 4, 25, 12, 0, 0, 0, time.UTC)
	trust := rawTrust{check: func(s *ForeignSignature) (*Key, *SignatureError) {
		switch s.KeyID {
		case "good":
			return &Key{ID: "good", Issuers: []string{"i"}}, nil
		case "unbound":
			return &Key{ID: "unbound"}, nil
		case "later":
			return &Key{ID: "later", Issuers: []string{"i"}, NotBefore: noon}, nil
		case "until":
			return &Key{ID: "until", Issuers: []string{"i"}, NotAfter: noon}, nil
		case "replaced":
			return &Key{ID: "replaced", Issuers: []string{"i"}, Revoked: &Revocation{At: noon, Reason: "superseded"}}, nil
		case "witness":
			return &Key{ID: "witness", Roles: []Role{RoleWitness}}, nil
		case "log":
			return &Key{ID: "log", Roles: []Role{RoleCheckpoint}}, nil
		case "silent":
			return nil, nil
		case "odd":
			return nil, &SignatureError{"odd", "a"}
		case "malformed":
			return nil, &SignatureError{CodeMalformedSignature, "a"}
		case "mismatch":
			return &Key{ID: "mismatch", Issuers: []string{"i"}}, &SignatureError{CodeAlgorithmMismatch, "a"}
		case "unknown":
			return nil, &SignatureError{CodeUnknownKey, "a"}
		}
		return nil, &SignatureError{CodeSignatureInvalid, "a"}
	}}
	by := func(ids ...string) (list []ForeignSignature) {
		for _, id := range ids {
			list = append(list, ForeignSignature{KeyID: id, Issuer: "i", Messages: [][]byte{nil}})
		}
		return list
	}
	with := func(change func(*ForeignSignature), ids ...string) []ForeignSignature {
		list := by(ids...)
		for i := range list {
			change(&list[i])
		}
		return list
	}
	unsure := func(s *ForeignSignature) { s.Unsure = "the order is unknown" }
	check := func(step Step, status Status, code Code) []Check {
		return []Check{{Step: step, Status: status, Code: code, Detail: "a"}}
	}
	many := slices.Repeat(by("good"), maxSignatures+1)
	for name, c := range map[string]struct {
		f      Foreign
		policy Policy
		want   string
	}{
		"valid":                       {Foreign{Signatures: by("good")}, Policy{}, "verified"},
		"unsigned":                    {Foreign{}, Policy{}, "undecided unsigned"},
		"invalid":                     {Foreign{Signatures: by("bad")}, Policy{}, "refuted signature_invalid"},
		"malformed":                   {Foreign{Signatures: by("good", "malformed")}, Policy{}, "refuted malformed_signature"},
		"another algorithm":           {Foreign{Signatures: by("good", "mismatch")}, Policy{}, "refuted algorithm_mismatch"},
		"unknown":                     {Foreign{Signatures: by("unknown")}, Policy{}, "undecided unknown_key"},
		"silent trust":                {Foreign{Signatures: by("silent")}, Policy{}, "undecided unknown_key"},
		"odd trust":                   {Foreign{Signatures: by("odd")}, Policy{}, "undecided unknown_key"},
		"unbound":                     {Foreign{Signatures: by("unbound")}, Policy{}, "undecided issuer_unbound"},
		"unbound, required issuer":    {Foreign{Signatures: by("unbound")}, Policy{Issuer: "i"}, "verified"},
		"another issuer":              {Foreign{Signatures: by("good")}, Policy{Issuer: "j"}, "refuted issuer_mismatch"},
		"issuer of the key":           {Foreign{Signatures: with(func(s *ForeignSignature) { s.Issuer = "j" }, "good")}, Policy{}, "refuted issuer_mismatch"},
		"no author":                   {Foreign{Signatures: with(func(s *ForeignSignature) { s.Issuer = "" }, "good")}, Policy{}, "verified"},
		"no author, required":         {Foreign{Signatures: with(func(s *ForeignSignature) { s.Issuer = "" }, "good")}, Policy{Issuer: "i"}, "verified"},
		"no author, another required": {Foreign{Signatures: with(func(s *ForeignSignature) { s.Issuer = "" }, "good")}, Policy{Issuer: "j"}, "refuted issuer_mismatch"},
		"no author, by a witness":     {Foreign{Signatures: with(func(s *ForeignSignature) { s.Issuer = "" }, "witness")}, Policy{}, "refuted role_mismatch"},
		"unsure, key named":           {Foreign{Signatures: with(unsure, "bad")}, Policy{}, "undecided signatures_not_checked"},
		"unsure, no key":              {Foreign{Signatures: with(unsure, "")}, Policy{}, "undecided unknown_key"},
		"unsure, key in the receipt":  {Foreign{Signatures: with(func(s *ForeignSignature) { s.Unsure, s.Public = "a", []byte{1} }, "")}, Policy{}, "undecided signatures_not_checked"},
		"unsure, valid":               {Foreign{Signatures: with(unsure, "good")}, Policy{}, "verified"},
		"no time":                     {Foreign{Signatures: by("later")}, Policy{}, "undecided signatures_not_checked"},
		"no time, until":              {Foreign{Signatures: by("until")}, Policy{}, "undecided signatures_not_checked"},
		"no time, replaced":           {Foreign{Signatures: by("replaced")}, Policy{}, "undecided signatures_not_checked"},
		"in time":                     {Foreign{Signatures: with(func(s *ForeignSignature) { s.At = noon }, "later")}, Policy{}, "verified"},
		"too early":                   {Foreign{Signatures: with(func(s *ForeignSignature) { s.At = noon.Add(-1) }, "later")}, Policy{}, "refuted key_not_yet_valid"},
		"required time":               {Foreign{Signatures: by("later")}, Policy{At: noon}, "verified"},
		"one of two":                  {Foreign{Signatures: by("unknown", "good")}, Policy{}, "verified"},
		"one of two, all":             {Foreign{Signatures: by("unknown", "good"), All: true}, Policy{}, "undecided unknown_key"},
		"one invalid":                 {Foreign{Signatures: by("good", "bad")}, Policy{}, "refuted signature_invalid"},
		"one not counted":             {Foreign{Signatures: append(by("good"), with(func(s *ForeignSignature) { s.Issuer = "j" }, "good")...)}, Policy{}, "verified"},
		"one not counted, all":        {Foreign{Signatures: append(by("good"), with(func(s *ForeignSignature) { s.Issuer = "j" }, "good")...), All: true}, Policy{}, "refuted issuer_mismatch"},
		"most":                        {Foreign{Signatures: many[1:]}, Policy{}, "verified"},
		"too many":                    {Foreign{Signatures: many}, Policy{}, "undecided signature_limit"},
		"many, all":                   {Foreign{Signatures: many, All: true}, Policy{}, "verified"},
		"many, all, last is invalid":  {Foreign{Signatures: append(slices.Clone(many), by("bad")...), All: true}, Policy{}, "refuted signature_invalid"},
		"witnesses":                   {Foreign{Signatures: by("good")}, Policy{Witnesses: Quorum{Threshold: 1}}, "undecided threshold_not_met"},
		"cosigners":                   {Foreign{Signatures: by("good"), Inclusions: by("log")}, Policy{Checkpoint: CheckpointRule{Cosigners: Quorum{Threshold: 1}}}, "undecided checkpoint_required"},
		"checkpoint":                  {Foreign{Signatures: by("good"), Inclusions: by("log")}, Policy{Checkpoint: CheckpointRule{Required: true}}, "verified"},
		"no checkpoint":               {Foreign{Signatures: by("good")}, Policy{Checkpoint: CheckpointRule{Required: true}}, "undecided checkpoint_required"},
		"link":                        {Foreign{Signatures: by("good"), Checks: check(StepLink, StatusNotChecked, CodeLinkNotChecked)}, Policy{}, "verified"},
		"link, strict":                {Foreign{Signatures: by("good"), Checks: check(StepLink, StatusNotChecked, CodeLinkNotChecked)}, Policy{Strict: true}, "undecided link_not_checked"},
		"link, another code":          {Foreign{Signatures: by("good"), Checks: check(StepLink, StatusNotChecked, CodeBatchNotChecked)}, Policy{}, "undecided batch_not_checked"},
		"batch":                       {Foreign{Signatures: by("good"), Checks: check(StepBatch, StatusNotChecked, CodeBatchNotChecked)}, Policy{}, "verified"},
		"batch, strict":               {Foreign{Signatures: by("good"), Checks: check(StepBatch, StatusNotChecked, CodeBatchNotChecked)}, Policy{Strict: true}, "undecided batch_not_checked"},
		"batch, another code":         {Foreign{Signatures: by("good"), Checks: check(StepBatch, StatusNotChecked, CodeLinkNotChecked)}, Policy{}, "undecided link_not_checked"},
		"included":                    {Foreign{Signatures: by("good"), Inclusions: by("log")}, Policy{Strict: true}, "verified"},
		"unknown log":                 {Foreign{Signatures: by("good"), Inclusions: by("unknown")}, Policy{}, "verified"},
		"unknown log, strict":         {Foreign{Signatures: by("good"), Inclusions: by("unknown")}, Policy{Strict: true}, "undecided batch_not_checked"},
		"unknown log, all":            {Foreign{Signatures: by("good"), Inclusions: by("unknown"), All: true}, Policy{}, "undecided unknown_key"},
		"one of two logs":             {Foreign{Signatures: by("good"), Inclusions: by("unknown", "log"), All: true}, Policy{}, "verified"},
		"log without the role":        {Foreign{Signatures: by("good"), Inclusions: by("good")}, Policy{}, "undecided role_mismatch"},
		"log, unsure":                 {Foreign{Signatures: by("good"), Inclusions: with(unsure, "bad")}, Policy{}, "undecided unknown_key"},
		"log, invalid":                {Foreign{Signatures: by("good"), Inclusions: by("bad")}, Policy{}, "refuted proof_invalid"},
		"hash":                        {Foreign{Signatures: by("good"), Checks: check(StepHash, StatusFailed, CodeHashMismatch)}, Policy{}, "refuted hash_mismatch"},
		"hash, not checked":           {Foreign{Signatures: by("good"), Checks: check(StepHash, StatusNotChecked, CodeStepNotReached)}, Policy{}, "undecided step_not_reached"},
		"integrity":                   {Foreign{Checks: check(StepHash, StatusPassed, "")}, Policy{IntegrityOnly: true}, "verified"},
		"integrity, no hash":          {Foreign{Signatures: by("good")}, Policy{IntegrityOnly: true}, "undecided signatures_not_checked"},
		"integrity, in a log":         {Foreign{Checks: check(StepHash, StatusPassed, ""), Inclusions: by("bad")}, Policy{IntegrityOnly: true}, "verified"},
	} {
		var given Trust = trust
		if c.policy.IntegrityOnly {
			given = nil
		}
		v, err := NewVerifier(given, c.policy)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var rep Report
		v.Foreign([]byte("{}"), &c.f, &rep)
		got := rep.Verdict.String()
		if rep.Verdict != Verified && rep.Finding().Code != "" {
			got += " " + string(rep.Finding().Code)
		}
		if got != c.want {
			t.Errorf("%s: %s, expected %s", name, got, c.want)
		}
	}
}

// TestForeignUnsigned verifies that the signatures of an unsigned receipt are not reached if an
// earlier step has failed or could not parse the receipt.
func TestForeignUnsigned(t *testing.T) {
	v, err := NewVerifier(rawTrust{}, Policy{})
	if err != nil {
		t.Fatal(err)
	}
	for want, checks := range map[Code][]Check{
		CodeUnsigned:             nil,
		CodeStepNotReached:       {{Step: StepHash, Status: StatusFailed, Code: CodeHashMismatch}},
		CodeStepNotReached + " ": {{Step: StepParse, Status: StatusNotChecked, Code: CodeSyntax}},
	} {
		var rep Report
		v.Foreign(nil, &Foreign{Checks: checks}, &rep)
		if n := len(rep.NotChecked); (n > 1) != (strings.HasSuffix(string(want), " ")) {
			t.Errorf("%v: %v", checks, rep.NotChecked)
		}
		if got := rep.Check(StepSignatures); got.Code != Code(strings.TrimSpace(string(want))) || got.Status != StatusNotChecked {
			t.Errorf("%v: %+v", checks, got)
		}
	}
}

// TestForeignSignatures verifies that a report lists the signatures, and that it lists equal results
// once if all signatures are required.
func TestForeignSignatures(t *testing.T) {
	trust := rawTrust{check: func(s *ForeignSignature) (*Key, *SignatureError) {
		return &Key{ID: "key " + s.KeyID, Issuers: []string{"i"}}, nil
	}}
	v, err := NewVerifier(trust, Policy{})
	if err != nil {
		t.Fatal(err)
	}
	sign := func(id string) ForeignSignature {
		return ForeignSignature{KeyID: id, Issuer: "i", Messages: [][]byte{nil}}
	}
	for all, want := range map[bool]string{false: "key a, key a, key b", true: "key a, key b"} {
		var rep Report
		v.Foreign(nil, &Foreign{Signatures: []ForeignSignature{sign("a"), sign("a"), sign("b")}, All: all}, &rep)
		var got []string
		for _, s := range rep.Signatures {
			got = append(got, s.KeyID)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("all %t: %q, expected %s", all, got, want)
		}
	}
}

// TestForeignTrust verifies that keys that cannot check third-party receipts are unknown.
func TestForeignTrust(t *testing.T) {
	v := &Verifier{trust: struct{ Trust }{}}
	if key, err := (foreignStep{v}).checkRaw(&ForeignSignature{Messages: [][]byte{nil}}); key != nil || err.Code != CodeUnknownKey {
		t.Errorf("%v, %v", key, err)
	}
}

// TestNoteFault verifies how a fault of a checkpoint is described.
func TestNoteFault(t *testing.T) {
	for want, err := range map[string]error{
		"checkpoint: malformed":                                           &tlog.CheckpointError{Detail: "malformed"},
		"checkpoint, line 2: malformed":                                   fmt.Errorf("opening: %w", &tlog.CheckpointError{Line: 2, Detail: "malformed"}),
		`checkpoint: the signature of "log" (key id 0000000a) is invalid`: &tlog.SignatureError{Name: "log", KeyHash: 10},
		"no space": errors.New("no space"),
	} {
		if got := noteFault(err); got != want {
			t.Errorf("%s, expected %s", got, want)
		}
	}
}

// TestGapHint verifies that the hint about a gap names the last receipt before it, if it is known.
func TestGapHint(t *testing.T) {
	for want, c := range map[string]Check{
		"the receipts up to a:3 are connected": {Cause: CausePredecessorMissing, Related: Place{Source: "a", Index: 3}},
		"":                                     {Cause: CausePredecessorMissing},
	} {
		if c.word(); c.Hint != want {
			t.Errorf("%q, expected %q", c.Hint, want)
		}
	}
	other := Check{Cause: CausePredecessorOther, Related: Place{Source: "a", Index: 3}}
	if other.word(); other.Hint != "" {
		t.Errorf("another cause: %q", other.Hint)
	}
}

// TestRoleList verifies that a key without roles is described as an issuer key.
func TestRoleList(t *testing.T) {
	for want, roles := range map[string][]Role{"issuer": nil, "witness": {RoleWitness}, "witness, checkpoint": {RoleWitness, RoleCheckpoint}} {
		if got := roleList(roles); got != want {
			t.Errorf("%v: %s", roles, got)
		}
	}
}

// TestSignatureNote verifies that only a receipt with signatures has a note about their members.
func TestSignatureNote(t *testing.T) {
	for total, want := range map[int]int{0: 0, 1: 1} {
		rep := new(Report)
		if (&tally{rep: rep, total: total}).notes(); len(rep.NotChecked) != want {
			t.Errorf("%d signatures: %v", total, rep.NotChecked)
		}
	}
}

// A keyTrust is a trust with note keys.
type keyTrust struct {
	Trust
	keys []NoteKey
}

func (t keyTrust) NoteKeys() []NoteKey { return t.keys }

// TestReachable verifies that a policy is rejected if the trusted keys can never meet it.
func TestReachable(t *testing.T) {
	witness := NoteKey{Key: &Key{ID: "w", Roles: []Role{RoleWitness}, Thumbprint: [32]byte{1}}}
	one := Policy{Witnesses: Quorum{Threshold: 1}}
	const none = "receipt: the policy can never be met: the threshold of witnesses is 1, but only 0 of the trusted keys can count: no other trusted key has the role witness"
	if err := reachable(&one, keyTrust{}); err == nil || err.Error() != none {
		t.Errorf("%v", err)
	}
	if err := reachable(&one, keyTrust{keys: []NoteKey{witness}}); err != nil {
		t.Errorf("%v", err)
	}
	if err := reachable(&Policy{Checkpoint: CheckpointRule{Cosigners: Quorum{Threshold: 1}}}, keyTrust{}); err == nil {
		t.Error("no cosigner is trusted")
	}
	issued := one
	issued.Issuer = "i"
	own := NoteKey{Key: &Key{ID: "k", Issuers: []string{"i"}, Thumbprint: witness.Thumbprint}}
	other := NoteKey{Key: &Key{ID: "k", Issuers: []string{"i"}, Thumbprint: [32]byte{2}}}
	if err := reachable(&issued, keyTrust{keys: []NoteKey{witness, own}}); err == nil || !strings.HasSuffix(err.Error(), `: "w" is a key of the issuer "i"`) {
		t.Errorf("a witness with the key of the issuer: %v", err)
	}
	if err := reachable(&issued, keyTrust{keys: []NoteKey{witness, other}}); err != nil {
		t.Errorf("%v", err)
	}
	again := NoteKey{Key: &Key{ID: "w2", Roles: []Role{RoleWitness}, Thumbprint: witness.Thumbprint}}
	if err := reachable(&Policy{Witnesses: Quorum{Threshold: 2}}, keyTrust{keys: []NoteKey{witness, again}}); err == nil || !strings.HasSuffix(err.Error(), `"w2" is the same key as "w"`) {
		t.Errorf("a witness under two names: %v", err)
	}
	if err := reachable(&Policy{}, keyTrust{}); err != nil {
		t.Errorf("%v", err)
	}
	if err := reachable(&one, struct{ Trust }{}); err != nil {
		t.Errorf("keys that cannot be listed: %v", err)
	}
}

// TestQuorumValidate verifies the errors for quorums that can never be met or that require nothing.
func TestQuorumValidate(t *testing.T) {
	const group = "receipt: a group of w has a threshold of at least 1 and names its keys"
	good := Quorum{Threshold: 1, Keys: []string{"a"}}
	of := func(groups ...Quorum) Quorum { return Quorum{Threshold: 1, Groups: groups} }
	for name, c := range map[string]struct {
		q    Quorum
		want string
	}{
		"nothing":           {Quorum{}, "<nil>"},
		"any key":           {Quorum{Threshold: 1}, "<nil>"},
		"a key":             {good, "<nil>"},
		"a group":           {of(good), "<nil>"},
		"a nested group":    {of(of(good)), "<nil>"},
		"below 0":           {Quorum{Threshold: -1}, "receipt: the threshold of w must be at least 1, found -1"},
		"keys without it":   {Quorum{Keys: []string{"a"}}, "receipt: w are named, but the threshold is 0"},
		"groups without it": {Quorum{Groups: []Quorum{good}}, "receipt: w are named, but the threshold is 0"},
		"too many":          {Quorum{Threshold: 2, Keys: []string{"a"}}, "receipt: 2 w are required, but only 1 are named"},
		"too many groups":   {Quorum{Threshold: 3, Keys: []string{"a"}, Groups: []Quorum{good}}, "receipt: 3 w are required, but only 2 are named"},
		"a group of any":    {of(Quorum{Threshold: 1}), group},
		"a group below 1":   {of(Quorum{}), group},
		"the second group":  {of(good, Quorum{Threshold: 2, Keys: []string{"a"}}), "receipt: 2 w are required, but only 1 are named"},
		"in a nested group": {of(good, of(good, Quorum{Threshold: 1})), group},
	} {
		if got := fmt.Sprint(c.q.validate("w")); got != c.want {
			t.Errorf("%s: %s, expected %s", name, got, c.want)
		}
	}
}

// TestPolicyValidate verifies the errors for policies that contradict themselves or that need keys.
func TestPolicyValidate(t *testing.T) {
	const noSignatures = "receipt: a policy for integrity only checks no signatures, so it cannot require an issuer or witnesses"
	const noLogs = "receipt: a policy for integrity only has no keys of logs, so it cannot require a checkpoint"
	const noKeys = "receipt: no trusted keys; supply at least one, or request integrity only"
	for name, c := range map[string]struct {
		p     Policy
		trust Trust
		want  string
	}{
		"integrity":             {Policy{IntegrityOnly: true}, nil, "<nil>"},
		"integrity, issuer":     {Policy{IntegrityOnly: true, Issuer: "i"}, nil, noSignatures},
		"integrity, witnesses":  {Policy{IntegrityOnly: true, Witnesses: Quorum{Threshold: 1}}, nil, noSignatures},
		"integrity, checkpoint": {Policy{IntegrityOnly: true, Checkpoint: CheckpointRule{Required: true}}, nil, noLogs},
		"integrity, cosigners":  {Policy{IntegrityOnly: true, Checkpoint: CheckpointRule{Cosigners: Quorum{Threshold: 1}}}, nil, noLogs},
		"integrity, below none": {Policy{IntegrityOnly: true, Checkpoint: CheckpointRule{Cosigners: Quorum{Threshold: -1}}}, nil, noLogs},
		"no trust":              {Policy{}, nil, noKeys},
		"no keys":               {Policy{}, emptyTrust{}, noKeys},
		"keys":                  {Policy{}, rawTrust{}, "<nil>"},
		"groups of witnesses":   {Policy{Witnesses: Quorum{Threshold: 1, Groups: []Quorum{{}}}}, rawTrust{}, "receipt: witnesses of receipts have no groups"},
		"too many witnesses":    {Policy{Witnesses: Quorum{Threshold: 2, Keys: []string{"a"}}}, rawTrust{}, "receipt: 2 witnesses are required, but only 1 are named"},
		"too many cosigners":    {Policy{Checkpoint: CheckpointRule{Cosigners: Quorum{Threshold: 2, Keys: []string{"a"}}}}, rawTrust{}, "receipt: 2 cosigners are required, but only 1 are named"},
	} {
		if got := fmt.Sprint(c.p.validate(c.trust)); got != c.want {
			t.Errorf("%s: %s, expected %s", name, got, c.want)
		}
	}
}

// An emptyTrust has no keys.
type emptyTrust struct{ Trust }

func (emptyTrust) Len() int { return 0 }

// TestBatchRecord verifies which result of the batch step is reported, for all pairs of results for
// proofs and batches.
func TestBatchRecord(t *testing.T) {
	none := Check{Status: StatusNotApplicable}
	passed := Check{Status: StatusPassed, Stated: "proof"}
	failed := Check{Status: StatusFailed, Code: CodeProofInvalid, Detail: "a"}
	open := Check{Status: StatusNotChecked, Code: CodeBatchNotChecked, Detail: "a"}
	other := Check{Status: StatusNotChecked, Code: CodeUnknownKey, Detail: "a"}
	for i, c := range []struct {
		inclusion, batch Check
		strict           bool
		status           Status
		code             Code
	}{
		{none, none, false, StatusNotApplicable, ""},
		{passed, none, false, StatusPassed, ""},
		{none, passed, false, StatusPassed, ""},
		{passed, failed, false, StatusFailed, CodeProofInvalid},
		{failed, passed, false, StatusFailed, CodeProofInvalid},
		{passed, open, false, StatusPassed, ""},
		{passed, open, true, StatusNotChecked, CodeBatchNotChecked},
		{passed, other, false, StatusNotChecked, CodeUnknownKey},
		{none, open, false, StatusNotChecked, CodeBatchNotChecked},
		{none, open, true, StatusNotChecked, CodeBatchNotChecked},
		{other, open, false, StatusNotChecked, CodeUnknownKey},
		{other, failed, false, StatusFailed, CodeProofInvalid},
	} {
		v, rep := &Verifier{policy: Policy{Strict: c.strict}}, new(Report)
		c.inclusion.Step, c.batch.Step = StepBatch, StepBatch
		batchStep{v}.record(c.inclusion, c.batch, rep)
		if got := rep.Check(StepBatch); got.Status != c.status || got.Code != c.code {
			t.Errorf("%d: %+v", i, got)
		}
	}
}

// TestNotesThatUndecide verifies that notes about rules of the caller leave a receipt undecided.
func TestNotesThatUndecide(t *testing.T) {
	for code, want := range map[Code]bool{rulePrefix + "limit": true, CodeUnknownKey: true, CodeLinkNotChecked: false, CodeEnvelopeNotChecked: false} {
		if got := (Note{Code: code}).Undecides(); got != want {
			t.Errorf("%s: %t", code, got)
		}
	}
}
