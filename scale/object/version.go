package object

import (
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	azure "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"

	"cloud.google.com/go/storage"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
)

// A version identifies the content of an object at one time. Members that a storage service does
// not supply are zero.
type version struct {
	ID         string    `json:"id,omitzero"`         // S3, Azure: if the bucket keeps versions
	ETag       string    `json:"etag,omitzero"`       // S3, Azure
	Generation int64     `json:"generation,omitzero"` // GCS
	Size       int64     `json:"size"`
	Modified   time.Time `json:"modified"`
}

// versionOf returns the version that a reader is reading.
func versionOf(r *blob.Reader) version {
	v := version{Size: r.Size(), Modified: r.ModTime()}

	var inS3 s3.GetObjectOutput
	var inGCS *storage.Reader
	var inAzure azure.DownloadStreamResponse
	switch {
	case r.As(&inS3):
		v.ID, v.ETag = text(inS3.VersionId), text(inS3.ETag)
	case r.As(&inGCS):
		v.Generation = inGCS.Attrs.Generation
	case r.As(&inAzure):
		v.ID, v.ETag = text(inAzure.VersionID), text((*string)(inAzure.ETag))
	}
	return v
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// same reports whether two versions are equal.
func (v version) same(o version) bool {
	modified := v.Modified.Equal(o.Modified)
	v.Modified, o.Modified = time.Time{}, time.Time{}
	return modified && v == o
}

// unversioned is the version ID of objects that S3 stored while versioning was off or suspended.
// All such objects have the same version ID.
const unversioned = "null"

// ask makes a storage service return this version or an error. For the zero version, ask requests
// the newest version. It also requests the bytes as they are stored.
func (v version) ask(as func(any) bool) error {
	// Not every service with the S3 API has checksums, and a warning for each read would be of no
	// use.
	var options *[]func(*s3.Options)
	if as(&options) {
		*options = append(*options, func(o *s3.Options) { o.DisableLogOutputChecksumValidationSkipped = true })
	}

	var inS3 *s3.GetObjectInput
	var inGCS **storage.ObjectHandle
	var inAzure *azure.DownloadStreamOptions
	switch {
	case as(&inS3):
		if v.ID != "" && v.ID != unversioned {
			inS3.VersionId = &v.ID
		} else if v.ETag != "" {
			inS3.IfMatch = &v.ETag
		}
	case as(&inGCS):
		// GCS decompresses objects that are marked as gzip, which would make the offset of a
		// resumed read invalid.
		handle := (*inGCS).ReadCompressed(true)
		if v.Generation != 0 {
			handle = handle.Generation(v.Generation)
		}
		*inGCS = handle
	case as(&inAzure):
		if v.ETag != "" {
			tag := azcore.ETag(v.ETag)
			inAzure.AccessConditions = &azure.AccessConditions{ModifiedAccessConditions: &azure.ModifiedAccessConditions{IfMatch: &tag}}
		}
	}
	return nil
}
