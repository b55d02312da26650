"""What mail programs write around quotes and below mails, in the languages that they write it in."""

from __future__ import annotations

WROTE = (
    *("wrote", "writes", "schrieb", "schrieben", "hat geschrieben", "a écrit", "a ecrit", "escribió", "escribio"),
    *("ha scritto", "scrisse", "schreef", "heeft geschreven", "escreveu", "skrev", "kirjoitti", "pisze"),
    *("napisał", "napisała", "napisał(a)", "napsal", "napsala", "napsal(a)", "píše", "írta", "a scris", "έγραψε"),
    *("написал", "написала", "написал(а)", "пишет", "пише", "писал", "писал(а)", "yazdı", "viết", "menulis"),
    *("ha escrit", "va escriure", "kirjutas", "parašė", "je napisao", "je napisao/la", "כתב", "כתב/ה"),
)
"""Verbs that stand between who and the quote."""

WROTE_UNSPACED = ("写道", "寫道", "写到", "のメール", "書きました", "님이 작성", "썼습니다")
"""The same in scripts that put no space before them."""

THE_FOLLOWING = ("folgendes", "het volgende", "følgende")

PRONOUNS = ("I", "we", "you", "he", "she", "they", "it", "who")
"""No mail program writes these before a verb; people do."""

ON = ("On", "Am", "Le", "El", "Il", "Op", "Em", "Den", "W dniu", "Dne", "Pe", "Στις", "At", "Vào", "Pada")
"""What stands before a date."""

ORIGINAL_MESSAGE = (
    *("Original Message", "Reply Message", "Original-Nachricht", "Ursprüngliche Nachricht", "Ursprüngliche Mail"),
    *("Urspruengliche Nachricht", "Message d'origine", "Message original", "Mensaje original", "Messaggio originale"),
    *("Oorspronkelijk bericht", "Mensagem original", "Ursprungligt meddelande", "Oprindelig meddelelse"),
    *("Opprinnelig melding", "Alkuperäinen viesti", "Oryginalna wiadomość", "Wiadomość oryginalna", "Původní zpráva"),
    *("Исходное сообщение", "Оригинальное сообщение", "原始邮件", "原始郵件", "元のメッセージ", "원본 메시지"),
    *("Orijinal Mesaj", "Eredeti üzenet"),
)

FROM = (
    *("From", "Von", "De", "Da", "Van", "Från", "Fra", "Od", "Lähettäjä", "От", "Від", "Feladó", "Gönderen", "Kimden"),
    *("Από", "发件人", "寄件者", "寄件人", "差出人", "보낸 사람", "Từ", "Expéditeur"),
)

OTHER_FIELDS = (
    *("Sent", "Date", "To", "Cc", "Subject", "Reply-To", "Importance", "Gesendet", "Datum", "An", "Betreff", "Kopie"),
    *("Antwort an", "Wichtigkeit", "Envoyé", "À", "A", "Objet", "Répondre à", "Enviado", "Enviado el", "Enviada em"),
    *("Fecha", "Para", "Asunto", "Assunto", "Data", "Inviato", "Oggetto", "Verzonden", "Verzonden op", "Aan"),
    *("Onderwerp", "Skickat", "Till", "Ämne", "Kopia", "Sendt", "Dato", "Til", "Emne", "Wysłano", "Do", "Temat", "DW"),
    *("Odesláno", "Komu", "Předmět", "Lähetetty", "Vastaanottaja", "Päivämäärä", "Aihe", "Отправлено", "Дата"),
    *("Кому", "Тема", "Копия", "Küldve", "Címzett", "Tárgy", "Gönderildi", "Tarih", "Kime", "Konu", "发送时间"),
    *(
        "发送日期",
        "日期",
        "时间",
        "收件人",
        "抄送",
        "主题",
        "寄件日期",
        "收件者",
        "主旨",
        "副本",
        "送信日時",
        "日付",
        "宛先",
    ),
    *("件名", "보낸 날짜", "받는 사람", "제목", "참조", "날짜"),
)

_DEVICES = (
    r"(?:iPhone|iPad|iPod|Android|Samsung|Galaxy|BlackBerry|Xiaomi|Huawei|Pixel|Outlook|Yahoo|Proton ?Mail|Gmail)"
)

DEVICE_LINES = (
    rf"Sent (?:from|via|with|using) (?:my |a |an |the )?(?:\S+ )?{_DEVICES}.*",
    r"Sent from (?:my )?(?:mobile|phone|Mail for Windows).*",
    r"Get Outlook for (?:iOS|Android|Mac).*",
    rf"Von meinem .*{_DEVICES}.*gesendet.*",
    rf"(?:Gesendet|Diese Nachricht wurde) (?:von|mit|über) .*{_DEVICES}.*",
    r"Gesendet von (?:Mail für Windows|meinem (?:Handy|Mobiltelefon|Smartphone)).*",
    r"(?:Holen Sie sich|Outlook für) .*Outlook.*",
    rf"Envoyée? (?:de|depuis|à partir d[e']) ?.*{_DEVICES}.*",
    rf"Enviad[oa] (?:desde|do|a partir do) .*{_DEVICES}.*",
    rf"Inviato da.*{_DEVICES}.*",
    rf"(?:Verstuurd|Verzonden) (?:vanaf|met|vanuit) .*{_DEVICES}.*",
    rf"Skickat från .*{_DEVICES}.*",
    rf"Sendt fra .*{_DEVICES}.*",
    rf"Lähetetty .*{_DEVICES}.*",
    rf"Wysłan[eoy] z .*{_DEVICES}.*",
    rf"Odesláno z .*{_DEVICES}.*",
    rf"Отправлено (?:с|из) .*{_DEVICES}.*",
    rf"(?:发自|發自|從).*{_DEVICES}.*",
    rf".*{_DEVICES}(?:から送信|에서 보냄|['’]?[a-zı]+ gönderildi).*",
)
"""Patterns of the lines that telephones put below a mail."""
