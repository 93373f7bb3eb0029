// Package object reads receipts from object storage, in which they are identified by addresses.
//
//	s3://lake/receipts/2026/            everything below a prefix
//	gs://lake/day-*.jsonl.zst           everything that matches a pattern
//	azblob://lake/part-7.jsonl          one object
//	file:///srv/receipts/               a directory, for trials
//
// The part after a question mark contains storage parameters, such as the region or a different
// endpoint. Reports do not include this part in names. Credentials are read from the usual sources
// of the service's SDK, never from an address.
//
// # Versions
//
// Multiple sources are read twice. The first pass reads the links between their receipts, and the
// second pass verifies the receipts. Both passes must read the same content. Therefore, the version
// of an object is pinned when the object is first opened, by its version ID or generation if the
// bucket keeps versions, and by its ETag otherwise. Each request specifies that version. The
// response is also checked against that version, because not every service with the S3 API supports
// such requests. If an object was replaced or deleted in between, the result is
// [stream.ErrChanged].
//
// # Interrupted reads
//
// An interrupted read is resumed in the same version, at the byte where it stopped, at most three
// times in a row.
package object
