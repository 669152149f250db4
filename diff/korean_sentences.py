"""What kinds say in English beside the same in Korean, with the same holes; diff/korean.py says how they are read.

An English sentence is a pattern: a count of one and one of several are both its own (diff/counts.py), and so are the words of runs
that were stored before counts of one were said as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

SENTENCES: Final[Sequence[tuple[str, str]]] = (
    # Counts and places.
    ("{n} calls?", "호출 {n}회"),
    ("{n} messages?", "메시지 {n}건"),
    ("{doc}, line {n}", "{doc} {n}행"),
    ("more than 1 call in {n} requests", "요청 {n}건당 1회를 넘는 호출"),
    ("activity on more than 1 day in {n}", "{n}일 중 1일을 넘는 활동"),
    ("nothing about requests", "요청에 대해서는 아무것도"),
    ("nothing about days", "날짜에 대해서는 아무것도"),
    ("rules out {A}, and {B}", "{A:과} {B:을} 배제합니다"),
    # Absence.
    ("nothing in {m} requests? on {b} days?, which {R}", "{b}일 동안 요청 {m}건에서 한 번도 없었고, 이는 {R}"),
    (
        "none of {n} scheduled firings? \\({s}\\) was seen; missing them all by chance: {p}",
        "예정된 실행 {n}회({s}) 중 한 번도 관측되지 않았으며, 우연히 모두 놓칠 확률은 {p}입니다",
    ),
    (
        "{n} scheduled firings? \\({s}\\) at a sampling ratio of {r} can all be missed \\(chance {p}\\)",
        "예정된 실행 {n}회({s})는 샘플링 비율 {r}에서 모두 놓칠 수 있습니다(확률 {p})",
    ),
    (
        "last seen on {d}; active on {a} of {n} days? before, so {s} silent days? (?:is|are) within its rhythm",
        "{d}에 마지막으로 관측되었고, 그 전 {n}일 중 {a}일에 활동했으므로 침묵 {s}일은 평소 주기 안에 있습니다",
    ),
    (
        "last seen on {d}; active on {a} of {n} days? before, silent on {s} since \\(chance {p}\\); {new} appeared on {b} with the same neighbours, and may be its new name",
        "{d}에 마지막으로 관측되었고, 그 전 {n}일 중 {a}일에 활동했으며 이후 {s}일 동안 침묵했습니다(확률 {p}). {b}에 같은 이웃을 가진 {new:이} 나타났으므로 새 이름일 수 있습니다",
    ),
    (
        "last seen on {d}; active on {a} of {n} days? before, silent on {s} since \\(chance {p}\\)",
        "{d}에 마지막으로 관측되었고, 그 전 {n}일 중 {a}일에 활동했으며 이후 {s}일 동안 침묵했습니다(확률 {p})",
    ),
    (
        "last seen on {d}; since it fell silent, {n} calls? a day of {s} names? no target \\({b} before\\), and may be (?:these|this one)",
        "{d}에 마지막으로 관측되었고, 침묵한 뒤로 {s}의 호출 중 하루 {n}회가 대상을 밝히지 않으므로(이전 {b}회) 이 호출일 수 있습니다",
    ),
    (
        "last seen on {d}; since it fell silent, {n} requests? a day of {s} (?:is|are) seen \\({b} before\\), which makes {e} calls to be expected",
        "{d}에 마지막으로 관측되었고, 침묵한 뒤로 {s}의 요청은 하루 {n}건만 관측되어(이전 {b}건) 예상되는 호출은 {e}회뿐입니다",
    ),
    (
        "no other {W} of {s} is visible in traces, so this one would not be either",
        "{s}의 다른 {W:이} 트레이스에 보이지 않으므로 이것도 보이지 않습니다",
    ),
    (
        "the traces are tail-sampled: what was kept says nothing of what was not",
        "트레이스가 테일 샘플링되어, 남은 것으로는 남지 않은 것을 알 수 없습니다",
    ),
    (
        "the document speaks of {e}, where no span of {s} was seen",
        "문서는 {e} 환경을 다루는데, 그곳에서는 {s}의 스팬이 관측되지 않았습니다",
    ),
    ("send traces of {s} in {e}", "{e} 환경에서 {s}의 트레이스를 보내십시오"),
    ("the document speaks of {a}, this report of {b}", "문서는 {a} 환경을, 이 보고서는 {b} 환경을 다룹니다"),
    (
        "the document makes it conditional, and traces do not show whether the condition ever held",
        "문서가 조건을 달았고, 그 조건이 성립한 적이 있는지는 트레이스로 알 수 없습니다",
    ),
    ("several things have that name: {s}", "같은 이름이 여럿 있습니다: {s}"),
    ("the registry does not know that name: {s}", "레지스트리에 없는 이름입니다: {s}"),
    (
        "no span of {s} in the window, of which {n} days? could not be read",
        "기간 중 {n}일을 읽지 못했고, {s}의 스팬이 없습니다",
    ),
    ("no span of {s} in the window", "기간 안에 {s}의 스팬이 없습니다"),
    (
        "no message on {t} was seen in {n} days?, so there was no occasion",
        "{n}일 동안 {t}의 메시지가 관측되지 않아 기회가 없었습니다",
    ),
    (
        "{s} handled no request in {n} days?, so there was no occasion",
        "{n}일 동안 {s:이} 처리한 요청이 없어 기회가 없었습니다",
    ),
    (
        "nothing says how {t} looks in traces \\(several things have that name\\)",
        "{t:이} 트레이스에 어떻게 나타나는지 알 수 없습니다(같은 이름이 여럿 있음)",
    ),
    ("nothing says how {t} looks in traces", "{t:이} 트레이스에 어떻게 나타나는지 알 수 없습니다"),
    ("only {p} of such calls of {s} name their target", "{s}의 그런 호출 중 {p}만 대상을 밝힙니다"),
    (
        "{s} may reach it through {h}, which passes calls on without their trace",
        "{s:이} {h:을} 거쳐 호출할 수 있으며, 그 호스트는 트레이스를 잇지 않고 호출을 넘깁니다",
    ),
    (
        "pass the trace context through {h}, or say in entities.yaml which service it is",
        "{h:이} 트레이스 컨텍스트를 넘기게 하거나, 어느 서비스인지 entities.yaml에 적으십시오",
    ),
    ("it may be the unmapped host {h}, which {s} calls", "{s:이} 호출하는 미등록 호스트 {h}일 수 있습니다"),
    (
        "{n} of the days could not be read completely; in the rest {R}",
        "{n}일을 온전히 읽지 못했고, 나머지에서는 {R}",
    ),
    ("{n} of the days could not be read completely; the rest {R}", "{n}일을 온전히 읽지 못했고, 나머지는 {R}"),
    (
        "it is not known how the traces are sampled, so their silence decides nothing; if all were kept it {R}",
        "샘플링 방식을 알 수 없어 침묵만으로는 결정할 수 없습니다. 모두 남았다면 {R}",
    ),
    ("it is not known how the traces are sampled", "샘플링 방식을 알 수 없습니다"),
    ("the document calls it deprecated, and it was not seen", "문서가 폐기되었다고 하며, 관측되지 않았습니다"),
    ("the document calls it planned, and it was not seen", "문서가 계획 중이라고 하며, 관측되지 않았습니다"),
    # Presence.
    ("seen in {C}", "{C:이} 관측되었습니다"),
    ("{C} on {n} days?, {k} independent sightings?", "{n}일에 걸쳐 {C}, 독립 관측 {k}건입니다"),
    ("{C} so far", "지금까지 {C}입니다"),
    ("{C} since {d}", "{d}부터 {C}입니다"),
    ("{C} only in version {v}", "버전 {v}에서만 {C}입니다"),
    ("{C} to addresses that no name is known for", "이름을 알 수 없는 주소로 {C}입니다"),
    ("{C}, telemetry or health checks", "{C}이며, 텔레메트리나 헬스 체크입니다"),
    ("{C}, active on {a} of {n} days?", "{C}, {n}일 중 {a}일에 활동했습니다"),
    ("{C} to {t}", "{t:으로} {C}입니다"),
    # Conflicts.
    (
        "{Q} forbids it, and it was seen in {C} by {k} independent sightings?",
        "{Q:이} 금지하지만 {C}, 독립 관측 {k}건이 있었습니다",
    ),
    ("{Q} reserves {t} for {s}, but {o} used it in {C}", "{Q:은} {t:을} {s} 전용으로 두지만, {o:이} 사용했습니다({C})"),
    (
        "{Q} wants {g} between, but {o} called directly in {C}",
        "{Q:은} {g:을} 거치라고 하지만, {o:이} 직접 호출했습니다({C})",
    ),
    (
        "{Q} says that {s} depends on {t}, but it is the other way round \\({C}, none as documented\\)",
        "{Q:은} {s:이} {t}에 의존한다고 하지만 실제는 반대입니다({C}, 문서의 방향은 없음)",
    ),
    ("{Q} says {a}, but {o} of {n} calls? (?:is|are) {b}", "{Q:은} {a:이라} 하지만, 호출 {n}회 중 {o}회가 {b}입니다"),
    ("{Q} names {a}, but the messages go through {b}", "{Q:은} {a:을} 들지만 메시지는 {b:으로} 오갑니다"),
    ("{Q} names {a}, but the one call is to {b}", "{Q:은} {a:을} 들지만 하나뿐인 호출이 {b:으로} 갑니다"),
    ("{Q} names {a}, but all {n} calls are to {b}", "{Q:은} {a:을} 들지만 호출 {n}회가 모두 {b:으로} 갑니다"),
    (
        "{Q} documents it through a channel, but all contact is by waiting calls \\({C}\\)",
        "{Q:은} 채널을 통한다고 하지만 모든 통신이 응답을 기다리는 호출입니다({C})",
    ),
    (
        "{Q} documents it as a call, but all contact is by messages through {v} \\({C}\\)",
        "{Q:은} 호출이라고 하지만 모든 통신이 {v:을} 통한 메시지입니다({C})",
    ),
    (
        "{Q} documents it as a call, but all contact is by messages \\({C}\\)",
        "{Q:은} 호출이라고 하지만 모든 통신이 메시지입니다({C})",
    ),
    ("documented as deprecated, but seen in {C}", "문서에는 폐기로 적혀 있지만 {C:이} 관측되었습니다"),
    ("documented as planned, but seen in {C}", "문서에는 계획으로 적혀 있지만 {C:이} 관측되었습니다"),
    ("{A} says that it exists, {B} forbids it", "{A:은} 있다고 하고 {B:은} 금지합니다"),
    ("{A} says that it exists, {B} calls it deprecated", "{A:은} 있다고 하고 {B:은} 폐기되었다고 합니다"),
    ("{A} promises {m} {x}, {B} {y}", "{A:은} {m} {x:을}, {B:은} {y:을} 약속합니다"),
    ("documented as read-only, but {o} was seen in {C}", "읽기 전용으로 적혀 있지만 {o} {C:이} 관측되었습니다"),
    (
        "at most {x} per request are documented; {C} \\({n} without retries\\) came from {r} requests?, {m} each",
        "요청당 최대 {x}회라고 적혀 있지만, 요청 {r}건에서 {C}(재시도 제외 {n}회), 요청당 {m}회가 나왔습니다",
    ),
    (
        "declared as {s}, but active in {a} of {n} hours? outside of it, first {d}",
        "{s:으로} 선언되었지만 활동한 {n}시간 중 {a}시간이 일정 밖입니다(처음 {d})",
    ),
    (
        "{p} < {x} ms: {O}, {l} to {u} of {n} calls? took longer \\(allowed {w}\\)",
        "{p} < {x} ms: {O}, 호출 {n}회 중 {l}~{u:이} 더 오래 걸렸습니다(허용 {w})",
    ),
    (
        "success {w}: {O}, {e} of {n} calls? failed \\({l} to {u}\\)",
        "성공률 {w}: {O}, 호출 {n}회 중 {e}회가 실패했습니다({l}~{u})",
    ),
    # What would change it.
    ("one call in a trace, or a corrected document", "트레이스의 호출 한 번, 또는 문서 수정"),
    ("one firing in a trace, or a corrected document", "트레이스의 실행 한 번, 또는 문서 수정"),
    ("one more sighting", "관측 한 번"),
    ("one call in a trace", "트레이스의 호출 한 번"),
    ("a first call in a trace", "트레이스의 첫 호출"),
    ("for a decision: {X}", "결정하려면 {X}"),
    ("{n} more silent days?", "침묵 {n}일 추가"),
    ("one sighting, or {n} more silent days?", "관측 한 번, 또는 침묵 {n}일 추가"),
    ("its silence over its own rhythm, after {d}", "{d} 이후 평소 주기를 넘는 침묵"),
    (
        "instrument the {W}s of {s}, or show one of them in a trace",
        "{s}의 {W:을} 계측하거나 트레이스로 하나를 보여 주십시오",
    ),
    ("keep a head-sampled share of the traces", "일부를 헤드 샘플링으로 남기십시오"),
    ("run the diff for {e}", "{e} 환경으로 비교를 실행하십시오"),
    ("exercise the condition, or say when it holds", "조건을 실행하거나 언제 성립하는지 적으십시오"),
    (
        "declare {s} \\(or the name it has in traces\\) in entities.yaml",
        "{s:을}(또는 트레이스에서 쓰는 이름을) entities.yaml에 등록하십시오",
    ),
    ("declare {t} and its host names in entities.yaml", "{t:과} 그 호스트 이름을 entities.yaml에 등록하십시오"),
    ("send traces of {s}, or remove it from the documents", "{s}의 트레이스를 보내거나 문서에서 지우십시오"),
    ("read the missing ranges again", "빠진 구간을 다시 읽으십시오"),
    ("wait for traffic", "트래픽을 기다리십시오"),
    (
        "make the callee's name visible \\(server.address, service.peer.name\\)",
        "대상의 이름이 보이게 하십시오(server.address, service.peer.name)",
    ),
    (
        "have {t} send its spans, or name it in those calls \\(server.address, service.peer.name\\)",
        "{t:이} 스팬을 보내게 하거나 그 호출에 이름을 남기십시오(server.address, service.peer.name)",
    ),
    ("say in entities.yaml whether {a} is {b}", "{a:이} {b}인지 entities.yaml에 적으십시오"),
    (
        "more of the requests of {s}: less sampling, or a longer silence",
        "{s}의 요청이 더 보이도록 샘플링을 늘리거나, 더 긴 침묵",
    ),
    (
        "say how traces are sampled \\(NEXUS_DIFF__SAMPLING=none or head\\), or send tracestate probabilities",
        "샘플링 방식을 설정하거나(NEXUS_DIFF__SAMPLING=none 또는 head) tracestate로 확률을 보내십시오",
    ),
    ("say how traces are sampled \\(NEXUS_DIFF__SAMPLING\\)", "샘플링 방식을 설정하십시오(NEXUS_DIFF__SAMPLING)"),
    ("a sampling ratio of {r} would decide", "샘플링 비율 {r}이면 결정됩니다"),
    ("a longer history would decide", "이력이 더 길면 결정됩니다"),
    ("{A} and {B} of {s} without it would decide", "{s}에서 이 관계 없이 {A:과} {B:이} 더 쌓이면 결정됩니다"),
    ("{A} of {s} without it would decide", "{s}에서 이 관계 없이 {A:이} 더 쌓이면 결정됩니다"),
    ("{n} more requests?", "요청 {n}건"),
    ("{n} more covered days?", "관측된 날 {n}일"),
    (
        "{n} independent sightings? \\(instance x hour\\), there (?:is|are) {k}",
        "독립 관측(인스턴스 x 시간) {n}건이 필요하고 현재 {k}건",
    ),
    ("{n} different hours?, there (?:is|are) {k}", "서로 다른 시간대 {n}개가 필요하고 현재 {k}개"),
    ("{n} different hours?", "서로 다른 시간대 {n}개"),
    ("{n} traces?, there (?:is|are) {k}", "트레이스 {n}개가 필요하고 현재 {k}개"),
    ("both ends placed in the registry and seen in traces", "양쪽 끝이 레지스트리에 있고 트레이스에 보일 것"),
    ("a share of at least {p} \\(lower bound\\), it is {k}", "최소 {p}의 비중(하한)이 필요하고 현재 {k}"),
    (
        "a share of at least {p} \\(lower bound\\), {n} calls? gives? {k}",
        "최소 {p}의 비중(하한)이 필요하고 호출 {n}회로는 {k}",
    ),
    ("{n} calls? without {w}, there (?:is|are) {k}", "{w} 없는 호출 {n}회가 필요하고 현재 {k}회"),
    ("no more calls, or another rule", "호출 중단, 또는 규칙 변경"),
    ("no more calls of others, or another rule", "다른 서비스의 호출 중단, 또는 규칙 변경"),
    ("no more direct calls, or another rule", "직접 호출 중단, 또는 규칙 변경"),
    ("no more calls", "호출 중단"),
    ("a document that says it is there", "이미 있다고 적은 문서"),
    ("one of the two documents corrected", "두 문서 중 하나의 수정"),
    ("a document that names it, or an alias in the registry", "이름을 적은 문서, 또는 레지스트리의 별칭"),
    ("a document that names it", "이름을 적은 문서"),
    ("a document, or its end", "문서, 또는 종료"),
    ("a document", "문서"),
    ("fewer calls, or another limit", "호출 감소, 또는 한도 변경"),
    ("faster calls, or another promise", "더 빠른 호출, 또는 약속 변경"),
    ("fewer errors, or another promise", "오류 감소, 또는 약속 변경"),
    ("no more writes, or a corrected document", "쓰기 중단, 또는 문서 수정"),
    ("activity on schedule only, or a corrected one", "일정에 맞는 활동, 또는 일정 수정"),
    ("a call in the documented direction, or a corrected document", "문서 방향의 호출, 또는 문서 수정"),
    ("a call in a trace, or a corrected document", "트레이스의 호출 한 번, 또는 문서 수정"),
    ("a message in a trace, or a corrected document", "트레이스의 메시지 한 건, 또는 문서 수정"),
    ("a message on {h}, or a corrected document", "{h}의 메시지, 또는 문서 수정"),
    ("a call to {o}, or a corrected document", "{o} 호출, 또는 문서 수정"),
    ("calls over {p}, or a corrected document", "{p} 호출, 또는 문서 수정"),
    # Nouns.
    ("{f} publication", "{f} 발행"),
    ("{f} subscription", "{f} 구독"),
    ("{f} database call", "{f} 데이터베이스 호출"),
    ("{f} call", "{f} 호출"),
    ("publication", "발행"),
    ("subscription", "구독"),
    ("database call", "데이터베이스 호출"),
    ("call", "호출"),
    ("violated", "위반"),
    ("met", "충족"),
    ("inconclusive", "판단 불가"),
    (
        "It was not found in this run, and resolves if the next day agrees.",
        "이번 실행에서는 발견되지 않았으며, 다음 날도 그러면 해결됩니다.",
    ),
)
