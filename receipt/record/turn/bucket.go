package turn

import (
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A Bucket states how the sender of the message can continue after a failed turn.
type Bucket string

const (
	SessionTerminating Bucket = "session_terminating" // start another conversation
	RetryableTransient Bucket = "retryable_transient" // send the same message again
	UserCorrectable    Bucket = "user_correctable"    // send another message
)

// ShapeInvalid is the category of a message that lacks the shape of its role.
const ShapeInvalid = "chat_message_shape_invalid"

// A Failure is the cause of a failed turn.
type Failure struct {
	Category string // such as provider_unavailable; "" if unknown
	Bucket   Bucket
}

func buckets() []Bucket { return []Bucket{SessionTerminating, RetryableTransient, UserCorrectable} }

// members returns the failure as members of the task's failure.
func (f Failure) members() event.Members {
	return event.Members{"code": f.Category, "message": string(f.Bucket)}
}

// BucketOf returns the bucket of a category. A category without a fixed bucket leaves the session
// usable: the turn can be retried if the failure is transient, and corrected otherwise.
func BucketOf(category string, transient bool) Bucket {
	otherwise := UserCorrectable
	if transient {
		otherwise = RetryableTransient
	}
	return Bucket(event.Buckets().Meaning(category, string(otherwise)))
}
