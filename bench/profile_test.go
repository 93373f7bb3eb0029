package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"
)

// TestBreakdown verifies that the profile of a verification contains the documented steps.
func TestBreakdown(t *testing.T) {
	steps := few(t).breakdown(time.Second)
	sum, of := 0.0, map[string]float64{}
	for _, s := range steps {
		sum += s.Value
		of[s.Name] = s.Value
	}
	if sum < 99.5 || sum > 100.5 {
		t.Errorf("%v is no whole", steps)
	}
	for _, name := range []string{parseStep, signatureStep} {
		if of[name] <= 0 {
			t.Errorf("no time in %s", name)
		}
	}
}

func TestShares(t *testing.T) {
	sample := func(n int64, stack ...string) *profile.Sample {
		s := &profile.Sample{Value: []int64{n}}
		for _, name := range append(stack, "receipt.(*Verifier).VerifyBytes", "main.main") {
			s.Location = append(s.Location, &profile.Location{Line: []profile.Line{{Function: &profile.Function{Name: name}}}})
		}
		return s
	}
	outside := &profile.Sample{Value: []int64{1000}}
	p := &profile.Profile{Sample: []*profile.Sample{
		sample(10, "canon.string", "canon.(*Document).Parse"),
		sample(20, "crypto/sha256.block", "canon.(*Document).Digest", "chain.Hash"),
		sample(5, "canon.append", "canon.(*Document).Digest", "chain.Hash"),
		sample(5, "crypto/sha256.block", "canon.Sum"),
		sample(15, "canon.Node.Member", "schemas.(*Schema).Check"),
		sample(30, "crypto/sha512.block", "keys.(*Set).CheckSignature"),
		sample(15, "receipt.(*Verifier).lint"),
		outside,
	}}
	steps, err := shares(p)
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{10, 5, 20, 5, 15, 30, 15}
	for i, s := range steps {
		if s.Value != want[i] {
			t.Errorf("%s: %v %%, expected %v", s.Name, s.Value, want[i])
		}
	}
	p.Sample = append(p.Sample, sample(100, "receipt.(*Verifier).renamed"))
	if _, err := shares(p); err == nil || !strings.Contains(err.Error(), "no step that is known") {
		t.Errorf("half of the time is in no known step: %v", err)
	}
	if _, err := shares(&profile.Profile{Sample: []*profile.Sample{outside}}); err == nil {
		t.Error("a profile without a verification is no error")
	}
}

func TestFloor(t *testing.T) {
	parts, whole := few(t).floor()
	sum := 0.0
	for _, p := range parts {
		sum += p.Value
		if p.Value <= 0 {
			t.Errorf("%+v", p)
		}
	}
	if len(parts) != 3 || whole < sum/2 {
		t.Errorf("%v, the whole is %v", parts, whole)
	}
}
