import { mayBeDone } from "../../../client/failures.js";
import { UserError } from "../../../core/errors.js";
import { outcomeUnknown } from "../../../output/change.js";

/** Changes something. @param seen the tool that shows whether it was done @throws {UserError} OUTCOME_UNKNOWN where nobody knows here */
export async function changed<T>(seen: string, request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    throw error instanceof UserError && mayBeDone(error) ? outcomeUnknown(error.message, seen, error) : error;
  }
}
