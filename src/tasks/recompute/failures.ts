import { isOfServer, isShutdown, isTakenOver } from "../../db/sqlstate.js";

/** Somebody else has the job by now. */
export class TakenOver extends Error {
  override readonly name = "TakenOver";
}

/** What failed, and for whom. */
export class CustomerFailed extends Error {
  override readonly name = "CustomerFailed";

  constructor(customerId: string, cause: unknown) {
    super(`Customer ${JSON.stringify(customerId)}: ${textOf(cause)}`, { cause });
  }
}

/** What was thrown, in words. */
export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether the server refused what was made of a customer: not that it ended, or that another worker has the job. */
export function isOfCustomer(error: unknown): boolean {
  return isOfServer(error) && !isTakenOver(error) && !isShutdown(error);
}

/** Whether an error says already what it is of. */
export function isOurs(error: unknown): boolean {
  return error instanceof CustomerFailed || error instanceof TakenOver;
}
