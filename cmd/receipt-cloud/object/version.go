package object

import (
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	azure "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"

	"cloud.google.com/go/storage"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
)

// A version is one content that an object had. Members that a storage does not tell are
// zero.
type version struct {
	id         string // S3, Azure: where the bucket keeps versions
	etag       string // S3, Azure
	generation int64  // GCS
	size       int64
	modified   time.Time
}

// versionOf tells which version a reader reads.
func versionOf(r *blob.Reader) version {
	v := version{size: r.Size(), modified: r.ModTime()}

	var inS3 s3.GetObjectOutput
	var inGCS *storage.Reader
	var inAzure azure.DownloadStreamResponse
	switch {
	case r.As(&inS3):
		v.id, v.etag = text(inS3.VersionId), text(inS3.ETag)
	case r.As(&inGCS):
		v.generation = inGCS.Attrs.Generation
	case r.As(&inAzure):
		v.id, v.etag = text(inAzure.VersionID), text((*string)(inAzure.ETag))
	}
	return v
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// same reports whether two readings are of one version.
func (v version) same(o version) bool {
	modified := v.modified.Equal(o.modified)
	v.modified, o.modified = time.Time{}, time.Time{}
	return modified && v == o
}

// unversioned is the version id of what S3 stored while a bucket kept no versions. The
// next such object has it, too.
const unversioned = "null"

// ask makes a storage answer with this version, or with an error. Of the zero version it
// asks for the newest, with its bytes as they are stored.
func (v version) ask(as func(any) bool) error {
	// Not every service that speaks S3 has checksums, which need not be told each time.
	var options *[]func(*s3.Options)
	if as(&options) {
		*options = append(*options, func(o *s3.Options) { o.DisableLogOutputChecksumValidationSkipped = true })
	}

	var inS3 *s3.GetObjectInput
	var inGCS **storage.ObjectHandle
	var inAzure *azure.DownloadStreamOptions
	switch {
	case as(&inS3):
		if v.id != "" && v.id != unversioned {
			inS3.VersionId = &v.id
		} else if v.etag != "" {
			inS3.IfMatch = &v.etag
		}
	case as(&inGCS):
		// GCS unpacks what is marked as gzip, and would then count other bytes than a
		// reading that is taken up again.
		handle := (*inGCS).ReadCompressed(true)
		if v.generation != 0 {
			handle = handle.Generation(v.generation)
		}
		*inGCS = handle
	case as(&inAzure):
		if v.etag != "" {
			tag := azcore.ETag(v.etag)
			inAzure.AccessConditions = &azure.AccessConditions{ModifiedAccessConditions: &azure.ModifiedAccessConditions{IfMatch: &tag}}
		}
	}
	return nil
}
