package receipt_test

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
)

// TestReportsAreSmall verifies that only a receipt's ID can make its report long.
func TestReportsAreSmall(t *testing.T) {
	keys := testKeys()
	v := verifier(t, keys, receipt.Policy{})
	good := forge(t, plainDraft(), keep, keys["a"])
	long := strings.Repeat("é/", 100_000)
	for name, data := range map[string][]byte{
		"name":      bytes.Replace(good, []byte(`"metadata":{}`), []byte(`"metadata":{"`+long+`":1e300}`), 1),
		"digits":    bytes.Replace(good, []byte(`"metadata":{}`), []byte(`"metadata":{"n":1`+strings.Repeat("0", 200)+`}`), 1),
		"key id":    bytes.Replace(good, []byte(`"key_id":"a"`), []byte(`"key_id":"`+long+`"`), 1),
		"algorithm": bytes.Replace(good, []byte(`"algorithm":"ed25519"`), []byte(`"algorithm":"`+long+`"`), 1),
		"signature": bytes.Replace(good, []byte(`"signature":"`), []byte(`"signature":"`+long), 1),
		"marker":    bytes.Replace(good, []byte(`"schema":"`), []byte(`"schema":"`+long), 1),
		"hash":      bytes.Replace(good, []byte(`"receipt_hash":"`), []byte(`"receipt_hash":"`+long), 1),
		"issuer":    forge(t, plainDraft(), func(o map[string]any) { o["issuer"].(map[string]any)["id"] = long }, keys["a"]),
		"named key": forge(t, plainDraft(), func(o map[string]any) { o["issuer"].(map[string]any)["public_key_id"] = long }, keys["a"]),
	} {
		rep := verify(v, data)
		if rep.Verdict == receipt.Verified {
			t.Errorf("%s: verified", name)
		}
		if n := len(marshal(t, rep)); n > 8<<10 {
			t.Errorf("%s: a report of %d bytes", name, n)
		}
	}
}

// TestErrorsEscapeNames verifies that an error's text quotes names from the receipt.
func TestErrorsEscapeNames(t *testing.T) {
	keys := testKeys()
	data := forge(t, plainDraft(), func(o map[string]any) { o["\x1b[2J\u202e"] = 1 }, keys["a"])
	_, err := verifier(t, keys, receipt.Policy{}).Open(data)
	if err == nil || strings.ContainsAny(err.Error(), "\x1b\u202e") {
		t.Errorf("%q", err)
	}
	doc, err := canon.Parse([]byte(`{"\u001b[2J\u202e":1}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := receipt.SealDocument(doc, chain.Head{}); err == nil || strings.ContainsAny(err.Error(), "\x1b\u202e") {
		t.Errorf("%q", err)
	}
}

// TestZones verifies that offsets are limited to the range of clock times (RFC 3339 section 5.6).
func TestZones(t *testing.T) {
	for zone, want := range map[string]bool{
		"Z": true, "z": true, "+00:00": true, "-00:00": true, "+23:59": true, "-23:59": true,
		"+24:00": false, "-24:00": false, "+99:00": false, "+00:60": false, "+23:60": false, "+00:99": false,
		"+0:00": false, "+00:0": false, "+0000": false, "+00.00": false, " 00:00": false, "+0a:00": false, "+00:a0": false, "": false,
	} {
		at, err := receipt.ParseTime("2026-04-25T12:00:00" + zone)
		if (err == nil) != want || want && at.Sub(noon).Abs() >= 24*time.Hour {
			t.Errorf("%q: %v, %v", zone, at, err)
		}
	}
}

// TestTimesOfOtherForms verifies that each separator must be in its place and each number in its range
// (RFC 3339 section 5.6), even though the schema would refuse such times as well.
func TestTimesOfOtherForms(t *testing.T) {
	for _, text := range []string{"2026_04-25T12:00:00Z", "2026-04_25T12:00:00Z", "2026-04-25 12:00:00Z", "2026-04-25_12:00:00Z",
		"2026-04-25T12_00:00Z", "2026-04-25T12:00_00Z", "2026-04-25T12:00:00", "2026-04-25T12:00Z", "",
		"2026-04-25T24:00:00Z", "2026-04-25T23:60:00Z", "2026-04-25T23:59:61Z"} {
		if at, err := receipt.ParseTime(text); err == nil {
			t.Errorf("%q: parsed as %v", text, at)
		}
	}
	for _, text := range []string{"2026-04-25T23:00:00Z", "2026-04-25T00:59:00Z", "2026-04-25T23:59:60Z"} {
		if _, err := receipt.ParseTime(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestEdgeOfTime verifies that reports contain a time for the last second of 9999 and the first
// second of 0000, even if an offset or a leap second moves the time into a year that RFC 3339
// cannot represent.
func TestEdgeOfTime(t *testing.T) {
	keys := testKeys()
	v := verifier(t, keys, receipt.Policy{})
	for issued, want := range map[string]string{
		"9999-12-31T23:59:60Z":      "9999-12-31T23:59:59.999Z",
		"9999-12-31T23:59:59-23:59": "9999-12-31T23:59:59.999Z",
		"9999-12-31T23:59:59Z":      "9999-12-31T23:59:59Z",
		"0000-01-01T00:00:00+23:59": "0000-01-01T00:00:00Z",
		"0000-01-01T00:00:00.5Z":    "0000-01-01T00:00:00.5Z",
	} {
		data := forge(t, plainDraft(), func(o map[string]any) { o["issued_at"] = issued }, keys["a"])
		rep := verify(v, data)
		if text := marshal(t, rep); rep.Verdict != receipt.Verified || !bytes.Contains(text, []byte(`"at":"`+want+`"`)) {
			t.Errorf("%s: %s", issued, text)
		}
	}
}

// TestHintIsBounded verifies that a large receipt is not searched for the mistake that led to an
// incorrect hash, because each known mistake requires a separate pass.
func TestHintIsBounded(t *testing.T) {
	keys := testKeys()
	v := verifier(t, keys, receipt.Policy{})
	for size, want := range map[int]bool{1000: true, 1 << 20: false} {
		data := forge(t, plainDraft(), func(o map[string]any) { o["metadata"] = map[string]any{"s": strings.Repeat("x", size)} })
		doc, err := canon.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		root := doc.Root()
		stated := doc.Digest(root.Member("chain"), root.Member("signatures"))
		data = bytes.Replace(data, root.Member("chain").Member("receipt_hash").Raw(), []byte(`"`+stated.String()+`"`), 1)
		if c := verify(v, data).Check(receipt.StepHash); c.Code != receipt.CodeHashMismatch || (c.Hint != "") != want {
			t.Errorf("%d bytes: %s, hint %q", size, c.Code, c.Hint)
		}
	}
}

// TestSchemaTimesAreRead verifies that a verifier can process every date-time that the schema
// accepts.
func TestSchemaTimesAreRead(t *testing.T) {
	v := verifier(t, nil, receipt.Policy{IntegrityOnly: true})
	good := forge(t, plainDraft(), keep)
	accepted, part := 0, 7
	if testsize.Full() {
		part = 1
	}
	for i, date := range []string{"2026-04-25", "2024-02-29", "1900-02-29", "0000-02-29", "9999-12-31", "2026-13-01", "2026-01-00", "2016-12-31"} {
		for j, sep := range []string{"T", "t", " ", "_"} {
			for k, clock := range []string{"00:00:00", "23:59:59", "23:59:60", "12:00:60", "24:00:00", "23:60:00", "00:00:61", "22:59:60", "1:00:00", "00:00:00.", "00:00:00.1", "00:00:00,1", "00:00:00.0123456789012345678901234567890123456789", "23:59:60.9"} {
				for l, zone := range []string{"Z", "z", "", "+00:00", "-00:00", "+23:59", "-23:59", "+24:00", "+01:00", "-01:00", "+0100", "+01", "+1:00", "+00:60", "Z\n", " Z"} {
					if (i+j+k+l)%part != 0 {
						continue
					}
					text := date + sep + clock + zone
					data := bytes.Replace(good, []byte(`"issued_at":"2026-04-25T12:00:00Z"`), []byte(`"issued_at":"`+strings.ReplaceAll(text, "\n", `\n`)+`"`), 1)
					if verify(v, data).Check(receipt.StepSchema).Status != receipt.StatusPassed {
						continue
					}
					accepted++
					if _, err := receipt.ParseTime(text); err != nil {
						t.Errorf("%q: the schema accepts it, ParseTime does not", text)
					}
				}
			}
		}
	}
	if accepted < 200/part {
		t.Errorf("only %d date-times fit", accepted)
	}
}

// TestVerifierKeepsItsPolicy verifies that later changes to the caller's policy have no effect.
func TestVerifierKeepsItsPolicy(t *testing.T) {
	keys := testKeys()
	p := receipt.Policy{Witnesses: receipt.Quorum{Threshold: 1, Keys: []string{"w1"}}}
	v := verifier(t, keys, p)
	p.Witnesses.Keys[0] = "w2"
	if got := outcomeOf(verify(v, forge(t, plainDraft(), keep, keys["a"], keys["w1"]))); got != verified() {
		t.Error(got)
	}
}

func TestVerifyNothing(t *testing.T) {
	rep := new(receipt.Report)
	verifier(t, testKeys(), receipt.Policy{}).Verify(new(canon.Document), rep)
	if c := rep.Finding(); rep.Verdict != receipt.Refuted || c.Code != receipt.CodeNotObject || !strings.HasSuffix(c.Detail, "found nothing") {
		t.Errorf("%v: %+v", rep.Verdict, c)
	}
}

// TestSealCycles verifies that metadata that contains itself causes an error instead of a crash.
func TestSealCycles(t *testing.T) {
	loop := receipt.Object{}
	loop["a"], loop["b"] = loop, []any{loop}
	d := plainDraft()
	d.Metadata = loop
	done := make(chan error, 1)
	go func() {
		_, err := receipt.Seal(d, chain.Head{})
		done <- err
	}()
	select {
	case err := <-done:
		if found := problems(t, err); found[""] != receipt.CodeSchemaInvalid || len(found) != 1 {
			t.Errorf("%v", found)
		}
	case <-time.After(time.Minute):
		t.Fatal("does not end")
	}
}

// TestSealBadTextInStructs verifies that strings in structs are also checked, because open objects
// may contain structs.
func TestSealBadTextInStructs(t *testing.T) {
	type value struct {
		Tagged   string `json:"t"`
		Untagged string
		Hidden   string `json:"-"`
	}
	d := plainDraft()
	d.Metadata = receipt.Object{"v": value{"\xff", "\xff", "\xff"}, "p": &value{Untagged: "\xff"}, "f": math.Pi}
	_, err := receipt.Seal(d, chain.Head{})
	found := problems(t, err)
	for _, at := range []string{"/metadata/v/t", "/metadata/v/Untagged", "/metadata/p/Untagged"} {
		if found[at] != receipt.CodeInvalidUTF8 {
			t.Errorf("%s: %v", at, found)
		}
	}
	if len(found) != 3 {
		t.Errorf("%v", found)
	}
}

// TestSealRefusesImpossibleHead verifies that a head with a nonzero number of receipts but no hash
// is rejected.
func TestSealRefusesImpossibleHead(t *testing.T) {
	s, err := receipt.Seal(plainDraft(), chain.Head{Count: 3})
	if found := problems(t, err); s != nil || found["/chain/previous_receipt_hash"] != receipt.CodeChainBreak {
		t.Errorf("%v, %v", s, err)
	}
}

func TestSignStopsAtTheLimit(t *testing.T) {
	keys := testKeys()
	s, err := receipt.ParseSealed(forge(t, plainDraft(), keep, slices.Repeat([]*member{keys["a"]}, 100-1)...))
	if err != nil {
		t.Fatal(err)
	}
	if s, err = s.Sign(t.Context(), keys["a"]); err != nil {
		t.Fatal(err)
	}
	if s, err := s.Sign(t.Context(), keys["a"]); err == nil || s != nil {
		t.Errorf("%v, %v: one more signature than a verifier examines", s, err)
	}
}
