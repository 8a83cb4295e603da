/** How long a receiver has to answer an attempt. */
export const ATTEMPT_TIMEOUT_MS = 15_000;

/** Whether a receiver took a message: any 2xx, as where attempts are recorded. Null stands for no answer. */
export function isAccepted(statusCode: number | null): boolean {
  return statusCode !== null && statusCode >= 200 && statusCode <= 299;
}
