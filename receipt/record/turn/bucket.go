package turn

import (
	"slices"

	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A Bucket states how the sender of the message can continue after a failed turn.
type Bucket string

const (
	SessionTerminating Bucket = "session_terminating" // start another conversation
	RetryableTransient Bucket = "retryable_transient" // send the same message again
	UserCorrectable    Bucket = "user_correctable"    // send another message
)

// Buckets returns all buckets.
func Buckets() []Bucket { return []Bucket{SessionTerminating, RetryableTransient, UserCorrectable} }

// ShapeInvalid is the category of a message that lacks the shape of its role.
const ShapeInvalid = "chat_message_shape_invalid"

// A Failure is the cause of a failed turn.
type Failure struct {
	Category string // such as provider_unavailable; "" if unknown
	Bucket   Bucket
}

// known reports whether the bucket is one of the three.
func (f Failure) known() bool { return slices.Contains(Buckets(), f.Bucket) }

// members returns the failure as members of the task's failure.
func (f Failure) members() event.Members {
	return event.Members{"code": f.Category, "message": string(f.Bucket)}
}

// A Category is a cause of failures, and its bucket.
type Category struct {
	Name   string
	Bucket Bucket
}

// Categories returns the categories with a fixed bucket. docs/record.md is generated from it.
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

// BucketOf returns the bucket of a category. A category without a fixed bucket leaves the session
// usable: the turn can be retried if the failure is transient, and corrected otherwise.
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
