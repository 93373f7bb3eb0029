package story_test

import (
	"slices"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// TestPatchOf verifies the changes that a patch makes. The content of a file is known only if the
// patch contains all lines of the file as added lines. An incomplete patch yields no changes.
func TestPatchOf(t *testing.T) {
	const begin, end = "*** Begin Patch\n", "*** End Patch\n"
	create := func(path string, after story.State) story.Write {
		return story.Write{Path: path, Operation: "create", After: after}
	}
	gone := func(path string) story.Write {
		return story.Write{Path: path, Operation: "delete", After: story.Nothing()}
	}
	for text, want := range map[string][]story.Write{
		begin + "*** Add File: a\n+x\n+\n" + end:                             {create("a", story.Held([]byte("x\n\n")))},
		begin + "*** Add File: a\r\n+x\r\n" + end:                            {create("a", story.Held([]byte("x\n")))},
		begin + "*** Add File: a\n" + end:                                    {create("a", story.Held(nil))},
		begin + "*** Add File: a\n+x\ny\n+z\n" + end:                         {create("a", story.State{})},
		begin + "*** Update File: a\n@@\n-x\n+y\n*** Delete File: b\n" + end: {{Path: "a", Operation: "modify"}, gone("b")},
		begin + "*** Update File: a\n*** Move to: b\n" + end:                 {gone("a"), create("b", story.State{})},
		begin + "*** Move to: b\n*** Add File: \n" + end:                     nil,
		begin + "*** Add File: a\n+x\n":                                      nil,
		"*** Add File: a\n+x\n" + end:                                        nil,
		"":                                                                   nil,
	} {
		if got := story.PatchOf(text); !slices.Equal(got, want) {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}
