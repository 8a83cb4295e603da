import { type Diagnostic, diagnostic } from "../diagnostics/diagnostic.js";
import { SOURCES } from "../load/bundle.js";
import type { TypeMistake } from "./check.js";
import { CheckerTimedOut, TypeChecker } from "./checker.js";
import type { GuardedFile } from "./guards.js";
import type { SourcePlace, PlaceRequest } from "./syntax.js";

/** Much more than any model takes: types can be written that never end. */
const TIME_LIMIT_MS = 60_000;

/** The types of one project. Checking begins at once, in the background; a checker that does not come to an end knows nothing. */
export class Types {
  readonly #checker: Promise<TypeChecker>;
  readonly #mistakes: Promise<TypeMistake[]>;

  /** @param sealed whether no other file is read than that of the model */
  constructor(directory: string, config: string, sealed = false) {
    this.#checker = TypeChecker.start({ directory, config, sources: SOURCES, sealed }, TIME_LIMIT_MS);
    this.#mistakes = this.#ask((checker) => checker.mistakes(), [timedOut()]);
    // Whoever asks gets the failure; nobody may ask.
    this.#mistakes.catch(() => undefined);
  }

  /** What is wrong with the author's files. */
  mistakes(): Promise<TypeMistake[]> {
    return this.#mistakes;
  }

  /** The author's files, rewritten so that an exception does not end the load. */
  guard(): Promise<GuardedFile[]> {
    return this.#ask((checker) => checker.guard(), []);
  }

  /** The exact places of problems, each undefined where the syntax tells nothing. */
  places(requests: PlaceRequest[]): Promise<(SourcePlace | undefined)[]> {
    return this.#ask((checker) => checker.places(requests), []);
  }

  async end(): Promise<void> {
    await (await this.#checker).end();
  }

  async #ask<Answer>(question: (checker: TypeChecker) => Promise<Answer>, otherwise: Answer): Promise<Answer> {
    try {
      return await question(await this.#checker);
    } catch (error) {
      if (error instanceof CheckerTimedOut) return otherwise;
      throw error;
    }
  }
}

function timedOut(): TypeMistake {
  const found: Diagnostic = diagnostic(
    "error",
    "TYPES_TIMED_OUT",
    `the types were not checked within ${TIME_LIMIT_MS / 1000} seconds`,
  );
  return { diagnostic: found, statement: 0, names: [] };
}
