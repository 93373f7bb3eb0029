"""A verifier of receipts (receipt-2026-04-25) that was written from the specification of the format alone."""
