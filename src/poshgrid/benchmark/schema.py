"""The table of minimal pairs: column -> type."""

import polars as pl

from poshgrid.files import Schema

ITEMS: Schema = {
    "item_id": pl.String,  # unique in its suite, e.g. "principle-a-locality-0001"
    "category": pl.String,  # island, question-formation, binding, wanna
    "phenomenon": pl.String,  # one of the nine subcategories, e.g. "island-adjunct"
    "template": pl.String,  # unique across phenomena, e.g. "island-adjunct-who"
    "lexical_set": pl.String,  # the content words, sorted, joined by "+": clusters of items
    "contrast": pl.String,  # what the two members differ in, e.g. "reflexive-gender"
    "good": pl.String,  # the grammatical sentence
    "bad": pl.String,  # the ungrammatical sentence
}
