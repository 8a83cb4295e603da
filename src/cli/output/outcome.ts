import { mayBeDone } from "../client/api.js";
import { type LocalCode, UserError } from "../core/errors.js";
import { interruption } from "./interruption.js";

/**
 * Sends a request that changes something. Where Ctrl+C, a broken connection or the answer of something that stands before the service
 * comes instead of its answer, nobody knows here whether it was carried out: the failure says so, and how to see.
 *
 * @param seen the command that shows whether it was carried out
 * @throws {UserError} OUTCOME_UNKNOWN
 */
export async function outcomeOf<T>(seen: string, request: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { signal, caused, release } = interruption();
  try {
    return await request(signal);
  } catch (error) {
    if (await caused()) throw unknown("stopped before the service answered", seen, error);
    if (error instanceof UserError && mayBeDone(error)) throw unknown(error.message, seen, error);
    throw error;
  } finally {
    release();
  }
}

function unknown(why: string, seen: string, cause: unknown): UserError {
  const message = `${why}; it is not known whether this was carried out`;
  return new UserError("OUTCOME_UNKNOWN" satisfies LocalCode, message, `see for yourself: ${seen}`, {}, cause);
}
