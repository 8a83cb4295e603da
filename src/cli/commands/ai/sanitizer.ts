import { createHmac } from "node:crypto";

import type { ExplainedCustomer, Explanation } from "../../../http/admin/answers.js";
import { isObject } from "../../../words/text.js";

/** Replaces a value that is not sent. */
export const WITHHELD = "(withheld)";

/** Length limit of a text that is sent because its name was allowed. */
const TEXT_LENGTH_MAX = 500;
/** Size limits of an array and of a document. */
const ITEMS_MAX = 20;
const MEMBERS_MAX = 50;
const HASH_LENGTH = 12;
/** Limit of the latest pseudonyms that can be restored, so that a long run does not fill the memory. */
const ORIGINALS_MAX = 10_000;
/** The usual form of event and property names; anything else could be an address or a sentence. */
const NAME = /^[A-Za-z][A-Za-z0-9_.:-]{0,63}$/;

export interface SanitizerOptions {
  /** Makes pseudonyms unguessable: a secret that stays on this machine, or is known to the service anyway. */
  key: string;
  /** Texts that the model itself contains, such as the values of `oneOf`: they reveal nothing beyond the model. */
  known: ReadonlySet<string>;
  /** Names of traits and properties whose values may all be sent. */
  allowed: ReadonlySet<string>;
  /** Whether customer ids may be sent unchanged. */
  showsCustomers?: boolean;
}

/**
 * Decides which customer data may be sent to a language model. Numbers, booleans and texts of the model pass; other texts and dates are
 * withheld unless their name was allowed, and so are nested values. Identifiers become pseudonyms, the same one for the same identifier.
 */
export class Sanitizer {
  readonly #options: SanitizerOptions;
  readonly #originals = new Map<string, string>();

  constructor(options: SanitizerOptions) {
    this.#options = options;
  }

  value(name: string, value: unknown): unknown {
    if (value === null || typeof value === "number" || typeof value === "boolean") return value;
    if (Array.isArray(value)) {
      return value.slice(0, ITEMS_MAX).map((one) => (Array.isArray(one) ? WITHHELD : this.value(name, one)));
    }
    if (typeof value !== "string") return WITHHELD;
    if (this.#options.known.has(value)) return value;
    return this.#options.allowed.has(name) ? value.slice(0, TEXT_LENGTH_MAX) : WITHHELD;
  }

  /** A value whose name is given by a condition's text: `plan is "pro"`, `latest of note of "login" exists`. */
  valueIn(text: string, value: unknown): unknown {
    return this.value(this.#allowedIn(text) ?? "", value);
  }

  /** Whether all values of the name that a condition's text begins with may be sent. */
  allowsIn(text: string): boolean {
    return this.#allowedIn(text) !== undefined;
  }

  allows(name: string): boolean {
    return this.#options.allowed.has(name);
  }

  /** The allowed name that a condition's text begins with; the same word further on, as in `owner is "note"`, does not count. */
  #allowedIn(text: string): string | undefined {
    const about = text.replace(/^latest of /, "");
    return [...this.#options.allowed].find((name) => about === name || about.startsWith(`${name} `));
  }

  values(document: Readonly<Record<string, unknown>>): Record<string, unknown> {
    return Object.fromEntries(
      Object.entries(document)
        .slice(0, MEMBERS_MAX)
        .map(([name, value]) => [this.name(name), this.value(name, value)]),
    );
  }

  /** A name that was received, such as that of an undeclared event. */
  name(name: string): string {
    return this.#options.known.has(name) || this.#options.allowed.has(name) || NAME.test(name) ? name : WITHHELD;
  }

  /** The pseudonym of an identifier: `customer_1a2b3c4d5e6f`. */
  id(kind: string, id: string): string {
    if (kind === "customer" && this.#options.showsCustomers === true) return id;
    const hash = createHmac("sha256", this.#options.key).update(`${kind}:${id}`).digest("hex").slice(0, HASH_LENGTH);
    const name = `${kind}_${hash}`;
    this.#originals.delete(name);
    this.#originals.set(name, id);
    if (this.#originals.size > ORIGINALS_MAX) this.#originals.delete(this.#originals.keys().next().value!);
    return name;
  }

  /** A text with its pseudonyms replaced by the original identifiers. */
  restore(text: string): string {
    if (this.#originals.size === 0) return text;
    return text.replaceAll(
      new RegExp(`[a-z]+_[0-9a-f]{${HASH_LENGTH}}`, "g"),
      (name) => this.#originals.get(name) ?? name,
    );
  }
}

/** Every text in a document, member names included. */
export function textsIn(document: unknown, found = new Set<string>()): Set<string> {
  if (typeof document === "string") found.add(document);
  else if (Array.isArray(document)) for (const one of document) textsIn(one, found);
  else if (isObject(document)) {
    for (const [name, value] of Object.entries(document)) {
      found.add(name);
      textsIn(value, found);
    }
  }
  return found;
}

/** Kinds of conditions whose actual values the service computed: counts, instants, names of the model. Those of all other kinds are customer data. */
const COMPUTED =
  /^(all|any|not|count|aggregate|distinct|daysSince|sequence|inactiveFor|activeWithin|lifecycle|inState|segment|journey(Step)?|health(Band)?)$/;
/** Kinds that become true by time alone, at a date in the customer's data or a known span before or after it. */
const OF_DATES = new Set(["traitDateWithin", "traitDatePassed"]);
/** A numeric difference, which reveals no text. */
const AMOUNT = /^(less|more) than -?[\d.]+$/;

/** An explanation as it may be sent. Condition texts come from the model. */
export function sentExplanation(sanitizer: Sanitizer, explanation: Explanation): Record<string, unknown> {
  const { kind, text, expected, actual, met, missing, flipsAt, conditions } = explanation;
  const isAmount = typeof missing === "number" || (typeof missing === "string" && AMOUNT.test(missing));
  return {
    text,
    met,
    ...(conditions === undefined
      ? {
          expected,
          actual: COMPUTED.test(kind) ? actual : sanitizer.valueIn(text, actual),
          ...(isAmount ? { missing } : {}),
        }
      : { kind, conditions: conditions.map((part) => sentExplanation(sanitizer, part)) }),
    ...(flipsAt === null || revealsDate(sanitizer, explanation) ? {} : { flipsAt }),
  };
}

/** Whether the instant when it flips would reveal a withheld date. */
function revealsDate(sanitizer: Sanitizer, { kind, text, conditions }: Explanation): boolean {
  if (conditions !== undefined) return conditions.some((part) => revealsDate(sanitizer, part));
  return OF_DATES.has(kind) && !sanitizer.allowsIn(text);
}

/** Only the named members of a document: those without customer data. */
export function pick<T extends object, Name extends keyof T>(document: T, ...names: Name[]): Pick<T, Name> {
  return Object.fromEntries(names.map((name) => [name, document[name]] as const)) as Pick<T, Name>;
}

/** Why a customer stands where it does, as it may be sent. */
export function sentWhy(sanitizer: Sanitizer, why: ExplainedCustomer): Record<string, unknown> {
  const { lifecycle, journeys, segments, health, signals } = why;
  const sent = (condition: Explanation | null) => condition && sentExplanation(sanitizer, condition);
  return {
    ...pick(why, "asOf", "configVersion", "activeVersion"),
    unavailable: why.unavailable?.code ?? null,
    lifecycle: lifecycle && {
      state: lifecycle.state,
      transitions: lifecycle.transitions.map(({ to, condition }) => ({ to, condition: sent(condition) })),
    },
    journeys: journeys.map(({ journey, status, start, steps }) => ({
      journey,
      status,
      start: sent(start),
      steps: steps.map(({ step, completed, condition }) => ({ step, completed, condition: sent(condition) })),
    })),
    segments: segments.map(({ segment, member, condition }) => ({ segment, member, condition: sent(condition) })),
    health: health && {
      ...pick(health, "overall", "band"),
      components: health.components.map(({ measure: { text, actual }, ...component }) => ({
        ...pick(component, "component", "weight", "score"),
        measure: { text, actual: sanitizer.valueIn(text, actual) },
      })),
    },
    signals: signals.map(({ condition, ...signal }) => ({
      ...pick(signal, "signal", "raised", "severity"),
      condition: sent(condition),
    })),
  };
}
