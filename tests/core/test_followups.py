"""Follow-ups become questions that stand alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.followups import CONTEXT_TURNS, standalone

LEAVE = [("How many days of annual leave do employees get?", "Employees get 25 days a year.")]
NIANJIA = [("正式员工的年假有几天？", "正式员工每年有15天年假。")]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("and for contractors?", "How many days of annual leave do contractors get?"),
        ("What about interns?", "How many days of annual leave do interns get?"),
        ("how about part-timers", "How many days of annual leave do part-timers get?"),
        ("What about sick leave?", "How many days of sick leave do employees get?"),
        ("no, I meant sick leave", "How many days of sick leave do employees get?"),
        ("2024?", "How many days of annual leave do employees get in 2024?"),
        ("and in Germany?", "How many days of annual leave do employees get in Germany?"),
    ],
)
def test_a_fragment_takes_its_place_in_the_last_question(question: str, text: str) -> None:
    result = standalone(question, LEAVE)
    assert (result.text, result.changed, result.sure) == (text, True, True)
    assert result.searches[0] == text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("那合同工呢？", "合同工的年假有几天？"),
        ("实习生呢", "实习生的年假有几天？"),
        ("病假呢？", "正式员工的病假有几天？"),
        ("不是，我是说病假", "正式员工的病假有几天？"),
        ("2023年呢？", "2023年，正式员工的年假有几天？"),
        ("那上海呢", "在上海，正式员工的年假有几天？"),
    ],
)
def test_a_chinese_fragment_takes_its_place_in_the_last_question(question: str, text: str) -> None:
    result = standalone(question, NIANJIA)
    assert (result.text, result.changed, result.sure) == (text, True, True)


@pytest.mark.parametrize(
    ("previous", "question", "text"),
    [
        ("What was the budget in 2022?", "and 2023?", "What was the budget in 2023?"),
        ("What is the hotel limit in Berlin?", "What about Paris?", "What is the hotel limit in Paris?"),
        ("上海的住宿标准是多少？", "北京呢？", "北京的住宿标准是多少？"),
        ("三月的报销截止日是哪天？", "那四月呢？", "四月的报销截止日是哪天？"),
        ("Who signs orders over $5,000?", "and $20,000?", "Who signs orders over $20,000?"),
    ],
)
def test_what_is_of_one_kind_is_exchanged(previous: str, question: str, text: str) -> None:
    assert standalone(question, [(previous, "")]).text == text


def test_two_of_one_kind_leave_it_open_which_is_meant() -> None:
    result = standalone("and 2023?", [("Did sales grow from 2020 to 2021?", "Yes.")])
    assert not result.sure
    assert "from 2020 to 2021" in result.text


@pytest.mark.parametrize(
    "question", ["Does it expire?", "Can they carry it over?", "why?", "is that paid out?", "any other rules?"]
)
def test_what_is_not_certain_is_kept_and_what_it_follows_is_added(question: str) -> None:
    result = standalone(question, LEAVE)
    assert result.text.lower().startswith(question.lower())
    assert LEAVE[0][0] in result.text
    assert result.changed
    assert not result.sure
    assert not result.topic_change


@pytest.mark.parametrize("question", ["它可以结转吗？", "这个需要谁审批？", "怎么申请？", "还有其他要求吗"])
def test_a_chinese_pronoun_or_gap_gets_its_topic(question: str) -> None:
    result = standalone(question, NIANJIA)
    assert result.text == f"关于正式员工的年假：{question.rstrip('？')}？"
    assert not result.sure


def test_a_bare_why_keeps_the_whole_question_in_chinese() -> None:
    assert standalone("为什么？", NIANJIA).text == "为什么？（接上一问：“正式员工的年假有几天？”）"


@pytest.mark.parametrize(
    ("previous", "question", "text"),
    [
        ("Who does Maria Lopez report to?", "When did she join?", "When did Maria Lopez join?"),
        ("What is Project Falcon?", "When was it launched?", "When was Project Falcon launched?"),
    ],
)
def test_a_pronoun_is_replaced_by_the_one_name_it_can_mean(previous: str, question: str, text: str) -> None:
    assert standalone(question, [(previous, "")]).text == text


def test_it_is_not_replaced_by_a_name_that_is_a_detail() -> None:
    assert (
        "Does it include" in standalone("Does it include breakfast?", [("What is the hotel limit in Berlin?", "")]).text
    )


@pytest.mark.parametrize(
    "question",
    [
        "How do I book a meeting room in the annual leave system?",
        "Is it possible to sell annual leave days?",
        "Is there a form for annual leave, and where do I send it?",
        "Who approves annual leave this month?",
    ],
)
def test_a_question_that_stands_alone_stays_as_it_is(question: str) -> None:
    result = standalone(question, LEAVE)
    assert (result.text, result.changed, result.topic_change, result.sure) == (question, False, False, True)
    assert result.searches == (question, LEAVE[0][0])


@pytest.mark.parametrize(
    ("question", "history"),
    [
        ("How do I connect my laptop to the VPN?", LEAVE),
        ("Where is the Chicago office?", LEAVE),
        ("报销差旅费需要提交哪些材料？", NIANJIA),
    ],
)
def test_a_change_of_topic_is_searched_alone(question: str, history: list[tuple[str, str]]) -> None:
    result = standalone(question, history)
    assert result.topic_change
    assert result.searches == (question,)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("New topic: what is the dress code?", "What is the dress code?"),
        ("By the way, how do I reset my password?", "How do I reset my password?"),
        ("换个话题，VPN怎么连接？", "VPN怎么连接？"),
    ],
)
def test_an_announced_topic_is_new_whatever_it_shares(question: str, text: str) -> None:
    result = standalone(question, LEAVE)
    assert (result.text, result.topic_change) == (text, True)


def test_an_aside_about_the_same_thing_is_no_new_topic() -> None:
    assert not standalone("By the way, is it paid out?", LEAVE).topic_change


def test_a_correction_that_is_a_whole_question_replaces_the_last_one() -> None:
    result = standalone("I meant which public holidays count as leave", LEAVE)
    assert (result.text, result.rule) == ("Which public holidays count as leave?", "correction")


def test_the_topic_is_carried_over_several_turns() -> None:
    history = list(LEAVE)
    for question in ("What about the homeless?", "Does it apply to veterans?", "why?"):
        history.append((standalone(question, history).text, "Yes."))
    assert "annual leave" in history[-1][0]
    assert history[-1][0].count("(following") == 1


def test_context_is_the_last_turns_and_no_more() -> None:
    history = [(f"What is the rule about item{number}?", f"Rule {number}.") for number in range(20)]
    searched = standalone("Does it apply to me?", history).searches[-1]
    assert "item19" in searched
    assert f"item{19 - CONTEXT_TURNS}?" not in searched
    assert len(searched) < 1500


def test_long_answers_do_not_drown_the_search() -> None:
    searched = standalone("Does it expire?", [(LEAVE[0][0], "word " * 5000)]).searches
    assert max(map(len, searched)) < 400


def test_without_history_nothing_is_changed() -> None:
    assert standalone(" what about it? ", []).text == "what about it?"
    assert standalone("那它呢", [("", " ")]).rule == "first"


@given(st.text(max_size=200), st.lists(st.tuples(st.text(max_size=80), st.text(max_size=80)), max_size=4))
def test_any_text_gives_a_bounded_result(question: str, history: list[tuple[str, str]]) -> None:
    result = standalone(question, history)
    assert result == standalone(question, history)
    assert result.changed == (result.text != question.strip())
    assert len(result.text) <= len(question) + 600
    assert result.searches[0] in {result.text, question.strip()} if question.strip() else True
    assert len(set(result.searches)) == len(result.searches)
    assert not (result.topic_change and len(result.searches) > 1)


@pytest.mark.parametrize(
    "piece", ["no, ", "and ", "new ", "Of The ", "那", "还有", "it ", "《", "(following “", "a-", "？"]
)
def test_repeated_pieces_take_no_long_time(piece: str) -> None:
    long = piece * 3000
    for question in (long[:480], long):
        result = standalone(question, [(long, long), (long, long)])
        assert len(result.text) <= len(question) + 600
