package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/receiptkit/receiptkit/receipt/stream"
	"github.com/receiptkit/receiptkit/scale/object"
	"github.com/receiptkit/receiptkit/scale/terms"
)

// A job is a single run of the command.
type job struct {
	setting setting
	inputs  *inputs
	buckets object.Buckets
}

// do runs the job, moves the resulting files into place, and prints the result.
func (j *job) do(ctx context.Context, s *surroundings) (code int, err error) {
	if *jobopts.Async {
		return 0, errors.New("--async yields no verdict: omit it")
	}
	defer func() { err = errors.Join(err, j.buckets.Close()) }()
	out := j.setting.Outlet
	if err := out.vacant(ctx, &j.buckets); err != nil {
		return 0, err
	}

	// If the run fails or is interrupted, its files are removed.
	defer func() {
		if gone := out.clear(context.WithoutCancel(ctx), &j.buckets); gone != nil && err == nil {
			err = fmt.Errorf("--output %s: cannot remove the remaining files below %s: %w", out.shown, out.Staging, gone)
		}
	}()
	if err := j.run(ctx); err != nil {
		return 0, err
	}
	sum, err := j.result(ctx)
	if err != nil {
		return 0, err
	}
	if err := j.publish(ctx); err != nil {
		return 0, err
	}
	return terms.Exit(sum), terms.WriteText(s.out, sum, j.setting.readings())
}

// elements returns the inputs and the setting of the job in the form that workers receive.
func (j *job) elements() (list [][]byte, setting []byte, err error) {
	for i := range j.inputs.list {
		text, err := json.Marshal(&j.inputs.list[i])
		if err != nil {
			return nil, nil, err
		}
		list = append(list, text)
	}
	setting, err = json.Marshal(&j.setting)
	return list, setting, err
}

// run builds the pipeline, runs it, and waits for it.
func (j *job) run(ctx context.Context) error {
	list, setting, err := j.elements()
	if err != nil {
		return err
	}

	// Beam leaves files behind in the directory for temporary files.
	dir, err := os.MkdirTemp("", "receipt-beam-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	defer os.Setenv("TMPDIR", os.Getenv("TMPDIR"))
	if err := os.Setenv("TMPDIR", dir); err != nil {
		return err
	}

	if err := beamx.Run(ctx, build(list, setting, j.setting.Asked.Policy.Strict, j.setting.Log != nil)); err != nil {
		return fmt.Errorf("the job failed, so there is no verdict: %s", brief(err))
	}
	return nil
}

// brief returns a runner's error without the stack trace of the worker.
func brief(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\ngoroutine ")
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	const most = 1000
	if text = strings.Join(lines, ": "); len(text) > most {
		text = text[:most] + " …"
	}
	return text
}

// result reads the summary that the job has written.
func (j *job) result(ctx context.Context) (*stream.Summary, error) {
	if why, err := j.read(ctx, errorName); err == nil {
		return nil, errors.New(string(why))
	}
	text, err := j.read(ctx, summaryName)
	if err != nil {
		return nil, fmt.Errorf("the job wrote no summary: %w", err)
	}
	var report struct{ Summary *stream.Summary }
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&report); err != nil || report.Summary == nil {
		return nil, errors.Join(errors.New("the job wrote an invalid summary"), err)
	}
	return report.Summary, nil
}

func (j *job) read(ctx context.Context, name string) ([]byte, error) {
	r, err := j.setting.Outlet.open(ctx, &j.buckets, name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// publish moves the files into place. The summary is moved last.
func (j *job) publish(ctx context.Context) error {
	var names []string
	for i := range j.setting.Shares + 1 {
		names = append(names, rowsName(i, j.setting.Shares+1))
	}
	return j.setting.Outlet.publish(ctx, &j.buckets, append(names, reportsName, summaryName))
}
