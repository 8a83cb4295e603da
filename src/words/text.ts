import { bytesInWords } from "../model/snapshot/limits.js";
import type { Snapshot } from "../model/snapshot/types.js";

/**
 * Control characters, characters that change the direction of text, and invisible ones: printed unescaped, they could rewrite what a
 * terminal shows, or make two names look the same. Joiners (U+200C, U+200D) are allowed: words of some languages, and emoji, need them. So are
 * the style of an emoji or a keycap (U+FE0E, U+FE0F), the variant of a Chinese character (U+E0100 to U+E01EF) and the letters of a region's
 * flag (U+E0061 to U+E007F), each only after the character that it modifies.
 */
export const UNPRINTABLE = new RegExp(
  [
    String.raw`[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164]`,
    String.raw`[\ufe00-\ufe0d\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0060}\u{e007b}-\u{e007e}\u{e0080}-\u{e00ff}\u{e01f0}-\u{e0fff}]`,
    String.raw`[\ufe0e\ufe0f](?!(?<=\p{Extended_Pictographic}.)|(?<=[#*\d].)\u20e3)`,
    String.raw`[\u{e0100}-\u{e01ef}](?<!\p{Script=Han}.)`,
    String.raw`[\u{e0061}-\u{e007a}\u{e007f}](?<!\u{1f3f4}[\u{e0061}-\u{e007a}]{0,5}.)`,
  ].join("|"),
  "gu",
);

/** Makes untrusted text safe to show on a terminal: unprintable characters are escaped. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, escaped);
}

function escaped(character: string): string {
  const code = character.codePointAt(0)!.toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
}

const formats = new Map<string | undefined, Intl.DateTimeFormat>();

function zoned(timeZone: string | undefined): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const digits = "2-digit";
  const time = { hour: digits, minute: digits, second: digits, hourCycle: "h23", timeZoneName: "longOffset" } as const;
  const format = new Intl.DateTimeFormat("en-GB", { timeZone, year: "numeric", month: digits, day: digits, ...time });
  formats.set(timeZone, format);
  return format;
}

/** Makes a text a sentence, with a capital letter and a period, unless it is one already. */
export function sentence(text: string): string {
  // A name such as `svc.config.ts` or an address keeps its first letter.
  const shown = printable(text.trim()).replace(/^[a-z](?=[a-z]*(?:[ ,]|:(?!\/)))/, (letter) => letter.toUpperCase());
  return /[.?!…]$/.test(shown) ? shown : `${shown}.`;
}

/** An instant in the local zone, with its offset: `2026-03-02 11:00:00 +01:00`. A text that is not an instant is returned as it is. */
export function localTime(iso: string, timeZone: string | undefined): string {
  const instant = new Date(iso);
  if (Number.isNaN(instant.getTime())) return printable(iso);
  const part = Object.fromEntries(
    zoned(timeZone)
      .formatToParts(instant)
      .map(({ type, value }) => [type, value]),
  );
  const offset = (part["timeZoneName"] ?? "").replace("GMT", "") || "+00:00";
  return `${part["year"]?.padStart(4, "0")}-${part["month"]}-${part["day"]} ${part["hour"]}:${part["minute"]}:${part["second"]} ${offset}`;
}

const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
] as const;

/** The distance of an instant from now, in the largest unit that fits: `12 days ago`, `in 3 hours`, `now`. */
export function distance(iso: string, now: number): string {
  const milliseconds = new Date(iso).getTime() - now;
  const words = span(Math.abs(milliseconds));
  if (words === null) return "now";
  return milliseconds < 0 ? `${words} ago` : `in ${words}`;
}

/** A length of time in the largest unit that fits: `12 days`; null if it is less than a second. */
export function span(milliseconds: number): string | null {
  const unit = UNITS.find(([, length]) => milliseconds >= length);
  return unit === undefined ? null : plural(Math.floor(milliseconds / unit[1]), unit[0]);
}

/** A length of time, given in seconds, rounded to the largest unit of which it has one or at least two: `36 hours`, `2 days`; empty for null. */
export function secondsInWords(seconds: number | null): string {
  if (seconds === null) return "";
  if (seconds < 1) return "under a second";
  const [unit, length] =
    UNITS.find(([, one]) => {
      const tenths = Math.round((seconds * 10_000) / one);
      return tenths === 10 || tenths >= 20;
    }) ?? UNITS.at(-1)!;
  return plural(Math.round((seconds * 1000) / length), unit);
}

/** `1 day`, `2 days`, `1,200 events`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`;
}

/** Joins the non-empty parts of a text with an empty line between them. */
export function paragraphs(parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n\n");
}

/** The cause of a change, such as `event evt_1` or `timer`. */
export function causeInWords({ type, id }: { type: string; id: string | null }): string {
  return id === null ? type : `${type} ${id}`;
}

/** The metadata of an emission; changes of the lifecycle or the health band are shown as `before → after`. */
export function metadataInWords(metadata: Record<string, unknown>): string {
  const { previous_lifecycle, new_lifecycle, previous_band, new_band, ...rest } = metadata;
  const changes = [changeInWords(previous_lifecycle, new_lifecycle), changeInWords(previous_band, new_band)];
  const others = Object.entries(rest).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return [...changes.filter((change) => change !== null), ...others].join(", ");
}

function changeInWords(before: unknown, after: unknown): string | null {
  if (typeof after !== "string") return null;
  return typeof before === "string" ? `${before} → ${after}` : after;
}

/**
 * The details of an audit log entry in one line: `email: "bob@example.com", role: "viewer"`; a change is shown as
 * `viewer, before administrator`. Null and empty values are omitted.
 */
export function detailsInWords(details: object): string {
  const { before, after, ...others } = details as { before?: string; after?: string };
  const change = after === undefined ? [] : [`${after}, before ${before}`];
  const listed = Object.entries(others)
    .filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return [...listed, ...change].join(", ");
}

/** The name of a member as a title: `lastSeenAt` becomes `Last seen at`. */
export function titleOf(name: string): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A number with separators: `60,000`. */
export function formatNumber(value: number): string {
  return value.toLocaleString("en-US");
}

/** A share between 0 and 1 in percent: `99.9 %`. It is `0 %` and `100 %` only if that is exact. */
export function percent(share: number): string {
  const rounded = Number((share * 100).toFixed(1));
  if (rounded === 0 && share > 0) return "under 0.1 %";
  if (rounded === 100 && share < 1) return "over 99.9 %";
  return `${rounded} %`;
}

/** Quotes a word for a shell if necessary. */
export function shellWord(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${printable(word).replaceAll("'", `'\\''`)}'`;
}

/** Whether a value is one word of printable ASCII, as tokens and ids are, which can be sent in a header. */
export function isWord(value: unknown): value is string {
  return typeof value === "string" && /^[\x21-\x7e]+$/.test(value);
}

/** Parses a JSON text; undefined if it is not JSON, for callers that report this themselves. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a value is a JSON object, not an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A text as a string literal of JavaScript, TypeScript and Python; invisible characters, and those that change the direction of text, are escaped. */
export function quoted(text: string): string {
  return JSON.stringify(text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (shown) => shown.split("").map(escaped).join(""));
}

/** The numbers of a model's parts, in one line. */
export function summary({ events, traits, lifecycle, journeys, segments, health, rules, signals }: Snapshot): string {
  const parts: [count: number, what: string][] = [
    [Object.keys(events).length, "event"],
    [Object.keys(traits).length, "trait"],
    [lifecycle?.states.length ?? 0, "lifecycle state"],
    [journeys.length, "journey"],
    [segments.length, "segment"],
    [health?.components.length ?? 0, "health component"],
    [rules.length, "rule"],
    [signals.length, "signal"],
  ];
  const present = parts.filter(([count]) => count > 0);
  return present.length === 0 ? "an empty model" : present.map(([count, what]) => plural(count, what)).join(", ");
}

/** The largest size of one customer's state, as a sentence. */
export function stateSize(bytes: number): string {
  return `State of one customer: at most ${bytesInWords(bytes)}.`;
}
