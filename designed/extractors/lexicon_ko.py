"""Korean verb frames by stem: which particle's noun makes which relation. Pure data.

`O` is `C` where something that the name has is meant (재고 서비스의 재고를).
Roles: `obj` (를), `goal` (에, 에게, 로), `source` (에서, 로부터), `with` (와, 과), `via` (를 통해), `by` (a passive's 로). Codes as in `lexicon_en`.
"""

# ruff: noqa: RUF024  # frames that share a table never change it

from __future__ import annotations

import re
from typing import Final

_CALL = {"obj": "C", "goal": "C"}
_ASK = {"goal": "C", "obj": "C", "source": "C"}
_LOOK = {"obj": "C", "source": "C", "goal": "C", "via": "C"}
_SEND = {"goal": "W", "obj": "p", "via": "W"}
_STORE = {"goal": "W", "source": "", "via": "C"}
_FETCH = {"source": "R", "via": "C", "goal": "", "obj": "O"}
_PUB = {"obj": "p", "goal": "P", "via": "p"}
_SUB = {"obj": "S", "source": "R", "via": "s", "goal": "s"}
_LINK = {"with": "C", "goal": "C", "obj": "C"}

THROUGH: Final = "통하"
# What one is given for having asked: 인증 서비스에서 토큰을 검증받는다.
GRANTED: Final = frozenset(
    {
        "검증받",
        "승인받",
        "인증받",
        "확인받",
        "발급받",
        "배정받",
        "할당받",
        "허가받",
        "인가받",
        "제공받",
        "응답받",
        "회신받",
    }
)
# Who tells them calls: 결제 서비스로부터 결과를 통보받는다.
TOLD: Final = frozenset({"통보받", "통지받", "보고받"})
# Whose passive says the same.
MUTUAL: Final = frozenset({"연동", "통신", "연결", "접속", "연계", "통합"})
# Verbal nouns (호출하다, 호출되다) and verbs.
FRAMES: Final[dict[str, dict[str, str]]] = {
    **dict.fromkeys(("호출", "콜", "call", "invoke", "접근", "방문", "부르", "찌르", "건드리"), _CALL),
    **dict.fromkeys(("요청", "request", "의뢰", "문의", "묻", "물어보"), _ASK),
    **dict.fromkeys(("조회", "질의", "쿼리", "참조", "확인", "검증", "query", "인증", "체크"), _LOOK),
    **dict.fromkeys(
        (
            "전송",
            "송신",
            "전달",
            "발송",
            "재발송",
            "재전송",
            "푸시",
            "전파",
            "포워딩",
            "라우팅",
            "위임",
            "업로드",
            "제출",
            "프록시",
            "보내",
            "내보내",
            "넘기",
            "올리",
            "쌓",
            "넣",
            "보내주",
            "넘겨주",
            "전달해주",
            "send",
            "forward",
            "중계",
            "밀",
            "쏘",
            "흘리",
            "흘려보내",
            "뿌리",
            "건네",
            "보고",
        ),
        _SEND,
    ),
    **dict.fromkeys(("저장", "기록", "적재", "보관", "캐싱", "캐시", "insert", "영속화", "남기"), _STORE),
    # Of stores: Redis를 캐시로 쓴다, 원본은 MongoDB에 둔다.
    "쓰": _STORE | {"obj": "C"},
    "두": {"goal": "d", "obj": "d"},
    **dict.fromkeys(("적용", "도입", "운영", "운용", "채택", "탑재"), {"obj": "d", "goal": "d"}),
    "붙": {"goal": "C"},
    "맡기": {"goal": "C"},
    # Of what somebody else has: 재고 서비스의 재고를 차감한다.
    **dict.fromkeys(("차감", "복구", "갱신", "업데이트", "증가", "예약"), {"obj": "O", "goal": "d", "by": "s"}),
    **dict.fromkeys(("트리거", "실행", "기동", "시작", "trigger"), {"by": "s"}),
    **dict.fromkeys(
        (
            "가져오",
            "읽",
            "불러오",
            "받아오",
            "읽어오",
            "획득",
            "로드",
            "얻",
            "fetch",
            "긁",
            "긁어오",
            "끌어오",
            "내려받",
            "다운로드",
            "당겨오",
        ),
        _FETCH,
    ),
    **dict.fromkeys(("꺼내", "가져가"), {"source": "R", "obj": "s"}),
    # Of what several others have: 상품 서비스와 리뷰 서비스의 데이터를 합친다.
    **dict.fromkeys(("합치", "조합", "결합", "취합", "집계", "모으"), {"source": "R", "obj": "O"}),
    **dict.fromkeys(
        ("발행", "퍼블리시", "publish", "produce", "emit", "송출", "게시", "방출", "생산", "브로드캐스트"), _PUB
    ),
    **dict.fromkeys(
        (
            "구독",
            "subscribe",
            "consume",
            "컨슘",
            "컨슈밍",
            "소비",
            "리슨",
            "리스닝",
            "listen",
            "청취",
            "수신",
            "바라보",
            "듣",
        ),
        _SUB,
    ),
    "폴링": {"obj": "R", "source": "R", "goal": "R", "via": "s"},
    **dict.fromkeys(("기다리", "대기"), {"obj": "s"}),
    **dict.fromkeys(("내", "발생"), {"obj": "p", "goal": "P"}),
    "받": {"obj": "s", "goal": "s", "via": "C"},
    **dict.fromkeys(("처리", "핸들링"), {"obj": "s", "via": "C"}),
    **dict.fromkeys(sorted(GRANTED), {"source": "C", "via": "C"}),
    **dict.fromkeys(sorted(MUTUAL), _LINK),
    **dict.fromkeys(("의존", "종속"), {"goal": "C", "obj": "C"}),
    # A verb that says nothing of a call, done through somebody: 인증 서비스를 통해 로그인한다.
    **dict.fromkeys((THROUGH, "거치", "경유"), {"via": "C", "goal": "d"}),
    **dict.fromkeys(sorted(TOLD), {}),
    **dict.fromkeys(("사용", "이용", "활용"), {"obj": "C"}),
    **dict.fromkeys(("통지", "통보", "알리"), {"goal": "C"}),
}


def written(stem: str) -> str:
    """A pattern for how a stem is written: 가져오 stands in 가져온다 and 가져와."""
    code = ord(stem[-1]) - ord("가")
    if not 0 <= code < 11_172 or code % 28:
        return re.escape(stem)
    # The vowel that a following 어 or 아 melts into: ㅣ ㅕ, ㅗ ㅘ, ㅜ ㅝ, ㅡ ㅓ.
    melted = {20: 6, 8: 9, 13: 14, 18: 4}.get(code // 28 % 21)
    opens = [code] if melted is None else [code, code + (melted - code // 28 % 21) * 28]
    return re.escape(stem[:-1]) + "[" + "".join(f"{chr(ord('가') + o)}-{chr(ord('가') + o + 27)}" for o in opens) + "]"


SUBJECT: Final = frozenset({"이", "가", "께서"})
TOPIC: Final = frozenset({"은", "는", "도", "란", "이란"})
GOAL: Final = frozenset({"에", "에게", "로", "으로", "한테", "에다"})
AWAY: Final = frozenset({"로부터", "으로부터", "에게서", "한테서"})
# What an argument with such a particle is, in place of a noun behind its name.
GIVER: Final = "from"
RECEIVING: Final = frozenset({"수신", "받", "구독", "소비"})
SOURCE: Final = AWAY | {"에서", "부터"}
WITH: Final = frozenset({"와", "과", "랑", "이랑", "하고"})
OBJECT: Final = frozenset({"를", "을"})
# Nouns behind a name's 의 (or behind the name) that leave the service meant: its API, its data.
ASKED: Final = frozenset({"호출", "요청", "의뢰", "문의"})
# What goes from one service to another, and the verbs that it goes with: 요청이 결제 서비스로 나간다.
GOING: Final = frozenset({"요청", "호출", "트래픽", "쿼리", "조회", "콜"})
GOES: Final = frozenset({"가", "나가", "들어가", "흘러가", "향하", "흐르", "날아가"})
OFFERED: Final = frozenset("API 엔드포인트 endpoint 기능 데이터 정보 인터페이스 메서드".split())
TIMES: Final = frozenset({"때", "후", "뒤", "경우", "전", "다음", "시", "직후"})
# Beside a service, and not in it: 게이트웨이 뒤에서.
AROUND: Final = frozenset({"뒤", "뒷단", "앞", "앞단", "밖", "외부", "사이", "간"})
# What is called behind these is no service.
NOT_SERVICE: Final = frozenset(
    "명령 명령어 메서드 메소드 함수 테스트 코드 파일 로그 화면 콘솔 스크립트 빌드 개발자 담당자 팀 운영자 사용자 관리자 고객 배포 장애 설정 재시작 폴더 브랜치 문서".split()
)
# Parts that act for the service whose section it is.
PARTS: Final = frozenset(
    "핸들러 컨슈머 프로듀서 워커 스케줄러 모듈 컴포넌트 배치 리스너 어댑터 컨트롤러 서버 로직 구현체 정책 애플리케이션 앱 프로세스 클라이언트 필터 인터셉터".split()
)
SELVES: Final = frozenset({"서비스", "시스템", "마이크로서비스", "모듈"})
SELF_BEFORE: Final = frozenset({"이", "본", "해당", "저희", "우리"})
# Who does things without being software: a topic of these is nobody's object.
PERSONS: Final = frozenset(
    "사용자 유저 고객 회원 관리자 운영자 개발자 담당자 판매자 구매자 기사 직원 상담원 의사 환자 간호사 플레이어 게이머 사람 팀 우리 저희 누구 본인 점주 라이더 손님 학생 강사 파트너".split()
)
# Stands for the topic named last: 이를, 이 이벤트를, 해당 큐를.
THIS: Final = frozenset({"이", "그", "해당", "이것", "그것", "동일"})
ASYNC: Final = frozenset("이벤트 메시지 메세지 토픽 event message".split())
EVENT_STOP: Final = frozenset(
    "위 아래 도메인 해당 각 모든 이 그 비동기 관련 다른 여러 외부 내부 실패 성공 보상 이런 카프카 kafka 통합 하나의 새 신규 발행 구독 수신 전체 처리 특정 클릭 비즈니스".split()
)
"""Words before 이벤트 that name no event."""
