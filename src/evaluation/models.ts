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
  /** The size of the snapshot. The compiled model is several times larger. */
  bytes: number;
}

/** Size limits of the cache of compiled models; `bytes` counts their snapshots. */
const LIMITS = { models: 100, bytes: 4 * 1024 * 1024 };

/** A cache of compiled models by content hash. Versions are immutable, so no entry gets stale; the least recently used ones are evicted. */
export class Models {
  readonly #compiled = new Map<string, Compiled>();
  readonly #empty = compileModel(EMPTY_SNAPSHOT, hashSnapshot(EMPTY_SNAPSHOT));
  #bytes = 0;

  constructor(private readonly limits = LIMITS) {}

  /** The number of cached models, without the empty one. */
  get size(): number {
    return this.#compiled.size;
  }

  /**
   * The model of a version; the empty model before the first deploy. Throws if the stored snapshot is not valid.
   *
   * @param load fetches the snapshot of a version that is not compiled yet
   */
  async get({ version, hash }: VersionKey, load: (version: number) => Promise<unknown>): Promise<Model> {
    if (version === null || hash === null) return this.#empty;
    return this.of(hash, `configuration version v${version}`, () => load(version));
  }

  /**
   * The model of a snapshot. Throws if the snapshot is not valid.
   *
   * @param name names the snapshot in the error
   * @param load fetches the snapshot if it is not compiled yet
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
    // Another call may have compiled the same snapshot meanwhile.
    const duplicate = this.#compiled.get(hash);
    if (duplicate !== undefined) this.#remove(hash, duplicate);
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
