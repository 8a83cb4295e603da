import { InvalidOperationError } from "./errors.js";

/** The service's limits for `properties` and for `traits`. */
const BYTES_MAX = 64 * 1024;
const LEVELS_MAX = 100;

/** U+0000, and halves of surrogate pairs: PostgreSQL can store neither. */
// oxlint-disable-next-line no-control-regex
const NO_TEXT = /[\u0000\p{Cs}]/u;
/** JSON.stringify would write only a part of these, or `{}`. A promise here is a missing `await`. */
const NO_JSON = [Map, Set, WeakMap, WeakSet, Promise, Error, RegExp, ArrayBuffer, Number, String, Boolean];
const PLAIN_NAME = /^[A-Za-z_$][\w$]*$/;

/**
 * The JSON of an object as it is now, so that later changes to the object have no effect. Like JSON.stringify, but nothing gets lost: values that JSON cannot
 * represent are refused, and only members that are undefined are omitted. @throws {InvalidOperationError} with the path of the value that cannot be sent
 */
export function objectText(value: unknown, path: string): string {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isObject) throw new InvalidOperationError(path, `must be an object, not ${described(value)}`);
  const writer = new Writer(path);
  const text = readable(path, () => writer.text(value, path));
  if (!text.startsWith("{")) throw new InvalidOperationError(path, "must be an object");
  if (Buffer.byteLength(text) > BYTES_MAX) throw writer.tooLarge();
  return text;
}

/** Refuses characters that the service cannot store. */
export function checkText(text: string, path: string): void {
  if (NO_TEXT.test(text)) throw new InvalidOperationError(path, "has the character U+0000 or half a surrogate pair");
}

class Writer {
  /** The objects that contain the current one: a value among its own parents is a circular reference. */
  readonly #parents = new Set<object>();
  /** The length of all texts written so far, so that an object that is referenced a million times is found too large early. */
  #length = 0;

  constructor(private readonly root: string) {}

  tooLarge(): InvalidOperationError {
    return new InvalidOperationError(this.root, `is larger than ${BYTES_MAX / 1024} KiB as JSON`);
  }

  text(given: unknown, path: string): string {
    if (given instanceof Date && Number.isNaN(given.getTime()))
      throw new InvalidOperationError(path, "is an invalid date");
    const value = hasToJson(given) ? given.toJSON() : given;
    if (typeof value === "object" && value !== null) return this.#nested(value, path);
    if (typeof value === "string") checkText(value, path);
    else if (typeof value === "number" ? !Number.isFinite(value) : typeof value !== "boolean" && value !== null)
      throw new InvalidOperationError(path, `is ${described(value)}, which JSON does not have`);
    return this.#counted(JSON.stringify(value));
  }

  #nested(value: object, path: string): string {
    if (this.#parents.has(value)) throw new InvalidOperationError(path, "is part of itself");
    if (this.#parents.size === LEVELS_MAX)
      throw new InvalidOperationError(this.root, `is nested more than ${LEVELS_MAX} levels deep`);
    if (NO_JSON.some((type) => value instanceof type))
      throw new InvalidOperationError(path, `is ${described(value)}, which JSON does not have`);
    // JSON.stringify would write as {} what keeps its contents elsewhere, such as a response or a generator.
    if (!isPlain(value) && Object.keys(value).length === 0) {
      const what = Symbol.iterator in value ? "an iterable (make it an array)" : described(value);
      throw new InvalidOperationError(path, `is ${what}, which JSON does not have`);
    }
    this.#parents.add(value);
    const text = Array.isArray(value)
      ? `[${Array.from(value, (item: unknown, index) => this.text(item, `${path}[${index}]`)).join()}]`
      : `{${this.#members(value, path).join()}}`;
    this.#parents.delete(value);
    this.#counted("{}");
    return text;
  }

  #members(value: object, path: string): string[] {
    const members: string[] = [];
    for (const [name, member] of Object.entries(value) as [string, unknown][]) {
      if (member === undefined) continue;
      const at = PLAIN_NAME.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;
      checkText(name, at);
      members.push(`${this.#counted(JSON.stringify(name))}:${this.text(member, at)}`);
    }
    return members;
  }

  #counted(text: string): string {
    this.#length += text.length;
    if (this.#length > BYTES_MAX) throw this.tooLarge();
    return text;
  }
}

/** An array, or an object of no class, of whatever realm. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Reports what a getter or a `toJSON` of the value throws as a mistake of the caller. */
function readable<Value>(path: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (error instanceof InvalidOperationError) throw error;
    throw new InvalidOperationError(path, `cannot be read: ${String(error)}`);
  }
}

function hasToJson(value: unknown): value is { toJSON: () => unknown } {
  return typeof value === "object" && value !== null && "toJSON" in value && typeof value.toJSON === "function";
}

/** The kind of a value, for error messages. */
export function described(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "number") return Number.isFinite(value) ? "a number" : String(value);
  if (typeof value !== "object") return `a ${typeof value}`;
  const name = Array.isArray(value) ? "array" : ((value.constructor as { name: string } | undefined)?.name ?? "object");
  return /^[AEIOU]/i.test(name) ? `an ${name}` : `a ${name}`;
}
