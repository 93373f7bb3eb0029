package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/verify"
	"github.com/sigstore/sigstore/pkg/signature"

	"github.com/receiptkit/receiptkit/receipt/keys"
)

// TestRelease builds a release of the committed tree for this machine, and checks each file in the
// release. RELEASE_CACHE is the path of a build cache that the second builds of several runs can
// share.
func TestRelease(t *testing.T) {
	if os.Getenv("CI") == "" {
		t.Skip("building twice takes minutes: set CI=true")
	}
	r, work := newRelease(t)
	if err := r.build(t.Context()); err != nil {
		t.Fatal(err)
	}
	out := run(t, r.dir, true, "./"+r.programs[0].name, "version")
	if !strings.Contains(out, "verification page: built in") || strings.Contains(out, "dirty") || !strings.Contains(out, r.revision[:12]) {
		t.Errorf("version:\n%s", out)
	}
	if file := run(t, r.dir, true, "file", r.programs[0].name); !strings.Contains(file, "statically linked") || !strings.Contains(file, ", stripped") {
		t.Error(file)
	}
	checkFiles(t, r, work)
	checkScripts(t, filepath.Join(r.dir, r.programs[0].name))
}

// checkScripts runs the scripts for first steps and for daily use with a program.
func checkScripts(t *testing.T, program string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(program, filepath.Join(dir, "receipt")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("RECEIPT_TEST_PROGRAM", dir)
	run(t, "../..", true, "go", "test", "./cmd/receipt", "-count=1", "-run", "TestScripts/^(first|init|hook|defaults|list|show)$")
}

// TestFiles checks the release files that are created from an ordinary build.
func TestFiles(t *testing.T) {
	r, work := newRelease(t)
	r.source, r.started, r.time = filepath.Join(work, "source"), time.Now(), time.Unix(1777000000, 0).UTC()
	r.revision, r.version = strings.Repeat("ab", 20), "v0.0.1"
	r.programs = []program{{system: "linux", arch: runtime.GOARCH, name: "receipt-linux-" + runtime.GOARCH}}
	text, err := os.ReadFile(installed(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{r.tool(), filepath.Join(r.dir, r.programs[0].name)} {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkFiles(t, r, work)
}

func newRelease(t *testing.T) (r *release, work string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("packages and images are for Linux")
	}
	work = t.TempDir()
	run(t, work, true, installed(t), "keys", "generate", "--issuer", issuer, "--private", "private.json", "--keys", "keys.json")
	return &release{dir: filepath.Join(work, "dist"), key: filepath.Join(work, "private.json"), targets: []string{"linux/" + runtime.GOARCH}, cache: os.Getenv("RELEASE_CACHE")}, work
}

func checkFiles(t *testing.T, r *release, work string) {
	name := "receipt-linux-" + runtime.GOARCH
	names, err := r.files()
	if err != nil {
		t.Fatal(err)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, "man1/") })
	want := []string{"SHA256SUMS", "_receipt", "attestation.json", "provenance.json", name, name + ".cdx.json", name + ".deb", name + ".rpm",
		"receipt-image.tar", "receipt.bash", "receipt.fish", "receipt.ps1", "receipt.rb"}
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("files %q, want %q", names, want)
	}

	t.Run("sums", func(t *testing.T) { run(t, r.dir, true, "sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS") })
	t.Run("bill", func(t *testing.T) { checkBill(t, r, name) })
	t.Run("provenance", func(t *testing.T) { checkProvenance(t, r, work) })
	t.Run("image", func(t *testing.T) { checkImage(t, r, name) })
	t.Run("packages", func(t *testing.T) { needs(t, "dpkg-deb", "rpm", "rpm2cpio", "cpio"); checkPackages(t, r, name) })
	t.Run("again", func(t *testing.T) { checkAgain(t, r) })
}

// needs skips a test if a tool is missing. If CI is set, the test fails instead.
func needs(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err == nil {
			continue
		}
		if os.Getenv("CI") != "" {
			t.Fatal("no ", tool)
		}
		t.Skip("no ", tool)
	}
}

// TestFormula verifies that the formula states a version without the prefix "v", and the tag, the
// name, and the digest of each program for macOS and Linux.
func TestFormula(t *testing.T) {
	r := &release{dir: t.TempDir(), version: "v1.2.3", programs: []program{{"darwin", "arm64", "a"}, {"linux", "amd64", "b"}, {"windows", "amd64", "c.exe"}}}
	for _, p := range r.programs {
		if err := r.write(p.name, []byte(p.name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.formula(t.Context()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(r.dir, "receipt.rb"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"version \"1.2.3\"\n", "on_macos", "on_arm", "on_linux", "on_intel", "/v1.2.3/a\"\n", "/v1.2.3/b\"\n", digest([]byte("a")), digest([]byte("b"))} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(string(text), ".exe") {
		t.Errorf("a program for Windows in\n%s", text)
	}
}

// checkBill verifies that the bill lists exactly the modules that "go version -m" prints.
func checkBill(t *testing.T, r *release, name string) {
	want := []string{"std@" + runtime.Version()}
	for line := range strings.Lines(run(t, r.dir, true, "go", "version", "-m", name)) {
		if f := strings.Fields(line); len(f) >= 3 && (f[0] == "dep" || f[0] == "mod") {
			want = append(want, f[1]+"@"+f[2])
		}
	}
	if len(want) < 20 {
		t.Fatalf("go version -m prints %q", want)
	}

	bom := new(cyclonedx.BOM)
	text, err := os.ReadFile(filepath.Join(r.dir, name+".cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := cyclonedx.NewBOMDecoder(bytes.NewReader(text), cyclonedx.BOMFileFormatJSON).Decode(bom); err != nil {
		t.Fatal(err)
	}
	got := []string{bom.Metadata.Component.Name + "@" + bom.Metadata.Component.Version}
	for _, c := range *bom.Components {
		got = append(got, c.Name+"@"+c.Version)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the bill lists %q, the program %q", got, want)
	}
	if !strings.Contains(string(text), r.time.Format(time.RFC3339)) {
		t.Error("the time of the bill is not that of the commit")
	}
}

// checkProvenance uses sigstore-go to verify that the provenance and the attestation cover all
// other files, but no altered file. It uses the command "receipt" to verify the attestation.
func checkProvenance(t *testing.T, r *release, work string) {
	text, err := os.ReadFile(filepath.Join(work, "keys.json"))
	if err != nil {
		t.Fatal(err)
	}
	set, err := keys.ParseSet(text)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]*root.ExpiringKey{}
	for _, k := range set.Keys() {
		v, err := signature.LoadVerifier(k.Crypto(), crypto.SHA256)
		if err != nil {
			t.Fatal(err)
		}
		known[k.ID] = root.NewExpiringKey(v, time.Time{}, time.Time{})
	}
	v, err := verify.NewVerifier(root.NewTrustedPublicKeyMaterialFromMapping(known), verify.WithNoObserverTimestamps())
	if err != nil {
		t.Fatal(err)
	}
	verifies := func(file, sum string) error {
		data, err := os.ReadFile(filepath.Join(r.dir, file))
		if err != nil {
			t.Fatal(err)
		}
		b := new(bundle.Bundle)
		if err := b.UnmarshalJSON(data); err != nil {
			return err
		}
		digest, err := hex.DecodeString(sum)
		if err != nil {
			t.Fatal(err)
		}
		_, err = v.Verify(b, verify.NewPolicy(verify.WithArtifactDigest("sha256", digest), verify.WithKey()))
		return err
	}

	files, err := r.digests()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		for _, file := range []string{"provenance.json", "attestation.json"} {
			named := f.Name != "SHA256SUMS" && f.Name != "attestation.json" && f.Name != file
			if err := verifies(file, f.Digest["sha256"]); (err == nil) != named {
				t.Errorf("%s for %s: %v", file, f.Name, err)
			}
		}
		out, err := exec.Command(installed(t), "verify", "--keys", filepath.Join(work, "keys.json"), "--commit", r.revision,
			"--subject", "sha256:"+f.Digest["sha256"], filepath.Join(r.dir, "attestation.json")).CombinedOutput()
		if named := f.Name != "SHA256SUMS" && f.Name != "attestation.json"; (err == nil) != named {
			t.Errorf("receipt verify for %s: %v: %s", f.Name, err, out)
		}
	}
	if err := verifies("provenance.json", strings.Repeat("ab", 32)); err == nil {
		t.Error("the provenance verifies for another file")
	}
}

// checkImage verifies that each blob has the digest and the size stated in its descriptor, and that
// the layer contains the program.
func checkImage(t *testing.T, r *release, name string) {
	blobs := untar(t, filepath.Join(r.dir, "receipt-image.tar"), nil)
	var index struct{ Manifests []descriptor }
	read(t, blobs["index.json"], &index)
	if len(index.Manifests) != 1 || string(blobs["oci-layout"]) != `{"imageLayoutVersion":"1.0.0"}` {
		t.Fatalf("the layout is %q, %+v", blobs["oci-layout"], index)
	}
	get := func(d descriptor) []byte {
		data := blobs["blobs/sha256/"+strings.TrimPrefix(d.Digest, "sha256:")]
		if "sha256:"+digest(data) != d.Digest || len(data) != d.Size {
			t.Fatalf("blob %+v has %d bytes", d, len(data))
		}
		return data
	}

	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	read(t, get(index.Manifests[0]), &manifest)
	var config struct {
		Architecture string
		Config       struct{ Entrypoint []string }
		RootFS       struct {
			DiffIDs []string `json:"diff_ids"`
		}
	}
	read(t, get(manifest.Config), &config)
	if config.Architecture != runtime.GOARCH || !slices.Equal(config.Config.Entrypoint, []string{"/receipt"}) || len(manifest.Layers) != 1 {
		t.Fatalf("%+v, %+v", config, manifest)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(get(manifest.Layers[0])))
	if err != nil {
		t.Fatal(err)
	}
	layer, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(config.RootFS.DiffIDs, []string{"sha256:" + digest(layer)}) {
		t.Errorf("diff_ids %q", config.RootFS.DiffIDs)
	}
	program, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	if files := untar(t, "", layer); len(files) != 1 || !bytes.Equal(files["receipt"], program) {
		t.Errorf("the layer has %d files", len(files))
	}
}

func read(t *testing.T, data []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("%v: %q", err, data)
	}
}

func untar(t *testing.T, path string, data []byte) map[string][]byte {
	t.Helper()
	if path != "" {
		var err error
		if data, err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	files := map[string][]byte{}
	for tr := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := tr.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[h.Name], err = io.ReadAll(tr); err != nil {
			t.Fatal(err)
		}
	}
}

// checkPackages uses the Debian and RPM tools to verify that the packages contain the program.
func checkPackages(t *testing.T, r *release, name string) {
	program, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	run(t, r.dir, true, "dpkg-deb", "--extract", name+".deb", filepath.Join(dir, "deb"))
	run(t, r.dir, true, "sh", "-c", `rpm2cpio "$1" | (mkdir "$2" && cd "$2" && cpio --extract --make-directories --no-absolute-filenames --quiet)`, "sh", filepath.Join(r.dir, name+".rpm"), filepath.Join(dir, "rpm"))
	for _, format := range []string{"deb", "rpm"} {
		got, err := os.ReadFile(filepath.Join(dir, format, "usr/bin/receipt"))
		if err != nil || !bytes.Equal(got, program) {
			t.Errorf("%s does not contain the program: %v", format, err)
		}
		run(t, filepath.Join(dir, format), true, "./usr/bin/receipt", "version")
		for _, path := range []string{"usr/share/man/man1/receipt-verify.1", "usr/share/bash-completion/completions/receipt", "usr/share/zsh/site-functions/_receipt", "usr/share/fish/vendor_completions.d/receipt.fish"} {
			if _, err := os.Stat(filepath.Join(dir, format, path)); err != nil {
				t.Error(err)
			}
		}
	}
	if out := run(t, r.dir, true, "dpkg-deb", "--field", name+".deb", "Package", "Architecture"); out != "Package: receipt\nArchitecture: "+runtime.GOARCH+"\n" {
		t.Error(out)
	}
	if out := run(t, r.dir, true, "rpm", "--checksig", "--nosignature", name+".rpm"); !strings.Contains(out, "digests OK") {
		t.Error(out)
	}
}

// checkAgain verifies that creating the derived files again yields identical files.
func checkAgain(t *testing.T, r *release) {
	again := *r
	again.dir = t.TempDir()
	if err := os.CopyFS(again.dir, os.DirFS(r.dir)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"receipt-image.tar", "receipt.rb"} {
		if err := os.Remove(filepath.Join(again.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []func() error{
		func() error { return again.bills(t.Context()) }, func() error { return again.image(t.Context()) },
		func() error { return again.packages(t.Context()) }, func() error { return again.formula(t.Context()) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	first, err := r.digests()
	if err != nil {
		t.Fatal(err)
	}
	second, err := again.digests()
	if err != nil {
		t.Fatal(err)
	}
	for i := range first {
		if first[i].Digest["sha256"] != second[i].Digest["sha256"] {
			t.Errorf("%s differs", first[i].Name)
		}
	}
}
