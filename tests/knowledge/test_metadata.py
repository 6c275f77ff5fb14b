from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.evidence import Authority
from assistant.errors import BadDocument
from assistant.knowledge.metadata import Properties, family, load_yaml, properties_of


def test_scalars_stay_as_written() -> None:
    values = load_yaml("title: Yes\nversion: 1.10\nLast-Updated: 2024-10-01\n")
    assert values == {"title": "Yes", "version": "1.10", "last_updated": "2024-10-01"}


@pytest.mark.parametrize("text", ["- a\n- b", "a: [", "a: b: c", "[" * 600, "x" * 70_000, "just text"])
def test_what_is_no_mapping_is_refused(text: str) -> None:
    with pytest.raises(BadDocument) as caught:
        load_yaml(text)
    assert caught.value.data["reason"] == "bad_metadata"


def test_yaml_aliases_do_not_grow() -> None:
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{name}: &{name} [{','.join(['*' + before] * 9)}]\n"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    assert properties_of(load_yaml(bomb)) == Properties()


def test_all_keys() -> None:
    known = properties_of(
        {
            "title": "Leave &amp; <em>absence</em>",
            "date": "2020-01-01",
            "last_updated": "2023-05-01",
            "authority": "High",
            "owner": ["People team", "Legal"],
            "access": ["hr", "managers"],
        }
    )
    assert known == Properties(
        title="Leave & absence",
        date=date(2023, 5, 1),
        authority=Authority.HIGH,
        owner="People team, Legal",
        access=frozenset({"hr", "managers"}),
    )


def test_the_day_a_text_takes_effect_comes_first() -> None:
    assert properties_of({"effective_date": "2024-01-01", "updated": "2023-11-05"}).date == date(2024, 1, 1)


@pytest.mark.parametrize(
    ("value", "groups"),
    [("hr, legal", {"hr", "legal"}), (["hr"], {"hr"}), ([], set()), ("everyone", {"everyone"})],
)
def test_access(value: object, groups: set[str]) -> None:
    assert properties_of({"access": value}).access == frozenset(groups)


@pytest.mark.parametrize("values", [{"access": ""}, {"access": {"a": "b"}}, {"access": ["hr", ""]}, {"authority": "x"}])
def test_a_slip_in_access_or_authority_is_never_ignored(values: dict[str, object]) -> None:
    with pytest.raises(BadDocument) as caught:
        properties_of(values)
    assert caught.value.data["reason"] == "bad_metadata"


def test_the_first_source_wins_field_by_field() -> None:
    front = Properties(title="Front", access=frozenset())
    sidecar = Properties(title="Sidecar", owner="Ops", access=frozenset({"hr"}))
    assert front.over(sidecar) == Properties(title="Front", owner="Ops", access=frozenset())


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("tools/tock.md", "tools/tock"),
        ("Tools/Tock.HTML", "tools/tock"),
        ("handbook-2021/tools/tock.md", "handbook/tools/tock"),
        ("2021/leave policy.docx", "leave-policy"),
        ("policies/2021-05/leave_policy_v2.1.pdf", "policies/leave-policy"),
        ("leave-policy-2023-05-01.docx", "leave-policy"),
        ("leave-policy-20230501 (1).docx", "leave-policy"),
        ("leave policy - final.docx", "leave-policy"),
        ("制度/考勤制度（2023年3月）第2版.docx", "制度/考勤制度"),
        ("minutes/2021-05-01.md", "minutes/2021-05-01"),
        ("new-hire.md", "new-hire"),
        ("iso-27001.md", "iso-27001"),
        ("rev-share.md", "rev-share"),
        ("README", "readme"),
    ],
)
def test_family(uri: str, expected: str) -> None:
    assert family(uri) == expected


@given(st.text(min_size=1).filter(lambda text: text.strip("/. ") != ""))
def test_every_name_has_a_family(uri: str) -> None:
    assert family(uri) == family(uri)
    assert isinstance(family(uri), str)
