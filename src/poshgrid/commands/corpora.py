"""Commands: text to sentences, sentences to bases."""

from __future__ import annotations

from poshgrid.commands.base import Code, Data, Output, Pairs, Spec, app, named, run
from poshgrid.config import specs


@app.command(rich_help_panel="Stages")
def read(spec: Spec, data: Data, output: Output, code: Code = "") -> None:
    """Read one source and clean it into sentences."""
    from poshgrid.corpora.read import input_files, read_source

    run(
        specs.SourceSpec,
        spec,
        lambda given: read_source(given, data, output),
        manifest=output.parent / "manifest.json",
        code=code,
        inputs=input_files(specs.parse(specs.SourceSpec, spec), data),
    )


@app.command(rich_help_panel="Stages")
def mix(spec: Spec, source: Pairs, output: Output, code: Code = "") -> None:
    """Mix sources into a base, nested over sizes."""
    from poshgrid.corpora.mix import mix as mix_sources

    sources = named(source)
    run(
        specs.BaseSpec,
        spec,
        lambda given: mix_sources(given, sources, output),
        manifest=output.parent / "manifest.json",
        code=code,
        inputs=sources.values(),
    )
