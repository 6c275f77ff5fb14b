"""Invented pairs of questions, English and Chinese: some ask the same, some nearly the same."""

from __future__ import annotations

from typing import Final


def _pairs(text: str) -> list[tuple[str, str]]:
    lines = [line.split(" || ") for line in text.strip().splitlines()]
    return [(one.strip(), other.strip()) for one, other in lines]


SAME_ENGLISH: Final = _pairs("""
How many days of annual leave do employees get? || How many annual leave days do employees get?
How many days of annual leave do employees get? || How many vacation days do employees receive?
How many days of annual leave do employees get? || Please tell me how many days of annual leave employees get.
How many days of annual leave do employees get? || how many days of annual leave are employees entitled to?
How many days of vacation do I have? || How many vacation days do we get?
How do I request leave? || How can I request leave?
How do I request leave? || How to request leave?
How do I request leave? || What is the process for requesting leave?
How do I request leave? || Could you please tell me how to request leave?
How do I request leave? || What are the steps to request leave?
How do I ask for leave? || How does one request leave?
How do I submit an expense report? || How do we turn in expense reports?
How do I submit an expense report? || What is the procedure for submitting an expense report?
Who approves travel? || Who approves the travel?
Who approves travel to Chicago? || Can you tell me who approves travel to Chicago?
Who approves travel to Chicago? || Hi, who approves travel to Chicago?
Can employees work from home? || Can an employee work from home?
Can employees work from home? || May staff work from home?
Can employees work from home? || Are employees allowed to work from home?
Can employees work from home? || Are staff members permitted to work from home?
Can employees work from home? || Do you know if employees can work from home?
Can I telework on Fridays? || Are we allowed to telecommute on Fridays?
Must I use the travel card? || Do I have to use the travel card?
Must I use the travel card? || Do I need to use the travel card?
What is the deadline for expense reports? || What is the expense report deadline?
What is the deadline for expense reports? || What's the due date for expense reports?
What is the deadline for expense reports? || When is the deadline for expense reports?
What is the policy on gifts? || What is the gift policy?
What is the policy on gifts? || Tell me the policy about gifts
What is the policy on gifts? || What is the policy regarding gifts?
What's the limit for meals? || What is the meal limit?
What is the cost of parking? || How much does parking cost?
What is the cost of parking? || What does parking cost?
For travel to Chicago, who approves expenses? || Who approves expenses for travel to Chicago?
If I travel by train, can I claim a taxi? || Can I claim a taxi if I travel by train?
Why is overtime not paid? || Why isn't overtime paid?
Why can't I carry over leave? || Why can I not carry over leave?
Where can I find the travel form? || Where is the travel form?
Where do I find the travel form? || Where is the travel form?
What is the phone number of human resources? || What is the telephone number of HR?
What is HR's phone number? || What is the phone number of HR?
What can be bought with the purchase card? || Please tell me what can be bought with the purchase card, thanks
How long is parental leave? || How long is the parental leave?
How often are laptops replaced? || How frequently are laptops replaced?
May I purchase a laptop for two hundred dollars? || Can I buy a laptop for 200 dollars?
Is the office closed before Christmas? || Is the office closed prior to Christmas?
Who is in charge of onboarding? || Who is responsible for onboarding?
Do managers have to sign time sheets? || Must managers sign time sheets?
When do new employees receive their laptop? || When do new employees get their laptop?
I would like to know what the dress code is || What is the dress code?
what are the core hours || What are the core hours?
HOW MANY DAYS OF SICK LEAVE DO EMPLOYEES GET? || How many sick leave days do employees get?
What is the policy on carry-over? || What is the carry over policy?
How long do I have to file a claim? || How long have I got to file a claim?
What happens to unused vacation at year end? || At year end, what happens to unused vacation?
Can unused leave be carried over to next year? || Can one carry unused leave over to next year?
Is there a dress code? || Do we have a dress code?
How do I get reimbursed for travel? || How can I claim back my travel costs?
Who do I contact about payroll? || Who is my contact for payroll?
How many weeks is parental leave? || How long is parental leave in weeks?
""")

SAME_CHINESE: Final = _pairs("""
员工有多少天年假？ || 员工有几天年假？
员工有多少天年假？ || 员工的年假有多少天？
员工有多少天年假？ || 请问员工年假是几天？
员工有多少天年假？ || 职工有几天年休假呢？
年假有多少天？ || 有多少天年假？
年假有多少天？ || 你好，我想知道年假有几天
年假有多少天？ || 请问年假几天
怎么申请年假？ || 如何申请年假？
怎么申请年假？ || 怎样申请年假呢？
怎么申请年假？ || 请问一下，怎么申请年假？谢谢
怎么申请年假？ || 你能告诉我怎么申请年假吗
员工可以在家办公吗？ || 员工能在家办公吗？
员工可以在家办公吗？ || 员工能不能在家办公？
员工可以在家办公吗？ || 员工是否可以居家办公？
员工可以在家办公吗？ || 职工可不可以在家工作？
报销什么时候到账？ || 报销何时到账？
报销单交到哪里？ || 报销单交到什么地方？
报销单提交到哪里？ || 报销单递交到哪儿？
谁批准出差？ || 哪位批准出差？
为什么加班没有工资？ || 为何加班没有工资？
病假需要医生证明吗？ || 病假要不要医生证明？
病假需要医生证明吗？ || 请问病假是否需要医生证明？
试用期是多久？ || 试用期多长时间？
试用期有三个月吗？ || 试用期有3个月吗？
公司有没有食堂？ || 公司有食堂吗？
我们公司有食堂吗？ || 公司有食堂吗
人事部的电话号码是什么？ || 人事部的联系电话是什么？
差旅费的报销流程是什么？ || 差旅费报销流程是什么？
可以购买笔记本电脑吗？ || 能买笔记本电脑吗？
出差补贴每天多少元？ || 出差补贴每天几块钱？
如何提交报销单？ || 怎么样才能提交报销单？
星期五可以穿便装吗？ || 礼拜五能穿便装吗？
加班费怎么算？ || 加班费如何计算？
年假没有休完怎么办？ || 没休完的年假怎么处理？
产假多长？ || 产假有多少天？
""")

DIFFERENT_ENGLISH: Final = _pairs("""
How many days of annual leave did employees get in 2023? || How many days of annual leave did employees get in 2024?
How many days of annual leave do employees get? || How many days of sick leave do employees get?
How many days of annual leave do employees get? || How many days of annual leave do managers get?
How many days of annual leave do employees get? || How many weeks of annual leave do employees get?
How many days of annual leave do employees get? || How many days of annual leave did employees get?
How many days of annual leave do employees get? || How many days of annual leave do new employees get?
How many days of annual leave do employees get? || How many days of annual leave do employees not get?
How many days of annual leave do employees get? || How many days of annual leave do employees lose?
How many days of annual leave do employees get? || How many employees get days of annual leave?
How many days of annual leave do I get? || How many days of annual leave do you get?
How many days of leave must I take? || How many days of leave can I take?
How many days before travel must I ask for leave? || How many days of leave must I ask for before travel?
Who approves travel? || When is travel approved?
Who approves travel? || Who books travel?
Who approves managers? || Who do managers approve?
Who approves travel for managers? || For travel, who do managers approve?
Who must managers tell? || Who must tell managers?
Who is approved by the supervisor? || Who approves the supervisor?
Who approves travel? || Who doesn't approve travel?
Who approves travel to Chicago? || Who approves travel to New York?
Who approves travel to Chicago? || Who approves travel from Chicago?
Who approves travel with Mark? || Who approves travel with Bill?
Can employees work from home? || Can contractors work from home?
Can employees work from home? || Can't employees work from home?
Can employees work from home? || Must employees work from home?
Can employees work from home? || Should employees work from home?
Can employees work from home? || Why can employees work from home?
Can employees work from home? || Can employees only work from home?
Can employees work from home? || When can employees work from home?
Can employees work from home in July? || Can employees work from home in June?
Can employees who must travel work from home? || Must employees who can travel work from home?
Must employees not telework? || Do employees not have to telework?
May managers not approve leave? || Can managers approve leave?
Can a manager approve an employee's travel? || Can an employee approve a manager's travel?
Are contractors hiring? || Are contractors hired?
Can we cut managers? || Can we be cut, managers?
Do managers cut? || Are managers cut?
Is the US office open? || Is us office open?
Who told IT about it? || Who told it about it?
Is the office closed on May 1? || Is the office closed on June 1?
Can Will approve travel? || Can I approve travel?
Does the plan cover customs duties? || Does the plan cover custom duties?
Is the limit above $500? || Is the limit below $500?
Is the limit above $500? || Is the limit above $5,000?
Is the limit above $500? || Is the limit above €500?
Is the limit 5%? || Is the limit 5?
Is a flight of 6 hours enough? || Is a flight of six and a half hours enough?
Is sick leave longer than annual leave? || Is annual leave longer than sick leave?
Is sick leave used before annual leave? || Is annual leave used before sick leave?
Is leave paid before 5 years? || Is leave paid after 5 years?
Is overtime paid? || Is overtime unpaid?
How do I move from contractor to employee? || How do I move from employee to contractor?
How do I move from contractor to employee? || How do I move from contractor to manager?
How do I request leave? || How do I cancel leave?
How do I request leave? || How should I request leave?
How do I request leave? || Who do I request leave from?
How do I request leave? || Why do I request leave?
How do I request leave? || When do I request leave?
How do I request sick leave? || How do I request leave?
What is the deadline for expense reports? || What is the deadline for travel reports?
What is the deadline for expense reports? || What was the deadline for expense reports?
What is the deadline for expense reports? || What is the deadline after expense reports?
What is the deadline for expense reports? || What is the format of expense reports?
What is the deadline for Q3 reports? || What is the deadline for Q4 reports?
What is the maximum for meals? || What is the minimum for meals?
What is the limit on gifts? || What is the policy on gifts?
What is the cost for contractors? || What is the cost of contractors?
What is the policy of managers? || What is the policy on managers?
What is the policy on gifts from vendors? || What is the policy on gifts to vendors?
What is the policy on gifts? || What is the policy on gift cards?
What is the policy on gifts? || What was the policy on gifts?
How long is parental leave? || How much is parental leave?
How long is parental leave? || How long is maternity leave?
How long is parental leave? || How often is parental leave?
How often is the form sent? || How is the form sent?
Where is the travel form? || What is the travel form?
Where is the travel form? || Where is the travel form sent?
Where are records kept? || Who keeps records?
Can I telework? || Can I work remotely?
What does PTO cover? || What does vacation cover?
Does the manager report to the director? || Does the director report to the manager?
Does the policy apply to all contractors? || Does the policy apply to any contractors?
Does the policy apply to full-time staff? || Does the policy apply to part-time staff?
Does section 4.2 apply? || Does section 4.3 apply?
Does section 4.2 apply? || Does section 42 apply?
Is version 1.10 supported? || Is version 1.1 supported?
Is C supported? || Is C++ supported?
Can I book premium economy over six hours? || Can I book premium economy under six hours?
Can I book business class? || Can I book economy class?
Can I expense a hotel without a receipt? || Can I expense a hotel with a receipt?
Do I need a receipt if I pay by card? || Do I need a receipt unless I pay by card?
Is it true that interns get leave? || Is it false that interns get leave?
Summarize the travel policy || What is new in the travel policy?
Compare the 2021 policy with the 2025 policy || Compare the 2025 policy with the 2021 policy
Which documents mention travel? || Which documents do not mention travel?
When does leave start? || When did leave start?
When does leave start? || When does leave end?
When will the office open? || When would the office open?
Who was the director in 2020? || Who is the director in 2020?
Give me the address of the New York office || Give me the address of the Chicago office
Who is Ann's manager? || Who is Ann managing?
Who manages Ann? || Who does Ann manage?
Does Ann manage Bob? || Does Bob manage Ann?
Is leave paid out? || Is leave paid?
How much leave can I carry over? || How much leave can I not carry over?
How much leave can I carry over? || How much leave must I carry over?
How much is the bonus? || Who gets the bonus?
How much is the bonus for 3 years of service? || How much is the bonus for 5 years of service?
What are the benefits? || What is the benefit?
Tell me about travel || What is travel?
What do managers do? || What do managers not do?
What did managers say? || What do managers say?
Is a doctor's note required after 3 days? || Is a doctor's note required for 3 days?
Is a doctor's note required after 3 days? || Is a doctor's note required after 3 weeks?
Is the first day paid? || Is the last day paid?
Is the first day paid? || Is the second day paid?
Can my manager see my notes? || Can I see my manager's notes?
Can managers let go employees? || Can managers be let go, employees?
Is training mandatory? || Is training optional?
What are the reports about? || What about the reports?
Are there more than 10 offices? || Are there less than 10 offices?
Is leave in January? || Is leave since January?
Who can sign? || Who can't sign?
Who can sign? || Who must sign?
Who can sign? || Who could have signed?
Can employees who travel must sign? || Can employees who must travel sign?
When can employees who travel telework? || When can employees telework who can travel?
Tell me if employees who can travel telework || Tell me if employees who travel can telework
Are employees who are paid travelling? || Are employees who travel paid?
Are we using Teams? || Are we using teams?
Can I use Box for files? || Can I use a box for files?
Is the laptop mine? || Is the laptop ours?
""")

DIFFERENT_CHINESE: Final = _pairs("""
员工有多少天年假？ || 员工有多少天病假？
员工有多少天年假？ || 经理有多少天年假？
员工有多少天年假？ || 新员工有多少天年假？
员工有多少天年假？ || 员工有多少小时年假？
员工有多少天年假？ || 多少员工有年假？
员工有多少天年假？ || 员工没有多少天年假？
员工有年假吗？ || 员工没有年假吗？
请假几天需要提前申请？ || 请假需要提前几天申请？
请假三天需要提前几天申请？ || 请假几天需要提前三天申请？
请假三天需要医生证明吗？ || 请假五天需要医生证明吗？
请假三天需要医生证明吗？ || 请假三周需要医生证明吗？
请假十三天要批准吗？ || 请假三十天要批准吗？
2023年年假有多少天？ || 2024年年假有多少天？
二〇二三年年假有几天？ || 二〇二四年年假有几天？
员工可以在家办公吗？ || 员工必须在家办公吗？
员工可以在家办公吗？ || 员工不可以在家办公吗？
员工可以在家办公吗？ || 员工不能在家办公？
员工可以在家办公吗？ || 实习生可以在家办公吗？
员工可以在家办公吗？ || 员工什么时候可以在家办公？
员工可以在家办公吗？ || 员工应该在家办公吗？
员工可以在家办公吗？ || 员工需要在家办公吗？
谁批准经理的出差？ || 经理批准谁的出差？
谁批准出差？ || 谁不批准出差？
谁批准出差？ || 什么时候批准出差？
谁批准出差？ || 谁申请出差？
谁是张伟的经理？ || 张伟是谁的经理？
张伟向李娜汇报吗？ || 李娜向张伟汇报吗？
从上海到北京怎么报销？ || 从北京到上海怎么报销？
去上海出差谁批准？ || 去北京出差谁批准？
病假比年假长吗？ || 年假比病假长吗？
怎么申请年假？ || 怎么取消年假？
怎么申请年假？ || 为什么申请年假？
怎么申请年假？ || 怎么申请病假？
怎么申请年假？ || 谁能申请年假？
报销上限是500元吗？ || 报销上限是5000元吗？
报销上限是多少？ || 报销下限是多少？
报销上限是500元吗？ || 报销上限是500美元吗？
转正前有年假吗？ || 转正后有年假吗？
入职前需要体检吗？ || 入职后需要体检吗？
超过三天要证明吗？ || 不超过三天要证明吗？
周五可以穿便装吗？ || 周四可以穿便装吗？
加班有工资吗？ || 加班有补休吗？
加班费怎么算？ || 加班费什么时候发？
试用期是多久？ || 试用期工资是多少？
HR 的电话是什么？ || IT 的电话是什么？
可以用 Slack 吗？ || 可以用 Zoom 吗？
可以带家属吗？ || 可以不带家属吗？
所有员工都有年假吗？ || 部分员工有年假吗？
第一天有工资吗？ || 最后一天有工资吗？
公司有食堂吗？ || 公司没有食堂吗？
差旅政策是什么？ || 旧的差旅政策是什么？
比较2021年和2025年的政策 || 比较2025年和2021年的政策
离职时年假怎么办？ || 入职时年假怎么办？
合同可以提前终止吗？ || 合同可以提前签订吗？
""")
