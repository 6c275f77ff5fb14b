from email.message import EmailMessage
from email.policy import SMTP

import pytest

from assistant.errors import BadDocument
from assistant.knowledge.parsers import parse
from tests.knowledge.files import office, word


def mail(text: str = "Hello.\n") -> EmailMessage:
    message = EmailMessage(policy=SMTP)
    message["From"], message["To"] = "Ann <ann@example.com>", "bob@example.com"
    message["Date"], message["Subject"] = "Tue, 01 Oct 2024 23:34:56 -0500", "年假 rules"
    message.set_content(text)
    return message


def test_header_lines_and_body() -> None:
    page = parse(mail("Leave is twenty days.\n\n> quoted before\n").as_bytes(), "x.eml")
    assert page.text == (
        "From: Ann <ann@example.com>\nTo: bob@example.com\nDate: Tue, 01 Oct 2024 23:34:56 -0500\n"
        "Subject: 年假 rules\n\n"
        "Leave is twenty days.\n\nquoted before"
    )
    assert page.title == "年假 rules"
    assert str(page.embedded.date) == "2024-10-01"
    assert page.embedded.owner == "Ann <ann@example.com>"


def test_html_where_there_is_no_plain_text() -> None:
    message = mail()
    message.set_content("<p>Only <b>this</b>.</p><script>no()</script>", subtype="html")
    assert parse(message.as_bytes(), "x.eml").text.endswith("\n\nOnly this.")


def test_attachments_are_read_where_they_can_be() -> None:
    message = mail()
    message.add_attachment(
        word([("Normal", "Attached words.")]), maintype="application", subtype="octet-stream", filename="a.docx"
    )
    message.add_attachment(b"\x89PNG...", maintype="image", subtype="png", filename="b.png")
    assert parse(message.as_bytes(), "x.eml").text.endswith("## a.docx\n\nAttached words.\n\n## b.png")


def test_forwarded_mails_nest_only_so_deep() -> None:
    message = mail("innermost words\n")
    for depth in range(10):
        outer = mail(f"level {depth}\n")
        outer.add_attachment(message)
        message = outer
    text = parse(message.as_bytes(), "x.eml").text
    assert "level 9" in text
    assert "level 6" in text
    assert "innermost" not in text


def test_real_mails() -> None:
    plain = parse(office("mime-different-plain-html.eml"), "x.eml").text
    assert "the first email was sent by Ray Tomlinson in 1971" in plain
    assert "<p>" not in parse(office("mime-html-only.eml"), "x.eml").text
    assert "☸☿ Unicode subject" in parse(office("mime-word-encoded-subject.eml"), "x.eml").text


def test_what_is_no_mail() -> None:
    with pytest.raises(BadDocument) as caught:
        parse(b"just some text\nwithout headers\n", "x.eml")
    assert caught.value.data["reason"] == "corrupt"
