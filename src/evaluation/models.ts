import { compileModel, type Model } from "../engine/index.js";
import { canonicalJson, hashSnapshot } from "../model/snapshot/canonical.js";
import { EMPTY_SNAPSHOT } from "../model/snapshot/types.js";
import { parseSnapshot } from "../model/validate/validate.js";

/** A configuration version by its number and the hash of its snapshot; both null before the first deploy. */
export interface VersionKey {
  version: number | null;
  hash: string | null;
}

interface Compiled {
  model: Model;
  /** Of the snapshot, of which the compiled model is a multiple. */
  bytes: number;
}

/** How much of compiled models is kept. */
const LIMITS = { models: 100, bytes: 4 * 1024 * 1024 };

/** Compiled models by content hash. Versions are immutable, so nothing is ever stale; those that were not asked for the longest go. */
export class Models {
  readonly #compiled = new Map<string, Compiled>();
  readonly #empty = compileModel(EMPTY_SNAPSHOT, hashSnapshot(EMPTY_SNAPSHOT));
  #bytes = 0;

  constructor(private readonly limits = LIMITS) {}

  /** How many models are kept, besides the empty one. */
  get size(): number {
    return this.#compiled.size;
  }

  /**
   * The model of a version; before the first deploy the empty one. Throws where the stored snapshot is not valid.
   *
   * @param load fetches the snapshot of a version that is not compiled yet
   */
  async get({ version, hash }: VersionKey, load: (version: number) => Promise<unknown>): Promise<Model> {
    if (version === null || hash === null) return this.#empty;
    return this.of(hash, `configuration version v${version}`, () => load(version));
  }

  /**
   * The model of a snapshot. Throws where that is not valid.
   *
   * @param name says in the error which one it is
   * @param load fetches it where it is not compiled yet
   */
  async of(hash: string, name: string, load: () => Promise<unknown>): Promise<Model> {
    const known = this.#compiled.get(hash);
    if (known !== undefined) {
      this.#remove(hash, known);
      this.#add(hash, known);
      return known.model;
    }
    const parsed = parseSnapshot(await load());
    if (!parsed.ok) {
      const [first] = parsed.problems;
      throw new Error(`${name} is not valid: ${first?.path}: ${first?.message}`);
    }
    const { snapshot } = parsed;
    const compiled = { model: compileModel(snapshot, hash), bytes: Buffer.byteLength(canonicalJson(snapshot)) };
    const sameMeanwhile = this.#compiled.get(hash);
    if (sameMeanwhile !== undefined) this.#remove(hash, sameMeanwhile);
    this.#makeRoom(compiled.bytes);
    this.#add(hash, compiled);
    return compiled.model;
  }

  #makeRoom(bytes: number): void {
    for (const [hash, oldest] of this.#compiled) {
      if (this.#compiled.size < this.limits.models && this.#bytes + bytes <= this.limits.bytes) return;
      this.#remove(hash, oldest);
    }
  }

  #add(hash: string, compiled: Compiled): void {
    this.#compiled.set(hash, compiled);
    this.#bytes += compiled.bytes;
  }

  #remove(hash: string, { bytes }: Compiled): void {
    this.#compiled.delete(hash);
    this.#bytes -= bytes;
  }
}
