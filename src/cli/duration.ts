import { parseDuration } from "../snapshot/duration.js";
import { UsageError } from "./errors.js";

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
