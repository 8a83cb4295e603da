import type { Field } from "../../../model/snapshot/types.js";
import { quoted } from "../../output/text.js";

/** How calls of the client are written in a language. */
export interface Language {
  /** Of blocks in Markdown. */
  name: "js" | "python";
  comment: string;
  /** A call of `track` for `record`, which has `accountId`, `id` and `createdAt`, in lines. */
  track(event: string, properties: Readonly<Record<string, Field>>): string[];
  /** A call of `identify`, in lines. */
  identify(traits: Readonly<Record<string, Field>>): string[];
}

export const JAVASCRIPT: Language = {
  name: "js",
  comment: "//",
  track: (event, properties) => [
    "svc.track({",
    "  customerId: record.accountId,",
    `  event: ${quoted(event)},`,
    ...objectOf("  properties: ", properties, JAVASCRIPT, "  "),
    "  timestamp: record.createdAt,",
    `  idempotencyKey: \`${keyOf(event).replace(/[\\`]|\$(?=\{)/g, "\\$&")}/\${record.id}\`,`,
    "});",
  ],
  identify: (traits) => [
    "svc.identify({",
    "  customerId: account.id,",
    ...objectOf("  traits: ", traits, JAVASCRIPT, "  "),
    "});",
  ],
};

export const PYTHON: Language = {
  name: "python",
  comment: "#",
  track: (event, properties) => [
    "svc().track(",
    "    record.account_id,",
    `    ${quoted(event)},`,
    ...objectOf("    properties=", properties, PYTHON, "    "),
    "    timestamp=record.created_at,",
    `    idempotency_key=${quoted(keyOf(event))} + f"/{record.id}",`,
    ")",
  ],
  identify: (traits) => ["svc().identify(", "    account.id,", ...objectOf("    ", traits, PYTHON, "    "), ")"],
};

/** An object with all of the fields, in lines; nothing where there are none. */
function objectOf(
  head: string,
  fields: Readonly<Record<string, Field>>,
  language: Language,
  indentation: string,
): string[] {
  const lines = Object.entries(fields).map(([name, field]) => {
    const key = language === JAVASCRIPT && /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name);
    const note = noteOf(field);
    const inner = indentation + " ".repeat(indentation.length);
    return `${inner}${key}: ${valueOf(field, language)},${note === "" ? "" : ` ${language.comment} ${note}`}`;
  });
  return lines.length === 0 ? [] : [`${head}{`, ...lines, `${indentation}},`];
}

const CHOICES_SHOWN = 8;

/** What else the value may be. */
function noteOf(field: Field): string {
  const { type, enum: choices } = field.type === "array" ? field.items : { enum: undefined, ...field };
  const shown = (choices ?? []).slice(0, CHOICES_SHOWN).map(quoted);
  const rest = (choices?.length ?? 0) - shown.length;
  return [
    ...(field.optional === true ? ["optional"] : []),
    ...(shown.length > 1 ? [`one of ${shown.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`] : []),
    ...(type === "date" ? ["ISO 8601, a date or an instant with a zone"] : []),
  ].join("; ");
}

/** A value of the right type. */
function valueOf(field: Field, language: Language): string {
  switch (field.type) {
    case "array":
      return `[${valueOf(field.items, language)}]`;
    case "string":
      return quoted(field.enum?.[0] ?? "text");
    case "number":
      return "1";
    case "boolean":
      return language === PYTHON ? "True" : "true";
    case "date":
      return '"2030-01-31"';
  }
}

/** With the record's id behind it a key has at most 256 characters. */
const KEY_LENGTH_MAX = 100;

/** What a key of an event begins with: records of two kinds may have the same id. */
function keyOf(event: string): string {
  return [...event.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "_")].slice(0, KEY_LENGTH_MAX).join("");
}
