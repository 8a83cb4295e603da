/** A reason for the demo to stop that the person who runs it can act on: printed as one line, without a stack. */
export class DemoFailure extends Error {
  override readonly name = "DemoFailure";

  /** @param exitCode 1 where something failed, 2 where the command line or the input is wrong */
  constructor(
    message: string,
    readonly exitCode: 1 | 2 = 1,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Node.js and undici wrap what the network said.
  const inner = error.cause instanceof Error && !(error instanceof DemoFailure) ? ` (${messageOf(error.cause)})` : "";
  return `${error.message || error.name}${inner}`;
}
