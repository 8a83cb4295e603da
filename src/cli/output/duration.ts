import { isDuration, isIsoDate, parseDuration } from "../../model/snapshot/duration.js";
import { UsageError } from "../core/errors.js";

/**
 * Checks a duration given on the command line, such as `7d`, and returns it as it was written.
 *
 * @throws {UsageError} if it is none.
 */
export function durationOf(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    parseDuration(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new UsageError(`${name}: ${error.message}`);
  }
  return text;
}

/**
 * Checks from when on something is asked for: a duration before now such as `7d`, or an ISO date with or without a time.
 *
 * @throws {UsageError} if it is neither.
 */
export function sinceOf(name: string, text: string | undefined): string | undefined {
  if (text === undefined || isDuration(text) || isIsoDate(text)) return text;
  throw new UsageError(
    `${name} is ${JSON.stringify(text)}`,
    "write how long ago, such as 7d, or a date such as 2026-03-01 or 2026-03-01T09:00:00Z",
  );
}
