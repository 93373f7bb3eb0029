// Package object reads receipts where a lake of them lies: in object storage, named by
// addresses.
//
//	s3://lake/receipts/2026/            all below a prefix
//	gs://lake/day-*.jsonl.zst           what a pattern matches
//	azblob://lake/part-7.jsonl          one object
//	file:///srv/receipts/               a folder, for trying
//
// What stands behind a question mark is for the storage: the region, another endpoint.
// It is not part of the names that reports give. Credentials come from where the SDK of
// the service looks for them, never from an address.
//
// # Versions
//
// Several sources are read twice, once for the links of their receipts and once to judge
// them. What is opened again has to be what was opened first: an object's version is
// pinned when it is opened for the first time, by its version id or generation where the
// bucket keeps versions, else by its ETag. The service is asked for that version, and its
// answer is compared, as not every service that speaks S3 knows the question. An object
// that was replaced or deleted in between is [stream.ErrChanged].
//
// # Interrupted readings
//
// A reading that breaks off is taken up again at the byte where it stopped, of the same
// version, three times in a row at the most.
package object
