"""A verifier of receipts (receipt-2026-04-25), written from the format alone."""
