#!/usr/bin/env bash
# Run by Snakemake inside the new environment, from the checkout's root.
set -euo pipefail
python -m pip install --no-deps --editable .
