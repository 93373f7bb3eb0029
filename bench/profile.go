package main

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/google/pprof/profile"

	"github.com/receiptkit/receiptkit/bench/internal/race"
	"github.com/receiptkit/receiptkit/bench/internal/result"
)

// mostUnknown is the maximum share of the time that is spent outside the steps that stepOf
// recognizes. A larger share means that functions were renamed.
const mostUnknown = 0.30

// breakdown returns how a full verification is divided into steps, in percent, from a profile of
// the given processor time.
func (b *bench) breakdown(long time.Duration) []result.Step {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	b.sample.warm()
	us := ours(b.sample.set)
	var out bytes.Buffer
	check(pprof.StartCPUProfile(&out))
	began := race.Clock()
	var err error
	for round := 0; err == nil && race.Clock()-began < long; round++ {
		err = us.all(b.sample.slice(round))
	}
	pprof.StopCPUProfile()
	check(err)
	return must(shares(must(profile.ParseData(out.Bytes()))))
}

// shares sums the samples of a profile by step.
func shares(p *profile.Profile) ([]result.Step, error) {
	sums, whole := map[string]float64{}, 0.0
	for _, s := range p.Sample {
		stack := functions(s)
		if !strings.Contains(stack, "receipt.(*Verifier).VerifyBytes") {
			continue // the runtime and the loop itself
		}
		n := float64(s.Value[0])
		sums[stepOf(stack)] += n
		whole += n
	}
	if whole == 0 {
		return nil, errors.New("the profile has no sample of a verification")
	}
	if part := sums[otherStep] / whole; part > mostUnknown {
		return nil, fmt.Errorf("%.0f %% of the time is in no step that is known: profile.go has to name the functions as they are now", 100*part)
	}
	var list []result.Step
	for _, name := range stepNames() {
		list = append(list, result.Step{Name: name, Value: result.Round(100 * sums[name] / whole)})
	}
	return list, nil
}

// functions returns the names in a stack, one per line, innermost first.
func functions(s *profile.Sample) string {
	var b strings.Builder
	for _, at := range s.Location {
		for _, line := range at.Line {
			if line.Function != nil {
				b.WriteString(line.Function.Name + "\n")
			}
		}
	}
	return b.String()
}

// These are the steps of a verification.
const (
	parseStep     = "parse"
	canonicalStep = "canonicalize"
	preimageStep  = "SHA-256 of the preimage"
	inputStep     = "SHA-256 of the input"
	schemaStep    = "schema"
	signatureStep = "signatures"
	otherStep     = "lint, policy, report"
)

func stepNames() []string {
	return []string{parseStep, canonicalStep, preimageStep, inputStep, schemaStep, signatureStep, otherStep}
}

// stepOf returns the step to which a stack belongs: the first step that matches.
func stepOf(stack string) string {
	has := func(part string) bool { return strings.Contains(stack, part) }
	switch {
	case has("keys.(*Set).CheckSignature"):
		return signatureStep
	case has("sha256") && (has("canon.(*Document).Digest") || has("chain.Hash")):
		return preimageStep
	case has("sha256"):
		return inputStep
	case has("schemas."):
		return schemaStep
	case has("canon.(*Document).Parse"):
		return parseStep
	case has("canon.(*Document).Digest"), has(".AppendCanonical"):
		return canonicalStep
	}
	return otherStep
}
