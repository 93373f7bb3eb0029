// Package object reads receipts from object storage, where they are named by addresses.
//
//	s3://lake/receipts/2026/            everything below a prefix
//	gs://lake/day-*.jsonl.zst           everything that matches a pattern
//	azblob://lake/part-7.jsonl          one object
//	file:///srv/receipts/               a directory, for trials
//
// The part after a question mark contains parameters for the storage, such as the region or a
// different endpoint. It is not part of the names in reports. Credentials are read from the usual
// places of the service's SDK, never from an address.
//
// # Versions
//
// Several sources are read twice: once for the links of their receipts, and once to verify the
// receipts. Both passes must read the same content. The version of an object is therefore pinned
// when it is first opened, by its version ID or generation if the bucket keeps versions, and
// otherwise by its ETag. Each request names that version, and the response is compared with
// it, because not every service with the S3 API supports such requests. An object that was replaced
// or deleted in between results in [stream.ErrChanged].
//
// # Interrupted reads
//
// If a read is interrupted, it is resumed at the byte where it stopped, in the same version, at
// most three times in a row.
package object
