"""How the tokens of services look: what they begin with, and what follows. A service tells its tokens apart by this, so that scanners can."""

from __future__ import annotations

from typing import Final

_WORD, _HEX, _URL, _LOW = "[0-9A-Za-z]", "[0-9a-f]", "[0-9A-Za-z_-]", "[0-9a-z]"
_UUID = rf"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}"

# (beginnings, pattern of the rest).
FORMS: Final[tuple[tuple[str, str], ...]] = (
    # Source code and builds.
    ("ghp_ gho_ ghu_ ghs_ ghr_", rf"{_WORD}{{36,251}}"),
    ("github_pat_", rf"{_WORD}{{22}}_{_WORD}{{59}}"),
    ("glpat- gldt- glrt- glft- glimt- glsoat- glptt- glffct- gloas- glagent-", rf"{_URL}{{20,}}(?:\.[0-9a-z.]+)?"),
    ("glcbt-", rf"(?:{_WORD}{{1,5}}_)?{_URL}{{20,}}"),
    ("ATATT3xFfGF0", r"[0-9A-Za-z_=-]{60,}"),
    ("ATBB", rf"{_WORD}{{32}}"),
    ("CCIPAT_", rf"{_URL}{{40,}}"),
    ("bkua_ sgp_ rubygems_ pul-", rf"(?:{_WORD}+_)?{_HEX}{{40,}}"),
    ("npm_", rf"{_WORD}{{36}}"),
    ("pypi-AgE", rf"{_URL}{{50,}}"),
    ("dckr_pat_ dckr_oat_", rf"{_URL}{{27,}}"),
    ("oy2", r"[0-9a-z]{43}"),
    ("AKCp", rf"{_WORD}{{69}}"),
    ("sntrys_ sntryu_", r"[0-9A-Za-z_=+/-]{40,}"),
    # Clouds and their tools.
    ("AIza", rf"{_URL}{{35}}"),
    ("ya29.", rf"{_URL}{{30,}}"),
    ("GOCSPX-", rf"{_URL}{{28}}"),
    ("1//0", rf"{_URL}{{40,}}"),
    ("dop_v1_ doo_v1_ dor_v1_", rf"{_HEX}{{64}}"),
    ("dapi", rf"{_HEX}{{32}}(?:-\d)?"),
    ("hvs. hvb. hvr.", rf"{_URL}{{24,}}"),
    ("s.", rf"(?=[a-z]*[A-Z])(?=(?:[A-Za-z]*\d){{2}}){_WORD}{{24}}"),
    ("dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", rf"(?:[a-z0-9_-]+\.)?{_WORD}{{40,44}}"),
    ("glsa_", rf"{_WORD}{{32}}_{_HEX}{{8}}"),
    ("glc_", r"eyJ[0-9A-Za-z+/=]{40,}"),
    ("NRAK-", r"[0-9A-Z]{27}"),
    ("nfp_ sbp_ sb_secret_ tskey-auth- tskey-api- pscale_pw_ pscale_tkn_", rf"{_URL}{{30,}}"),
    ("HRKU-", rf"(?:AA{_URL}{{56,62}}|{_UUID})"),
    ("fm1_ fm2_ fm1r_ fm2r_", r"[0-9A-Za-z+/]{60,}={0,2}"),
    ("rnd_", rf"(?=[A-Za-z]*\d){_WORD}{{28,40}}"),
    ("napi_", rf"{_LOW}{{60,70}}"),
    ("dt0c01. dt0s01. dt0s02. dt0s08.", r"[0-9A-Z]{8,24}\.[0-9A-Z]{64}"),
    ("hcaik_ hcbik_ hcamk_ hcaic_", rf"{_LOW}{{58,64}}"),
    ("sdk-", _UUID),
    ("LTAI", rf"{_WORD}{{12,22}}"),
    ("AKID", rf"(?=[A-Za-z]*\d){_WORD}{{32}}"),
    ("AQVN", rf"{_URL}{{35,40}}"),
    ("ncp_iam_", rf"{_WORD}{{30,50}}"),
    ("ops_eyJ", r"[0-9A-Za-z+/_=-]{200,}"),
    # Talk, mail and work.
    ("pat-na1- pat-na2- pat-na3- pat-eu1- pat-ap1-", _UUID),
    ("EAACEdEose0cBA", rf"{_WORD}{{80,}}"),
    ("AAAAAAAAAAAAAAAAAAAAA", r"(?=[0-9A-Za-z]*%[23][0-9A-Fa-f])[0-9A-Za-z%]{60,}"),
    ("sk.eyJ", rf"{_URL}{{40,}}\.{_URL}{{20,}}"),
    ("xox", rf"[abeoprs](?:\.xox[bp])?-(?:{_WORD}+-)+{_WORD}{{10,}}"),
    ("xapp-", rf"\d-[0-9A-Z]+-\d+-{_HEX}{{32,}}"),
    ("SG.", rf"{_URL}{{22}}\.{_URL}{{43}}"),
    ("SK", rf"{_HEX}{{32}}"),
    ("key-", rf"{_HEX}{{32}}"),
    ("lin_api_ figd_", rf"{_URL}{{40,}}"),
    ("ntn_", rf"{_WORD}{{40,}}"),
    ("secret_", rf"(?=[A-Za-z]*\d){_WORD}{{43}}"),
    ("pat", rf"{_WORD}{{14}}\.{_HEX}{{64}}"),
    ("PMAK-", rf"{_HEX}{{24}}-{_HEX}{{34}}"),
    # Money.
    ("sk_live_ sk_test_ rk_live_ rk_test_ live_sk_ test_sk_ live_gsk_ test_gsk_", rf"{_WORD}{{20,}}"),
    ("whsec_", r"[0-9A-Za-z+/]{32,}"),
    ("shpat_ shpca_ shppa_ shpss_", r"[0-9a-fA-F]{32}"),
    ("sq0csp- sq0atp-", rf"{_URL}{{22,}}"),
    ("EAAA", rf"{_URL}{{60}}"),
    # Models.
    ("sk-proj- sk-ant- sk-svcacct- sk-admin- sk-or-", rf"{_URL}{{20,}}"),
    ("sk-", rf"{_WORD}{{48}}"),
    ("hf_", rf"{_WORD}{{34}}"),
    ("gsk_ pplx- xai-", rf"{_WORD}{{48,}}"),
    ("r8_", rf"{_WORD}{{37}}"),
    ("lsv2_", rf"(?:pt|sk)_{_HEX}{{32}}_{_HEX}{{10}}"),
    # Encryption, and this product's own.
    ("AGE-SECRET-KEY-1", r"[0-9A-Z]{58}"),
    ("nxs_", rf"{_URL}{{43}}"),
)
