"""All paths of a results folder; no other module builds one."""

from __future__ import annotations

SHARED = "shared"
"""Reserved name: no condition may have it."""


class Paths:
    """All paths of a results folder. Arguments may be wildcards, e.g. ``"{condition}"``."""

    def __init__(self, results: str) -> None:
        self.results = results

    def source(self, source: str) -> str:
        """Sentences of one source, cleaned."""
        return f"{self.results}/sources/{source}/sentences.parquet"

    def sentences(self, corpus: str) -> str:
        """Sentences of a corpus, ranked within each source."""
        return f"{self.results}/corpora/{corpus}/sentences.parquet"

    def treebank(self, parser: str) -> str:
        """Folder of train.conllu, dev.conllu and test.conllu."""
        return f"{self.results}/treebanks/{parser}"

    def parser(self, parser: str) -> str:
        """Folder of a trained parser."""
        return f"{self.results}/parsers/{parser}"

    def parses(self, corpus: str, parser: str, shard: int | str) -> str:
        """Dependency trees of one shard of a corpus."""
        return f"{self.results}/parses/{corpus}/{parser}/{shard}/parses.parquet"

    def evidence(self, corpus: str, parser: str) -> str:
        """Labels of a corpus's sentences by one parser's trees."""
        return f"{self.results}/evidence/{corpus}/{parser}/evidence.parquet"

    def recall(self, parser: str) -> str:
        """Table of a parser's recall on gold trees."""
        return f"{self.results}/recall/{parser}/recall.parquet"

    def all_conditions(self) -> str:
        """Folder of all conditions."""
        return f"{self.results}/conditions"

    def condition(self, condition: str, size: str) -> str:
        """Folder of train, dev and test tables and statistics.json."""
        return f"{self.all_conditions()}/{condition}/{size}"

    def side_effects(self, condition: str, size: str) -> str:
        """Folder of the side effects of a condition's filters."""
        return f"{self.results}/side_effects/{condition}/{size}"

    def audit(self, condition: str, size: str) -> str:
        """Folder of the sheets of a condition."""
        return f"{self.results}/audit/{condition}/{size}"

    def tokenizer(self, condition: str, size: str) -> str:
        """Folder of a Hugging Face tokenizer."""
        return f"{self.results}/tokenizers/{condition}/{size}"

    def shared_tokenizer(self) -> tuple[str, str]:
        """Condition and size in the folder of a tokenizer that all cells share."""
        return SHARED, "default"

    def sweep(self, condition: str, size: str) -> str:
        """Tokens of a condition at several vocabulary sizes."""
        return f"{self.results}/sweeps/{condition}/{size}/sweep.json"

    def tokens(self, condition: str, size: str) -> str:
        """Folder of memory-mapped tokens."""
        return f"{self.results}/tokens/{condition}/{size}"

    def distances(self, condition: str, size: str, parser: str) -> str:
        """Folder of the distances in the trees of a condition's training sentences."""
        return f"{self.results}/distances/{condition}/{size}/{parser}"

    def model(self, run: str) -> str:
        """Hugging Face folder of a run."""
        return f"{self.all_models()}/{run}"

    def all_models(self) -> str:
        """Folder of the models of all runs."""
        return f"{self.results}/models"

    def arguments(self) -> str:
        """Arguments too long for a command line; no rule declares them."""
        return f"{self.results}/arguments"

    def checkpoints(self, run: str) -> str:
        """Resumable checkpoints of a run; no rule declares them."""
        return f"{self.results}/checkpoints/{run}"

    def ngrams(self, corpus: str, size: str) -> str:
        """Folder of a corpus's n-gram model, which balances items."""
        return f"{self.results}/benchmark/ngrams/{corpus}/{size}"

    def items(self, suite: str) -> str:
        """Items of a suite, all phenomena."""
        return f"{self.results}/benchmark/{suite}/items.parquet"

    def all_heuristics(self) -> str:
        """Folder of the heuristics' choices."""
        return f"{self.results}/heuristics"

    def heuristics(self, suite: str) -> str:
        """The heuristics' choices in a suite's pairs."""
        return f"{self.all_heuristics()}/{suite}.parquet"

    def all_scores(self) -> str:
        """Folder of the scores of all runs."""
        return f"{self.results}/scores"

    def score_folder(self, run: str) -> str:
        """Folder of one run's scores."""
        return f"{self.all_scores()}/{run}"

    def scores(self, run: str, suite: str) -> str:
        """Scores of one run on one suite."""
        return f"{self.score_folder(run)}/{suite}.parquet"

    def quality(self, target: str, suite: str) -> str:
        """Folder of the checks of a suite, with the text of a target's cells."""
        return f"{self.results}/quality/{target}/{suite}"

    def curves(self, target: str) -> str:
        """Folder of accuracies by step and of losses."""
        return f"{self.statistics(target)}/curves"

    def measures(self, target: str, suite: str) -> str:
        """Folder of the results on a suite that does not consist of minimal pairs."""
        return f"{self.statistics(target)}/measures/{suite}"

    def statistics(self, target: str) -> str:
        """Folder of a target's tables."""
        return f"{self.results}/statistics/{target}"

    def fit(self, target: str, regression: str) -> str:
        """Folder of one fitted regression."""
        return f"{self.statistics(target)}/regressions/{regression}"

    def deltas(self, target: str) -> str:
        """Folder of the effects of filtering (FiCT)."""
        return f"{self.statistics(target)}/deltas"

    def perplexity(self, run: str) -> str:
        """Perplexity of a run on unfiltered text."""
        return f"{self.results}/perplexity/{run}/perplexity.json"

    def report(self, target: str) -> str:
        """Folder of a target's report."""
        return f"{self.results}/report/{target}"

    def log(self, rule: str, cell: str) -> str:
        """Log of one job."""
        return f"{self.results}/logs/{rule}/{cell}.log"
