"""docs/analysis.ipynb runs as it stands: its cells, in order, on a small results folder."""

import json
import shutil
from pathlib import Path

import arviz
import matplotlib as mpl
import numpy as np
import polars as pl

from poshgrid.config.paths import Paths
from poshgrid.core import files
from poshgrid.statistics.fit import _write_posterior
from poshgrid.statistics.schema import SUMMARY
from tests.unit.report.report_results import summary


def test_its_cells_run_and_it_holds_no_outputs(root, paths, tmp_path, monkeypatch, capsys):
    notebook = json.loads((root / "docs" / "analysis.ipynb").read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] or cell["execution_count"] for cell in cells)
    results = shutil.copytree(paths.results, tmp_path / "results" / "tiny")
    fit = Path(Paths(str(results)).fit("all", "paper"))
    files.write_table(summary(), fit / "summary.parquet", SUMMARY)
    drawn = arviz.from_dict(posterior={"Intercept": np.arange(800.0).reshape(2, 400)})
    drawn.add_groups(sample_stats=drawn.posterior, observed_data=drawn.posterior)
    _write_posterior(drawn, fit / "posterior.nc")
    monkeypatch.chdir(tmp_path)
    mpl.use("agg")
    names = {}
    for cell in cells:
        exec(compile("".join(cell["source"]), cell["id"], "exec"), names)
    # What it shows is what the folder holds
    assert set(names["accuracy"]["phenomenon"]) == {"gap", "length", "order"}
    assert "399.5" in capsys.readouterr().out  # the mean of the draws
    hard = names["hard"]
    assert hard["margin"].is_sorted() and (hard["margin"] < 0).all()
    by_pair = names["judged"].collect().group_by("item_id").agg(pl.col("correct").max())
    assert set(hard["item_id"]) == set(by_pair.filter(correct=0)["item_id"])
