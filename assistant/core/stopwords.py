"""Words that carry no content for matching, English and Chinese."""

from __future__ import annotations

from typing import Final

_ENGLISH = """
a about above after again all also am an and any are aren't as at be because been before being below between both but by
can can't cannot could couldn't did didn't do does doesn't doing don't down during each few for from further had hadn't
has hasn't have haven't having he her here hers herself him himself his how i i'm if in into is isn't it it's its itself
just let's me more most my myself nor of off on once only or other our ours ourselves out over own same shan't she
should shouldn't so some such than that that's the their theirs them themselves then there there's these they this those
through to too under until up us very was wasn't we were weren't what what's when where which while who whom why will
with won't would wouldn't you your yours yourself yourselves please tell
"""

_CHINESE = """
的 了 和 是 就 都 而 及 与 着 或 一个 没有 我们 你们 他们 她们 是否 在 有 我 你 他 她 它 这 那 这个 那个 这些 那些
吗 呢 吧 啊 呀 哦 嗯 也 很 把 被 让 向 从 到 对 为 以 之 其 其中 并 并且 但 但是 如果 因为 所以 还 又 再 已 已经 将
会 能 请 请问 什么 怎么 怎样 如何 哪 哪些 哪个 哪里 谁 多少 几 为什么 一下 一些 一种 等 等等 个 地 得 上 中 下 里 们
由 于 关于 以及
"""

STOPWORDS: Final = frozenset(_ENGLISH.split()) | frozenset(_CHINESE.split())

FUNCTION_CHARACTERS: Final = frozenset("的了吗呢吧啊呀哦嗯是就都和与也很把被让还又再已么这那哪们")
"""Characters that nearly always stand for grammar: a pair that holds one is no term (a word that does, 让步, still is)."""
