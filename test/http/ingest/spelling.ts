/** How a value is written as JSON: the order of members, of digits and escapes. All styles of one value mean the same. */
export const STYLES = ["plain", "ornate", "reversed"] as const;
export type Style = (typeof STYLES)[number];

/** A JSON value as text in one of several spellings that jsonb holds equal. */
export function spell(value: unknown, style: Style): string {
  if (typeof value === "number") return spellNumber(JSON.stringify(value), style);
  if (typeof value === "string") return spellText(value, style);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value))
    return `[${value.map((item) => spell(item, style)).join(style === "ornate" ? " , " : ",")}]`;
  const members = Object.entries(value).map(([name, member]) => `${spellText(name, style)}:${spell(member, style)}`);
  return `{${(style === "plain" ? members : members.reverse()).join(",")}}`;
}

function spellNumber(shortest: string, style: Style): string {
  if (style === "plain" || /e/.test(shortest)) return shortest;
  if (style === "ornate") return shortest.includes(".") ? `${shortest}00` : `${shortest}.0`;
  return `${shortest}e0`;
}

function spellText(text: string, style: Style): string {
  if (style !== "ornate") return JSON.stringify(text);
  const escapes = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at).toString(16).padStart(4, "0"));
  return `"${escapes.map((hex) => `\\u${hex}`).join("")}"`;
}

const MINUTES_FROM_UTC: Readonly<Record<Style, number>> = { plain: 0, ornate: 60, reversed: -330 };

/** An instant in milliseconds as a timestamp; the styles differ in offset and fraction. */
export function spellInstant(instant: number, style: Style): string {
  const minutes = MINUTES_FROM_UTC[style];
  if (minutes === 0) return new Date(instant).toISOString();
  const local = new Date(instant + minutes * 60_000).toISOString().replace("Z", "");
  const clock = new Date(Math.abs(minutes) * 60_000).toISOString().slice(11, 16);
  return `${local}000${minutes < 0 ? "-" : "+"}${clock}`;
}
