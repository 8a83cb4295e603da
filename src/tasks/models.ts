import type { Sql, TransactionSql } from "postgres";
import { loadSnapshot } from "../db/calls-evaluation.js";
import { compileModel, type Model } from "../engine/index.js";
import { hashSnapshot } from "../snapshot/canonical.js";
import { EMPTY_SNAPSHOT } from "../snapshot/types.js";
import { parseSnapshot } from "../snapshot/validate.js";

/** Compiled models by content hash. Versions are immutable, so nothing is ever stale; the oldest go when there are many. */
export class Models {
  readonly #compiled = new Map<string, Model>();
  readonly #empty = compileModel(EMPTY_SNAPSHOT, hashSnapshot(EMPTY_SNAPSHOT));
  static readonly #sizeMax = 100;

  /** The model of a version; before the first deploy the empty one. Throws where the stored snapshot is not valid. */
  async get(
    sql: Sql | TransactionSql,
    version: { projectId: number; version: number | null; hash: string | null },
  ): Promise<Model> {
    if (version.version === null || version.hash === null) return this.#empty;
    const known = this.#compiled.get(version.hash);
    if (known) return known;
    const parsed = parseSnapshot(await loadSnapshot(sql, version.projectId, version.version));
    if (!parsed.ok) {
      const [first] = parsed.problems;
      throw new Error(`configuration version v${version.version} is not valid: ${first?.path}: ${first?.message}`);
    }
    const model = compileModel(parsed.snapshot, version.hash);
    if (this.#compiled.size >= Models.#sizeMax) {
      const [oldest] = this.#compiled.keys();
      if (oldest !== undefined) this.#compiled.delete(oldest);
    }
    this.#compiled.set(version.hash, model);
    return model;
  }
}
