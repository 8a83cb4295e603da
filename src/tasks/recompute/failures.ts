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
  // SQLSTATEs have a digit, and other codes of errors are longer or have none.
  const { code = "" } = error as { code?: string };
  return /^(?=.*\d)[0-9A-Z]{5}$/.test(code) && !/^(SV011|57P..)$/.test(code);
}

/** Whether an error says already what it is of. */
export function isOurs(error: unknown): boolean {
  return error instanceof CustomerFailed || error instanceof TakenOver;
}
