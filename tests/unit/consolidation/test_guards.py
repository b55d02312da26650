"""The guards: contradictions that look alike are kept apart, rewordings are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.passes.consolidation.guards import DEFAULT_GUARDS, veto

APART = [
    ("dates", "The boat inspection is 3 March", "The boat inspection is 4 March"),
    ("dates", "The boat inspection is 3 March", "The boat inspection is 3 April"),
    ("dates", "The boat inspection is on 2026-03-03", "The boat inspection is on 3 March 2025"),
    ("dates", "Meeting is on 03/04/2026", "Meeting is on 3 May 2026"),
    ("dates", "The contract ends on 03/04/2026", "The contract ends on 04/03/2026"),
    ("dates", "Meeting is on 03/04/2026", "Meeting is on 3 April 2026"),
    ("dates", "The job runs at 9:30 each day", "The job runs at 21:30 each day"),
    ("dates", "The sauna is open on Mondays", "The sauna is open on Tuesdays"),
    ("dates", "The sauna is open", "The sauna is open on Tuesdays"),
    ("dates", "The deploy is at 3 pm", "The deploy is at 3 am"),
    ("dates", "The shop opens at 9:30", "The shop opens at 10:30"),
    ("dates", "The fair is in May each year", "The fair is in June each year"),
    ("dates", "Das Fest ist am 3. März im Hof", "Das Fest ist am 4. März im Hof"),
    ("dates", "La fiesta es el 3 de marzo en casa", "La fiesta es el 3 de mayo en casa"),
    ("dates", "会议在三月三日", "会议在三月四日"),
    ("dates", "会议在星期三举行", "会议在星期四举行"),
    ("numbers", "The trip takes three days", "The trip takes 4 days"),
    ("numbers", "The trip costs 3 dollars", "The trip costs 3 euros"),
    ("numbers", "The timeout is 5 minutes", "The timeout is 5 hours"),
    ("numbers", "The service runs on Python 3.1", "The service runs on Python 3.10"),
    ("numbers", "The price is 1,000 dollars", "The price is 1,500 dollars"),
    ("numbers", "The temperature is -5 degrees", "The temperature is 5 degrees"),
    ("numbers", "Rent is due on the 1st", "Rent is due on the 15th"),
    ("numbers", "The oven takes two hundred grams", "The oven takes 250 grams"),
    ("numbers", "The server listens on port 8080", "The server listens on port 8081"),
    ("numbers", "Sales rose 5% in 2024", "Sales rose 5% in 2025"),
    ("numbers", "Sales rose 5 percent", "Sales rose 50 percent"),
    ("numbers", "The fee is 5 %", "The fee is 5 ‰"),
    ("numbers", "The budget is 2 million euros", "The budget is 2 billion euros"),
    ("numbers", "Lena has one cat", "Lena has two cats"),
    ("numbers", "The first release is out", "The third release is out"),
    ("numbers", "他有三个孩子在家", "他有四个孩子在家"),
    ("negation", "The shed is not painted green", "The shed is painted green"),
    ("negation", "Anna isn’t vegan", "Anna is vegan"),
    ("negation", "Tom never sails alone", "Tom sails alone"),
    ("negation", "Tom drinks coffee without sugar", "Tom drinks coffee with sugar"),
    ("negation", "The gate is locked at night", "The gate is unlocked at night"),
    ("negation", "The form is valid for Ada", "The form is invalid for Ada"),
    ("negation", "The shed is painted, not locked", "The shed is locked, not painted"),
    ("negation", "Das Boot ist nicht rot", "Das Boot ist rot"),
    ("negation", "Mara hat kein Auto", "Mara hat ein Auto"),
    ("negation", "Il ne mange pas de viande", "Il mange de la viande"),
    ("negation", "Anna no come carne", "Anna come carne"),
    ("negation", "他不喜欢喝茶", "他喜欢喝茶"),
    ("negation", "她没有去过北京", "她去过北京"),
    ("negation", "彼は肉を食べない", "彼は肉を食べる"),
    ("negation", "Он не ест мясо", "Он ест мясо"),
    ("identifiers", "Ticket ABC-123 is open", "Ticket ABC-124 is open"),
    ("identifiers", "Release v1.2.3 fixed the bug", "Release v1.2.4 fixed the bug"),
    ("identifiers", "The engine is written in C++ here", "The engine is written in C here"),
    ("identifiers", "Mail goes to ada@example.test", "Mail goes to bob@example.test"),
    ("names", "Mara Reed runs the kitchen at Orbit", "Nils Cole runs the bar at Orbit"),
    ("names", "Mara runs the bar at Orbit", "Nils runs the bar at Orbit"),
    ("names", "The team meets in Oslo every week", "The team meets in Bergen every week"),
    ("swapped", "The team moved from Slack to Teams", "The team moved from Teams to Slack"),
    ("swapped", "Mara manages Nils in the kitchen", "Nils manages Mara in the kitchen"),
    ("swapped", "Ben is the older brother of Tim", "Tim is the older brother of Ben"),
    ("swapped", "Mara was hired by Nils yesterday", "Mara hired Nils yesterday"),
    ("opposites", "The shed is painted green", "The shed is painted blue"),
    ("opposites", "Backups run before the deploy", "Backups run after the deploy"),
    ("opposites", "The cache is enabled in production", "The cache is disabled in production"),
    ("quantifiers", "All tests must pass before merge", "Some tests must pass before merge"),
    ("quantifiers", "Reports must be sent to Ada", "Reports may be sent to Ada"),
    ("quantifiers", "Reports must be sent to Ada", "Reports are sent to Ada"),
    ("quantifiers", "A booking takes at least 5 people", "A booking takes at most 5 people"),
    ("tense", "Tom used to live in Oslo", "Tom lives in Oslo"),
    ("tense", "Tom lives in Oslo", "Tom lived in Oslo"),
    ("tense", "Tom is the manager of the shop", "Tom was the manager of the shop"),
    ("tense", "Lena is the former treasurer", "Lena is the treasurer"),
    ("tense", "Lena works at the bakery", "Lena now works at the bike shop"),
    ("tense", "The team will move to Oslo", "The team moved to Oslo"),
    ("dates", "회의는 월요일이다", "회의는 화요일이다"),
    ("negation", "철수는 학생이다", "철수는 학생이 아니다"),
    ("negation", "Ali et yemiyor", "Ali et yiyor"),
    ("swapped", "Peter is Anna's brother", "Anna is Peter's brother"),
    ("swapped", "The boss of Anna is Eva", "The boss of Eva is Anna"),
    ("swapped", "Service A calls service B.", "Service B calls service A."),
    ("swapped", "Income exceeds expenses", "Expenses exceed income"),
    ("swapped", "小李借给小张一百元", "小张借给小李一百元"),
    ("swapped", "猫が犬を追いかけた", "犬が猫を追いかけた"),
    ("quantifiers", "She tried to fix the engine", "She fixed the engine"),
    ("quantifiers", "她可能会来", "她一定会来"),
    ("opposites", "The seller ships to Canada", "The seller ships from Canada"),
    ("quantifiers", "The meeting is every second Tuesday", "The meeting is every Tuesday"),
    ("opposites", "Guests are welcome after six", "Guests are welcome until six"),
    ("opposites", "The dose is 5 mg a day", "The dose is 5 mg a week"),
    ("opposites", "The office is on the ground floor", "The office is on the first floor"),
    ("tense", "Jan wohnte in Köln", "Jan wohnt in Köln"),
    ("tense", "彼女は先生です", "彼女は先生でした"),
    ("tense", "철수는 서울에 산다", "철수는 서울에 살았다"),
    ("substitution", "Sam likes peanut butter", "Sam likes jam"),
    ("substitution", "田中さんは大阪に住んでいます", "田中さんは京都に住んでいます"),
    ("substitution", "Sam likes coffee with milk", "Sam likes tea with milk"),
    ("substitution", "会议定在上午在北京办公室举行", "会议定在上午在上海办公室举行"),
    ("content", "Mara Reed runs the kitchen", "Mara runs the kitchen"),
]

ALIKE = [
    ("The boat inspection is on 3 March 2026", "The boat inspection is on March 3rd, 2026"),
    ("The boat inspection is on 2026-03-03", "The boat inspection is on 3 March 2026"),
    ("The inspection is on Tuesday 3 March 2026", "The inspection is on 3 March 2026"),
    ("Meeting is on 03/04/2026", "The meeting is on 03/04/2026"),
    ("The deploy is at 3 pm", "The deploy is at 15:00"),
    ("The trip takes three days", "The trip takes 3 days"),
    ("The 3-day trip starts in Oslo", "The three-day trip starts in Oslo"),
    ("The trip costs $3.50", "The trip costs 3.5 dollars"),
    ("The price is 1,000 dollars", "The price is $1000"),
    ("The budget is 2 million euros", "The budget is 2,000,000 euros"),
    ("Rent is due on the first", "Rent is due on the 1st"),
    ("会议在三月三日", "会议在3月3日"),
    ("普里娅确认花园小屋漆成了绿色", "普里娅确认花园小屋漆成绿色"),
    ("Anna isn't a vegan", "Anna is not a vegan"),
    ("Anna does not eat meat", "Anna doesn’t eat meat"),
    ("Not only Tom but also Ann sails", "Tom and also Ann sails"),
    ("Tom sails on Sundays", "On Sundays Tom sails"),
    ("Tom plays cello and sails", "Tom sails and plays cello"),
    ("The team painted the shed", "The shed was painted by the team"),
    ("Mia's cat is called Fig", "The cat of Mia is called Fig"),
    ("Lena now works at the bakery", "Lena works at the bakery"),
    ("The team uses Postgres for storage", "The team use Postgres for its storage"),
    ("The team’s favorite colour is green", "The team's favourite color is green"),
    ("Sam enjoys tea", "Sam likes tea"),
    ("Deployments are done every Friday", "Deployments are done each Friday"),
    ("Das Boot ist rot", "das Boot ist rot!"),
    ("The firm was founded in 1987 in Turin", "The firm was founded in Turin in 1987"),
    ("这家餐厅周一休息", "周一这家餐厅休息"),
    ("小李和小张住在北京", "小张和小李住在北京"),
    ("田中さんは毎朝コーヒーを飲みます", "田中さんは毎朝コーヒーを飲む"),
    ("The plans A and B are open", "The plans B and A are open"),
]

SHED = "Priya confirmed the garden shed is painted green"
REWORDED = [
    "Priya confirmed that the garden shed is painted green.",
    "Priya has confirmed the garden shed is painted green",
    "Priya confirms the garden shed is painted green",
    "Priya confirmed the garden shed was painted green",
    "Priya said the garden shed is painted green",
    "The garden shed is painted green, Priya confirmed",
    "Priya confirmed the shed in the garden is painted green",
    "Priya confirmed that the garden shed has been painted green",
]


@pytest.mark.parametrize(("guard", "left", "right"), APART)
def test_statements_that_contradict_are_kept_apart(guard: str, left: str, right: str) -> None:
    objection = veto(left, right)
    assert objection is not None
    assert objection.guard == guard


@pytest.mark.parametrize(("left", "right"), [*ALIKE, *((SHED, variant) for variant in REWORDED)])
def test_rewordings_pass(left: str, right: str) -> None:
    assert veto(left, right) is None


FRAGMENTS = st.sampled_from(
    sorted(
        {word for _, left, right in APART for word in f"{left} {right}".split()}
        | {"12", "may", "May", "not", "by", "3/4"}
    )
)
SENTENCES = st.lists(FRAGMENTS, max_size=7).map(" ".join) | st.text(max_size=30)


@given(SENTENCES, SENTENCES)
def test_guards_see_the_same_from_either_side(left: str, right: str) -> None:
    for guard in DEFAULT_GUARDS:
        one, other = guard.veto(left, right), guard.veto(right, left)
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert (one.guard, {one.left, one.right}) == (other.guard, {other.left, other.right})


@given(SENTENCES)
def test_no_guard_objects_to_a_statement_and_itself(statement: str) -> None:
    assert veto(statement, statement) is None


def test_without_guards_nothing_is_vetoed() -> None:
    assert veto("It is 3", "It is 4", ()) is None


@pytest.mark.parametrize(
    "statement",
    [
        "会議は{}時に始まります。",
        "会议在{}点开始。",
        "它有{}GB内存。",
        "第{}章が好きです。",
        "회의는 {}시에 시작합니다.",
        "ร้านเปิด{}โมงเช้า",
        "Toplantı saat {}'te başlıyor.",
        "Встреча в {}-м кабинете.",
        "Die {}er Gruppe singt.",
        "The build is {}x faster.",
        "It grew {}-fold.",
        "In Q{} we ship.",
        "Room {}B is free.",
        "It needs CO{} and 2**{} rows.",
        "The area is {}².",
    ],
)
def test_a_digit_counts_wherever_it_stands(statement: str) -> None:
    three, four = statement.replace("{}", "3"), statement.replace("{}", "4")
    assert veto(three, four) is not None
    assert veto(three, three) is None
