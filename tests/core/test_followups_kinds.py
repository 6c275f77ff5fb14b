"""Kinds of follow-ups in invented conversations, English and Chinese: what the question becomes, and what is searched."""

from __future__ import annotations

import pytest

from assistant.core.followups import Standalone, standalone

LEAVE = "How many days of annual leave do employees get?"
BUDGET = "What was the travel budget in 2022?"
PARENTS = "What is the parental leave policy in Germany?"
HOME = "Can employees work from home on Fridays?"
LAPTOP = "How do I request a new laptop?"
ORDERS = "Who approves purchases over $5,000?"
PERSON = "What does Maria Lopez do at Northwind?"
OVERTIME = "Is overtime paid for part-time staff?"
HOTEL = "What is the hotel limit in Berlin?"
NIANJIA = "正式员工的年假有几天？"
YUSUAN = "2021年的差旅预算是多少？"
ZHUSU = "上海的住宿标准是多少？"
DIANNAO = "如何申请新的笔记本电脑？"
RENYUAN = "张伟负责哪个项目？"
JIABAN = "加班费怎么计算？"


def after(before: str, question: str, answer: str = "") -> Standalone:
    return standalone(question, [(before, answer)])


CERTAIN = [
    (LEAVE, "same for contractors?", "How many days of annual leave do contractors get?"),
    (LEAVE, "Contractors?", "How many days of annual leave do contractors get?"),
    (LEAVE, "Interns and contractors?", "How many days of annual leave do interns and contractors get?"),
    (LEAVE, "for part-time staff too?", "How many days of annual leave do part-time staff get?"),
    (LEAVE, "ok and sick leave?", "How many days of sick leave do employees get?"),
    (LEAVE, "actually, what about sick leave?", "How many days of sick leave do employees get?"),
    (LEAVE, "No, I meant sick leave", "How many days of sick leave do employees get?"),
    (LEAVE, "no, contractors", "How many days of annual leave do contractors get?"),
    (LEAVE, "not employees, contractors", "How many days of annual leave do contractors get?"),
    (LEAVE, "I mean in 2021", "How many days of annual leave do employees get in 2021?"),
    (LEAVE, "In Berlin?", "How many days of annual leave do employees get in Berlin?"),
    (LEAVE, "Same question for Spain", "How many days of annual leave do employees get for Spain?"),
    (LEAVE, "And when I move to Spain?", "How many days of annual leave do employees get when I move to Spain?"),
    (LEAVE, "and if I leave mid-year?", "How many days of annual leave do employees get if I leave mid-year?"),
    (BUDGET, "2023?", "What was the travel budget in 2023?"),
    (BUDGET, "no, 2021", "What was the travel budget in 2021?"),
    (BUDGET, "for 2021 and 2023?", "What was the travel budget for 2021 and 2023?"),
    (BUDGET, "and the year before?", "What was the travel budget in 2021?"),
    (BUDGET, "the following year?", "What was the travel budget in 2023?"),
    (BUDGET, "last year?", "What was the travel budget last year?"),
    (BUDGET, "Q3?", "What was the travel budget in Q3 2022?"),
    (BUDGET, "March?", "What was the travel budget in March 2022?"),
    (BUDGET, "and the training budget?", "What was the training budget in 2022?"),
    (PARENTS, "And France?", "What is the parental leave policy in France?"),
    (PARENTS, "France, not Germany", "What is the parental leave policy in France?"),
    (PARENTS, "for fathers?", "What is the parental leave policy in Germany for fathers?"),
    (HOME, "and Mondays?", "Can employees work from home on Mondays?"),
    (HOME, "not employees, interns", "Can interns work from home on Fridays?"),
    (HOME, "even during probation?", "Can employees work from home on Fridays during probation?"),
    (ORDERS, "$20,000?", "Who approves purchases over $20,000?"),
    (ORDERS, "and under $500?", "Who approves purchases under $500?"),
    (PERSON, "John Smith?", "What does John Smith do at Northwind?"),
    (PERSON, "No, I meant Maria Gomez", "What does Maria Gomez do at Northwind?"),
    (PERSON, "where does she work?", "Where does Maria Lopez work?"),
    (OVERTIME, "And full-time?", "Is overtime paid for full-time staff?"),
    (OVERTIME, "for managers as well?", "Is overtime paid for managers?"),
    (HOTEL, "what about managers?", "What is the hotel limit in Berlin for managers?"),
    (NIANJIA, "那2022年呢", "2022年，正式员工的年假有几天？"),
    (NIANJIA, "北京呢", "在北京，正式员工的年假有几天？"),
    (NIANJIA, "在德国呢？", "在德国，正式员工的年假有几天？"),
    (NIANJIA, "不是，我是说病假", "正式员工的病假有几天？"),
    (NIANJIA, "不是年假，是病假", "正式员工的病假有几天？"),
    (NIANJIA, "说错了，是病假", "正式员工的病假有几天？"),
    (NIANJIA, "兼职的呢", "兼职的年假有几天？"),
    (NIANJIA, "女员工呢", "女员工的年假有几天？"),
    (NIANJIA, "如果我中途离职呢", "如果我中途离职，正式员工的年假有几天？"),
    (YUSUAN, "2022？", "2022年的差旅预算是多少？"),
    (YUSUAN, "那去年呢", "去年的差旅预算是多少？"),
    (YUSUAN, "前一年呢", "2020年的差旅预算是多少？"),
    (YUSUAN, "不，我要2020年的", "2020年的差旅预算是多少？"),
    (YUSUAN, "第三季度呢", "2021年第三季度的差旅预算是多少？"),
    (YUSUAN, "培训预算呢", "2021年的培训预算是多少？"),
    (ZHUSU, "北京？", "北京的住宿标准是多少？"),
    (ZHUSU, "那北京和广州呢", "北京和广州的住宿标准是多少？"),
    (ZHUSU, "北京，不是上海", "北京的住宿标准是多少？"),
    (ZHUSU, "国外呢", "国外的住宿标准是多少？"),
    (ZHUSU, "经理呢", "对于经理，上海的住宿标准是多少？"),
    (RENYUAN, "我说的是李娜", "李娜负责哪个项目？"),
    (JIABAN, "周末呢", "周末，加班费怎么计算？"),
    (JIABAN, "晚上10点以后呢", "晚上10点以后，加班费怎么计算？"),
]


@pytest.mark.parametrize(("before", "question", "text"), CERTAIN)
def test_a_certain_follow_up_is_one_natural_question_and_is_what_is_searched(
    before: str, question: str, text: str
) -> None:
    result = after(before, question)
    assert (result.text, result.sure, result.topic_change) == (text, True, False)
    assert result.searches[0] == text
    assert question not in result.searches


OPEN = [
    *((LEAVE, question) for question in ("why?", "really?", "and then?", "the second one", "how come?", "are you sure?")),
    *((LEAVE, question) for question in ("since when?", "how long?", "how much?", "Under what conditions?", "only for managers?")),
    *((LEAVE, question) for question in ("anything else?", "what do you mean?", "what about Spain?", "is that per year?")),
    (LEAVE, "what if I am sick during it?"),
    (BUDGET, "how much was spent?"),
    (LAPTOP, "how long does it take?"),
    (LAPTOP, "what if it breaks?"),
    (LAPTOP, "and a phone?"),
    (ORDERS, "below that?"),
    (OVERTIME, "at what rate?"),
    *((NIANJIA, question) for question in ("第二个呢", "为什么", "真的吗", "然后呢", "前者呢", "那一年呢")),
    (YUSUAN, "和2020年相比呢"),
    (DIANNAO, "那显示器呢"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "question"), OPEN)
def test_an_open_follow_up_keeps_every_word_and_the_question_before(before: str, question: str) -> None:
    result = after(before, question)
    assert question.rstrip("?").lower() in result.text.lower()
    assert before in result.text
    assert (result.sure, result.topic_change) == (False, False)
    assert any(before in search for search in result.searches)


@pytest.mark.parametrize(
    ("before", "question", "text"),
    [
        (NIANJIA, "还有吗", "关于正式员工的年假：还有吗？"),
        (NIANJIA, "那合同工也适用吗", "关于正式员工的年假：合同工也适用吗？"),
        (NIANJIA, "没用完怎么办", "关于正式员工的年假：没用完怎么办？"),
        (DIANNAO, "需要多久", "关于申请新的笔记本电脑：需要多久？"),
        (RENYUAN, "他的电话是多少", "关于张伟：他的电话是多少？"),
    ],
)
def test_an_open_chinese_follow_up_is_led_by_its_topic(before: str, question: str, text: str) -> None:
    result = after(before, question)
    assert (result.text, result.sure, result.topic_change) == (text, False, False)


@pytest.mark.parametrize(
    ("question", "opening"),
    [
        ("tell me more", "Tell me more."),
        ("go on", "Go on."),
        ("give me an example", "Give me an example."),
        ("yes", "Yes."),
    ],
)
def test_a_request_is_not_made_a_question(question: str, opening: str) -> None:
    assert after(LEAVE, question).text == f"{opening} (following “{LEAVE}”)"


@pytest.mark.parametrize("question", ["继续", "详细说说", "举个例子", "再说一遍"])
def test_a_chinese_request_is_not_made_a_question(question: str) -> None:
    assert after(NIANJIA, question).text == f"{question}。（接上一问：“{NIANJIA}”）"


@pytest.mark.parametrize(
    ("before", "question"),
    [
        (LEAVE, "When I leave, do I lose my annual leave days?"),
        (LEAVE, "If I leave mid-year how many leave days do I keep?"),
        (LEAVE, "Which employees have no annual leave?"),
        (LEAVE, "What is overtime?"),
        (PARENTS, "No smoking areas in Germany: where are they listed?"),
        (NIANJIA, "员工的病假工资是不是按基本工资计算？"),
        (NIANJIA, "不是正式员工可以申请年假吗？"),
    ],
)
def test_a_question_that_is_whole_is_not_touched(before: str, question: str) -> None:
    result = after(before, question)
    assert (result.text, result.changed) == (question, False)
    assert result.searches[0] == question


@pytest.mark.parametrize(
    ("before", "question"),
    [
        (LEAVE, "Who is the CEO of Northwind?"),
        (LEAVE, "How do I reset my VPN password?"),
        (PERSON, "Which travel expenses need original receipts?"),
        (NIANJIA, "换个话题，着装要求是什么"),
        (NIANJIA, "报销差旅费需要提交哪些材料？"),
    ],
)
def test_another_topic_leaves_the_last_one_behind(before: str, question: str) -> None:
    result = after(before, question)
    assert result.topic_change
    assert len(result.searches) == 1
    assert before not in result.searches[0]


STEPS = "To file a report:\n1. Fill in the **form** [1].\n2. Attach the receipts [2].\n3. Send it to Finance."
BUZHOU = "步骤如下：\n1. 填写申请单。[1]\n2. 附上发票。\n3. 提交财务。"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("the second one", "The second one (“Attach the receipts”)?"),
        ("and the first?", "And the first (“Fill in the form”)?"),
        ("what is the last one?", "What is the last one (“Send it to Finance”)?"),
        ("explain step 2", "Explain step 2 (“Attach the receipts”)?"),
        ("step two?", "Step two (“Attach the receipts”)?"),
    ],
)
def test_a_place_in_the_last_list_is_named(question: str, text: str) -> None:
    result = after("How do I file an expense report?", question, STEPS)
    assert result.text.startswith(text)
    assert "How do I file an expense report?" in result.text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("第二个呢", "关于报销流程：第二个呢（“附上发票”）？"),
        ("最后一步呢", "关于报销流程：最后一步呢（“提交财务”）？"),
        ("第一个需要谁签字", "关于报销流程：第一个需要谁签字（“填写申请单”）？"),
    ],
)
def test_a_place_in_the_last_chinese_list_is_named(question: str, text: str) -> None:
    assert after("报销流程有哪几个步骤？", question, BUZHOU).text == text


@pytest.mark.parametrize("question", ["the fourth one", "the 99th one", "Who approved the second quarter budget?"])
def test_no_place_is_named_that_the_list_has_not(question: str) -> None:
    assert "Attach" not in after("How do I file an expense report?", question, STEPS).text


@pytest.mark.parametrize("answer", ["1. x\n" * 20_000, "- " * 20_000, "1" * 20_000, "\n" * 20_000, " \t" * 20_000])
def test_a_hostile_list_is_read_in_bounds(answer: str) -> None:
    assert len(after(LEAVE, "the second one", answer).text) < 400
