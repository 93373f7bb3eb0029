package turn

import (
	"slices"

	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A Bucket says what whoever sent the message can do about a turn that failed.
type Bucket string

const (
	SessionTerminating Bucket = "session_terminating" // begin another conversation
	RetryableTransient Bucket = "retryable_transient" // send the same again
	UserCorrectable    Bucket = "user_correctable"    // send another message
)

// Buckets returns them all.
func Buckets() []Bucket { return []Bucket{SessionTerminating, RetryableTransient, UserCorrectable} }

// ShapeInvalid is the category of a message that does not have the shape of its role.
const ShapeInvalid = "chat_message_shape_invalid"

// A Failure says why a turn failed.
type Failure struct {
	Category string // such as provider_unavailable; "": nothing tells
	Bucket   Bucket
}

// known reports whether the bucket is one of the three.
func (f Failure) known() bool { return slices.Contains(Buckets(), f.Bucket) }

// members are those of the failure of the task. What is not told is left out.
func (f Failure) members() event.Members {
	return event.Members{"code": f.Category, "message": string(f.Bucket)}
}

// A Category is one cause of a failure, and its bucket.
type Category struct {
	Name   string
	Bucket Bucket
}

// Categories returns those whose bucket is settled. docs/record.md is made from it.
func Categories() []Category {
	return []Category{
		{"session_load_failed", SessionTerminating},
		{"session_save_failed", SessionTerminating},
		{"session_state_migration_chain_ambiguous", SessionTerminating},
		{"session_state_migration_missing", SessionTerminating},
		{"suspension_persistence_failed", SessionTerminating},
		{"harness_session_id_unresolved", SessionTerminating},

		{"provider_unavailable", RetryableTransient},
		{"provider_timeout", RetryableTransient},
		{"provider_rate_limit", RetryableTransient},
		{"provider_rate_limited", RetryableTransient},
		{"provider_model_not_loaded", RetryableTransient},

		{"provider_authentication", UserCorrectable},
		{"provider_invalid_model", UserCorrectable},
		{"provider_invalid_request", UserCorrectable},
		{"provider_invalid_response", UserCorrectable},
		{"provider_unsupported_content_block", UserCorrectable},
		{"structured_output_invalid", UserCorrectable},
		{"suspension_resume_payload_invalid", UserCorrectable},
		{ShapeInvalid, UserCorrectable},
	}
}

// BucketOf returns the bucket of a category. One that is not settled leaves the session
// usable: it can be tried again when it is known to pass, and corrected otherwise.
func BucketOf(category string, transient bool) Bucket {
	for _, c := range Categories() {
		if c.Name == category {
			return c.Bucket
		}
	}
	if transient {
		return RetryableTransient
	}
	return UserCorrectable
}
