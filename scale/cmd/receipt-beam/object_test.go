package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/receiptkit/receiptkit/fixtures/lake"
	"github.com/receiptkit/receiptkit/receipt/stream"
	"github.com/receiptkit/receiptkit/scale/terms"
)

// A store is an S3 bucket that is served on the loopback interface.
type store struct {
	t       *testing.T
	backend gofakes3.Backend
	server  *httptest.Server

	mu   sync.Mutex
	gets map[string]int
	seen func(key string, times int) // called before each GET of an object is answered
}

const bucket = "lake"

func newStore(t *testing.T) *store {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "nobody")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "nothing")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	s := &store{t: t, backend: s3mem.New(), gets: map[string]int{}}
	if err := s.backend.CreateBucket(bucket); err != nil {
		t.Fatal(err)
	}
	fake := gofakes3.New(s.backend).Server()
	s.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if key, ok := strings.CutPrefix(r.URL.Path, "/"+bucket+"/"); ok && r.Method == http.MethodGet && key != "" {
			s.mu.Lock()
			s.gets[key]++
			if s.seen != nil {
				s.seen(key, s.gets[key])
			}
			s.mu.Unlock()
		}
		fake.ServeHTTP(w, r)
	}))
	t.Cleanup(s.server.Close)
	return s
}

func (s *store) put(key string, data []byte) {
	s.t.Helper()
	if _, err := s.backend.PutObject(bucket, key, nil, bytes.NewReader(data), int64(len(data)), nil); err != nil {
		s.t.Error(err)
	}
}

// keys returns the keys of all objects with the given prefix.
func (s *store) keys(prefix string) (keys []string) {
	s.t.Helper()
	list, err := s.backend.ListBucket(bucket, &gofakes3.Prefix{HasPrefix: true, Prefix: prefix}, gofakes3.ListBucketPage{})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, o := range list.Contents {
		keys = append(keys, o.Key)
	}
	return keys
}

// address returns an address that matches keys in the bucket.
func (s *store) address(key string) string {
	return "s3://" + bucket + "/" + key + "?region=us-east-1&use_path_style=true&disable_https=true&endpoint=" + s.server.URL
}

// TestObjects verifies that objects lead to the same results as files, and that results can be
// written to object storage.
func TestObjects(t *testing.T) {
	l, err := lake.New(400, 11)
	if err != nil {
		t.Fatal(err)
	}
	files, _ := l.Deal(5, true, true, rand.New(rand.NewPCG(7, 8)))
	s, dir := newStore(t), t.TempDir()
	var paths []string
	for i, text := range files {
		name := "part-" + string(rune('a'+i)) + ".jsonl"
		s.put("day/"+name, text)
		paths = append(paths, write(t, filepath.Join(dir, name), text))
	}
	s.put("day/notes.txt", []byte("not receipts"))

	prefix := filepath.Join(t.TempDir(), "v")
	code, out, messages := runBeam(t, "--input", s.address("day/"), "--keys", fixture(t, lake.Keys), "--output", prefix)
	if code != terms.ExitRefuted || messages != "" {
		t.Fatalf("exit %d: %s%s", code, out, messages)
	}
	got, want := readVerdict(t, prefix), verify(t, paths, stream.Options{})
	for i, line := range got.reports {
		got.reports[i] = strings.ReplaceAll(line, "s3://lake/day", dir)
	}
	if canonical(t, got.summary["skipped"]) != `[{"detail":"not a receipt","source":"s3://lake/day/notes.txt"}]` {
		t.Errorf("skipped: %s", canonical(t, got.summary["skipped"]))
	}
	got.summary["skipped"], got.summary["skipped_count"] = want.summary["skipped"], want.summary["skipped_count"]
	compare(t, got, want)

	// Repeat the run with the results in the bucket. The run must leave nothing else in the bucket.
	code, out2, messages := runBeam(t, "--input", s.address("day/*.jsonl"), "--keys", fixture(t, lake.Keys), "--output", s.address("out/v"))
	if code != terms.ExitRefuted || messages != "" || out2 != strings.ReplaceAll(out, prefix, "s3://lake/out/v") {
		t.Fatalf("exit %d: %s%s", code, out2, messages)
	}
	if keys := strings.Join(s.keys("out/"), " "); keys != "out/v-00000-of-00006.parquet out/v-00001-of-00006.parquet out/v-00002-of-00006.parquet out/v-00003-of-00006.parquet out/v-00004-of-00006.parquet out/v-00005-of-00006.parquet out/v.json out/v.ndjson" {
		t.Errorf("the bucket has %s", keys)
	}
	if code, _, messages := runBeam(t, "--input", s.address("day/*.jsonl"), "--keys", fixture(t, lake.Keys), "--output", s.address("out/v")); code != terms.ExitUsage || !strings.Contains(messages, "already exists") || strings.Contains(messages, s.server.URL) {
		t.Errorf("again: exit %d: %s", code, messages)
	}
}

// TestReplaced verifies the result if an object or a file is replaced or deleted between the two
// passes. There must be an error, no verdict, and no files, even if the new bytes are valid.
func TestReplaced(t *testing.T) {
	l, err := lake.New(400, 13)
	if err != nil {
		t.Fatal(err)
	}
	files, _ := l.Deal(3, false, false, rand.New(rand.NewPCG(9, 10)))
	checkpoint := write(t, filepath.Join(t.TempDir(), "log.txt"), claim(t, "log_1", logName, nil, false))
	for name, change := range map[string]func(s *store){
		"replaced": func(s *store) { s.put("day/b.jsonl", files[2]) },
		"same":     func(s *store) { s.put("day/b.jsonl", append(bytes.Clone(files[1]), '\n')) }, // the same receipts in other bytes
		"deleted": func(s *store) {
			if _, err := s.backend.DeleteObject(bucket, "day/b.jsonl"); err != nil {
				s.t.Error(err)
			}
		},
	} {
		for _, reading := range []struct {
			before int
			args   []string
		}{{2, nil}, {2, []string{"--checkpoint", checkpoint}}, {3, []string{"--checkpoint", checkpoint}}} {
			t.Run(fmt.Sprintf("%s before reading %d %s", name, reading.before, strings.Join(reading.args[:min(len(reading.args), 1)], "")), func(t *testing.T) {
				s, dir := newStore(t), t.TempDir()
				s.put("day/a.jsonl", files[0])
				s.put("day/b.jsonl", files[1])
				s.seen = func(key string, times int) {
					if key == "day/b.jsonl" && times == reading.before {
						change(s)
					}
				}
				args := append([]string{"--input", s.address("day/"), "--keys", fixture(t, lake.Keys), "--output", filepath.Join(dir, "v")}, reading.args...)
				code, out, messages := runBeam(t, args...)
				if code != terms.ExitUsage || out != "" || !strings.Contains(messages, "s3://lake/day/b.jsonl was replaced or deleted while it was being read") {
					t.Errorf("exit %d, %s%s", code, out, messages)
				}
				if names := left(t, dir); len(names) > 0 {
					t.Errorf("the files %s remain", names)
				}
			})
		}
	}
}
