/** The name of an option on the command line: `idempotencyKey` is `idempotency-key`. */
export function optionName(key: string): string {
  return key.replace(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`);
}
