package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"path/filepath"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
)

// bills writes a CycloneDX 1.6 bill of materials (JSON) next to each program. The bill lists the
// standard library and the modules that "go build" recorded in the program.
func (r *release) bills(context.Context) error {
	for _, p := range r.programs {
		info, err := buildinfo.ReadFile(filepath.Join(r.dir, p.name))
		if err != nil {
			return err
		}
		bom := cyclonedx.NewBOM()
		main := component(cyclonedx.ComponentTypeApplication, info.Main.Path, info.Main.Version)
		bom.Metadata = &cyclonedx.Metadata{Timestamp: r.time.Format(time.RFC3339), Component: &main}

		list := []cyclonedx.Component{component(cyclonedx.ComponentTypeLibrary, "std", info.GoVersion)}
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			list = append(list, component(cyclonedx.ComponentTypeLibrary, m.Path, m.Version))
		}
		var needs []string
		for _, c := range list {
			needs = append(needs, c.BOMRef)
		}
		bom.Components, bom.Dependencies = &list, &[]cyclonedx.Dependency{{Ref: main.BOMRef, Dependencies: &needs}}

		var b bytes.Buffer
		if err := cyclonedx.NewBOMEncoder(&b, cyclonedx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cyclonedx.SpecVersion1_6); err != nil {
			return err
		}
		if err := r.write(strings.TrimSuffix(p.name, ".exe")+".cdx.json", b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func component(kind cyclonedx.ComponentType, path, version string) cyclonedx.Component {
	purl := "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
	return cyclonedx.Component{BOMRef: purl, Type: kind, Name: path, Version: version, PackageURL: purl}
}
