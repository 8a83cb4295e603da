/**
 * The schema check of payloads for use without a database, with the same results and texts as svc.operation_violations and
 * svc.payload_diagnostics.
 */
import { isIsoDate } from "./snapshot/duration.js";
import type { Field, ScalarType, Snapshot } from "./snapshot/types.js";

const NAME_LENGTH_MAX = 256;

/** The beginning of a text, in characters rather than UTF-16 units. */
function shorten(text: string): string {
  return text.length <= NAME_LENGTH_MAX ? text : [...text].slice(0, NAME_LENGTH_MAX).join("");
}

const PLAIN_KEY = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

/** The path of a member of an object in a payload: `path.key`, or `path["a key"]`; long keys are cut. The same as svc.member_path. */
export function memberPath(path: string, key: string): string {
  const short = shorten(key);
  if (short !== key) return `${path}[${JSON.stringify(`${short}…`)}]`;
  return PLAIN_KEY.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}

/** The number of characters of a value as jsonb text: a space after each comma and colon, and numbers without an exponent. */
export function jsonbLength(value: unknown): number {
  if (typeof value === "number") return decimalLength(value);
  if (typeof value === "string") return [...JSON.stringify(value)].length;
  if (Array.isArray(value)) return listLength(value.map(jsonbLength));
  if (typeof value !== "object" || value === null) return String(value).length;
  const members = Object.entries(value).map(([key, member]) => jsonbLength(key) + 2 + jsonbLength(member));
  return listLength(members);
}

/** The length of a list: the brackets, and ", " between the parts. */
function listLength(parts: number[]): number {
  return 2 + parts.reduce((sum, length) => sum + length, 0) + 2 * Math.max(0, parts.length - 1);
}

function decimalLength(value: number): number {
  // JSON.stringify drops the sign of a negative zero.
  const [digits, exponent] = JSON.stringify(value).split("e");
  if (exponent === undefined) return digits!.length;
  const [integer, fraction = ""] = digits!.split(".");
  const power = Number(exponent);
  // Written out, there are "0." and zeros before the digits, or zeros after them.
  return power < 0 ? integer!.length + fraction.length + 1 - power : integer!.length + power;
}

/** Something in a payload that violates the schema. */
export interface PayloadDiagnostic {
  code:
    | "UNKNOWN_EVENT"
    | "MISSING_REQUIRED_PROPERTY"
    | "INVALID_STRUCTURE"
    | `INVALID_${"PROPERTY" | "TRAIT"}_${"TYPE" | "ENUM"}`
    | `UNKNOWN_${"PROPERTY" | "TRAIT"}`;
  message: string;
  /** The place in the operation, for example `properties.tags[1]`. */
  path: string;
  /** The value at that place; undefined if there is none or it is too long to show. */
  value?: unknown;
  reason: string;
  fix: string;
}

type JsonObject = Readonly<Record<string, unknown>>;

/** The most diagnostics for one operation. */
const DIAGNOSTICS_MAX = 1_000;

/** The longest value that is repeated in a diagnostic, in characters of its JSON. */
const VALUE_LENGTH_MAX = 1_024;

/** Everything that is wrong with an event and its properties: declared fields in the order of their names, then undeclared ones. */
export function eventDiagnostics(snapshot: Snapshot, event: string, properties: JsonObject): PayloadDiagnostic[] {
  if (!Object.hasOwn(snapshot.events, event)) {
    return [
      {
        code: "UNKNOWN_EVENT",
        message: `The event "${event}" is not declared by the active configuration.`,
        path: "event",
        value: event,
        reason: "The active schema is strict and declares no event of this name.",
        fix: "Declare the event in the model and deploy it, or correct its name.",
      },
    ];
  }
  const { properties: fields } = snapshot.events[event]!;
  return diagnostics({ noun: "property", fields, payload: properties, owner: `The event "${event}"` });
}

/** Everything that is wrong with the traits of an identify; null removes a declared trait, whatever its type. */
export function traitDiagnostics(snapshot: Snapshot, traits: JsonObject): PayloadDiagnostic[] {
  return diagnostics({ noun: "trait", fields: snapshot.traits, payload: traits, owner: null });
}

/** The member of an operation that holds the payload. */
const ROOTS = { property: "properties", trait: "traits" };

interface Check {
  noun: keyof typeof ROOTS;
  fields: Readonly<Record<string, Field>>;
  payload: JsonObject;
  /** What declares the fields; null for the configuration. */
  owner: string | null;
}

function diagnostics(check: Check): PayloadDiagnostic[] {
  const { fields, payload } = check;
  const unknown = Object.keys(payload).filter((key) => !Object.hasOwn(fields, key));
  const all = [
    ...byCodePoint(Object.keys(fields)).flatMap((key) => ofField(check, key, fields[key]!)),
    ...byCodePoint(unknown).map((key) => ofUnknown(check, key)),
  ];
  return all.slice(0, DIAGNOSTICS_MAX);
}

function ofField(check: Check, key: string, field: Field): PayloadDiagnostic[] {
  const { noun, payload, owner } = check;
  const path = memberPath(ROOTS[noun], key);
  if (!Object.hasOwn(payload, key)) {
    if (noun === "trait" || field.optional) return [];
    return [
      {
        code: "MISSING_REQUIRED_PROPERTY",
        message: `${owner} requires the property "${shorten(key)}".`,
        path,
        reason: "It is not there.",
        fix: "Send the property, or declare it optional in the model and deploy it.",
      },
    ];
  }
  const value = payload[key];
  if (noun === "trait" && value === null) return [];
  const of = `of the ${noun} "${shorten(key)}"`;
  if (field.type !== "array" || !Array.isArray(value)) {
    return ofValue(check, { subject: `The value ${of}`, path, value, isItem: false }, field);
  }
  return value.flatMap((item: unknown, index) =>
    ofValue(
      check,
      { subject: `Item ${index} ${of}`, path: `${path}[${index}]`, value: item, isItem: true },
      field.items,
    ),
  );
}

function ofUnknown({ noun, payload, owner }: Check, key: string): PayloadDiagnostic {
  return {
    code: noun === "trait" ? "UNKNOWN_TRAIT" : "UNKNOWN_PROPERTY",
    message: `${owner === null ? "The active configuration declares" : `${owner} has`} no ${noun} "${shorten(key)}".`,
    path: memberPath(ROOTS[noun], key),
    ...shown(payload[key]),
    reason: "The active schema is strict and does not declare it.",
    fix: `Declare the ${noun} in the model and deploy it, or do not send it.`,
  };
}

/** A value to check against a declared type: the value of a field, or an item of an array. */
interface Checked {
  /** The beginning of a sentence about the value. */
  subject: string;
  path: string;
  value: unknown;
  isItem: boolean;
}

/** What is wrong with one value: no type allows it, it has the wrong type, or it is not one of the declared values. */
function ofValue(
  { noun }: Check,
  { subject, path, value, isItem }: Checked,
  field: { type: Field["type"]; enum?: string[]; optional?: true },
): PayloadDiagnostic[] {
  const diagnostic = (code: PayloadDiagnostic["code"], message: string, reason: string, fix: string) => [
    { code, message: `${subject} ${message}.`, path, ...shown(value), reason, fix },
  ];
  const NOUN = noun === "trait" ? "TRAIT" : "PROPERTY";
  const actual = jsonType(value);
  if (actual === "object" || (isItem && actual === "array")) {
    const message = `is ${WORDS[actual]}, which no ${isItem ? "item may be" : "declared type is"}`;
    const fix = isItem ? "Send a flat array." : `Send its members as ${ROOTS[noun]} of their own, each declared.`;
    return diagnostic("INVALID_STRUCTURE", message, reasonOf(value, field.type), fix);
  }
  if (!conforms(value, field.type)) {
    const type = WORDS[field.type];
    const once = field.optional === true ? "" : " once it is optional in the model";
    const isNull = value === null && !isItem;
    const other = isNull ? `leave the property out${once}` : "change the type in the model and deploy it";
    const fix = `Send ${type}, or ${other}.`;
    return diagnostic(`INVALID_${NOUN}_TYPE`, `must be ${type}`, reasonOf(value, field.type), fix);
  }
  if (!field.enum || field.enum.includes(value as string)) return [];
  const reason = `Declared are ${choicesInWords(field.enum)}.`;
  const fix = "Send one of them, or add the value in the model and deploy it.";
  return diagnostic(`INVALID_${NOUN}_ENUM`, "must be one of the declared ones", reason, fix);
}

function conforms(value: unknown, type: Field["type"]): boolean {
  return type === "date" ? typeof value === "string" && isIsoDate(value) : jsonType(value) === type;
}

function jsonType(value: unknown): Exclude<ScalarType, "date"> | "array" | "object" | "null" {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value as "string" | "number" | "boolean" | "object";
}

function reasonOf(value: unknown, expected: Field["type"]): string {
  const type = jsonType(value);
  if (type === "null") return "It is null.";
  return type === "string" && expected === "date" ? "It is another text." : `It is ${WORDS[type]}.`;
}

const WORDS: Readonly<Record<Field["type"] | "object", string>> = {
  string: "a text",
  number: "a number",
  boolean: "true or false",
  date: "an ISO 8601 date, or date-time with a zone",
  array: "an array",
  object: "an object",
};

function choicesInWords(choices: readonly string[]): string {
  const first = choices.slice(0, 12).map((choice) => shorten(JSON.stringify(choice)));
  return `${first.join(", ")}${choices.length > 12 ? ", …" : ""}`;
}

function shown(value: unknown): { value?: unknown } {
  return jsonbLength(value) <= VALUE_LENGTH_MAX ? { value } : {};
}

/** Sorts as the database does: by code points, not by UTF-16 units. */
function byCodePoint(keys: string[]): string[] {
  return keys.toSorted((a, b) => Buffer.from(a).compare(Buffer.from(b)));
}
