import { canonicalJson, hashSnapshot } from "../../snapshot/canonical.js";
import { parseSnapshot } from "../../snapshot/validate.js";
import { ApiError } from "../errors.js";

/** A snapshot as it is stored. */
export interface StorableSnapshot {
  /** Canonical JSON. */
  snapshot: string;
  /** Of exactly that text. */
  hash: string;
}

/** Checks a snapshot that somebody sent. Throws CONFIG_INVALID with all that is wrong with it. */
export function readSnapshot(value: unknown): StorableSnapshot {
  const parsed = parseSnapshot(value);
  if (parsed.ok) return { snapshot: canonicalJson(parsed.snapshot), hash: hashSnapshot(parsed.snapshot) };
  throw new ApiError(422, "CONFIG_INVALID", {
    message: "The snapshot is not a valid configuration.",
    fix: "Correct the model and compile it again; diagnostics lists every problem.",
    diagnostics: parsed.problems.map(({ code, message, path }) => ({ code, message, path })),
  });
}
