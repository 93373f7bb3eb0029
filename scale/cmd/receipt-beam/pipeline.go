package main

import (
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

// group is the type of the functions through which Beam passes the values for a key.
type group = func(*[]byte) bool

// init registers the functions that Beam calls on workers. Beam finds them by name. It calls methods
// through reflection, because the generic functions of package register, which avoid that, take
// more than a minute to compile.
func init() {
	for _, fn := range []reflect.Type{
		reflect.TypeFor[leafReading](),
		reflect.TypeFor[startSources](),
		reflect.TypeFor[growBranches](),
		reflect.TypeFor[plantTree](),
		reflect.TypeFor[firstReading](),
		reflect.TypeFor[idGroup](),
		reflect.TypeFor[dealParts](),
		reflect.TypeFor[digestGroup](),
		reflect.TypeFor[addStrands](),
		reflect.TypeFor[streamGroup](),
		reflect.TypeFor[forgive](),
		reflect.TypeFor[tally](),
		reflect.TypeFor[deal](),
		reflect.TypeFor[secondReading](),
		reflect.TypeFor[conclude](),
	} {
		beam.RegisterDoFn(fn)
	}
	register.Function2x2(underOne)
	register.Emitter1[[]byte]()
	register.Emitter2[[]byte, []byte]()
	register.Emitter2[int, []byte]()
	register.Emitter2[int, int64]()
	register.Emitter2[int, uint64]()
	register.Iter1[[]byte]()
	register.Iter1[int64]()
	register.Iter1[uint64]()
}

// underOne replaces the key of a value with the single key for all inputs.
func underOne(_ int, text []byte) (int, []byte) { return ofAll, text }

// build returns the pipeline for a run.
func build(inputs [][]byte, setting []byte, strict, compared bool) *beam.Pipeline {
	p, s := beam.NewPipelineWithRoot()
	list := beam.Reshuffle(s, beam.CreateList(s, inputs))
	if compared {
		list = layOutTree(s, list, setting)
	}
	layOut(s, list, setting, strict)
	return p
}

// layOutTree adds a pass over each input that reads leaves, and the groupings that build a tree
// from them. The inputs in the returned list contain the tree.
func layOutTree(s beam.Scope, list beam.PCollection, setting []byte) beam.PCollection {
	tree := growth{Setting: setting}
	extents, leaves := beam.ParDo2(s.Scope("leaves"), &leafReading{worker{Setting: setting}}, list)
	starts := beam.ParDo(s.Scope("starts"), &startSources{}, beam.GroupByKey(s, extents))
	branches := beam.ParDo(s.Scope("branches"), &growBranches{tree}, beam.CoGroupByKey(s, starts, leaves))
	return beam.Reshuffle(s, beam.ParDo(s.Scope("tree"), &plantTree{tree}, beam.CoGroupByKey(s, extents, branches)))
}

// layOut adds two passes over each input in a list, with the groupings between them.
func layOut(s beam.Scope, list beam.PCollection, setting []byte, strict bool) {
	// The first pass is followed by three groupings of its records.
	links := grouping{Setting: setting}
	byID, alone, readings, gaps := beam.ParDo4(s.Scope("first reading"), &firstReading{worker{Setting: setting}}, list)
	copies, once, same := beam.ParDo3(s.Scope("ids"), &idGroup{}, beam.GroupByKey(s, byID))
	parts := beam.ParDo(s.Scope("parts"), &dealParts{}, beam.Flatten(s, once, alone))
	linked, open, tallies := beam.ParDo3(s.Scope("links"), &digestGroup{links}, beam.GroupByKey(s, parts))
	sums := beam.CombinePerKey(s.Scope("sums"), &addStrands{}, tallies)
	begun, missing, strands := beam.ParDo3(s.Scope("streams"), &streamGroup{links}, beam.CoGroupByKey(s, sums, open))
	forgiven, fewer := beam.ParDo2(s.Scope("gaps"), &forgive{}, beam.CoGroupByKey(s, missing, gaps))

	// Every receipt is counted, and the results for some receipts are sent to the second pass.
	done := beam.Flatten(s, copies, linked, begun, forgiven)
	counts, marks := beam.ParDo2(s.Scope("counts"), &tally{Strict: strict}, done)
	again, found := beam.ParDo2(s.Scope("shares"), &deal{worker{Setting: setting}}, beam.CoGroupByKey(s, readings, beam.Flatten(s, marks, same)))
	shares := beam.ParDo(s.Scope("second reading"), &secondReading{worker{Setting: setting}}, beam.CoGroupByKey(s, again, found))

	all := beam.CoGroupByKey(s, beam.ParDo(s, underOne, readings), counts, beam.Flatten(s, strands, fewer), shares)
	beam.ParDo0(s.Scope("summary"), &conclude{worker{Setting: setting}}, all)
}
