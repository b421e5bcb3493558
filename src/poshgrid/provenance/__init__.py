"""What a result was made from: fingerprints of code, manifests, their index, locks, adoption."""
