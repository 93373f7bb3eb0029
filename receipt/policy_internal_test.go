package receipt

import (
	"fmt"
	"strings"
	"testing"
)

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

// TestKeysOfTrust verifies that a trust that does not list its keys has no related keys, and that
// a key that is not for a log is not returned as a log.
func TestKeysOfTrust(t *testing.T) {
	if kin := kinOf(struct{ Trust }{}); len(kin) > 0 {
		t.Errorf("%v", kin)
	}
	if logs := Logs(keyTrust{keys: []NoteKey{{Key: &Key{ID: "k", Issuers: []string{"i"}}}}}); len(logs) > 0 {
		t.Errorf("%v", logs)
	}
}
