import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { build } from "esbuild";

import type { TypeMistake } from "./check.js";
import type { GuardedFile } from "./guards.js";
import type { Places } from "./program.js";
import type { SourcePlace, PlaceRequest } from "./syntax.js";

export type Request =
  | { kind: "open"; places: Places }
  | { kind: "mistakes" }
  | { kind: "guard" }
  | { kind: "places"; requests: PlaceRequest[] }
  | { kind: "close" };

/** The thread of the last project that was checked. It knows TypeScript and the language already, which is most of the work for the next one. */
let idle: Worker | undefined;

/** The type checker did not come to an end. */
export class CheckerTimedOut extends Error {}

/** The type checker of one project, in a thread of its own; it reads the author's files once, when it starts. */
export class TypeChecker {
  readonly #worker: Worker;
  readonly #timer: NodeJS.Timeout;
  readonly #waiting: { resolve: (answer: unknown) => void; reject: (error: Error) => void }[] = [];
  #failure: Error | undefined;
  #ended = false;

  private constructor(worker: Worker, places: Places, timeLimitMs: number) {
    this.#worker = worker;
    this.#timer = setTimeout(() => this.#fail(new CheckerTimedOut()), timeLimitMs);
    worker.on("message", (answer) => this.#waiting.shift()?.resolve(answer));
    worker.on("error", (error) => this.#fail(error));
    worker.on("exit", () => this.#fail(new Error("the type checker ended")));
    worker.postMessage({ kind: "open", places } satisfies Request);
  }

  /** Starts a thread, or takes the last one. It is ended by `end`, or when all that it was asked has taken longer than the time limit. */
  static async start(places: Places, timeLimitMs: number): Promise<TypeChecker> {
    const kept = idle;
    idle = undefined;
    const worker = kept ?? (await startWorker());
    worker.ref();
    return new TypeChecker(worker, places, timeLimitMs);
  }

  /** What is wrong with the author's files, by file and place. */
  mistakes(): Promise<TypeMistake[]> {
    return this.#ask({ kind: "mistakes" });
  }

  /** The author's files, rewritten so that an exception does not end the load. */
  guard(): Promise<GuardedFile[]> {
    return this.#ask({ kind: "guard" });
  }

  /** The exact places of problems, each undefined where the syntax tells nothing. */
  places(requests: PlaceRequest[]): Promise<(SourcePlace | undefined)[]> {
    return this.#ask({ kind: "places", requests });
  }

  async end(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    const isDone = this.#failure === undefined && this.#waiting.length === 0;
    if (isDone && idle === undefined) this.#keep();
    else await this.#worker.terminate();
  }

  /** For the next project of this process, if there is one: the thread keeps no process alive. */
  #keep(): void {
    const worker = this.#worker;
    worker.removeAllListeners("message").removeAllListeners("error").removeAllListeners("exit");
    const forget = () => {
      if (idle === worker) idle = undefined;
    };
    worker.once("error", forget).once("exit", forget);
    worker.postMessage({ kind: "close" } satisfies Request);
    worker.unref();
    idle = worker;
  }

  #ask<Answer>(request: Request): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      if (this.#failure) reject(this.#failure);
      this.#waiting.push({ resolve: (answer) => resolve(answer as Answer), reject });
      this.#worker.postMessage(request);
    });
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(this.#failure);
    void this.end();
  }
}

async function startWorker(): Promise<Worker> {
  // scripts/build.js makes one file of it, which requires TypeScript: importing it would read its nine megabytes twice more.
  if (import.meta.url.endsWith(".js")) return new Worker(new URL("./worker.cjs", import.meta.url));
  const script = fileURLToPath(new URL("./worker.ts", import.meta.url));
  // A thread does not know how its program's sources are run, so they are made into plain JavaScript first.
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
