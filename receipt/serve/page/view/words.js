// Names for people. A code is for programs: a headline, a list and a certificate name
// the cause in words, and the code stands with the technical steps.

// A reason is what a verdict rests on: a name of a few words, and a sentence.
const reasons = new Map([
  // The file cannot be read as a receipt.
  ["syntax", ["Not readable", "It cannot be read: the file is damaged, or it was saved again or pasted on its way."]],
  ["duplicate_name", ["Two meanings", "It says one thing twice, so that two readers could read two different things."]],
  ["invalid_utf8", ["Not readable", "It holds characters that cannot be read: the file was saved again on its way, or is damaged."]],
  ["lone_surrogate", ["Not readable", "It holds half of a character."]],
  ["number_range", ["Not readable", "It holds a number that is too large to be exact."]],
  ["depth_limit", ["Not readable", "It is nested more deeply than a receipt may be."]],
  ["size_limit", ["Too large", "It is larger than a receipt may be."]],
  ["trailing_data", ["More than one", "Something follows the end of the receipt in the same file."]],
  ["empty_input", ["Empty", "There is nothing in the file."]],
  ["number_precision", ["Not readable", "It holds a number that is too large to be exact."]],
  ["not_object", ["Not a receipt", "It is no receipt."]],
  ["non_deterministic_cbor", ["Not readable", "The archive is not written in the one way that it has to be."]],
  ["torn_tail", ["Cut off", "The file ends in the middle of a receipt."]],
  ["foreign_receipt", ["Another format", "It is a receipt of another maker, in a format that is not judged here."]],
  ["not_a_receipt", ["Not a receipt", "Nothing in it says that it is a receipt."]],
  ["unsupported_schema", ["Another version", "It is a receipt of a version that this page does not know."]],
  ["schema_invalid", ["Not in form", "It is not in the form that a receipt has: something is missing, or stands where it may not."]],
  ["malformed_hash", ["Not in form", "The hash that it states is not one."]],

  // The content.
  ["hash_mismatch", ["Changed", "Its content is not what was sealed: it was changed afterwards."]],
  ["material_mismatch", ["Other material", "Material that it names is not what it says."]],
  ["material_not_found", ["Material missing", "Files that it names were not given."]],

  // A replay of a task.
  ["replay_source_mismatch", ["Another replay", "It is not the receipt of a replay of the log that was given."]],
  ["delta_missing", ["Not told", "Something was asked to be swapped, and it does not tell that it was."]],
  ["delta_unexpected", ["Swapped unasked", "It tells of something swapped that nobody asked for."]],
  ["delta_mismatch", ["Swapped otherwise", "What it tells of something swapped is not what was asked for."]],
  ["override_hash_mismatch", ["False request", "What was asked to be put in place is not what the request says that it is."]],
  ["material_substituted", ["Swapped in silence", "Something was answered otherwise than before, and it does not tell why."]],
  ["replay_effect", ["Not only a replay", "It claims that something was done, which a replay does not do."]],
  ["replay_unavailable", ["Something missing", "What the replay needs is not there, or it does not tell of which log it is."]],
  ["replay_differs", ["Not the same", "It is not what the same log and the same request give."]],

  // Its place among others.
  ["chain_break", ["Broken link", "It does not follow the receipt before it in its stream."]],
  ["stream_mismatch", ["Another chain", "It belongs to another chain of receipts."]],
  ["chain_fork", ["Two histories", "Two receipts claim the same place in the chain."]],
  ["duplicate_id", ["Same name twice", "Two receipts have the same id and say different things."]],
  ["truncated", ["Cut off", "Receipts are missing at the end of the chain."]],
  ["head_mismatch", ["Another end", "The chain ends in another receipt than expected."]],
  ["count_mismatch", ["Another number", "There are more or fewer receipts than expected."]],
  ["proof_invalid", ["Proof does not fit", "The proof that was given is damaged, or is of another receipt."]],
  ["checkpoint_invalid", ["False checkpoint", "The checkpoint that was given is damaged, or was not signed by the log that it names."]],
  ["checkpoint_required", ["Not in a checkpoint", "It was not shown to be in the checkpoint that was given."]],
  ["merkle_root_mismatch", ["Not in its batch", "It and the batch that it names contradict each other."]],
  ["not_in_batch", ["Another batch", "It is not in the batch that was given."]],

  // Who signed.
  ["unsigned", ["Not signed", "Nobody signed it. It fits its own hash, which anyone can make."]],
  ["unknown_key", ["Unknown key", "It is signed with a key that is not among those that were given. Get the issuer’s keys from the issuer, not from whoever sent the receipt."]],
  ["unsupported_algorithm", ["Unknown signature", "It is signed in a way that is not known here."]],
  ["malformed_signature", ["Damaged signature", "A signature on it is damaged."]],
  ["algorithm_mismatch", ["Wrong signature", "It is signed in another way than its issuer’s key is for."]],
  ["signature_invalid", ["Signature forged", "Its signature was not made with the key that it names: somebody else signed it, or it was sealed again after a change."]],
  ["issuer_unbound", ["Whose key?", "It is signed with a key that was given, but nothing says whose key that is."]],
  ["issuer_mismatch", ["Another’s key", "It is signed with the key of somebody else than the issuer that it names."]],
  ["role_mismatch", ["Wrong key", "It is signed with a key that may not sign receipts."]],
  ["named_key_missing", ["Signed by another key", "It names the key that its issuer uses, and is not signed with it."]],
  ["threshold_not_met", ["Too few witnesses", "Fewer witnesses signed than were asked for."]],
  ["key_not_yet_valid", ["Key not valid yet", "It is signed with a key that was not valid yet."]],
  ["key_expired", ["Key expired", "It is signed with a key that was no longer valid."]],
  ["key_revoked", ["Key revoked", "It is signed with a key that its owner has taken back."]],
  ["signature_limit", ["Too many signatures", "It has more signatures than are looked at."]],

  // What was attested of it.
  ["attestation_invalid", ["Damaged attestation", "The attestation that was given is not in the form that it has to have."]],
  ["attestation_mismatch", ["Another subject", "What the attestation is about is not what the receipt inside it tells."]],
  ["attestation_unsupported", ["Unknown attestation", "The attestation is of a kind that is not judged here."]],
  ["not_attested", ["Not attested", "It was not shown that it is about the commit or the file that was asked for."]],

  // What was withheld.
  ["disclosure_mismatch", ["Another value", "A value that was disclosed is not the one that was withheld."]],
  ["disclosure_unknown", ["Nothing withheld", "A value was disclosed that the receipt does not withhold."]],
  ["disclosure_unbound", ["Another’s values", "The values that were disclosed belong to another receipt."]],

  // What was not looked at.
  ["evidence_unused", ["Evidence does not fit", "Evidence was given that has to do with none of the receipts."]],
  ["parts_overlap", ["Counted twice", "Two parts hold the same receipt."]],
  ["parts_not_joined", ["Parts do not join", "Whether receipts are missing between the parts cannot be told."]],
  ["copy_not_checked", ["Perhaps a copy", "It may be a copy of an earlier receipt: there are more than are remembered."]],
]);

// Mistakes that share a code, by their causes.
const order = ["Wrong order", "The receipts are not in the order of their chain."];
const causes = new Map([
  ["predecessor_missing", ["Missing predecessor", "It follows a receipt that is not here: at least one before it is missing."]],
  ["predecessor_other", ["Another predecessor", "It does not follow the receipt before it: at least one is missing, was replaced, or is out of order."]],
  ["predecessor_not_given", ["Another predecessor", "It does not follow the receipt that was given as its predecessor."]],
  ["predecessor_elsewhere", ["Link into another stream", "It follows a receipt of another stream."]],
  ["second_first", ["Two beginnings", "Two receipts state that they are the first of their stream."]],
  ["predecessor_later", order],
  ["comes_earlier", order],
  ["named_earlier", order],
  ["zero_hash", ["No predecessor named", "It names 64 zeros, which are the hash of no receipt. The first receipt of a stream states null."]],
]);

// What is said of a cause that is newer than this page, by the step that found it.
const others = new Map([
  ["parse", ["Not readable", "It cannot be read as a receipt."]],
  ["schema", ["Not in form", "It is not in the form that a receipt has."]],
  ["hash", ["Changed", "Its content does not fit its hash."]],
  ["link", ["Out of place", "It does not fit the receipts beside it."]],
  ["batch", ["Not in its batch", "It was not shown to be in its batch or checkpoint."]],
  ["signatures", ["Signer not confirmed", "Its signatures do not show who signed it."]],
  ["redactions", ["Other values", "What was disclosed does not fit it."]],
]);

// A false signature of the attestation around a receipt, which has the codes of the receipt's
// own signatures.
const falseAttestation = ["Attestation forged", "The signature of the attestation around the receipt was not made with the key that it names. This is not one of the receipt’s own signatures."];

function reason(check) {
  if (["signature_invalid", "malformed_signature"].includes(check?.code) && String(check.pointer).startsWith("/dsseEnvelope/")) return falseAttestation;
  return causes.get(check?.cause) ?? reasons.get(check?.code) ?? others.get(check?.check) ?? ["Not decided", "It could not be decided."];
}

// causeName is a cause in a few words, and causeSentence in a sentence.
export function causeName(check) { return reason(check)[0]; }
export function causeSentence(check) { return reason(check)[1]; }

// What a report lists as not checked, for somebody who does not know its steps.
const open = new Map([
  ["link_not_checked", "whether receipts come before or after this one"],
  ["tail_not_checked", "whether more receipts follow"],
  ["batch_not_checked", "whether it is in the batch that it names"],
  ["uncovered_members", "members that no signature covers"],
  ["unauthenticated_members", "when exactly it was signed: that stands outside of what is signed"],
  ["signatures_not_checked", "who signed it"],
  ["envelope_not_checked", "what stands around the receipt in the file"],
]);

// openPoint says in words what was not checked; undefined when the report says it
// better.
export function openPoint(code) { return open.get(code); }

const months = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];

// longDate is a day as people write it, of an instant in milliseconds, in UTC.
export function longDate(milliseconds) {
  const date = new Date(Math.floor(milliseconds));
  if (Number.isNaN(date.getTime())) return "";
  return `${date.getUTCDate()} ${months[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}
