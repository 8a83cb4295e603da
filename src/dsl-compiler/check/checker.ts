import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { build } from "esbuild";

import { diagnostic } from "../diagnostics/diagnostic.js";
import { SOURCES } from "../load/bundle.js";
import type { TypeMistake } from "./check.js";
import type { GuardedFile } from "./exception-guards.js";
import type { Places } from "./program.js";
import type { SourcePlace, PlaceRequest } from "./syntax.js";

export type Request =
  | { kind: "open"; places: Places }
  | { kind: "mistakes" }
  | { kind: "guard" }
  | { kind: "places"; requests: PlaceRequest[] }
  | { kind: "texts"; files: string[] }
  | { kind: "close" };

/** The thread of the last project that was checked. It has loaded TypeScript and the language already, which is most of the work for the next one. */
let idle: Worker | undefined;

/** In milliseconds; much more than any model takes. Some types take forever to check. */
const TIME_LIMIT_MS = 60_000;

class CheckerTimedOut extends Error {}

const TIMED_OUT = `the types were not checked within ${TIME_LIMIT_MS / 1000} seconds`;

/** The type checker of one project, in a thread that reads the author's files once and checks them at once. After the time limit it gives no more answers. */
export class TypeChecker {
  readonly #worker: Promise<Worker>;
  readonly #mistakes: Promise<TypeMistake[]>;
  readonly #waiting: { resolve: (answer: unknown) => void; reject: (error: Error) => void }[] = [];
  #timer: NodeJS.Timeout | undefined;
  #failure: Error | undefined;
  #ended = false;

  /** @param sealed whether only the model's own file is read */
  constructor(directory: string, config: string, sealed = false) {
    this.#worker = this.#open({ directory, config, sources: SOURCES, sealed });
    const timedOut = { diagnostic: diagnostic("error", "TYPES_TIMED_OUT", TIMED_OUT), statement: 0, names: [] };
    this.#mistakes = this.#ask<TypeMistake[]>({ kind: "mistakes" }, [timedOut]);
    // Avoid an unhandled rejection if `mistakes` is never called.
    this.#mistakes.catch(() => undefined);
  }

  /** The mistakes in the author's files, by file and place. */
  mistakes(): Promise<TypeMistake[]> {
    return this.#mistakes;
  }

  /** The author's files, rewritten so that an exception does not end the load. */
  guard(): Promise<GuardedFile[]> {
    return this.#ask({ kind: "guard" }, []);
  }

  /** The exact places of problems, each undefined if the syntax does not give one. */
  places(requests: PlaceRequest[]): Promise<(SourcePlace | undefined)[]> {
    return this.#ask({ kind: "places", requests }, []);
  }

  /** The author's files as they were read, by their names in diagnostics. */
  texts(files: string[]): Promise<string[]> {
    return this.#ask({ kind: "texts", files }, []);
  }

  async end(): Promise<void> {
    const worker = await this.#worker;
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    const isDone = this.#failure === undefined && this.#waiting.length === 0;
    if (isDone && idle === undefined) keep(worker);
    else await worker.terminate();
  }

  async #open(places: Places): Promise<Worker> {
    const kept = idle;
    idle = undefined;
    const worker = kept ?? (await startWorker());
    worker.ref();
    this.#timer = setTimeout(() => this.#fail(new CheckerTimedOut()), TIME_LIMIT_MS);
    worker.on("message", (answer) => this.#waiting.shift()?.resolve(answer));
    worker.on("error", (error) => this.#fail(error));
    worker.on("exit", () => this.#fail(new Error("the type checker ended")));
    worker.postMessage({ kind: "open", places } satisfies Request);
    return worker;
  }

  async #ask<Answer>(request: Request, afterTimeout: Answer): Promise<Answer> {
    const worker = await this.#worker;
    try {
      return await new Promise<Answer>((resolve, reject) => {
        if (this.#failure) reject(this.#failure);
        this.#waiting.push({ resolve: (answer) => resolve(answer as Answer), reject });
        worker.postMessage(request);
      });
    } catch (error) {
      if (error instanceof CheckerTimedOut) return afterTimeout;
      throw error;
    }
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(this.#failure);
    void this.end();
  }
}

/** Keeps the thread for the next project of this process. It does not keep the process alive. */
function keep(worker: Worker): void {
  worker.removeAllListeners("message").removeAllListeners("error").removeAllListeners("exit");
  const forget = () => {
    if (idle === worker) idle = undefined;
  };
  worker.once("error", forget).once("exit", forget);
  worker.postMessage({ kind: "close" } satisfies Request);
  worker.unref();
  idle = worker;
}

async function startWorker(): Promise<Worker> {
  // scripts/build.js bundles the thread into one file, which requires TypeScript: importing it would read its nine megabytes twice more.
  if (import.meta.url.endsWith(".js")) return new Worker(new URL("./worker.cjs", import.meta.url));
  const script = fileURLToPath(new URL("./worker.ts", import.meta.url));
  // A thread does not inherit the loader that runs TypeScript sources, so they are compiled to JavaScript first.
  const { outputFiles } = await build({
    entryPoints: [script],
    bundle: true,
    write: false,
    format: "cjs",
    platform: "node",
    target: "node20",
    external: ["typescript"],
    logLevel: "silent",
  });
  const typescript = createRequire(import.meta.url).resolve("typescript");
  const code = outputFiles[0]!.text.replaceAll('require("typescript")', `require(${JSON.stringify(typescript)})`);
  return new Worker(code, { eval: true });
}
