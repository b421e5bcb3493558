"""The works that the methods cite, as data; citations in the text, a list, and BibTeX.

Only what a text cites is listed. A DOI or address is given where it is certain.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from poshgrid import files
from poshgrid.report.shelf import Shelf

BIBLIOGRAPHY = "references.bib"
_ACL = "Proceedings of the {} Annual Meeting of the Association for Computational Linguistics"
_TACL = "Transactions of the Association for Computational Linguistics"


@dataclass(frozen=True)
class Work:
    """A work, in the fields of BibTeX."""

    key: str
    kind: str  # BibTeX's entry type
    author: str  # "Family, Given and Family, Given and others"; {Organisation}
    year: int | None  # None: a thing that is not published once
    title: str
    venue: str = ""  # journal, proceedings, publisher, whatever says where
    volume: str = ""  # with the number: "12(3)"
    pages: str = ""
    doi: str = ""
    url: str = ""

    @property
    def authors(self) -> list[tuple[str, str]]:
        """(family, given) of every author; an organisation has no given name."""
        found = []
        for name in self.author.split(" and "):
            family, _, given = name.partition(", ")
            found.append((family.strip("{}"), given))
        return found

    @property
    def names(self) -> str:
        """The authors as a text cites them: ``Hu et al.``."""
        families = [family for family, _ in self.authors]
        if len(families) > 2:
            return f"{families[0]} et al."
        return " and ".join(families)

    @property
    def date(self) -> str:
        """The year, or ``n.d.``."""
        return str(self.year) if self.year else "n.d."

    @property
    def link(self) -> str:
        """An address of the work; "" if none is known."""
        return f"https://doi.org/{self.doi}" if self.doi else self.url

    @property
    def head(self) -> str:
        """The list's entry before the title: authors and year."""
        names = [f"{given} {family}".strip() for family, given in self.authors]
        if names[-1] == "others":
            joined = f"{', '.join(names[:-1])}, et al"
        elif len(names) > 1:
            joined = f"{', '.join(names[:-1])} and {names[-1]}"
        else:
            joined = names[0]
        return f"{joined}. {self.date}" + ("." if self.year else "")

    @property
    def tail(self) -> str:
        """The list's entry after the title: where it appeared."""
        parts = [self.venue]
        if self.volume:
            parts.append(f"{self.volume}:{self.pages}" if self.pages else self.volume)
        elif self.pages:
            parts.append(f"pages {self.pages}")
        text = ", ".join(part for part in parts if part)
        return f"{text}." if text else ""

    @property
    def text(self) -> str:
        """The list's entry as plain text, without its address."""
        title = self.title if self.title.endswith("?") else f"{self.title}."
        return " ".join(part for part in (self.head, title, self.tail) if part)

    def bibtex(self) -> str:
        """Return the entry, in UTF-8; capitals of the title are kept."""
        place = {"article": "journal", "inproceedings": "booktitle", "book": "publisher"}
        volume, _, number = self.volume.partition("(")
        fields = {
            "author": self.author,
            "year": str(self.year or ""),
            "title": f"{{{_tex(self.title)}}}",
            place.get(self.kind, "howpublished"): _tex(self.venue),
            "volume": volume,
            "number": number.rstrip(")"),
            "pages": self.pages.replace("–", "--"),
            "doi": self.doi,
            "url": "" if self.doi else self.url,
        }
        lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
        return f"@{self.kind}{{{self.key},\n{lines}}}\n"


class Citations:
    """Cites works in a text and remembers which."""

    def __init__(self) -> None:
        self._cited: dict[str, Work] = {}

    def __call__(self, *keys: str) -> str:
        """Return ``(Hu et al., 2025; Mita et al., 2025)``."""
        return f"({self.bare(*keys)})"

    def bare(self, *keys: str) -> str:
        """Return the same without brackets, for a text that stands in brackets."""
        works = [self._cite(key) for key in dict.fromkeys(keys)]
        return "; ".join(f"{work.names}, {work.date}" for work in works)

    def named(self, key: str) -> str:
        """Return ``Hu et al. (2025)``."""
        work = self._cite(key)
        return f"{work.names} ({work.date})"

    def __contains__(self, key: str) -> bool:
        """Return whether a work has been cited."""
        return key in self._cited

    def _cite(self, key: str) -> Work:
        return self._cited.setdefault(key, WORKS[key])

    @property
    def works(self) -> list[Work]:
        """The works cited, by author and year."""
        return sorted(self._cited.values(), key=lambda w: (w.author.casefold(), w.year or 9999))


def write(works: Iterable[Work], shelf: Shelf) -> str | None:
    """Write the works as BibTeX beside the page's tables.

    Returns:
        The file's address relative to the page; ``None`` if there is nothing to write.
    """
    entries = [work.bibtex() for work in works]
    if not entries:
        return None
    files.write_text(shelf.output / "tables" / BIBLIOGRAPHY, "\n".join(entries))
    shelf.written["tables"].append(BIBLIOGRAPHY)
    return f"tables/{BIBLIOGRAPHY}"


def _tex(text: str) -> str:
    """Escape what BibTeX and LaTeX would take for commands."""
    return re.sub(r"([&%$#_])", r"\\\1", text).replace("R\u0302", r"$\widehat{R}$")


_ALL = (
    # ---- the questions, the suites, the filters ----
    Work("yang2026", "misc", "Yang, Xiulin and Bisazza, Arianna and Schneider, Nathan and "
         "Wilcox, Ethan Gotlieb", 2026, "A Unified Assessment of the Poverty of the Stimulus "
         "Argument for Neural Language Models", "arXiv:2602.09992",
         url="https://arxiv.org/abs/2602.09992"),
    Work("patil2024", "article", "Patil, Abhinav and Jumelet, Jaap and Chiu, Yu Ying and "
         "Lapastora, Andy and Shen, Peter and Wang, Lexie and Willrich, Clevis and "
         "Steinert-Threlkeld, Shane", 2024, "Filtered Corpus Training (FiCT) Shows that Language "
         "Models Can Generalize from Indirect Evidence", _TACL, "12", "1597–1615",
         doi="10.1162/tacl_a_00720"),
    Work("warstadt2020", "article", "Warstadt, Alex and Parrish, Alicia and Liu, Haokun and "
         "Mohananey, Anhad and Peng, Wei and Wang, Sheng-Fu and Bowman, Samuel R.", 2020,
         "BLiMP: The Benchmark of Linguistic Minimal Pairs for English", _TACL, "8", "377–392",
         doi="10.1162/tacl_a_00321"),
    Work("huebner2021", "inproceedings", "Huebner, Philip A. and Sulem, Elior and Fisher, Cynthia "
         "and Roth, Dan", 2021, "BabyBERTa: Learning More Grammar With Small-Scale Child-Directed "
         "Language", "Proceedings of the 25th Conference on Computational Natural Language "
         "Learning", pages="624–646", doi="10.18653/v1/2021.conll-1.49"),
    Work("mccoy2025", "article", "McCoy, R. Thomas and Griffiths, Thomas L.", 2025, "Modeling "
         "Rapid Language Learning by Distilling Bayesian Priors into Artificial Neural Networks",
         "Nature Communications", "16(1)", "4676"),
    Work("lan2024", "article", "Lan, Nur and Chemla, Emmanuel and Katzir, Roni", 2024,
         "Large Language Models and the Argument from the Poverty of the Stimulus",
         "Linguistic Inquiry", pages="1–28"),
    Work("pistotti2025", "misc", "Pistotti, Timothy and Brown, Jason and Witbrock, Michael", 2025,
         "Evaluating The Impact of Stimulus Quality in Investigations of LLM Language Performance"),
    Work("capone2024", "inproceedings", "Capone, Luca and Suozzi, Alice and Lebani, Gianluca E. "
         "and Lenci, Alessandro", 2024, "BaBIEs: A Benchmark for the Linguistic Evaluation of "
         "Italian Baby Language Models", "Proceedings of the Tenth Italian Conference on "
         "Computational Linguistics (CLiC-it 2024)"),
    # ---- corpora ----
    Work("macwhinney2000", "book", "MacWhinney, Brian", 2000, "The CHILDES Project: Tools for "
         "Analyzing Talk", "Lawrence Erlbaum Associates, 3rd edition"),
    Work("sanchez2019", "article", "Sanchez, Alessandro and Meylan, Stephan C. and Braginsky, Mika "
         "and MacDonald, Kyle E. and Yurovsky, Daniel and Frank, Michael C.", 2019, "childes-db: A "
         "Flexible and Reproducible Interface to the Child Language Data Exchange System",
         "Behavior Research Methods", "51", "1928–1941", doi="10.3758/s13428-018-1176-7"),
    Work("godfrey1992", "inproceedings", "Godfrey, John J. and Holliman, Edward C. and McDaniel, "
         "Jane", 1992, "SWITCHBOARD: Telephone Speech Corpus for Research and Development",
         "Proceedings of the IEEE International Conference on Acoustics, Speech, and Signal "
         "Processing", "1", "517–520", doi="10.1109/ICASSP.1992.225858"),
    Work("gutenberg", "misc", "{Project Gutenberg}", None, "Project Gutenberg",
         url="https://www.gutenberg.org/"),
    Work("wikimedia", "misc", "{Wikimedia Foundation}", None, "Wikimedia Downloads",
         url="https://dumps.wikimedia.org/"),
    Work("bnc2007", "misc", "{BNC Consortium}", 2007, "The British National Corpus, XML Edition",
         "Oxford Text Archive"),
    Work("lison2016", "inproceedings", "Lison, Pierre and Tiedemann, Jörg", 2016,
         "OpenSubtitles2016: Extracting Large Parallel Corpora from Movie and TV Subtitles",
         "Proceedings of the Tenth International Conference on Language Resources and Evaluation",
         pages="923–929"),
    Work("eldan2023", "misc", "Eldan, Ronen and Li, Yuanzhi", 2023, "TinyStories: How Small Can "
         "Language Models Be and Still Speak Coherent English?", "arXiv:2305.07759",
         url="https://arxiv.org/abs/2305.07759"),
    Work("warstadt2023", "misc", "Warstadt, Alex and Mueller, Aaron and Choshen, Leshem and "
         "Wilcox, Ethan and Zhuang, Chengxu and others", 2023, "Proceedings of the BabyLM "
         "Challenge at the 27th Conference on Computational Natural Language Learning",
         "Association for Computational Linguistics"),
    # ---- parsing, tokens ----
    Work("nivre2020", "inproceedings", "Nivre, Joakim and de Marneffe, Marie-Catherine and Ginter, "
         "Filip and Hajič, Jan and Manning, Christopher D. and Pyysalo, Sampo and Schuster, "
         "Sebastian and Tyers, Francis and Zeman, Daniel", 2020, "Universal Dependencies v2: An "
         "Evergrowing Multilingual Treebank Collection", "Proceedings of the Twelfth Language "
         "Resources and Evaluation Conference", pages="4034–4043"),
    Work("qi2020", "inproceedings", "Qi, Peng and Zhang, Yuhao and Zhang, Yuhui and Bolton, Jason "
         "and Manning, Christopher D.", 2020, "Stanza: A Python Natural Language Processing "
         "Toolkit for Many Human Languages", f"{_ACL.format('58th')}: System Demonstrations",
         pages="101–108", doi="10.18653/v1/2020.acl-demos.14"),
    Work("honnibal2020", "misc", "Honnibal, Matthew and Montani, Ines and Van Landeghem, Sofie and "
         "Boyd, Adriane", 2020, "spaCy: Industrial-Strength Natural Language Processing in Python",
         "Zenodo", doi="10.5281/zenodo.1212303"),
    Work("sennrich2016", "inproceedings", "Sennrich, Rico and Haddow, Barry and Birch, Alexandra",
         2016, "Neural Machine Translation of Rare Words with Subword Units",
         f"{_ACL.format('54th')} (Volume 1: Long Papers)", pages="1715–1725",
         doi="10.18653/v1/P16-1162"),
    Work("cohen1960", "article", "Cohen, Jacob", 1960, "A Coefficient of Agreement for Nominal "
         "Scales", "Educational and Psychological Measurement", "20(1)", "37–46",
         doi="10.1177/001316446002000104"),
    Work("clopper1934", "article", "Clopper, C. J. and Pearson, E. S.", 1934, "The Use of "
         "Confidence or Fiducial Limits Illustrated in the Case of the Binomial", "Biometrika",
         "26(4)", "404–413", doi="10.1093/biomet/26.4.404"),
    Work("lin1991", "article", "Lin, Jianhua", 1991, "Divergence Measures Based on the Shannon "
         "Entropy", "IEEE Transactions on Information Theory", "37(1)", "145–151",
         doi="10.1109/18.61115"),
    Work("horvitz1952", "article", "Horvitz, D. G. and Thompson, D. J.", 1952, "A Generalization "
         "of Sampling Without Replacement from a Finite Universe", "Journal of the American "
         "Statistical Association", "47(260)", "663–685", doi="10.1080/01621459.1952.10483446"),
    Work("fay2015", "article", "Fay, Michael P. and Proschan, Michael A. and Brittain, Erica",
         2015, "Combining One-Sample Confidence Procedures for Inference in the Two-Sample Case",
         "Biometrics", "71(1)", "146–156", doi="10.1111/biom.12231"),
    # ---- learners, biases, nulls ----
    Work("radford2019", "misc", "Radford, Alec and Wu, Jeffrey and Child, Rewon and Luan, David "
         "and Amodei, Dario and Sutskever, Ilya", 2019, "Language Models are Unsupervised "
         "Multitask Learners", "OpenAI"),
    Work("hochreiter1997", "article", "Hochreiter, Sepp and Schmidhuber, Jürgen", 1997,
         "Long Short-Term Memory", "Neural Computation", "9(8)", "1735–1780",
         doi="10.1162/neco.1997.9.8.1735"),
    Work("loshchilov2019", "inproceedings", "Loshchilov, Ilya and Hutter, Frank", 2019, "Decoupled "
         "Weight Decay Regularization", "International Conference on Learning Representations"),
    Work("hu2025", "inproceedings", "Hu, Michael Y. and Petty, Jackson and Shi, Chuan and Merrill, "
         "William and Linzen, Tal", 2025, "Between Circuits and Chomsky: Pre-pretraining on Formal "
         "Languages Imparts Linguistic Biases", f"{_ACL.format('63rd')} (Volume 1: Long Papers)",
         pages="9691–9709"),
    Work("mita2025", "inproceedings", "Mita, Masato and Yoshida, Ryo and Oseki, Yohei", 2025,
         "Developmentally-plausible Working Memory Shapes a Critical Period for Language "
         "Acquisition", f"{_ACL.format('63rd')} (Volume 1: Long Papers)", pages="9386–9399"),
    Work("yoshida2024", "inproceedings", "Yoshida, Ryo and Someya, Taiga and Oseki, Yohei", 2024,
         "Tree-Planted Transformers: Unidirectional Transformer Language Models with Implicit "
         "Syntactic Supervision", "Findings of the Association for Computational Linguistics: "
         "ACL 2024", pages="5120–5134"),
    Work("chen1999", "article", "Chen, Stanley F. and Goodman, Joshua", 1999, "An Empirical Study "
         "of Smoothing Techniques for Language Modeling", "Computer Speech & Language", "13(4)",
         "359–394", doi="10.1006/csla.1999.0128"),
    Work("salazar2020", "inproceedings", "Salazar, Julian and Liang, Davis and Nguyen, Toan Q. and "
         "Kirchhoff, Katrin", 2020, "Masked Language Model Scoring", _ACL.format("58th"),
         pages="2699–2712", doi="10.18653/v1/2020.acl-main.240"),
    # ---- statistics ----
    Work("fisher1932", "book", "Fisher, Ronald A.", 1932, "Statistical Methods for Research "
         "Workers", "Oliver and Boyd, 4th edition"),
    Work("holm1979", "article", "Holm, Sture", 1979, "A Simple Sequentially Rejective Multiple "
         "Test Procedure", "Scandinavian Journal of Statistics", "6(2)", "65–70"),
    Work("efron1979", "article", "Efron, Bradley", 1979, "Bootstrap Methods: Another Look at the "
         "Jackknife", "The Annals of Statistics", "7(1)", "1–26", doi="10.1214/aos/1176344552"),
    Work("hoffman2014", "article", "Hoffman, Matthew D. and Gelman, Andrew", 2014, "The No-U-Turn "
         "Sampler: Adaptively Setting Path Lengths in Hamiltonian Monte Carlo", "Journal of "
         "Machine Learning Research", "15", "1593–1623"),
    Work("vehtari2021", "article", "Vehtari, Aki and Gelman, Andrew and Simpson, Daniel and "
         "Carpenter, Bob and Bürkner, Paul-Christian", 2021, "Rank-Normalization, Folding, and "
         "Localization: An Improved R\u0302 for Assessing Convergence of MCMC (with Discussion)",
         "Bayesian Analysis", "16(2)", "667–718", doi="10.1214/20-BA1221"),
    # ---- software ----
    Work("capretto2022", "article", "Capretto, Tomás and Piho, Camen and Kumar, Ravin and "
         "Westfall, Jacob and Yarkoni, Tal and Martin, Osvaldo A.", 2022, "Bambi: A Simple "
         "Interface for Fitting Bayesian Linear Models in Python",
         "Journal of Statistical Software", "103(15)", "1–29", doi="10.18637/jss.v103.i15"),
    Work("abrilpla2023", "article", "Abril-Pla, Oriol and Andreani, Virgile and Carroll, Colin and "
         "Dong, Larry and Fonnesbeck, Christopher J. and others", 2023, "PyMC: A Modern, and "
         "Comprehensive Probabilistic Programming Framework in Python", "PeerJ Computer Science",
         "9", "e1516", doi="10.7717/peerj-cs.1516"),
    Work("nutpie", "misc", "{PyMC developers}", None, "nutpie", "software",
         url="https://github.com/pymc-devs/nutpie"),
    Work("phan2019", "misc", "Phan, Du and Pradhan, Neeraj and Jankowiak, Martin", 2019,
         "Composable Effects for Flexible and Accelerated Probabilistic Programming in NumPyro",
         "arXiv:1912.11554", url="https://arxiv.org/abs/1912.11554"),
    Work("kumar2019", "article", "Kumar, Ravin and Carroll, Colin and Hartikainen, Ari and Martin, "
         "Osvaldo", 2019, "ArviZ: A Unified Library for Exploratory Analysis of Bayesian Models in "
         "Python", "Journal of Open Source Software", "4(33)", "1143", doi="10.21105/joss.01143"),
    Work("molder2021", "article", "Mölder, Felix and Jablonski, Kim Philipp and Letcher, Brice and "
         "Hall, Michael B. and Tomkins-Tinch, Christopher H. and others", 2021, "Sustainable Data "
         "Analysis with Snakemake", "F1000Research", "10", "33",
         doi="10.12688/f1000research.29032.2"),
    Work("paszke2019", "inproceedings", "Paszke, Adam and Gross, Sam and Massa, Francisco and "
         "Lerer, Adam and Bradbury, James and others", 2019, "PyTorch: An Imperative Style, "
         "High-Performance Deep Learning Library", "Advances in Neural Information Processing "
         "Systems", "32"),
    Work("wolf2020", "inproceedings", "Wolf, Thomas and Debut, Lysandre and Sanh, Victor and "
         "Chaumond, Julien and Delangue, Clement and others", 2020, "Transformers: "
         "State-of-the-Art Natural Language Processing", "Proceedings of the 2020 Conference on "
         "Empirical Methods in Natural Language Processing: System Demonstrations",
         pages="38–45", doi="10.18653/v1/2020.emnlp-demos.6"),
)  # fmt: skip
WORKS = {work.key: work for work in _ALL}
"""Key -> work."""
