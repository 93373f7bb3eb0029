package otlp

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// settleNameless says of each call of a model whether another span may tell it, too, where
// spans have no ids: what lies in another by its time may lie in it. The innermost counts,
// and the rest is not told: it reports whether there was any. Spans without times may lie
// anywhere.
func settleNameless(all spans) (left bool) {
	of := map[id][]*call{}
	nameless := map[id]bool{}
	for key, x := range all {
		if x.call == nil || x.call.inner || !x.call.usage.Told() {
			continue
		}
		of[key.trace] = append(of[key.trace], x.call)
		nameless[key.trace] = nameless[key.trace] || x.call.nameless
	}

	// Where some spans name a trace, those that name none may be of any.
	if lost := of[""]; len(lost) > 0 && len(of) > 1 {
		for _, x := range lost {
			x.nameless = true
		}
		calls := slices.Concat(slices.Collect(maps.Values(of))...)
		return settleByTime(calls)
	}
	for trace, calls := range of {
		if nameless[trace] && len(calls) > 1 {
			left = settleByTime(calls) || left
		}
	}
	return left
}

// settleByTime is settleNameless for the calls of a trace. What begins earlier comes first,
// and of two that begin together the longer one, so that what lies in a call is behind it.
func settleByTime(calls []*call) (left bool) {
	slices.SortFunc(calls, func(a, b *call) int {
		return cmp.Or(a.start.Compare(b.start), b.end.Compare(a.end), a.at.Compare(b.at))
	})
	var all, nameless time.Time // the earliest end behind, of all and of those without ids
	for _, x := range slices.Backward(calls) {
		switch {
		case x.start.IsZero() || x.end.IsZero():
			x.inner = x.nameless
		case x.nameless:
			x.inner = within(all, x)
		default:
			x.inner = within(nameless, x)
		}
		left = left || x.inner
		if x.start.IsZero() || x.end.IsZero() {
			continue
		}
		all = earlier(all, x.end)
		if x.nameless {
			nameless = earlier(nameless, x.end)
		}
	}
	return left
}

func within(end time.Time, x *call) bool { return !end.IsZero() && !end.After(x.end) }

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
