package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/evanw/esbuild/pkg/api"
)

// script bundles a module and its imports into one script. alias maps module names to files.
func script(entry string, alias map[string]string) ([]byte, error) {
	return bundle(api.BuildOptions{EntryPoints: []string{entry}, Alias: alias, Format: api.FormatIIFE,
		Loader: map[string]api.Loader{".json": api.LoaderText}}) // an example must contain exactly the bytes of its file
}

func style(entry string) ([]byte, error) {
	return bundle(api.BuildOptions{EntryPoints: []string{entry}})
}

func bundle(o api.BuildOptions) ([]byte, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}

	o.AbsWorkingDir, o.Bundle, o.Write, o.LogLevel = dir, true, false, api.LogLevelSilent
	o.Target, o.LegalComments = api.ES2022, api.LegalCommentsNone
	o.MinifySyntax, o.MinifyWhitespace, o.MinifyIdentifiers = true, true, true
	result := api.Build(o)
	if len(result.Errors)+len(result.Warnings) > 0 {
		return nil, complaints(append(result.Errors, result.Warnings...))
	}
	if len(result.OutputFiles) != 1 {
		return nil, fmt.Errorf("%s: expected one file, found %d", o.EntryPoints[0], len(result.OutputFiles))
	}

	return result.OutputFiles[0].Contents, nil
}

func complaints(list []api.Message) error {
	var all []error
	for _, m := range list {
		text := m.Text
		if at := m.Location; at != nil {
			text = fmt.Sprintf("%s:%d:%d: %s", at.File, at.Line, at.Column, text)
		}
		all = append(all, errors.New(text))
	}
	return errors.Join(all...)
}

// writeReport bundles the modules that the printed report uses.
func writeReport(out string) error {
	return writePair("view/report.js", "style.css", out+"/report.min")
}

// writeSite bundles the modules in dir for the view of "receipt browse". out is relative to dir.
func writeSite(dir, out string) error {
	if err := os.Chdir(dir); err != nil {
		return err
	}
	return writePair("site/app.js", "site/site.css", out+"/site.min")
}

// writePair bundles a script and a style sheet into two files with the same base name.
func writePair(entry, sheet, out string) error {
	text, err := script(entry, nil)
	if err != nil {
		return err
	}
	rules, err := style(sheet)
	if err != nil {
		return err
	}
	if err := write(out+".js", text); err != nil {
		return err
	}
	return write(out+".css", rules)
}
