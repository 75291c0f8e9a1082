"""What a question, an answer or a book might say to a TeX engine, a browser or a shell.

`{file}` is a file whose words must never be seen, `{out}` one that must never exist, `{url}` an address that must never
be asked for.
"""

PAYLOADS = {
    "input": r"\input{{{file}}}",
    "input in text of a formula": r"$\text{{\input{{{file}}}}}$",
    "input in a display": "$$\\text{{\\input{{{file}}}}}$$",
    "input in a formula of the book": r"\(\text{{\input{{{file}}}}}\)",
    "input in a display of the book": r"\[\mbox{{\input {file} }}\]",
    "escaped formula": r"\\(\text{{\input{{{file}}}}}\\)",
    "lua": r"$\directlua{{io.open('{out}','w'):write('x'):close()}}$",
    "lua in text": r"$\text{{\directlua{{os.execute('touch {out}')}}}}$",
    "write18": r"\immediate\write18{{touch {out}}}",
    "write18 in a formula": r"$\immediate\write18{{touch {out}}}$",
    "openout": r"$\newwrite\w\immediate\openout\w={out}\immediate\write\w{{x}}$",
    "openin": r"$\newread\r\openin\r={file} \read\r to\x\text{{\x}}$",
    "special": r"$\special{{pdf:fstream @x ({file})}}$",
    "pdfobj": r"$\immediate\pdfobj stream file {{{file}}}$",
    "macro loop": r"$\def\x{{\x\x}}\x$",
    "loop in text": r"$\text{{\loop\iftrue\repeat}}$",
    "newcommand": "\\newcommand{{\\x}}{{\\input{{{file}}}}}\\x",
    "csname": r"$\csname input\endcsname{{{file}}}$",
    "carets": r"$^^5cinput{{{file}}}$",
    "catcode": r"$\catcode`\@=0 @input{{{file}}}$",
    "expandafter": r"$\expandafter\input\expandafter{{{file}}}$",
    "end of a formula": r"$x$ \input{{{file}}} $y",
    "unbalanced": r"$\text{{x}}}}\input{{{file}}}{{$",
    "raw block": "```{{=latex}}\n\\input{{{file}}}\n```",
    "raw inline": "`\\input{{{file}}}`{{=latex}}",
    "raw html": "```{{=html}}\n<script src='{url}'></script>\n```",
    "end of verbatim": "```\n\\end{{verbatim}}\\end{{Highlighting}}\\end{{Verbatim}}\\input{{{file}}}\n```",
    "end of a span of code": r"`}}\input{{{file}}}\texttt{{`",
    "environment": "\\begin{{filecontents}}{{{out}}}\nx\n\\end{{filecontents}}",
    "environment in a formula": r"$\begin{{filecontents}}{{{out}}}x\end{{filecontents}}$",
    "listing": r"\lstinputlisting{{{file}}} \verbatiminput{{{file}}} \VerbatimInput{{{file}}}",
    "graphics": r"$\includegraphics{{{file}}}$",
    "font": r"$\font\x='{file}'\x$",
    "header": "---\nheader-includes: |\n  \\input{{{file}}}\n---\n\ntext",
    "title block": "% \\input{{{file}}}\n% author\n\ntext",
    "local image": "![a]({file})",
    "image by address": "![a](file://{file})",
    "remote image": "![a]({url}/a.png)",
    "image by reference": "![a][r]\n\n[r]: {url}/b.png",
    "data image": "![a](data:image/svg+xml;base64,PHN2Zy8+)",
    "script link": "[a](javascript:alert(1)) [b](JaVaScRiPt&colon;alert(1)) [c](vbscript:x)",
    "data link": "[a](data:text/html,<script>)",
    "run link": r"\href{{run:{out}}}{{x}} [a](run:{out}) [b](file://{file})",
    "script": "<script>fetch('{url}')</script>",
    "handlers": "<img src={url}/c.png onerror=alert(1)> <svg onload=alert(1)> <iframe src={url}></iframe>",
    "style": "<style>@import '{url}';</style> <link rel=stylesheet href={url}>",
    "comment": "<!-- \\input{{{file}}} --> <?php ?> <![CDATA[x]]>",
    "table": "| a | b |\n|---|---|\n| \\input{{{file}}} | $\\input{{{file}}}$ |",
    "footnote": "x[^1]\n\n[^1]: \\input{{{file}}}",
    "autolink": "<{url}> {url} <javascript:alert(1)>",
}


def payloads(file: str, out: str, url: str) -> dict[str, str]:
    """The attacks on these three."""
    return {name: text.format(file=file, out=out, url=url) for name, text in PAYLOADS.items()}
