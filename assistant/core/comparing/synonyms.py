"""Words that a rewording exchanges without changing a rule; a short list on purpose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from assistant.core.text import stem

_GROUPS: Final = (
    "employee, staff, personnel, teammate, worker, colleague, people, team member, staff member",
    "team, staff",
    "firm, company, organisation, organization",
    "manager, supervisor, line manager",
    "begin, start, commence",
    "end, finish, conclude, complete",
    "buy, purchase, acquire",
    "ensure, make sure",
    "help, assist, support",
    "use, utilise, utilize, employ",
    "get, obtain, receive",
    "send, submit, file",
    "ask, request",
    "tell, inform, notify",
    "contact, reach, reach out",
    "change, modify, amend, update",
    "remove, delete",
    "doc, document, page, guide, file",
    "vacation, holiday, leave, time off",
    "site, website, web site",
    "email, mail, e-mail",
    "phone, telephone",
    "rule, policy, guideline",
    "step, stage, phase",
    "job, role, position",
    "section, chapter, part",
    "picture, image, photo",
    "client, customer",
    "big, large",
    "need, requirement",
    "additional, extra, further, more",
    "prior, previous, earlier",
    "every, each",
    "talk, speak, chat",
    "员工, 职工, 雇员, 职员, 人员",
    "公司, 企业, 单位",
    "经理, 主管",
    "开始, 起",
    "购买, 采购",
    "确保, 保证",
    "帮助, 协助",
    "使用, 采用",
    "获得, 取得",
    "提交, 递交, 上交",
    "请求, 申请",
    "通知, 告知",
    "修改, 变更, 更改",
    "删除, 移除",
    "文档, 文件",
    "假期, 休假",
    "网站, 站点",
    "邮件, 电子邮件",
    "规定, 制度, 规则",
    "步骤, 阶段",
    "岗位, 职位",
    "客户, 顾客",
    "额外, 另外",
)
_SETS: Final = tuple(
    frozenset(" ".join(stem(word) for word in phrase.split()) for phrase in group.split(", ")) for group in _GROUPS
)


def same_meaning(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two phrases, as word stems, are listed as meaning the same."""
    first, second = " ".join(one), " ".join(other)
    return any(first in group and second in group for group in _SETS)
