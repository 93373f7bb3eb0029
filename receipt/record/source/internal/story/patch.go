package story

import "strings"

// BeginPatch is the first line of a patch for apply_patch.
const BeginPatch = "*** Begin Patch"

const endPatch = "*** End Patch"

// PatchOf parses a patch for the tool apply_patch, which several agents provide. The content of an
// added file consists of the added lines, each followed by a line feed. For other changes, the
// content is unknown. PatchOf returns no changes for an incomplete patch.
func PatchOf(text string) (changes []Write) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, BeginPatch) || !strings.HasSuffix(text, endPatch) {
		return nil
	}

	var added *strings.Builder // content of the current added file
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		if added != nil && strings.HasPrefix(line, "+") {
			added.WriteString(line[1:] + "\n")
			continue
		}

		// If an added file has a line that is neither an added line nor a header, its content is
		// unknown.
		header := strings.HasPrefix(line, "*** ")
		if header && added != nil {
			changes[len(changes)-1].After = Held([]byte(added.String()))
		}
		if added = nil; !header {
			continue
		}

		switch word, name, _ := strings.Cut(line, ": "); {
		case name == "":
		case word == "*** Add File":
			changes = append(changes, Write{Path: name, Operation: "create"})
			added = new(strings.Builder)
		case word == "*** Update File":
			changes = append(changes, Write{Path: name, Operation: "modify"})
		case word == "*** Delete File":
			changes = append(changes, Write{Path: name, Operation: "delete", After: Nothing()})
		case word == "*** Move to" && len(changes) > 0:
			last := &changes[len(changes)-1]
			last.Operation, last.After = "delete", Nothing()
			changes = append(changes, Write{Path: name, Operation: "create"})
		}
	}
	return changes
}
