/** What the operator named does not exist; in words. */
export class OperatorError extends Error {
  override name = "OperatorError";
}
