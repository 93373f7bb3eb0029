package bundle_test

import (
	"fmt"
	"os"

	"github.com/receiptkit/receiptkit/receipt/bundle"
)

func ExampleExport() {
	run := []byte(`{
		"_type": "run_record", "id": "run_1", "workflow_id": "wf_1", "task": "water the beds", "status": "completed",
		"finished_at": "2026-05-04T10:00:09Z",
		"metadata": {"api_key": "not for you", "page": "https://ada:pass@example.org/beds"}
	}`)
	text, err := bundle.Export(run, bundle.Options{Mode: bundle.ReplayOnly})
	if err != nil {
		panic(err)
	}
	for _, e := range text.Entries {
		fmt.Println(e.Path, e.Class, e.Replacement)
	}
	// Output:
	// $.replay.run_record.metadata.api_key sensitive_field [redacted]
	// $.replay.run_record.metadata.page secret_pattern_or_url https://example.org/beds
	// $.replay.run_record.task prompt_or_tool_payload [withheld]
	// $.source.task prompt_or_tool_payload [withheld]
}

func ExampleCheck() {
	data, err := os.ReadFile("testdata/run.json") // this file contains a run record
	if err != nil {
		panic(err)
	}
	b, err := bundle.Parse(data)
	if err != nil {
		panic(err)
	}
	_, err = bundle.Check(b, bundle.RefuseMarkers)
	fmt.Println(err)
	// Output: missing_required at $.schema_version
}
