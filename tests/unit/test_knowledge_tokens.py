"""Terms: morphemes, identifiers, stems, sounds."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.glossary import entries
from knowledge.language import language_of, passage_language
from knowledge.loanwords import hangul_skeleton, latin_skeleton
from knowledge.tokens import Analyzer, default_analyzer

ANALYZER = default_analyzer()


def test_korean_content_morphemes_without_particles_and_endings():
    terms = ANALYZER.terms("결제 서비스가 주문 서비스를 호출했습니다")
    assert {"결제", "서비스", "주문", "호출"} <= set(terms)
    assert not {"가", "를", "습니다", "했"} & set(terms)


def meant(question: str) -> set[str]:
    """The terms that may stand for those of a question."""
    return {term for rephrasing in ANALYZER.question(question)[1] for way in rephrasing.ways for term in way}


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("OrderService", {"orderservice", "order", "servic"}),
        ("payment-gateway", {"payment-gateway", "payment", "gateway"}),
        ("retry_max_count", {"retry_max_count", "retri", "max", "count"}),
        ("order.created.v1", {"order.created.v1", "order", "creat", "v1"}),
        ("HTTPServer2", {"httpserver2", "http", "server2"}),
        ("the services of running", {"servic", "run"}),
        ("k8s e5", {"k8s", "e5"}),
        ("결제payment서비스", {"payment"}),
        ("Übergröße 支付服务", {"übergrösse", "支付", "付服", "服务"}),
    ],
)
def test_identifiers_whole_and_in_parts(text, terms):
    assert terms <= set(ANALYZER.terms(text))


@given(st.text(max_size=200))
def test_any_text_has_terms_and_the_length_counts_no_sounds(text):
    terms, length = ANALYZER.passage("", text)
    assert length == len(ANALYZER.terms(text)) <= sum(terms.values())


def test_a_heading_counts_twice():
    assert ANALYZER.passage("ledger", "ledger")[1] == 3


@pytest.mark.parametrize(
    ("korean", "english"),
    [
        ("디플로이먼트", "deployment"),
        ("쿠버네티스", "kubernetes"),
        ("컨테이너", "container"),
        ("클러스터", "cluster"),
        ("인그레스", "ingress"),
        ("시크릿", "secret"),
        ("카프카", "kafka"),
        ("컨트롤러", "controller"),
        ("체크아웃", "checkout"),
        ("토폴로지", "topology"),
        ("오퍼레이터", "operator"),
        ("롤백", "rollback"),
        ("프론트엔드", "frontend"),
        ("파티션", "partition"),
        ("퍼미션", "permission"),
        ("익스텐션", "extension"),
        ("버저닝", "versioning"),
        ("캡처", "capture"),
        ("트리거", "trigger"),
    ],
)
def test_loanwords_have_one_skeleton(korean, english):
    assert hangul_skeleton(korean) == latin_skeleton(english) != ""
    assert "\x01e" + latin_skeleton(english) in meant(f"{korean}를 쓴다")


@pytest.mark.parametrize("word", ["노드", "node", "팟", "a", ""])
def test_short_words_have_none(word):
    assert hangul_skeleton(word) == "" == latin_skeleton(word)


def test_without_a_dictionary_hangul_becomes_bigrams():
    assert set(Analyzer(None).terms("결제서비스")) == {"결제", "제서", "서비", "비스"}


def test_language_by_script_and_code_in_the_language_of_its_document():
    assert [
        language_of(text)
        for text in ("결제 service를 호출", "calls the service", "支付服务", "決済サービスです", "123")
    ] == ["ko", "en", "zh", "ja", "en"]
    code = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: nginx\n"
    prose = "the service calls the gateway and it is not allowed to call the ledger when the payment has failed " * 3
    assert passage_language(code, "ko") == "ko"
    assert passage_language(prose, "ko") == "en"
    assert passage_language("한국어 문장이다", "en") == "ko"


@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("배포를 되돌리려면?", "deploy"),
        ("부하 분산은 누가 하나요", "balanc"),
        ("how do we encrypt a backup", "암호"),
        ("payment timeout", "결제"),
    ],
)
def test_a_question_asks_for_the_words_of_the_other_language(question, other):
    assert other in meant(question)
    assert other not in ANALYZER.question(question)[0]


def test_an_entry_of_several_words_needs_all_of_them():
    assert "balanc" not in meant("부하가 높다")


def test_no_term_stands_for_two_phrases_and_the_longer_one_has_it():
    _, rephrasings = ANALYZER.question("부하 분산을 분산하는 load")
    terms = [term for rephrasing in rephrasings for term in {term for way in rephrasing.ways for term in way}]
    assert len(terms) == len(set(terms))
    (phrase,) = (rephrasing for rephrasing in rephrasings if "balanc" in str(rephrasing.ways))
    assert set(phrase.said) == {"부하", "분산"}
    # What the question has itself stands for nothing.
    assert "load" not in terms


def test_every_line_of_the_glossary_has_terms_on_both_sides():
    for korean, english in entries():
        assert all(ANALYZER.terms(word) for word in (*korean, *english)), (korean, english)


@pytest.mark.parametrize(("korean", "english"), [("게이트웨이", "gateway"), ("노드", "node"), ("도커", "docker")])
def test_loanwords_without_a_sound_meet_both_ways(korean, english):
    assert set(ANALYZER.terms(english)) <= meant(f"{korean}에서")
    assert set(ANALYZER.terms(korean)) <= meant(f"the {english}")


def test_no_line_of_the_loanwords_meets_by_its_sound():
    for korean, english in entries("loanwords.txt"):
        for one, other in product(korean, english):
            assert not hangul_skeleton(one) or hangul_skeleton(one) != latin_skeleton(other), (one, other)
