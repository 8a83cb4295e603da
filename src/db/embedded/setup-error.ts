/** An embedded server that cannot be set up as things are; the message says what to do and needs no stack. */
export class SetupError extends Error {
  override name = "SetupError";
}
