package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"time"
)

const mediaType = "application/vnd.oci.image."

// A descriptor references a blob in an image (OCI image specification 1.1).
type descriptor struct {
	MediaType string            `json:"mediaType"`
	Digest    string            `json:"digest"`
	Size      int               `json:"size"`
	Platform  map[string]string `json:"platform,omitempty"`
}

// An archive is a tar file in which all entries have the same time.
type archive struct {
	b    bytes.Buffer
	w    *tar.Writer
	time time.Time
}

func newArchive(t time.Time) *archive {
	a := &archive{time: t}
	a.w = tar.NewWriter(&a.b)
	return a
}

func (a *archive) add(name string, mode int64, data []byte) error {
	if err := a.w.WriteHeader(&tar.Header{Name: name, Mode: mode, Size: int64(len(data)), ModTime: a.time, Format: tar.FormatUSTAR}); err != nil {
		return err
	}
	_, err := a.w.Write(data)
	return err
}

func (a *archive) bytes() ([]byte, error) {
	err := a.w.Close()
	return a.b.Bytes(), err
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// blob adds a blob to an OCI layout. If v is not a byte slice, it is written as JSON.
func (a *archive) blob(kind string, v any) (descriptor, error) {
	data, ok := v.([]byte)
	if !ok {
		var err error
		if data, err = json.Marshal(v); err != nil {
			return descriptor{}, err
		}
	}
	d := descriptor{MediaType: mediaType + kind, Digest: "sha256:" + digest(data), Size: len(data)}
	return d, a.add("blobs/sha256/"+digest(data), 0o644, data)
}

// image writes receipt-image.tar, an OCI layout with an image for each Linux program. An image
// contains only the program, which runs as user 65532.
func (r *release) image(context.Context) error {
	a := newArchive(r.time)
	if err := a.add("oci-layout", 0o644, []byte(`{"imageLayoutVersion":"1.0.0"}`)); err != nil {
		return err
	}
	manifests := []descriptor{}
	for _, p := range r.programs {
		if p.system != "linux" {
			continue
		}
		d, err := r.manifest(a, p)
		if err != nil {
			return err
		}
		manifests = append(manifests, d)
	}
	if len(manifests) == 0 {
		return nil
	}

	index, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": mediaType + "index.v1+json", "manifests": manifests})
	if err != nil {
		return err
	}
	if err := a.add("index.json", 0o644, index); err != nil {
		return err
	}
	data, err := a.bytes()
	if err != nil {
		return err
	}
	return r.write("receipt-image.tar", data)
}

// manifest adds the blobs of one image.
func (r *release) manifest(a *archive, p program) (d descriptor, err error) {
	text, err := os.ReadFile(filepath.Join(r.dir, p.name))
	if err != nil {
		return d, err
	}
	files := newArchive(r.time)
	if err := files.add("receipt", 0o755, text); err != nil {
		return d, err
	}
	layer, err := files.bytes()
	if err != nil {
		return d, err
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(layer); err != nil {
		return d, err
	}
	if err := w.Close(); err != nil {
		return d, err
	}

	layerOf, err := a.blob("layer.v1.tar+gzip", packed.Bytes())
	if err != nil {
		return d, err
	}
	config, err := a.blob("config.v1+json", map[string]any{
		"created": r.time.Format(time.RFC3339), "architecture": p.arch, "os": p.system,
		"config": map[string]any{"Entrypoint": []string{"/receipt"}, "User": "65532:65532"},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + digest(layer)}},
	})
	if err != nil {
		return d, err
	}
	d, err = a.blob("manifest.v1+json", map[string]any{"schemaVersion": 2, "mediaType": mediaType + "manifest.v1+json", "config": config, "layers": []descriptor{layerOf}})
	d.Platform = map[string]string{"architecture": p.arch, "os": p.system}
	return d, err
}
