"""Pages and tables of hostile text: it is shown as text, and breaks out of nothing."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poshgrid.tables import formats
from poshgrid.tables.formats import escape
from poshgrid.tables.table import Column, Table, texts

from .support import tried

PIECES = [
    "</script>", "<script>alert(1)</script>", "<!--", "-->", "<![CDATA[", "]]>", '"', "'", "&",
    "&amp;", "&lt;b&gt;", "&#60;", "<", ">", "<img src=x onerror=alert(1)>", '" onload="x', "{{x}}",
    "{% x %}", "javascript:x", "\u202e", "\u2066", "\u200b", "\ufeff", "e\u0301", "\0", "x" * 3_000,
    "|", "\\|", "\\", "\\\\", "`", "``", "*", "**", "_", "[a](javascript:x)", "![a](b)", "[", "]",
    "#", "- ", "1. ", "> ", "~~", "$", "$$", "\n", "\r\n", "\n\n", "    ", "\t", "<b>", "</td>",
    "</table>", "\\end{tabular}", "\\input{/etc/passwd}", "\\write18{id}", "^^5cinput", "%", "%\n",
    "{", "}", "~", "^", "−", "–", "‡", "=1+1", "a", "dog ", " ", "---", ":---:", "<https://a.b>",
]  # fmt: skip
hostile = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), min_size=1, max_size=6).map(
    "".join
)


def plain(words: str, title: str = "Name") -> Table:
    columns = [Column(title, text=True), Column("Share", text=True)]
    return Table("grid", words, columns, [[words, "x"], ["y", words]])


def accuracies(words: str) -> Table:
    rows = [[words, words, words, "x"], [words, "b", "y", words]]
    columns = [*texts("Group", "Row"), Column(words, group="A"), Column("b", group="A")]
    return Table("a", words, columns, rows, grouped=True)


TABLES = {
    "plain": lambda words: formats.latex(plain(words)),
    "its titles": lambda words: formats.latex(plain("a", words)),
    "accuracy": lambda words: formats.latex(accuracies(words)),
}
every_table = pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)


# What may stand behind a backslash in a table: our own commands, and signs that are escaped
COMMANDS = {
    "textbackslash", "textasciitilde", "textasciicircum", "textbar", "textperiodcentered", "ldots",
    "S", "surd", "neq", "dagger", "ddagger", "times", "pm", "chi", "geq", "leq", "to", "Delta",
    "begin", "end", "toprule", "midrule", "bottomrule", "addlinespace", "multicolumn", "cmidrule",
}  # fmt: skip


@every_table
@tried(20)
@given(hostile)
def test_a_table_in_latex_has_the_lines_and_commands_of_any_other(make, words):
    found, harmless = make(words), make("harmless")
    lines = found.split("\n")
    assert len(lines) == len(harmless.split("\n"))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]|\^\^", found)
    for line, other in zip(lines, harmless.split("\n"), strict=True):
        if line.startswith("%"):
            assert other.startswith("%")
            continue
        commands = re.findall(r"\\([a-zA-Z]+|.)", line)
        assert set(commands) <= COMMANDS | set("\\&%$#_{}"), line
        assert commands.count("\\") == other.count(r"\\"), line
        bare = re.sub(r"\\.", "", line)
        assert bare.count("&") == re.sub(r"\\.", "", other).count("&"), line
        assert bare.count("{") == bare.count("}") and "#" not in bare and "%" not in bare
        # What `\\` or `\midrule` of the line before would take for its own
        assert not line.lstrip().startswith(("[", "*")), line


@tried(20)
@given(hostile)
def test_latex_says_what_was_written(words):
    """Commands are undone one by one, from the left."""
    back = {
        r"\textbackslash{}": "\\", r"\textasciitilde{}": "~", r"\textasciicircum{}": "^",
        "$-$": "−", r"\textbar{}": "|", r"$\ddagger$": "‡", "{[}": "[",
    }  # fmt: skip
    kept = "".join(c for c in words if c in "\\~^[]{}&%$#_*|<>abdogx−‡")
    pattern = "|".join(map(re.escape, back)) + r"|\\(.)"
    undone = re.sub(pattern, lambda m: back.get(m[0]) or m[1], escape(kept))
    assert undone == kept
