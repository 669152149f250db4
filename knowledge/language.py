"""The language of a passage, by script. Pure."""

from __future__ import annotations

# Of the letters; Korean engineering text is full of English names.
_KOREAN_SHARE = 0.12


def language_of(text: str) -> str:
    """`ko`, `ja`, `zh` or `en` (which stands for every Latin text, and for text without letters)."""
    hangul = kana = han = letters = 0
    for character in text:
        if character.isalpha():
            letters += 1
            if "가" <= character <= "힣" or "ᄀ" <= character <= "ᇿ" or "ㄱ" <= character <= "ㅣ":
                hangul += 1
            elif "぀" <= character <= "ヿ":
                kana += 1
            elif "一" <= character <= "鿿":
                han += 1
    if letters and hangul >= letters * _KOREAN_SHARE:
        return "ko"
    if letters and kana >= letters * _KOREAN_SHARE:
        return "ja"
    if letters and han >= letters * _KOREAN_SHARE:
        return "zh"
    return "en"
