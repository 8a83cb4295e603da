/**
 * A mistake in a model that no snapshot could express, so that validating the snapshot cannot find it. Its stack leads to the author's
 * place. Builders record it and go on with a value that stands in, so that one run finds every mistake; they throw it only where there
 * is nothing to go on with.
 */
export class ModelError extends Error {
  override readonly name = "ModelError";

  /**
   * @param code stable, in capitals, as every diagnostic has one.
   * @param fix what to do about it, where that is not what the message says already.
   * @param misnamed a name that does not exist and those that do, for the compiler to find the one that was meant.
   */
  constructor(
    readonly code: string,
    message: string,
    readonly fix?: string,
    readonly misnamed?: { name: string; candidates: readonly string[] },
  ) {
    super(message);
  }
}

const recorded: ModelError[] = [];

/** Keeps a mistake for the compiler. */
export function record(error: ModelError): void {
  recorded.push(error);
}

/** The mistakes recorded since the last call, in the order in which they were made. */
export function takeRecorded(): ModelError[] {
  return recorded.splice(0);
}

/** What a function of the author's returns; a stand-in where it throws, which is recorded at the place where it threw. */
export function attempt<T>(call: () => T, standIn: T): T {
  try {
    return call();
  } catch (error) {
    record(asModelError(error));
    return standIn;
  }
}

function asModelError(error: unknown): ModelError {
  if (error instanceof ModelError) return error;
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const found = new ModelError("MODEL_FAILED", `a function of the model failed: ${message}`);
  if (error instanceof Error && error.stack !== undefined) found.stack = error.stack;
  return found;
}

/** What a builder was given to build from.
 *
 * @throws {ModelError} if it was given nothing. */
export function definitionOf<T extends object>(definition: T, builder: string, needs: string): T {
  if (typeof (definition as unknown) === "object" && (definition as unknown) !== null) return definition;
  throw new ModelError("INVALID_DEFINITION", `${builder} needs an object with ${needs}`);
}
