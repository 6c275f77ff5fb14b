"""Pairs of English statements by kind: what cannot both hold, and what can."""

from __future__ import annotations

from datetime import date

import pytest

from assistant.core.conflicts import Conflict, disagreement
from assistant.core.evidence import Evidence, admit
from tests.making import passage, source

MAY, JUNE = date(2024, 5, 15), date(2024, 6, 12)


def written(text: str, name: str, on: date | None) -> Evidence:
    return admit(passage(text, name, version=source(name, on=on, text=text)))


def compared(one: str, other: str, on: tuple[date | None, date | None] = (None, None)) -> Conflict | None:
    return disagreement(written(one, "a", on[0]), written(other, "b", on[1]))


CONTRADICT = {
    "number words": [
        ("The committee has twenty-one members.", "The committee has 22 members."),
        ("Every team keeps three spare laptops.", "Every team keeps two spare laptops."),
        ("A ticket holds a dozen photos.", "A ticket holds 10 photos."),
        ("The archive holds one hundred and fifty boxes.", "The archive holds 105 boxes."),
        ("Each visitor gets two badges.", "Each visitor gets one badge."),
    ],
    "units": [
        ("The trial period lasts 2 weeks.", "The trial period lasts 10 days."),
        ("A stand-in must be named within a fortnight.", "A stand-in must be named within 10 days."),
        ("The training takes half a day.", "The training takes a full day."),
        ("The shuttle ride takes 1.5 hours.", "The shuttle ride takes 80 minutes."),
        ("Uploads are limited to 2 GB.", "Uploads are limited to 500 MB."),
        ("The warehouse is 3 km from the station.", "The warehouse is 5,000 metres from the station."),
        ("Logs are kept for 18 months.", "Logs are kept for two years."),
        ("The loan runs for a year and a half.", "The loan runs for 12 months."),
    ],
    "money": [
        ("The meal allowance is $45 a day.", "The meal allowance is USD 60 a day."),
        ("Gifts up to €50 may be kept.", "Gifts up to €80 may be kept."),
        ("The fund holds $1.2 million.", "The fund holds $1,500,000."),
        ("A new badge costs 15 dollars.", "A new badge costs $25."),
        ("The relocation grant is 5k dollars.", "The relocation grant is $8,000."),
    ],
    "percent": [
        ("The employer pays 80% of the premium.", "The employer pays seventy percent of the premium."),
        ("Half of the premium is paid by the employer.", "80% of the premium is paid by the employer."),
        ("Overtime is paid at 150 per cent.", "Overtime is paid at 200 %."),
        ("A third of the seats are reserved.", "Two thirds of the seats are reserved."),
    ],
    "bounds": [
        ("Passwords have at least 5 digits.", "Passwords have 4 digits."),
        ("A claim needs more than 3 signatures.", "A claim needs 2 signatures."),
        ("Reviews take at most 10 days.", "Reviews take 14 days."),
        ("Wait between 5 and 7 days for the card.", "Wait 9 days for the card."),
        ("Replies come in 2-3 days.", "Replies come in 5-7 days."),
        ("A shift has no more than 8 hours.", "A shift has at least 9 hours."),
        ("Bring a minimum of 4 photos.", "Bring a minimum of 6 photos."),
        ("Carry over up to five days of leave.", "Carry over up to ten days of leave."),
        ("The pool has fewer than 10 cars.", "The pool has more than 12 cars."),
    ],
    "dates": [
        ("The form is due on March 5, 2024.", "The form is due on 12 March 2024."),
        ("Enrolment closes on June 28th.", "Enrolment closes on July 1st."),
        ("The office closes at 5pm.", "The office closes at 18:00."),
        ("Payday is the 15th of each month.", "Payday is the 25th of each month."),
        ("Timesheets are due every Friday.", "Timesheets are due every Monday."),
        ("The canteen was opened in May 2019.", "The canteen was opened in August 2019."),
    ],
    "fiscal periods": [
        ("The new plan starts in Q3 FY2024.", "The new plan starts in Q4 FY2024."),
        ("The new plan starts in the third quarter of 2024.", "The new plan starts in Q2 2024."),
        ("In FY2024 the award budget is $500.", "In fiscal year 2024 the award budget is $700."),
        ("For FY24 revenue was $3 million.", "Revenue was $4 million for FY2024."),
        ("The audit takes place in the first half of 2024.", "The audit takes place in H2 2024."),
    ],
    "polarity": [
        ("Guests may use the garage.", "Guests must not use the garage."),
        ("Staff must register visitors.", "Staff do not need to register visitors."),
        ("A doctor's note is required.", "A doctor's note is not required."),
        ("Personal phones are permitted in the lab.", "Personal phones are forbidden in the lab."),
        ("Contractors can join the gym.", "Contractors cannot join the gym."),
        ("Travel costs are reimbursed.", "Travel costs are not reimbursed."),
        ("Overtime is paid.", "Overtime is unpaid."),
        ("Attendance is mandatory.", "Attendance is optional."),
        ("Prices include tax.", "Prices exclude tax."),
        ("You never have to sign the log.", "You must sign the log."),
        ("Dogs are allowed in the office.", "Dogs are banned in the office."),
    ],
    "exclusive options": [
        ("The role is remote only.", "The role is on site only."),
        ("Leave is approved by your manager.", "Leave is approved by HR."),
        ("Claims are sent by email.", "Claims are sent by post."),
        ("Support is handled by the Berlin team.", "Support is handled by the Oslo team."),
        ("The default browser is Firefox.", "The default browser is Chrome."),
        ("Expenses are filed in Concur.", "Expenses are filed in Workday."),
        ("Laptops are replaced by IT.", "Laptops are replaced by the vendor."),
    ],
}

AGREE = {
    "number words": [
        ("The committee has twenty-one members.", "The committee has 21 members."),
        ("A ticket holds a dozen photos.", "A ticket holds 12 photos."),
        ("The archive holds one hundred and fifty boxes.", "The archive holds 150 boxes."),
        ("The hall seats two thousand five hundred people.", "The hall seats 2,500 people."),
        ("Ask the one person who knows.", "Ask the person who knows."),
    ],
    "units": [
        ("The trial period lasts 2 weeks.", "The trial period lasts 14 days."),
        ("A stand-in must be named within a fortnight.", "A stand-in must be named within two weeks."),
        ("The shuttle ride takes 1.5 hours.", "The shuttle ride takes 90 minutes."),
        ("The shuttle ride takes one and a half hours.", "The shuttle ride takes 90 minutes."),
        ("The call takes half an hour.", "The call takes 30 minutes."),
        ("Uploads are limited to 2 GB.", "Uploads are limited to 2,000 MB."),
        ("The loan runs for a year and a half.", "The loan runs for 18 months."),
        ("Logs are kept for a quarter.", "Logs are kept for 3 months."),
    ],
    "money": [
        ("The meal allowance is $45 a day.", "The meal allowance is USD 45 a day."),
        ("The fund holds $1.2 million.", "The fund holds $1,200,000."),
        ("The relocation grant is 5k dollars.", "The relocation grant is $5,000."),
        ("A new badge costs 15 dollars.", "A new badge costs fifteen dollars."),
    ],
    "percent": [
        ("The employer pays 80% of the premium.", "The employer pays eighty percent of the premium."),
        ("Half of the premium is paid by the employer.", "50% of the premium is paid by the employer."),
    ],
    "bounds": [
        ("Passwords have at least 5 digits.", "Passwords have 6 digits."),
        ("Reviews take at most 10 days.", "Reviews take 8 days."),
        ("Wait between 5 and 7 days for the card.", "Wait 6 days for the card."),
        ("Wait between 5 and 7 days for the card.", "Wait 5-7 days for the card."),
        ("Bring a minimum of 4 photos.", "Bring at least four photos."),
        ("The pool has about 100 cars.", "The pool has 102 cars."),
        ("Bring no fewer than 4 photos.", "Bring 4 or more photos."),
        ("The pool has more than 10 cars.", "The pool has 12 cars."),
    ],
    "dates": [
        ("The form is due on March 5, 2024.", "The form is due on 2024-03-05."),
        ("The form is due on March 5, 2024.", "The form is due on Tuesday, March 5, 2024."),
        ("The office closes at 6pm.", "The office closes at 18:00."),
        ("The canteen was opened in May 2019.", "The canteen was opened in 2019."),
    ],
    "fiscal periods": [
        ("The new plan starts in the third quarter of 2024.", "The new plan starts in Q3 2024."),
        ("In FY2024 the award budget is $500.", "In fiscal year 2024 the award budget is $500."),
        ("The audit takes place in the first half of 2024.", "The audit takes place in H1 2024."),
    ],
    "other conditions": [
        ("In 2022 the award budget was $500.", "In 2023 the award budget was $700."),
        ("In FY2023 the award budget is $500.", "In FY2024 the award budget is $700."),
        ("In Q1 2024 sales grew by 4%.", "In Q2 2024 sales grew by 6%."),
        ("In the first quarter sales grew by 4%.", "In the second quarter sales grew by 6%."),
        ("The Berlin office has 40 desks.", "The Oslo office has 60 desks."),
        ("Part-time staff get 12 days of leave.", "Full-time staff get 25 days of leave."),
        ("Senior engineers get a budget of $900.", "Junior engineers get a budget of $500."),
        ("On weekdays the desk opens at 8am.", "On weekends the desk opens at 10am."),
        ("Domestic flights must be booked 7 days ahead.", "International flights must be booked 21 days ahead."),
        ("Employees in Germany get 30 days of leave.", "Employees in France get 25 days of leave."),
        ("The basic plan costs $10 a month.", "The premium plan costs $25 a month."),
        ("In summer the desk closes at 6pm.", "In winter the desk closes at 4pm."),
        ("After one year you get 10 days of leave.", "After five years you get 20 days of leave."),
        ("Orders above $500 need two approvals.", "Orders above $5,000 need three approvals."),
        ("Sick leave is 10 days a year.", "Annual leave is 25 days a year."),
        ("Managers may approve up to $1,000.", "Directors may approve up to $10,000."),
    ],
    "polarity": [
        ("Guests may use the garage.", "Guests are allowed to use the garage."),
        ("Guests must not use the garage.", "Guests are not permitted to use the garage."),
        ("A doctor's note is required.", "A doctor's note is mandatory."),
        ("You need not register.", "You do not have to register."),
        ("Employees may work from home.", "Interns may not work from home."),
        ("Guests may park in lot A4.", "Guests may not park in lot B2."),
        ("Do not forget to sign the log.", "Remember to sign the log."),
    ],
    "renamed things and wording": [
        ("Ask Rivera Systems, which is now called Nordlicht, for a key.", "Ask Nordlicht for a key."),
        ("The Orion portal, formerly known as Atlas, holds all forms.", "The Atlas portal holds all forms."),
        ("Atlas was renamed Orion. The form is kept in Atlas.", "The form is kept in Orion."),
        ("The Human Resources (HR) desk keeps the forms. Send it to HR.", "Send it to Human Resources."),
        ("Send the form to your manager.", "Submit the form to your line manager."),
        ("The guide was last changed in May.", "The guide was last modified in May."),
    ],
}
RELATIVE = [
    ("The lab was closed last month.", "The lab was closed in April 2024.", (MAY, None), False),
    ("The lab was closed last month.", "The lab was closed in March 2024.", (MAY, None), True),
    ("The tool was launched last month.", "The tool was launched last month.", (MAY, JUNE), False),
    ("The move takes place next Friday.", "The move takes place on May 24, 2024.", (MAY, None), False),
    ("The move takes place next Friday.", "The move takes place on June 7, 2024.", (MAY, None), True),
    ("The tool was launched yesterday.", "The tool was launched on 14 May 2024.", (MAY, None), False),
    ("The tool was launched three days ago.", "The tool was launched on 2 May 2024.", (MAY, None), True),
    ("The tool was launched last year.", "The tool was launched in 2023.", (MAY, None), False),
    ("Reports are due by the end of next month.", "Reports are due by the end of next month.", (MAY, JUNE), False),
]


def listed(table: dict[str, list[tuple[str, str]]]) -> list[object]:
    return [pytest.param(*pair, id=f"{kind}: {pair[0][:30]}") for kind, pairs in table.items() for pair in pairs]


@pytest.mark.parametrize(("one", "other"), listed(CONTRADICT))
def test_what_cannot_both_hold_is_found(one: str, other: str) -> None:
    assert compared(one, other) is not None


@pytest.mark.parametrize(("one", "other"), listed(AGREE))
def test_what_can_both_hold_is_left_alone(one: str, other: str) -> None:
    found = compared(one, other)
    assert found is None, found.why


@pytest.mark.parametrize(("one", "other", "on", "contradict"), RELATIVE)
def test_relative_dates_are_compared_by_the_dates_of_their_documents(
    one: str, other: str, on: tuple[date | None, date | None], contradict: bool
) -> None:
    assert (compared(one, other, on) is not None) is contradict
