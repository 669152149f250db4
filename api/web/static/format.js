// Numbers and times as people read them.
import {language, t} from "/static/i18n.js";

export const volume = (n) => (n ? new Intl.NumberFormat(language(), {notation: "compact", maximumFractionDigits: 1}).format(n) : "0");
export const number = (n) => new Intl.NumberFormat(language()).format(n);
// A count with its noun, of which one is not said as several: the keys of both words.
export const many = (n, one, several) => `${number(n)} ${t(n === 1 ? one : several)}`;
export const percent = (part, whole) => (whole ? new Intl.NumberFormat(language(), {style: "percent", maximumFractionDigits: part && part / whole < 0.01 ? 2 : 1}).format(part / whole) : "–");
export const time = (text) => (text ? new Date(text).toLocaleString(language(), {dateStyle: "medium", timeStyle: "short"}) : "–");
export const ms = (value) => (value === null || value === undefined ? "–" : value >= 1000 ? `${(value / 1000).toFixed(2)} s` : `${value.toPrecision(3)} ms`);

const HOURS = {"1h": 1, "24h": 24, "7d": 168, "28d": 672};
export const since = (range) => (HOURS[range] ? new Date(Date.now() - HOURS[range] * 3_600_000).toISOString() : "");

export function latency(summary) {
  return summary && summary.count ? `p50 ${ms(summary.p50)} · p95 ${ms(summary.p95)} · p99 ${ms(summary.p99)} (${many(summary.count, "sample", "samples")})` : "";
}
