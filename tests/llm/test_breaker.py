from __future__ import annotations

import pytest

from assistant.llm.breaker import Breaker


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def failing(breaker: Breaker, times: int) -> None:
    for _ in range(times):
        assert breaker.enter()
        breaker.failed()


def test_it_opens_after_so_many_failures_in_a_row(clock: Clock) -> None:
    breaker = Breaker(most=3, rest_s=5, clock=clock)
    failing(breaker, 2)
    assert breaker.wait_ms() == 0
    failing(breaker, 1)
    assert breaker.wait_ms() == 5_000
    assert not breaker.enter()


def test_a_success_between_failures_keeps_it_closed(clock: Clock) -> None:
    breaker = Breaker(most=2, clock=clock)
    for _ in range(5):
        failing(breaker, 1)
        assert breaker.enter()
        breaker.succeeded()
    assert breaker.wait_ms() == 0


def test_one_call_tries_when_the_rest_is_over_and_its_first_word_closes(clock: Clock) -> None:
    breaker = Breaker(most=1, rest_s=5, clock=clock)
    failing(breaker, 1)
    clock.now += 5
    assert breaker.enter()
    assert not breaker.enter(), "only one may try"
    breaker.answered()
    assert breaker.enter()


def test_a_failed_try_doubles_the_rest_up_to_the_longest(clock: Clock) -> None:
    breaker = Breaker(most=1, rest_s=5, longest_s=12, clock=clock)
    rests = []
    for _ in range(4):
        failing(breaker, 1)
        rests.append(breaker.wait_ms())
        clock.now += breaker.wait_ms() / 1000
    assert rests == [5_000, 10_000, 12_000, 12_000]
    assert breaker.enter()
    breaker.succeeded()
    failing(breaker, 1)
    assert breaker.wait_ms() == 5_000, "a whole answer begins anew"


def test_a_try_whose_reader_went_lets_the_next_one_try(clock: Clock) -> None:
    breaker = Breaker(most=1, rest_s=5, clock=clock)
    failing(breaker, 1)
    clock.now += 5
    assert breaker.enter()
    breaker.left()
    assert breaker.enter()


def test_an_endpoint_that_says_how_long_is_left_alone_so_long(clock: Clock) -> None:
    breaker = Breaker(most=5, rest_s=5, longest_s=120, clock=clock)
    assert breaker.enter()
    breaker.failed(rest_s=60)
    assert breaker.wait_ms() == 60_000
    clock.now += 60
    assert breaker.enter()
    breaker.failed(rest_s=9_999)
    assert breaker.wait_ms() == 120_000, "a hostile wait is bounded"


def test_failures_of_calls_from_before_the_opening_do_not_prolong_it(clock: Clock) -> None:
    breaker = Breaker(most=1, rest_s=5, clock=clock)
    assert breaker.enter()
    assert breaker.enter()
    breaker.failed()
    clock.now += 4
    breaker.failed()
    assert breaker.wait_ms() == 1_000


def test_words_that_break_off_again_and_again_open_it(clock: Clock) -> None:
    breaker = Breaker(most=3, clock=clock)
    for _ in range(3):
        assert breaker.enter()
        breaker.answered()
        breaker.failed()
    assert not breaker.enter()
