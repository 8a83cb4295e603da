import type { Field, Snapshot } from "../../../model/snapshot/types.js";
import { fromTemplate } from "../../core/package.js";
import { quoted } from "../../output/text.js";

/** How each file with types begins; by it a file is known as one that may be replaced. */
export const HEADER = "// Events and traits that the service takes";

const NOT_STRICT = "\n// The model is not strict: what is not declared is taken as well, and counted as a violation.\n";

/** TypeScript of what a model takes, for code that sends it. The same model gives the same text. */
export function typesOf({ events, traits, strictSchema }: Snapshot): string {
  const ofEvents = sorted(events).map(([name, { properties }]) => `${key(name)}: ${propertiesOf(properties)}`);
  const ofTraits = sorted(traits).map(([name, field]) => `${key(name)}?: ${typeOf(field)} | null`);
  const types = fromTemplate("types.txt", { EVENTS: members(ofEvents), TRAITS: members(ofTraits) });
  return strictSchema ? types : types + NOT_STRICT;
}

function propertiesOf(properties: Readonly<Record<string, Field>>): string {
  const fields = sorted(properties);
  // Not {}, which anything fits.
  if (fields.length === 0) return "Record<string, never>";
  const shown = fields.map(([name, field]) => `${key(name)}${field.optional === true ? "?" : ""}: ${typeOf(field)}`);
  return `{ ${shown.join("; ")} }`;
}

function typeOf(field: Field): string {
  if (field.type === "array") {
    const item = typeOf(field.items);
    return item.includes(" | ") ? `(${item})[]` : `${item}[]`;
  }
  if (field.type === "date") return "IsoDate";
  const choices = field.type === "string" ? field.enum : undefined;
  return choices === undefined ? field.type : choices.map(quoted).join(" | ");
}

/** One per line, or nothing between the braces. */
function members(lines: readonly string[]): string {
  return lines.length === 0 ? "{}" : `{\n${lines.map((line) => `  ${line};`).join("\n")}\n}`;
}

function sorted<T>(record: Readonly<Record<string, T>>): [string, T][] {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
}

function key(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name);
}
