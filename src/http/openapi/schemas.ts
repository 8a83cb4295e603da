import { isDeepStrictEqual } from "node:util";
import type { JsonSchema } from "./types.js";

const NAME = /^[A-Z][A-Za-z]*$/;
/** Keywords that hold values, not schemas. */
const VALUES = new Set(["const", "default", "enum", "examples"]);

/**
 * Collects the schemas that have a name (their `title`, a capital letter first), so that the document holds each once and refers to it.
 * Two schemas of one name must be the same.
 */
export class Schemas {
  readonly #byName = new Map<string, JsonSchema>();

  /** A schema for the document, with references to the named schemas in it. */
  add(schema: object): JsonSchema {
    // A TypeBox schema is JSON Schema but for members that JSON leaves out.
    return this.#refer(JSON.parse(JSON.stringify(schema))) as JsonSchema;
  }

  /** The named schemas in alphabetical order. */
  get components(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries([...this.#byName].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #refer(node: unknown): unknown {
    if (Array.isArray(node)) return node.map((item) => this.#refer(item));
    if (typeof node !== "object" || node === null) return node;
    const copy = Object.fromEntries(
      Object.entries(node).map(([key, value]) => [key, VALUES.has(key) ? value : this.#refer(value)]),
    );
    const { title } = copy;
    if (typeof title !== "string" || !NAME.test(title)) return copy;
    const known = this.#byName.get(title);
    if (known !== undefined && !isDeepStrictEqual(known, copy)) throw new Error(`two schemas have the title ${title}`);
    this.#byName.set(title, copy);
    return { $ref: `#/components/schemas/${title}` };
  }
}
