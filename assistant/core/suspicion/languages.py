"""Cues in other languages: the words that attacks need, language by language, and the few forms they take.

Words of Latin and Cyrillic script are matched whole, those of other scripts as parts. Some languages put the verb last,
so the words for "ignore" and for "instructions" count in either order.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from assistant.core.suspicion.cues import DECISIVE, STRONG, WEAK, Cue, cue, needs_of
from assistant.core.suspicion.sentences import WORD


class _Words(NamedTuple):
    """What one language says, as alternatives between blanks; an underscore stands for a blank inside one."""

    ignore: str
    orders: str
    say: str
    following: str
    fiction: str
    role: str
    mode: str
    answer: str
    user: str
    account: str
    link: str


_GERMAN: Final = _Words(
    ignore="ignoriere ignorieren ignoriert vergiss vergessen missachte missachten",
    orders="anweisung anweisungen befehle vorgaben eingabeaufforderung instruktionen aufforderungen",
    say="sage sag sagen behaupte behaupten antworte antworten schreibe gib geben drucke nenne nehmen annehmen",
    following="gib_folgendes geben_sie_folgendes gib_den_folgenden schreibe_folgendes sage_folgendes antworte_mit drucke_folgendes",
    fiction="hypothetisch hypothetisches hypothetischen parallelwelt parallelen_universum in_einer_welt stell_dir_vor zwecke_dieser_übung",
    role="du_bist_jetzt du_bist_nun ab_jetzt_bist_du ab_sofort_bist_du tu_so,_als spiele_die_rolle ich_bin_dein_entwickler",
    mode="entwicklermodus systemmodus gottmodus administratormodus systemcheck",
    answer="deine_antwort deiner_antwort ihrer_antwort",
    user="dem_nutzer dem_benutzer",
    account="konto_wurde",
    link="link passwort",
)
_SPANISH: Final = _Words(
    ignore="ignora ignorar ignoren olvida olvide olvidar olvídate descarta desestima",
    orders="instrucción instrucciones indicaciones órdenes",
    say="di diga decir decimos digamos declara declare declarar indica indique responde responda escribe escriba afirma afirmar afirmamos admitamos",
    following="imprime_lo_siguiente imprima_lo_siguiente escribe_lo_siguiente di_lo_siguiente diga_lo_siguiente responde_con muestra_lo_siguiente",
    fiction="hipotético hipotética hipotéticamente en_un_mundo en_un_universo universo_paralelo imagina_que imaginemos",
    role="ahora_eres a_partir_de_ahora_eres actúa_como finge_ser finge_que soy_tu_desarrollador soy_tu_creador",
    mode="modo_sistema modo_desarrollador modo_anulación modo_administrador modo_dios modo_de_sistema",
    answer="tu_respuesta su_respuesta",
    user="al_usuario",
    account="cuenta_ha_sido",
    link="enlace contraseña",
)
_FRENCH: Final = _Words(
    ignore="ignorez ignorer ignorons oublie oubliez oublier",
    orders="instructions consignes directives",
    say="dis dites dire disons indique indiquez affirme affirmez affirmons affirmer déclare déclarez réponds répondez écris écrivez",
    following="imprimez_ce_qui_suit imprime_ce_qui_suit dites_ce_qui_suit écris_ce_qui_suit écrivez_ce_qui_suit répondez_par affichez_ce_qui_suit",
    fiction="hypothétique hypothétiquement dans_un_monde dans_un_univers univers_parallèle imagine_que imaginez_que imaginons",
    role="tu_es_maintenant tu_es_désormais vous_êtes_désormais agis_comme fais_semblant à_partir_de_maintenant,_tu je_suis_ton_développeur je_suis_votre_développeur",
    mode="mode_système mode_développeur mode_administrateur mode_de_security mode_dieu",
    answer="ta_réponse votre_réponse",
    user="à_l'utilisateur",
    account="compte_a_été",
    link="lien mot_de_passe",
)
_PORTUGUESE: Final = _Words(
    ignore="ignorem ignoramos ignorar esqueça esquece esquecer desconsidere desconsidera",
    orders="instruções comandos orientações",
    say="diga dizer diz escreva responda afirme afirmamos indique considere",
    following="imprima_o_seguinte escreva_o_seguinte diga_o_seguinte responda_com",
    fiction="hipotético hipotética hipoteticamente num_mundo em_um_mundo universo_paralelo imagine_que imaginar_um_cenário suponha_que",
    role="agora_você_é você_agora_é aja_como finja_ser finja_que sou_seu_desenvolvedor sou_o_seu_desenvolvedor ouvir_minhas_instruções",
    mode="modo_de_sistema modo_desenvolvedor modo_sistema modo_administrador",
    answer="sua_resposta tua_resposta",
    user="ao_usuário",
    account="conta_foi",
    link="ligação link palavra-passe senha",
)
_ITALIAN: Final = _Words(
    ignore="ignori ignorate ignorare dimentica dimentichi dimenticate",
    orders="istruzioni comandi direttive",
    say="dica dichiara dichiari rispondi risponda scrivi scriva afferma affermi indica diciamo",
    following="stampa_quanto_segue scrivi_quanto_segue di'_quanto_segue rispondi_con stampa_il_seguente",
    fiction="ipotetico ipotetica ipoteticamente in_un_mondo universo_parallelo immagina_che immaginiamo",
    role="ora_sei_un adesso_sei fai_finta d'ora_in_poi agisci_come sono_il_tuo_sviluppatore",
    mode="modalità_sistema modalità_sviluppatore modalità_amministratore",
    answer="tua_risposta sua_risposta",
    user="all'utente",
    account="account_è_stato",
    link="link password",
)
_RUSSIAN: Final = _Words(
    ignore="игнорируй игнорируйте игнорировать проигнорируй проигнорируйте игнорируем забудь забудьте",
    orders="инструкции инструкций инструкция инструкциям указания указаний команды",
    say="скажи скажите скажем напиши напишите выведи выведите укажи укажите ответь ответьте заяви говорят",
    following="выведи_следующее выведите_следующее напиши_следующее напишите_следующее скажи_следующее укажите_следующее",
    fiction="гипотетическом гипотетический гипотетически параллельной_вселенной представь,_что представим_сценарий в_мире,_где",
    role="теперь_ты ты_теперь притворись отныне_ты я_твой_разработчик я_ваш_разработчик слушать_мои_инструкции",
    mode="режим_разработчика режим_системы режим_администратора системный_режим",
    answer="своём_ответе своем_ответе твоём_ответе свой_ответ твой_ответ",
    user="пользователю",
    account="аккаунт_был учетная_запись_была",
    link="ссылке пароль",
)
_SMALLER: Final = _Words(  # Dutch, Polish, Turkish, Indonesian, Vietnamese
    ignore="negeer negeren vergeet zignoruj zignorujcie zapomnij yok_say yok_sayın yoksay unut görmezden_gel görmezden_gelin abaikan lupakan bỏ_qua hãy_quên",
    orders="instructies aanwijzingen instrukcje instrukcji polecenia poleceń talimatları talimatlar instruksi perintah hướng_dẫn chỉ_dẫn",
    say="zeg antwoord powiedz napisz wypisz odpowiedz söyle söyleyin belirt belirtin belirtebiliriz katakan jawab cetak nyatakan nói_rằng nêu_rõ trả_lời",
    following="şunu_yazdır şunu_söyle cetak_berikut in_ra_những_điều",
    fiction="hypothetisch_scenario w_świecie paralel_evrende paralel_bir_evrende varsayımsal bir_dünyada dunia_paralel skenario_hipotetis giả_định thế_giới_song_song",
    role="je_bent_nu jesteś_teraz udawaj artık_sen berpura-puralah kamu_sekarang bây_giờ_bạn_là",
    mode="sistem_modu geliştirici_modu mode_sistem mode_pengembang chế_độ_hệ_thống",
    answer="jouw_antwoord twojej_odpowiedzi yanıtında cevabında jawabanmu",
    user="kullanıcıya gebruiker pengguna",
    account="hesabınız akun_anda tài_khoản_của_bạn",
    link="bağlantıya şifre tautan liên_kết mật_khẩu",
)
_EAST: Final = _Words(  # Japanese, Korean, Arabic, Hindi, Bengali, Thai: parts of words
    ignore="無視し 無視せ 忘れて 忘れろ 무시하 무시해 잊어 تجاهل انسَ انس_جميع अनदेखा नज़रअंदाज़ नजरअंदाज भूल_जा উপেক্ষা ভুলে_যা เพิกเฉย ละเว้น",
    orders="指示 命令 指令 プロンプト 지시 명령 지침 프롬프트 تعليمات التعليمات الأوامر निर्देश নির্দেশ คำสั่ง คำแนะนำ",
    say="述べ 出力し 印刷し 答えて 言って 言おう 表示し 回答し 출력하 출력해 말하 말해 진술 답하 قل_إن وقل اكتب اطبع وأشر واذكر ونذكر نقول_أن कहें कहो लिखें बताएं বলুন লিখুন ระบุว่า พิมพ์ ตอบว่า",
    following="次を印刷 次を出力 次の文を 次の内容を 次のテキストを 다음을_출력 다음을_말 अनुसरण_करें_प्रिंट ما_يلي:",
    fiction="仮説的な 仮想的な 架空の 世界では 가상의 평행_우주 가정하자 가정해 سيناريو_افتراضي افتراضيا عالم_موازي لنفترض नتخيل काल्पनिक समानांतर_ब्रह्मांड কাল্পনিক",
    role="あなたは今から あなたはこれから になりきって のふりをして 당신은_이제 너는_이제 지금부터_너 지금부터_당신 인_척 أنت_الآن अब_आप_एक 私はあなたの開発者 나는_당신의_개발자 أنا_مطورك",
    mode="開発者モード オーバーライドモード 管理者モード システムモード 개발자_모드 관리자_모드 시스템_모드 وضع_النظام وضع_المطور सिस्टम_मोड",
    answer="あなたの回答 あなたの返答 당신의_답변 إجابتك आपके_उत्तर अपने_उत्तर",
    user="ユーザーに 사용자에게 للمستخدم أخبر_المستخدم उपयोगकर्ता_को",
    account="アカウントが 계정이 حسابك आपका_खाता আপনার_অ্যাকাউন্ট",
    link="リンク パスワード 링크 비밀번호 الرابط كلمة_المرور लिंक पासवर्ड লিঙ্ক পাসওয়ার্ড",
)
_WHOLE: Final = (_GERMAN, _SPANISH, _FRENCH, _PORTUGUESE, _ITALIAN, _RUSSIAN, _SMALLER)
_BOTH: Final = "ignore"
"""Spanish, French and Portuguese write it like English; it counts beside a word for instructions."""
_CHANGE: Final = (
    "kodiere verschlüssele übersetze ersetze ergänze füge baue erwähne verwende codifica cifra traduce reemplaza"
    " añade agrega incluye menciona usa"
    " encode encodez chiffre traduis traduisez remplace remplacez ajoute ajoutez inclus incluez mentionne"
    " mentionnez codifique traduza substitua"
    " adicione inclua mencione traduci aggiungi includi menziona закодируй зашифруй переведи добавь включи упомяни"
)


def _whole(words: str) -> str:
    return r"\b(?:" + "|".join(word.replace("_", " ") for word in words.split()) + r")\b"


def _parts(words: str) -> str:
    return "(?:" + "|".join(word.replace("_", " ") for word in words.split()) + ")"


def _first(words: str) -> str:
    """The first word of each phrase: what a sentence needs to hold."""
    return " ".join(WORD.findall(word.replace("_", " "))[0] for word in words.split())


def _by_key(name: str, weight: int, words: str) -> list[Cue]:
    """One cue for all phrases of one key, their longest word before the last: a hundred alternatives are slow to try."""
    groups: dict[str, list[str]] = {}
    for phrase in words.split():
        own = WORD.findall(phrase.replace("_", " "))
        groups.setdefault(max(reversed(own[:-1] or own), key=len), []).append(phrase)
    return [cue(name, weight, key, _whole(" ".join(phrases))) for key, phrases in groups.items()]


def _all(field: str) -> str:
    return " ".join(getattr(one, field) for one in _WHOLE)


def _near(one: str, other: str, distance: int) -> tuple[str, str]:
    return f"{one}.{{0,{distance}}}?{other}", f"{other}.{{0,{distance}}}?{one}"


_SIMPLE: Final = (
    ("say", WEAK, "say"),
    ("say", STRONG, "following"),
    ("fiction", STRONG, "fiction"),
    ("role", STRONG, "role"),
    ("mode", STRONG, "mode"),
    ("user", WEAK, "user"),
)
_AND: Final = r".{0,60}?(?: et | y | und | e | en | i | и | ve | dan | và |, ).{0,20}?"
_CONCLUSION: Final = (
    "schlussfolgerung ausgabe conclusión conclusion conclusão conclusione salida sortie saída вывод выход"
)
_IS: Final = r" (?:\S+ ){0,4}?(?:lautet|ist|es|est|é|è|podría ser|pourrait être|seja|como|может быть|:)"
_LET_US: Final = "lassen nehmen digamos admitamos disons supposons admettons diciamo vamos скажем давайте"


def _cues() -> tuple[Cue, ...]:
    ignore, orders, answer = _all("ignore"), _all("orders"), _all("answer")
    return (
        cue("override", DECISIVE, _first(ignore), *_near(_whole(ignore), _whole(orders), 50)),
        cue("override", DECISIVE, _BOTH, _whole(_BOTH) + ".{0,50}?" + _whole(orders)),
        cue(
            "instead", DECISIVE, _first(ignore) + " " + _BOTH, _whole(f"{ignore} {_BOTH}") + _AND + _whole(_all("say"))
        ),
        *(one for name, weight, field in _SIMPLE for one in _by_key(name, weight, _all(field))),
        cue("lure", STRONG, _first(_all("account")), _whole(_all("account")) + ".{0,80}?" + _whole(_all("link"))),
        cue("your-answer", DECISIVE, _CHANGE, _whole(_CHANGE) + ".{0,90}?" + _whole(answer)),
        cue("your-answer", STRONG, _first(answer), r"\b(?:in|en|dans|em|nella|в) " + _whole(answer)),
        cue("verdict", WEAK, _CONCLUSION, _whole(_CONCLUSION) + _IS),
        cue("let-us", WEAK, _LET_US, r"\b(?:lassen sie uns|nehmen wir an|" + _LET_US.replace(" ", "|") + r")\b"),
    )


def _eastern_cues() -> tuple[Cue, ...]:
    ignore = _parts(_EAST.ignore)
    return (
        cue("override", DECISIVE, "", *_near(ignore, _parts(_EAST.orders), 30)),
        cue("instead", DECISIVE, "", ignore + ".{0,40}" + _parts(_EAST.say)),
        *(cue(name, weight, "", _parts(getattr(_EAST, field))) for name, weight, field in _SIMPLE),
        cue("lure", STRONG, "", *_near(_parts(_EAST.account), _parts(_EAST.link), 60)),
        cue("your-answer", STRONG, "", _parts(_EAST.answer)),
        cue("verdict", WEAK, "", "(?:結論|出力|결론|출력|الناتج)(?:は|은|이|:| هو)"),
    )


CUES: Final = _cues()
NEEDS: Final = needs_of(CUES)
EASTERN_CUES: Final = _eastern_cues()
EASTERN: Final = re.compile(r"[\u0600-\u06ff\u0900-\u09ff\u0e00-\u0e7f\u3040-\u30ff\uac00-\ud7af]")
"""Letters of the scripts of EASTERN_CUES."""
