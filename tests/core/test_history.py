from __future__ import annotations

from assistant.core.history import in_order, recollect
from tests.making import past

LEAVE = past("How much annual leave do I get?", "You get 20 days. They accrue monthly.", "leave")
TRAVEL = past("Who approves travel?", "Your supervisor approves travel.", "travel")
VPN = past("How do I install the VPN?", "Open the software centre.", "vpn")


def test_related_turns_come_before_unrelated_ones() -> None:
    remembered = recollect("Does annual leave carry over?", [LEAVE, TRAVEL, VPN])
    assert remembered[0].turn == "leave"


def test_the_last_turn_is_kept_although_it_shares_no_word() -> None:
    assert "vpn" in [item.turn for item in recollect("And on a Mac?", [LEAVE, VPN])]


def test_after_a_change_of_topic_old_turns_stay_out() -> None:
    assert recollect("Where is the Chicago office?", [LEAVE, VPN], topic_change=True) == ()


def test_the_brief_form_is_the_first_sentence() -> None:
    (item,) = recollect("annual leave", [LEAVE])
    assert item.brief[1].text == "You get 20 days. […]"
    assert item.full[1].text == LEAVE.answer


def test_chosen_turns_go_back_into_their_order() -> None:
    chosen = recollect("Does annual leave carry over?", [LEAVE, TRAVEL, VPN])
    assert [item.turn for item in in_order(chosen, [LEAVE, TRAVEL, VPN])] == ["leave", "travel", "vpn"]


def test_no_history_is_no_problem() -> None:
    assert recollect("", []) == ()
    assert recollect("", [LEAVE])[0].relatedness > 0
