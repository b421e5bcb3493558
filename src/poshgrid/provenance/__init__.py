"""How a result was made: fingerprints of code, manifests, verification, locks, early cutoff."""
