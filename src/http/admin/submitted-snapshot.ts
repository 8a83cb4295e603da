import type { Sql } from "postgres";
import type { AdminCredentials } from "../../db/calls-admin.js";
import { getStateLimit } from "../../db/calls-versions.js";
import { stateBudget, type StateBudget } from "../../engine/index.js";
import { bytesInWords } from "../../snapshot/bytes-in-words.js";
import { canonicalJson, hashSnapshot } from "../../snapshot/canonical.js";
import { parseSnapshot, type Problem } from "../../snapshot/validate.js";
import { ApiError } from "../errors.js";

/** A snapshot as it is stored. */
export interface StorableSnapshot {
  /** Canonical JSON. */
  snapshot: string;
  /** Of exactly that text. */
  hash: string;
}

/** How many of the dearest conditions an error names. */
const NAMED_MAX = 5;

/**
 * Checks a snapshot that somebody sent, and what it may remember for one customer. Throws CONFIG_INVALID with all that is wrong with
 * it, and STATE_TOO_LARGE where the organization's plan allows less.
 *
 * @param operation what the snapshot is sent for, which the sender must be allowed to do
 */
export async function readSnapshot(
  sql: Sql,
  by: AdminCredentials,
  at: { operation: string; environment: string },
  value: unknown,
): Promise<StorableSnapshot> {
  const parsed = parseSnapshot(value);
  if (!parsed.ok) throw notValid(parsed.problems);
  const bytesMax = await getStateLimit(sql, by, at);
  const budget = stateBudget(parsed.snapshot);
  if (budget.bytes > bytesMax) throw tooLarge(budget, bytesMax);
  return { snapshot: canonicalJson(parsed.snapshot), hash: hashSnapshot(parsed.snapshot) };
}

function notValid(problems: readonly Problem[]): ApiError {
  return new ApiError(422, "CONFIG_INVALID", {
    message: "The snapshot is not a valid configuration.",
    fix: "Correct the model and compile it again; diagnostics lists every problem.",
    diagnostics: problems.map(({ code, message, path }) => ({ code, message, path })),
  });
}

function tooLarge({ bytes, parts }: StateBudget, bytesMax: number): ApiError {
  return new ApiError(422, "STATE_TOO_LARGE", {
    message:
      `The model may remember up to ${bytesInWords(bytes)} for one customer, ` +
      `and the plan allows ${bytesInWords(bytesMax)}.`,
    fix:
      "Compare with smaller numbers of occurrences or of different values, or with fewer events and properties; " +
      "diagnostics names what takes the most.",
    diagnostics: parts.slice(0, NAMED_MAX).map(({ path, conditions, bytes: own }) => ({
      code: "STATE_TOO_LARGE",
      message: `remembers up to ${bytesInWords(own)}${conditions === 1 ? "" : `, which ${conditions} conditions share`}`,
      path,
    })),
  });
}
