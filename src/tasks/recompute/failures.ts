import postgres from "postgres";

/** Somebody else has the job by now. */
export class TakenOver extends Error {
  override readonly name = "TakenOver";
}

/** What failed, and for whom. */
export class CustomerFailed extends Error {
  override readonly name = "CustomerFailed";

  constructor(customerId: string, cause: unknown) {
    super(`Customer ${JSON.stringify(customerId)}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

/** Whether the server refused what was made of a customer: not that it ended, or that another worker has the job. */
export function isOfCustomer(error: unknown): boolean {
  return error instanceof postgres.PostgresError && !/^(SV011|57P..)$/.test(error.code);
}

/** Whether an error says already what it is of. */
export function isOurs(error: unknown): boolean {
  return error instanceof CustomerFailed || error instanceof TakenOver;
}
