// This module contains words for people. Codes are for programs, so a headline, a list, and a
// certificate state the cause in words, and the code is displayed with the technical steps.

// The reasons for verdicts, each with a short name and a sentence.
const reasons = new Map([
  // Codes about files that cannot be read as a receipt.
  ["syntax", ["Not readable", "It cannot be read: the file is damaged, or a program changed it when it was saved or pasted."]],
  ["duplicate_name", ["Two meanings", "A member occurs twice, so two programs could read different values."]],
  ["invalid_utf8", ["Not readable", "It contains characters that cannot be read: the file is damaged, or a program changed it when it was saved."]],
  ["lone_surrogate", ["Not readable", "It contains half of a character."]],
  ["number_range", ["Not readable", "It contains a number that is too large to be exact."]],
  ["depth_limit", ["Not readable", "It has more nested levels than a receipt may have."]],
  ["size_limit", ["Too large", "It is larger than a receipt may be."]],
  ["trailing_data", ["More than one", "Something follows the end of the receipt in the same file."]],
  ["empty_input", ["Empty", "The file is empty."]],
  ["number_precision", ["Not readable", "It contains a number that is too large to be exact."]],
  ["not_object", ["Not a receipt", "It is not a receipt."]],
  ["non_deterministic_cbor", ["Not readable", "The archive is not in the deterministic encoding that archives must have."]],
  ["torn_tail", ["Cut off", "The file ends in the middle of a receipt."]],
  ["foreign_receipt", ["Another format", "It is a receipt in the format of another maker, which is not verified here."]],
  ["not_a_receipt", ["Not a receipt", "It is JSON, but nothing in it identifies it as a receipt."]],
  ["unsupported_schema", ["Another version", "It is a receipt of a version that this page does not support."]],
  ["schema_invalid", ["Wrong form", "It does not have the form of a receipt: a member is missing, has a wrong value, or is not allowed."]],
  ["malformed_hash", ["Wrong form", "The hash that it states is not a valid hash."]],

  // Codes about the content of a receipt.
  ["hash_mismatch", ["Changed", "Its content was changed after it was sealed."]],
  ["material_mismatch", ["Other material", "A file that it names has different content than stated."]],
  ["material_not_found", ["Material missing", "Files that it names were not provided."]],

  // Codes about replays of a task.
  ["replay_source_mismatch", ["Another replay", "It is not the receipt of a replay of the log that was provided."]],
  ["delta_missing", ["Not recorded", "The request replaces a value, and the receipt does not record that."]],
  ["delta_unexpected", ["Replaced without request", "It records a replaced value that the request does not replace."]],
  ["delta_mismatch", ["Another replacement", "It records a replacement other than the one in the request."]],
  ["override_hash_mismatch", ["Invalid request", "The replacement in the request does not match the hash that the request states for it."]],
  ["material_substituted", ["Replaced without a reason", "An answer differs from the recorded one, and the receipt does not state why."]],
  ["replay_effect", ["Not only a replay", "It records an action with an effect, which a replay does not have."]],
  ["replay_unavailable", ["Something missing", "Something that the replay needs is missing, or the receipt does not name its log."]],
  ["replay_differs", ["Not the same", "The same log and the same request result in a different receipt."]],

  // Codes about the place of a receipt in its stream.
  ["chain_break", ["Broken link", "It does not follow the receipt before it in its stream."]],
  ["stream_mismatch", ["Another chain", "It belongs to another chain of receipts."]],
  ["chain_fork", ["Two histories", "Two receipts claim the same place in the chain."]],
  ["duplicate_id", ["Same ID twice", "Two receipts have the same ID and different content."]],
  ["truncated", ["Not complete", "Receipts are missing from the input."]],
  ["head_mismatch", ["Another end", "The chain does not end with the expected receipt."]],
  ["count_mismatch", ["Another number", "There are more or fewer receipts than expected."]],
  ["proof_invalid", ["Proof does not match", "The proof is damaged, or belongs to another receipt."]],
  ["checkpoint_invalid", ["Invalid checkpoint", "The checkpoint is damaged, or the log that it names did not sign it."]],
  ["checkpoint_required", ["Not in a checkpoint", "Nothing shows that the checkpoint covers it."]],
  ["statement_malformed", ["Damaged statement", "A statement about its chain is damaged."]],
  ["statement_unsupported", ["Unknown statement", "A statement about its chain is of a version that is not supported here."]],
  ["statement_fork", ["Two accounts", "Two statements about its chain contradict each other."]],
  ["statement_missing", ["Statement missing", "A statement about its chain follows one that was not provided."]],
  ["after_end", ["After the end", "Its chain has more receipts than its final statement states."]],
  ["time_contradicted", ["Impossible time", "The time that it states, or that a statement about its chain states, cannot be true."]],
  ["timestamp_invalid", ["Invalid timestamp", "A timestamp is damaged, or belongs to other content."]],
  ["time_self_asserted", ["Time not proven", "Only its issuer states its time. A timestamp of an authority was required."]],
  ["stream_open", ["No end", "Nothing shows that its chain has ended."]],
  ["silence", ["A silence", "Nothing was stated about its chain for longer than allowed. Receipts may be missing."]],
  ["not_from_start", ["Not from the start", "Its chain does not begin here, so its receipts cannot be counted."]],
  ["merkle_root_mismatch", ["Not in its batch", "It contradicts the batch that it names."]],
  ["not_in_batch", ["Another batch", "It is not in the batch that was provided."]],

  // Codes about signatures.
  ["unsigned", ["Not signed", "Nobody signed it. It matches its own hash, which anyone can compute."]],
  ["unknown_key", ["Unknown key", "It is signed with a key that is not among the trusted keys. Get the issuer’s keys from the issuer, not from the sender of the receipt."]],
  ["trust_unavailable", ["Keys unavailable", "The trusted keys could not be read, so its signatures were not checked."]],
  ["unsupported_algorithm", ["Unknown signature", "It is signed with an algorithm that is not supported here."]],
  ["malformed_signature", ["Damaged signature", "One of its signatures is damaged."]],
  ["algorithm_mismatch", ["Wrong signature", "It is signed with an algorithm other than that of its issuer’s key."]],
  ["signature_invalid", ["Signature forged", "Its signature was not created with the key that it names: somebody else signed it, or it was sealed again after a change."]],
  ["issuer_unbound", ["Whose key?", "It is signed with a trusted key, but nothing shows whose key that is."]],
  ["issuer_mismatch", ["Another’s key", "It is signed with the key of an issuer other than the one that it names."]],
  ["role_mismatch", ["Wrong key", "It is signed with a key that may not sign receipts."]],
  ["named_key_missing", ["Signed by another key", "It names the key of its issuer, but is not signed with that key."]],
  ["threshold_not_met", ["Too few witnesses", "Fewer witnesses signed than required."]],
  ["key_not_yet_valid", ["Key not valid yet", "It is signed with a key that was not valid yet."]],
  ["key_expired", ["Key expired", "It is signed with a key that was no longer valid."]],
  ["key_revoked", ["Key revoked", "It is signed with a key that its owner has revoked."]],
  ["signature_limit", ["Too many signatures", "It has more signatures than are checked."]],

  // Codes about attestations.
  ["attestation_invalid", ["Damaged attestation", "The attestation does not have the required form."]],
  ["attestation_mismatch", ["Another subject", "The attestation is about a subject other than the receipt that it contains."]],
  ["attestation_unsupported", ["Unknown attestation", "The attestation is of a kind that is not verified here."]],
  ["not_attested", ["Not attested", "Nothing shows that it is about the requested commit or file."]],

  // Codes about withheld values.
  ["disclosure_mismatch", ["Another value", "A disclosed value is not the one that was withheld."]],
  ["disclosure_unknown", ["Nothing withheld", "A value was disclosed that the receipt does not withhold."]],
  ["disclosure_unbound", ["Another’s values", "The disclosed values belong to another receipt."]],

  // Codes about checks that were not made.
  ["evidence_unused", ["Evidence does not match", "Evidence was provided that belongs to none of the receipts."]],
  ["parts_overlap", ["Counted twice", "Two parts contain the same receipt."]],
  ["parts_not_joined", ["Parts do not join", "It is not known whether receipts are missing between the parts."]],
  ["copy_not_checked", ["Perhaps a copy", "It may be a copy of an earlier receipt: there are too many receipts to compare it with all of them."]],
]);

// Names for faults that share a code, by their causes.
const order = ["Wrong order", "The receipts are not in the order of their chain."];
const causes = new Map([
  ["predecessor_missing", ["Missing predecessor", "It follows a receipt that is not here: at least one before it is missing."]],
  ["predecessor_other", ["Another predecessor", "It does not follow the receipt before it: at least one is missing, was replaced, or is out of order."]],
  ["predecessor_not_given", ["Another predecessor", "It does not follow the receipt that was provided as its predecessor."]],
  ["predecessor_elsewhere", ["Link into another stream", "It follows a receipt of another stream."]],
  ["second_first", ["Two beginnings", "Two receipts state that they are the first of their stream."]],
  ["predecessor_later", order],
  ["comes_earlier", order],
  ["named_earlier", order],
  ["zero_hash", ["No predecessor named", "It names a hash of 64 zeros, which no receipt has. The first receipt of a stream states null."]],
]);

// Reasons for codes that this page does not know, by the step that found them.
const others = new Map([
  ["parse", ["Not readable", "It cannot be read as a receipt."]],
  ["schema", ["Wrong form", "It does not have the form of a receipt."]],
  ["hash", ["Changed", "Its content does not match its hash."]],
  ["link", ["Out of place", "It does not match the receipts before and after it."]],
  ["batch", ["Not in its batch", "Nothing shows that it is in its batch or checkpoint."]],
  ["signatures", ["Signer not confirmed", "Its signatures do not show who signed it."]],
  ["redactions", ["Other values", "The disclosed values do not match it."]],
]);

// This is the reason for an invalid signature of an attestation. The codes are the same as those
// for a signature in a receipt.
const falseAttestation = ["Attestation forged", "The signature of the attestation around the receipt was not created with the key that it names. It is not one of the receipt’s own signatures."];

function reason(check) {
  if (["signature_invalid", "malformed_signature"].includes(check?.code) && String(check.pointer).startsWith("/dsseEnvelope/")) return falseAttestation;
  return causes.get(check?.cause) ?? reasons.get(check?.code) ?? others.get(check?.check) ?? ["Not decided", "It could not be decided."];
}

// causeName returns a cause in a few words, and causeSentence returns it as a sentence.
export function causeName(check) { return reason(check)[0]; }
export function causeSentence(check) { return reason(check)[1]; }

// Descriptions of missing checks, for readers who do not know the steps.
const open = new Map([
  ["link_not_checked", "whether receipts come before or after this one"],
  ["tail_not_checked", "whether more receipts follow"],
  ["batch_not_checked", "whether it is in the batch that it names"],
  ["uncovered_members", "members that no signature covers"],
  ["unauthenticated_members", "when exactly it was signed, because the time is not part of what is signed"],
  ["signatures_not_checked", "who signed it"],
  ["envelope_not_checked", "what surrounds the receipt in the file"],
]);

// openPoint describes a missing check, or returns undefined if the description in the report is
// better.
export function openPoint(code) { return open.get(code); }

const months = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];

// longDate formats the day of an instant, given in milliseconds, in UTC.
export function longDate(milliseconds) {
  const date = new Date(Math.floor(milliseconds));
  if (Number.isNaN(date.getTime())) return "";
  return `${date.getUTCDate()} ${months[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}
