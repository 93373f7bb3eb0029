package main

import (
	"os"
	"text/template"

	"github.com/receiptkit/receiptkit/bench/internal/result"
)

// These are paths relative to the directory of this command.
const (
	recordedFile = "recorded.json"
	templateFile = "performance.md.tmpl"
	documentFile = "../docs/performance.md"
)

// record writes the record of a run.
func record(r *result.Recorded) error {
	if err := r.Save(recordedFile); err != nil {
		return err
	}
	return document()
}

// document generates the page for users from the record.
func document() error {
	r, err := result.Load(recordedFile)
	if err != nil {
		return err
	}
	text, err := page(r)
	if err != nil {
		return err
	}
	return os.WriteFile(documentFile, text, 0o666)
}

// page fills in the template of that page. The same record always leads to the same bytes.
func page(r *result.Recorded) ([]byte, error) {
	text, err := os.ReadFile(templateFile)
	if err != nil {
		return nil, err
	}
	t, err := template.New(templateFile).Option("missingkey=error").Parse(string(text))
	if err != nil {
		return nil, err
	}
	return r.Fill(t)
}
