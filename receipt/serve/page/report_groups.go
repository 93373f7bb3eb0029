package page

import (
	"cmp"
	"path"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt"
)

// A groupName contains the values that all receipts in a group have in common. They are untrusted.
type groupName struct {
	Directory string        `json:"directory"`
	Issuer    string        `json:"issuer"`
	Workspace string        `json:"workspace"`
	Key       string        `json:"key"` // of the first signature
	Code      receipt.Code  `json:"code"`
	Cause     receipt.Cause `json:"cause,omitzero"`
	Others    bool          `json:"others,omitzero"` // all receipts whose groups are not counted separately
}

// A group contains the receipts that have the same verdict and the same groupName.
type group struct {
	groupName
	Count   int `json:"count"`
	reports []*receipt.Report
}

// listed contains some of the receipts with one verdict, up to maxListed. Groups share this number,
// so that a large group does not crowd out the others.
type listed struct {
	groups []*group
	named  map[groupName]*group
	kept   int
	most   int // upper bound on the length of the longest list in a group
	count  int
}

func (l *listed) add(rep *receipt.Report, root canon.Node) {
	g := l.group(rep, root)
	g.Count++
	l.count++
	if l.kept == maxListed && !l.evict(len(g.reports)+1) {
		return
	}
	g.reports = append(g.reports, rep.Clone())
	l.kept++
	l.most = max(l.most, len(g.reports))
}

// group returns the group to which a receipt belongs.
func (l *listed) group(rep *receipt.Report, root canon.Node) *group {
	f := rep.Finding()
	name := groupName{Issuer: text(root.Member("issuer").Member("id")), Workspace: text(root.Member("identifiers").Member("workspace_ref")), Code: f.Code, Cause: f.Cause}
	if dir := path.Dir(rep.Source); dir != "." {
		name.Directory = untrusted.Cut(dir, 200)
	}
	if len(rep.Signatures) > 0 {
		name.Key = untrusted.Cut(rep.Signatures[0].KeyID, 200)
	}

	if l.named == nil {
		l.named = map[groupName]*group{}
	}
	// If there are already maxGroups groups, receipts of further groups are counted in a single
	// group.
	g := l.named[name]
	if g == nil && len(l.groups) >= maxGroups {
		name = groupName{Others: true}
		g = l.named[name]
	}
	if g == nil {
		g = &group{groupName: name}
		l.named[name] = g
		l.groups = append(l.groups, g)
	}
	return g
}

func text(n canon.Node) string { return untrusted.Cut(n.String(), 200) }

// evict makes room for a report in a group that needs a list of the given length. It removes the
// last report from the longest list, unless that list would become shorter than wanted.
func (l *listed) evict(wanted int) bool {
	if wanted >= l.most {
		return false
	}

	// The longest list may have become shorter since most was set.
	longest := slices.MaxFunc(l.groups, func(a, b *group) int { return cmp.Compare(len(a.reports), len(b.reports)) })
	if l.most = len(longest.reports); wanted >= l.most {
		return false
	}

	longest.reports = longest.reports[:l.most-1]
	l.kept--
	return true
}

// reports returns the listed reports: the first of each group, then the second of each group, and
// so on.
func (l *listed) reports() (list []*receipt.Report) {
	for at := 0; len(list) < l.kept; at++ {
		for _, g := range l.groups {
			if at < len(g.reports) {
				list = append(list, g.reports[at])
			}
		}
	}
	return list
}

// more returns the number of receipts that are counted but not listed.
func (l *listed) more() int { return l.count - l.kept }

// largest returns the groups with the most receipts, or nil if all receipts are in one group.
func (l *listed) largest() []*group {
	if len(l.groups) < 2 {
		return nil
	}
	list := slices.Clone(l.groups)
	slices.SortStableFunc(list, func(a, b *group) int { return cmp.Compare(b.Count, a.Count) })
	return list[:min(len(list), maxShared)]
}
