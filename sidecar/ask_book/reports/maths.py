r"""Which formulas a TeX engine may see: those made of known commands only.

Raw TeX can be kept out of a document by not reading it; formulas cannot, and `$\text{\input{/etc/passwd}}$` is one.
So a formula passes only if each of its commands is on a list of what draws something, and its braces, environments
and `\left`…`\right` are balanced, since one that is not would cost the whole document. Others are shown as code.
"""

from __future__ import annotations

import re

_DRAWING = (
    # letters
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa varkappa lambda mu nu xi omicron pi "
    "varpi rho varrho sigma varsigma tau upsilon phi varphi chi psi omega digamma Gamma Delta Theta Lambda Xi Pi "
    "Sigma Upsilon Phi Psi Omega aleph beth gimel daleth hbar hslash imath jmath ell wp Re Im partial nabla infty eth "
    "mho "
    # large operators and functions
    "sum prod coprod int iint iiint iiiint oint bigcap bigcup bigsqcup bigvee bigwedge bigodot bigotimes bigoplus "
    "biguplus arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim liminf limsup ln "
    "log max min Pr sec sin sinh sup tan tanh injlim projlim varlimsup varliminf varinjlim varprojlim operatorname "
    "bmod pmod mod pod "
    # relations and operators
    "le leq leqslant ge geq geqslant ne neq equiv sim simeq approx approxeq cong propto doteq asymp ll gg lll ggg "
    "prec succ preceq succeq subset supset subseteq supseteq subsetneq supsetneq nsubseteq nsupseteq sqsubset "
    "sqsupset sqsubseteq sqsupseteq in ni notin mid nmid parallel nparallel perp vdash dashv models vDash Vdash "
    "bowtie smile frown lesssim gtrsim lessgtr gtrless nless ngtr nleq ngeq triangleq coloneqq pm mp times div cdot "
    "ast star circ bullet cap cup uplus sqcap sqcup vee wedge land lor lnot neg setminus smallsetminus wr diamond "
    "oplus ominus otimes oslash odot bigcirc dagger ddagger amalg ltimes rtimes dotplus boxplus boxtimes "
    "divideontimes therefore because forall exists nexists emptyset varnothing complement top bot angle measuredangle "
    "triangle square Box Diamond blacksquare lozenge clubsuit diamondsuit heartsuit spadesuit flat natural sharp surd "
    "checkmark prime backprime not colon "
    # arrows
    "to gets leftarrow rightarrow leftrightarrow Leftarrow Rightarrow Leftrightarrow longleftarrow longrightarrow "
    "longleftrightarrow Longleftarrow Longrightarrow Longleftrightarrow iff implies impliedby mapsto longmapsto "
    "hookleftarrow hookrightarrow uparrow downarrow updownarrow Uparrow Downarrow Updownarrow nearrow searrow swarrow "
    "nwarrow leftharpoonup leftharpoondown rightharpoonup rightharpoondown rightleftharpoons leftrightharpoons "
    "leadsto rightsquigarrow twoheadrightarrow xrightarrow xleftarrow "
    # forms
    "frac dfrac tfrac cfrac binom dbinom tbinom sqrt overline underline overbrace underbrace overrightarrow "
    "overleftarrow overset underset stackrel substack hat widehat tilde widetilde bar vec dot ddot dddot acute grave "
    "breve check mathring boxed phantom hphantom vphantom left right middle big Big bigg Bigg bigl bigr Bigl Bigr "
    "biggl biggr Biggl Biggr bigm Bigm langle rangle lfloor rfloor lceil rceil lvert rvert lVert rVert vert Vert "
    "lbrace rbrace lbrack rbrack backslash "
    # type and space
    "mathrm mathbf mathit mathsf mathtt mathcal mathbb mathfrak mathscr boldsymbol mathnormal text textrm textbf "
    "textit textsf texttt displaystyle textstyle scriptstyle scriptscriptstyle limits nolimits quad qquad thinspace "
    "medspace thickspace enspace ldots cdots vdots ddots dots dotsc dotsb dotsm dotsi hline cr nonumber notag begin "
    "end degree"
)
_COMMANDS = frozenset(_DRAWING.split())
_TABULAR = "matrix pmatrix bmatrix Bmatrix vmatrix Vmatrix smallmatrix cases aligned gathered split array"
_ENVIRONMENTS = frozenset(_TABULAR.split())
_TOKEN = re.compile(r"\\([A-Za-z]+\*?|.)|\^\^|[{}&#%$~]|.", re.DOTALL)
_ENVIRONMENT = re.compile(r"\\(begin|end)\s*\{([a-z]+)\*?\}(?:\{[clr| ]*\})?", re.IGNORECASE)
_SYMBOLS = frozenset(",:;!> {}|\\%&#$_-/")
_FORBIDDEN = frozenset(("\\", "^^", "#", "%", "$"))
LONGEST = 2000


def is_harmless(formula: str) -> bool:
    """Whether a formula may be handed to TeX."""
    if not formula.strip() or len(formula) > LONGEST or "\n\n" in formula:
        return False
    bare = _without_environments(formula)
    if bare is None:
        return False
    depth = sides = 0
    for found in _TOKEN.finditer(bare):
        part, command = found[0], found[1] or ""
        if part in _FORBIDDEN or not (part.isprintable() or part == "\n"):
            return False
        known = _COMMANDS if command[:1].isalpha() else _SYMBOLS
        if command and command.rstrip("*") not in known:
            return False
        depth += (part == "{") - (part == "}")
        sides += (command == "left") - (command == "right")
        if depth < 0 or sides < 0:
            return False
    return not depth and not sides and ("&" not in bare.replace("\\&", "") or bare != formula)


def _without_environments(formula: str) -> str | None:
    """The formula without `\\begin{cases}` and the like; None if one is unknown, or if they are not paired."""
    open_ones: list[str] = []
    for kind, name in _ENVIRONMENT.findall(formula):
        if name not in _ENVIRONMENTS:
            return None
        if kind == "begin":
            open_ones.append(name)
        elif not open_ones or open_ones.pop() != name:
            return None
    bare = _ENVIRONMENT.sub(" ", formula)
    return None if open_ones or re.search(r"\\(?:begin|end)\b", bare) else bare
