"""English verbs for rewriters: base forms, and full forms of contracted auxiliaries.

Trees have no lemmas. Irregular forms are listed, and so are verbs whose spelling does not show the
base form (*baking*: *bake*, but *breaking*: *break*).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection

from poshgrid.evidence.closed_classes import WH_WORDS
from poshgrid.evidence.rewriting import UnsafeError, Word, words_of
from poshgrid.parsing.tree import Tree

VERBAL = frozenset({"AUX", "VERB"})
BE = frozenset({"am", "are", "be", "been", "being", "is", "was", "were", "'m", "'re", "'s"})
MODALS = frozenset(
    {"can", "could", "may", "might", "must", "ought", "shall", "should", "will", "would"}
)
_FULL = {
    "'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "ca": "can", "wo": "will",
    "sha": "shall", "d'": "do",
}  # fmt: skip
_GOT = frozenset({"been", "got"})
_IRREGULAR = """
    be am is are was were been being; have has had having; do does did done; go goes went gone
    gon; say said; make made; get got gotten; see saw seen; know knew known; think thought;
    take took taken; come came; find found; give gave given; tell told; feel felt; leave left;
    put putting; keep kept; let letting; begin began begun; show shown; hear heard; run ran;
    hold held; bring brought; write wrote written; sit sat; stand stood; lose lost; pay paid;
    meet met; set setting; lead led; speak spoke spoken; read; grow grew grown; fall fell
    fallen; send sent; build built; draw drew drawn; break broke broken; spend spent; cut; rise
    rose risen; drive drove driven; buy bought; wear wore worn; choose chose chosen; eat ate
    eaten; sleep slept; catch caught; throw threw thrown; teach taught; sing sang sung; ring
    rang rung; drink drank drunk; swim swam swum; fly flew flown flies; blow blew blown; hide
    hid hidden; bite bit bitten; ride rode ridden; fight fought; win won; forget forgot
    forgotten; sell sold; shut; hit; hurt; cost; spread; burst; bet; wake woke woken; tear tore
    torn; steal stole stolen; freeze froze frozen; shake shook shaken; lay laid; lie lain
    lying; die dying; tie tying; feed fed; bleed bled; breed bred; bend bent; lend lent; mean
    meant; dream dreamt; deal dealt; kneel knelt; sweep swept; weep wept; creep crept; shoot
    shot; dig dug; hang hung; stick stuck; sting stung; swing swung; spin spun; cling clung;
    fling flung; sling slung; slide slid; strike struck; light lit; shine shone; swear sworn
    swore; bear bore born borne; beat beaten; become became; blend; bind bound; grind ground;
    wind wound; sink sank sunk; shrink shrank shrunk; stink stank stunk; spring sprang sprung;
    split; spit spat; quit; slit; shed; fit; sew sewn; sow sown; mow mown; prove proven; weave
    woven wove; seek sought; understand understood; undo undid undone; wed; arise arose arisen;
    awake awoke; forgive forgave forgiven; overcome overcame; stride strode; tread trod
    trodden; foresee foresaw; flee fled; leap leapt; lean leant; learn learnt; spell spelt;
    spill spilt; spoil spoilt; burn burnt; smell smelt; upset; withdraw withdrew withdrawn;
    belong; agree agreed; free freed; add; egg; purr; travel travelled travelling; cancel;
    control; speed; need; seed; weed; exceed; proceed; succeed; use usta; suppose spos; ski
    skiing; echo echoes; veto vetoes; focus; bus; fuss; pee peed; wee weed; knit; bid; forbid
    forbade forbidden; bake baked; taste tasted tasting; paste pasted pasting; waste wasted
    wasting; change changed changing; arrange arranged arranging; exchange exchanged
    exchanging; plunge plunged plunging; breathe breathed breathing; bathe bathed bathing;
    clothe clothed clothing; soothe soothed; ache ached aches aching; dye dyed dyeing; singe
    singed; tiptoe tiptoed; canoe canoed; hoe hoed
    """
_BASES = {form: entry.split()[0] for entry in _IRREGULAR.split(";") for form in entry.split()}
"""Form -> base form; a base is its own."""
_E_STEM = re.compile(
    r"(?:[cvu]|[aeiou]z|[^aeious]s|[aeiou]{2}s|[iauo]s|[bcdfgkptszx]l|[dlr]g|ag|eg"
    r"|^(?:[bcdfghjklmnpqrstvwxz]|qu)*[aeiouy][bcdfgklmnprstz]"  # one syllable: else it doubles
    r"|[^eo]a[drt]|cre?at|[^eo]ut|(?:c|gn|v|un)it|[^aeo]id|[^o]ud|[^o]od|ced"
    r"|[^aeou]in|[^oe]ur|[^a]ir|(?:pl|gn|st|ad|sc)or|phon|(?:pl|mp|del)et|[^o]ot|cap"
    r"|(?:lle|ra|cha|plu|lou|ve)ng|[^aoe]il|ul|com|crib|vok|[sf]um)$"
)
"""Stems that drop an *e* before *-ed* or *-ing*."""
_PLAIN = frozenset({"combat", "edit", "exit", "fix", "focus", "mix", "order", "visit"})
"""Stems that match :data:`_E_STEM` and have no *e*."""


@functools.cache
def lemma(small: str) -> str:
    """Return the base form of a verb in lower case; an unknown form is returned as it is."""
    if small in _BASES or small in MODALS:
        return _BASES.get(small, small)
    for ending in ("ed", "ing", "in'"):
        stem = small.removesuffix(ending)
        if stem != small and re.search("[aeiouy]", stem):
            return _restored(stem, ending)
    if small.endswith("ies") and len(small) > 4:
        return f"{small[:-3]}y"
    if re.search(r"(?:ss|x|[cs]h|zz|[^aeiou]o)es$", small):
        return small[:-2]
    return small[:-1] if re.search(r"[^s'u]s$", small) and len(small) > 3 else small


def _restored(stem: str, ending: str) -> str:
    """Return the base form of a regular verb from its stem before *-ed* or *-ing*."""
    for candidate in (stem, f"{stem}e", stem[:-1] if stem[-1:] == stem[-2:-1] else ""):
        if candidate and _BASES.get(candidate) == candidate:
            return candidate
    if ending == "ed" and stem.endswith("i"):
        return f"{stem[:-1]}y"
    if stem[-1:] == stem[-2:-1] and stem[-1:] not in "lsfzeo":
        return stem[:-1]  # "hopped"
    return f"{stem}e" if _E_STEM.search(stem) and stem not in _PLAIN else stem


def full(tree: Tree, word: int) -> str:
    """Return the full form of an auxiliary or verb, in lower case: *'s* in *he 's running* is *is*.

    Raises:
        UnsafeError: there are two possible full forms.
    """
    small = tree.lower(word)
    verb = tree.head[word - 1]
    auxiliary = tree.deprel[word - 1] == "aux" and verb > word
    if small == "'s":
        if _GOT.intersection(tree.small[word : word + 3]):
            return "has"  # "what 's he got": parsers are often wrong here
        return _is_or_has(tree, word, verb) if auxiliary else "is"
    if small == "'d":
        if not auxiliary or (word > 1 and tree.lower(word - 1) in WH_WORDS):
            raise UnsafeError("'d may be would, had or did")
        verbs = (tree.small[n] for n in range(word, verb) if tree.upos[n] in VERBAL)
        form = next(verbs, "")
        return "had" if "better" in tree.small[word:verb] or lemma(form) != form else "would"
    return _FULL.get(small, small)


def _is_or_has(tree: Tree, word: int, verb: int) -> str:
    form = tree.lower(verb)
    if form.endswith(("ing", "in'")) or form == "gon":
        return "is"
    if tree.upos[verb - 1] not in VERBAL:
        return "is"
    if form.endswith(("ed", "en")) or lemma(form) != form:
        return "has"
    raise UnsafeError("'s may be is, has or does")


def dropped(tree: Tree, numbers: Collection[int]) -> list[Word]:
    """Return the words of a tree without some; a verb contracted with one gets its full form."""
    kept = words_of(tree, (n for n in range(1, len(tree) + 1) if n not in numbers))
    return [
        word._replace(form=full(tree, word.number))
        if word.number - 1 in numbers and word.form[:1] in "'’"
        else word
        for word in kept
    ]
