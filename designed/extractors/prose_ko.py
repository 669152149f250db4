"""placeholder"""
from __future__ import annotations
import re
KO_HINT = re.compile(r"호출|요청|조회|전송|발행|구독|수신|연동|전달|저장|publish|subscribe")
def korean_protocol(text): return ""
def korean_statements(flat, start, end, names, context): return [], None
