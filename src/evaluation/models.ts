import { compileModel, type Model } from "../engine/index.js";
import { hashSnapshot } from "../snapshot/canonical.js";
import { EMPTY_SNAPSHOT } from "../snapshot/types.js";
import { parseSnapshot } from "../snapshot/validate.js";

/** A configuration version by its number and the hash of its snapshot; both null before the first deploy. */
export interface VersionKey {
  version: number | null;
  hash: string | null;
}

/** Compiled models by content hash. Versions are immutable, so nothing is ever stale; the oldest go when there are many. */
export class Models {
  readonly #compiled = new Map<string, Model>();
  readonly #empty = compileModel(EMPTY_SNAPSHOT, hashSnapshot(EMPTY_SNAPSHOT));
  static readonly #sizeMax = 100;

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
    if (known) return known;
    const parsed = parseSnapshot(await load());
    if (!parsed.ok) {
      const [first] = parsed.problems;
      throw new Error(`${name} is not valid: ${first?.path}: ${first?.message}`);
    }
    const model = compileModel(parsed.snapshot, hash);
    if (this.#compiled.size >= Models.#sizeMax) {
      const [oldest] = this.#compiled.keys();
      if (oldest !== undefined) this.#compiled.delete(oldest);
    }
    this.#compiled.set(hash, model);
    return model;
  }
}
