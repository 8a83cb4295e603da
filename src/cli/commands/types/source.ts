import type { Field, Snapshot } from "../../../model/snapshot/types.js";

/** How each file with types begins; by it a file is known as one that may be replaced. */
export const HEADER = "// Events and traits that the service takes";

/** TypeScript of what a model takes, for code that sends it. The same model gives the same text. */
export function typesOf({ events, traits, strictSchema }: Snapshot): string {
  return `/** An ISO 8601 date, or date-time with a zone. */
export type IsoDate = string;

/** The properties of each event, by its name. */
export interface Events ${members(sorted(events).map(([name, { properties }]) => `${key(name)}: ${propertiesOf(properties)}`))}

export type EventName = keyof Events;

/** What may be known of a customer. Null removes a trait. */
export interface Traits ${members(sorted(traits).map(([name, field]) => `${key(name)}?: ${typeOf(field)} | null`))}

/** What the model declares, for the client: \`createClient<Schema>(…)\` of "svc/client". */
export interface Schema {
  events: Events;
  traits: Traits;
}

/** A track operation, as \`POST /v1/events\` and \`POST /v1/events/batch\` take it. */
export type Track<Name extends EventName = EventName> = {
  [N in Name]: {
    type?: "track";
    /** The customer's id in your system; at most 256 characters. */
    customerId: string;
    event: N;
    /** When it happened: a date-time with a zone. Now, unless given. */
    timestamp?: string;
    /** Makes sending it again harmless; at most 256 characters. */
    idempotencyKey?: string;
  } & (Record<never, never> extends Events[N] ? { properties?: Events[N] } : { properties: Events[N] });
}[Name];

/** An identify operation, as \`POST /v1/events/batch\` takes it. */
export interface Identify {
  type: "identify";
  customerId: string;
  traits: Traits;
}

/** What a batch is made of. */
export type Operation = Track | Identify;
${
  strictSchema
    ? ""
    : `
// The model is not strict: what is not declared is taken as well, and counted as a violation.
`
}`;
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

/** A text as TypeScript writes it; what cannot be seen, or changes the direction of what follows, as an escape. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    character
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}
