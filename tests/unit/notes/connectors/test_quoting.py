"""Of a mail only what its sender wrote is kept, and all of that."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.notes.connectors.quoting import written_by_sender

NEW = "We ship on Friday."

ATTRIBUTIONS = [
    "On Tue, Mar 5, 2024 at 10:00 AM Ana Lim <ana@example.com> wrote:",
    "On Tue, Mar 5, 2024 at 10:00 AM Ana Lim\n<ana.maria.lim@a-long-name.example.com> wrote:",
    "On 5 March 2024, at 10:00, Ana Lim wrote:",
    "On 2024-03-05 10:00, Ana wrote:",
    "Am Di., 5. März 2024 um 10:00 Uhr schrieb Ana Lim <ana@example.com>:",
    "Am 05.03.24 um 10:00 schrieb Ana Lim:",
    "Am 05.03.2024 um 10:00 schrieb Ana Lim <\nana@example.com>:",
    "Le mar. 5 mars 2024 à 10:00, Ana Lim <ana@example.com> a écrit :",
    "El mar, 5 mar 2024 a las 10:00, Ana Lim (<ana@example.com>) escribió:",
    "Il giorno mar 5 mar 2024 alle ore 10:00 Ana Lim <ana@example.com> ha scritto:",
    "Op di 5 mrt 2024 om 10:00 schreef Ana Lim <ana@example.com>:",
    "Em ter., 5 de mar. de 2024 às 10:00, Ana Lim <ana@example.com> escreveu:",
    "Den tis 5 mars 2024 kl 10:00 skrev Ana Lim <ana@example.com>:",
    "wt., 5 mar 2024 o 10:00 Ana Lim <ana@example.com> napisał(a):",
    "вт, 5 мар. 2024 г. в 10:00, Ana Lim <ana@example.com>:",
    "2024年3月5日(火) 10:00 Ana Lim <ana@example.com>:",
    "Ana Lim <ana@example.com> 于2024年3月5日周二 10:00写道：",
    "2024년 3월 5일 (화) 오전 10:00, Ana Lim <ana@example.com>님이 작성:",
    "Ana Lim <ana@example.com> wrote:",
    "Ana Lim wrote:",
    "----- Original Message -----",
]

HEADERS = [
    "From: Ana Lim <ana@example.com>\nSent: Tuesday, March 5, 2024 10:00 AM\nTo: Bo\nSubject: RE: Plan",
    "-----Original Message-----\nFrom: Ana Lim\nSent: Tuesday\nTo: Bo\nSubject: Plan",
    "________________________________\nVon: Ana Lim\nGesendet: Dienstag, 5. März 2024 10:00\nAn: Bo\nBetreff: AW: Plan",
    "*From:* Ana Lim <ana@example.com>\n*Date:* Tuesday\n*To:* Bo\n*Subject:* Plan",
    "De : Ana Lim\nEnvoyé : mardi 5 mars 2024 10:00\nÀ : Bo\nObjet : RE: Plan",
    "De: Ana Lim\nEnviado el: martes\nPara: Bo\nAsunto: Plan",
    "-----Ursprüngliche Nachricht-----\nVon: Ana\nGesendet: Dienstag\nAn: Bo\nBetreff: Plan",
    "发件人: Ana\n发送时间: 2024年3月5日\n收件人: Bo\n主题: Plan",
    "On Tuesday, March 5, 2024, 10:00:00 AM PST, Ana Lim <ana@example.com> wrote:",
]

DEVICES = [
    "Sent from my iPhone",
    "Sent from Outlook for Android",
    "Get Outlook for iOS<https://aka.ms/o0ukef>",
    "Von meinem iPhone gesendet",
    "Envoyé de mon iPhone",
    "Enviado desde mi iPhone",
    "Inviato da iPhone",
    "Verstuurd vanaf mijn iPhone",
    "Отправлено с iPhone",
    "发自我的iPhone",
    "iPhoneから送信",
]


@pytest.mark.parametrize("attribution", ATTRIBUTIONS)
def test_a_marked_quote_goes_with_the_line_that_announces_it(attribution: str) -> None:
    quote = "> Shall we ship\n> on Thursday?\n>\n>> Earlier still."
    assert written_by_sender(f"{NEW}\n\n{attribution}\n{quote}\n", is_reply=True) == NEW
    assert written_by_sender(f"{attribution}\n\n{quote}\n\n{NEW}", is_reply=True) == NEW
    assert written_by_sender(f"{attribution}\n{quote}", is_reply=True) == ""


@pytest.mark.parametrize("header", HEADERS)
def test_an_unmarked_quote_below_a_header_goes_to_the_end_of_a_reply_and_stays_in_a_forward(header: str) -> None:
    mail = f"{NEW}\n\n{header}\n\nShall we ship on Thursday?\n"
    assert written_by_sender(mail, is_reply=True) == NEW
    assert "Thursday" in written_by_sender(mail, is_reply=False)
    assert written_by_sender(f"{header}\n\nShall we ship on Thursday?", is_reply=True) == ""


@pytest.mark.parametrize("device", DEVICES)
def test_the_line_of_a_telephone_goes(device: str) -> None:
    assert written_by_sender(f"{NEW}\n\n{device}", is_reply=False) == NEW
    reply = f"{NEW}\n\n{device}\n\nOn 5 Mar 2024, at 10:00, Ana wrote:\n> x"
    assert written_by_sender(reply, is_reply=True) == NEW


def test_answers_between_quotes_all_stay() -> None:
    mail = "On 5 Mar 2024 at 10:00, Ana wrote:\n> One?\nYes.\n> Two?\n\nNo, on Friday.\n> Three?\n> More.\nNever.\n"
    assert written_by_sender(mail, is_reply=True) == "Yes.\n\nNo, on Friday.\n\nNever."


def test_a_signature_goes_and_what_comes_after_the_quote_below_it_stays() -> None:
    mail = f"{NEW}\n-- \nAna Lim\nHead of Gardens\n\nOn 5 Mar 2024 at 10:00, Bo wrote:\n> When?\n\nP.S. Bring cake."
    assert written_by_sender(mail, is_reply=True) == f"{NEW}\n\nP.S. Bring cake."
    assert written_by_sender(f"{NEW}\r\n--\r\nAna Lim\r\n", is_reply=False) == NEW


def test_the_footer_of_a_list_goes() -> None:
    rule = "_" * 47
    footer = f"{rule}\nGardens mailing list\ngardens@lists.example.org\nhttps://lists.example.org/listinfo/gardens"
    assert written_by_sender(f"{NEW}\n{footer}\n", is_reply=False) == NEW


@pytest.mark.parametrize(
    "mail",
    [
        "You asked what she said:\n\nWe ship on Friday.",
        "From: the desk of nobody\nWe ship on Friday.",
        "From: Monday on\nTo: Friday\nWe ship on Friday.",
        "On Friday we ship.\n\nAna wrote:\nthat is fine.",
        "-- not a signature, a dash",
        "a\n--\n" + "\n".join(f"Point {number} of the long list." for number in range(20)),
        "Sent from my point of view it is fine.",
        "--------------------\nContact: ana@example.com\nhttps://example.com/plan",
        ">>> 1 + 1\n2\n>>> exit()",
        "> A saying we print on the box.\n\nPlease check it.",
        "The prices a < b > c\n-> next\n=> more",
        "----- Original Message ----- was the title of the song.",
        "---------- Forwarded message ---------\nFrom: Ana\nDate: Tue\nSubject: Plan\nTo: Bo\n\nThursday.",
    ],
)
def test_what_only_looks_like_a_quote_or_a_signature_stays(mail: str) -> None:
    assert written_by_sender(mail, is_reply=False) == mail


@pytest.mark.parametrize(
    "said",
    [
        "You said:",
        "About your points:",
        "On 5 March 2024 at 10:00 we wrote:",
        "On 5 March 2024 we wrote down these rules:",
        "The contract of 2024 says:",
        "See what 10:00 brings, said the minutes. We wrote them down like this:",
    ],
)
def test_a_sentence_before_a_quote_stays(said: str) -> None:
    assert written_by_sender(f"{said}\n> Thursday\nFriday.", is_reply=True) == f"{said}\n\nFriday."


def test_a_sentence_right_before_an_attribution_stays() -> None:
    mail = "On Friday we ship.\nOn 5 Mar 2024 at 10:00, Ana wrote:\n> When?"
    assert written_by_sender(mail, is_reply=True) == "On Friday we ship."


WORDS = st.lists(st.sampled_from(["ship", "Friday", "cake", "42", "we", "need", "ok."]), min_size=1, max_size=8)
OWN = st.lists(WORDS.map(" ".join), min_size=0, max_size=4)
QUOTED = st.lists(WORDS.map(lambda words: "> " + " ".join(words)), min_size=0, max_size=4)


@given(st.lists(st.tuples(OWN, QUOTED), min_size=1, max_size=5))
def test_of_any_mixture_exactly_the_unmarked_lines_stay(parts: list[tuple[list[str], list[str]]]) -> None:
    mail = "\n".join(line for own, quoted in parts for line in [*own, *quoted])
    kept = [line for line in written_by_sender(mail, is_reply=True).split("\n") if line]
    assert kept == [line for own, _ in parts for line in own]


@given(st.text(alphabet="ab>-:_ \n\r\t@.wroteFrom12", max_size=300), st.booleans())
def test_any_text_can_be_read_and_reading_twice_is_reading_once(text: str, is_reply: bool) -> None:
    once = written_by_sender(text, is_reply=is_reply)
    assert set(once.split("\n")) <= {line.rstrip() for line in text.replace("\r", "\n").split("\n")} | {""}


@pytest.mark.parametrize(
    "line", ["> " * 50_000, "a@" * 50_000 + ":", "On 1 " * 30_000 + "wrote:", "-" * 200_000, "From: " * 40_000]
)
def test_a_mail_of_long_lines_is_read(line: str) -> None:
    assert written_by_sender(f"{NEW}\n{line}\n> x", is_reply=True).startswith(NEW)


@pytest.mark.parametrize("lines", [["own", "> quoted"] * 50_000, ["-- "] * 100_000, ["Ana wrote:", "From: a"] * 50_000])
def test_a_mail_of_many_lines_is_read(lines: list[str]) -> None:
    assert written_by_sender("\n".join([NEW, "", *lines]), is_reply=True).startswith(NEW)
