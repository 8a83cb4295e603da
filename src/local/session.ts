import { compileProject, type CompileResult, type Diagnostic } from "../dsl-compiler/index.js";
import type { CustomerState } from "../http/admin/answers.js";
import type { Snapshot } from "../model/snapshot/types.js";
import type { Clock } from "./clock.js";
import type { LocalEngine } from "./engine.js";
import type { CustomerChange } from "./population.js";
import type { RequestReport } from "./report.js";
import type { LocalServer } from "./server.js";
import { SourceWatch } from "./watch.js";

/** The result of a reload. */
export interface Reload {
  snapshot: Snapshot;
  warnings: readonly Diagnostic[];
  /** Whether the model has changed; if not, nothing was evaluated again. */
  changed: boolean;
  customers: number;
  /** The numbers of customers by lifecycle state, before and after. */
  before: ReadonlyMap<string, number>;
  after: ReadonlyMap<string, number>;
  /** The duration of the reload, in milliseconds. */
  took: number;
}

/** Receives what happens while a project is served. */
export interface SessionObserver {
  ready(server: { url: string; engine: LocalEngine; warnings: readonly Diagnostic[] }): void;
  request(report: RequestReport): void;
  timers(changes: readonly CustomerChange[]): void;
  reloaded(reload: Reload): void;
  /** The sources do not compile. `serving`: the last valid model is kept; otherwise nothing is served until they compile. */
  compileFailed(diagnostics: readonly Diagnostic[], serving: boolean): void;
  typesChecked(diagnostics: readonly Diagnostic[]): void;
  output(text: string): void;
  /** The sources cannot be watched for changes. */
  watchFailed(error: Error): void;
}

export interface SessionOptions {
  directory: string;
  /** 0 for any free port. */
  port: number;
  watch: boolean;
  clock: Clock;
  environment: CustomerState["environment"];
  settleMs: number;
  observer: SessionObserver;
}

/** The sources do not compile, and are not watched for changes. */
export class BrokenModelError extends Error {
  constructor(readonly diagnostics: readonly Diagnostic[]) {
    super("the model does not compile");
  }
}

/** Loads the modules that serve a model, which takes long. */
function loadServing() {
  return Promise.all([import("./engine.js"), import("./server.js")]);
}

/** Serves a project from its sources, and follows their changes. */
export class LocalSession {
  #serving: ReturnType<typeof loadServing> | undefined;
  #server: LocalServer | undefined;
  #engine: LocalEngine | undefined;
  #hash = "";
  #watching: SourceWatch | undefined;
  /** The number of the latest compilation, so that the findings of older ones are not reported any more. */
  #compilation = 0;
  #work: Promise<void> = Promise.resolve();
  #typeChecks: Promise<void> = Promise.resolve();
  #pending = false;
  #stopped = false;
  #fail: (error: unknown) => void = () => undefined;

  constructor(private readonly options: SessionOptions) {}

  /** Serves until `stop` resolves. @throws {BrokenModelError} if the sources do not compile and are not watched; {PortTakenError} */
  async run(stop: Promise<unknown>): Promise<void> {
    const failed = new Promise<never>((_, reject) => (this.#fail = reject));
    const { directory, observer, watch } = this.options;
    try {
      // Watch before the sources are read, so that no change is missed.
      if (watch) {
        this.#watching = await SourceWatch.start(
          directory,
          () => this.#update(),
          (error) => observer.watchFailed(error),
        );
      }
      this.#update();
      await Promise.race([stop, failed]);
    } finally {
      this.#stopped = true;
      this.#watching?.close();
      await this.#server?.stop();
    }
  }

  /** Updates the served model to the sources. Changes that come meanwhile are handled by one further update. */
  #update(): void {
    if (this.#pending) return;
    this.#pending = true;
    this.#work = this.#work
      .then(() => {
        this.#pending = false;
        return this.#stopped ? undefined : this.#compile();
      })
      .catch((error: unknown) => this.#fail(error));
  }

  async #compile(): Promise<void> {
    const compilation = ++this.#compilation;
    const started = performance.now();
    const { directory, observer, watch } = this.options;
    const compiled = compileProject(directory, {
      onOutput: (text) => observer.output(text),
      onSource: (file) => this.#watching?.include(file),
      onMissing: (file) => this.#watching?.expect(file),
    });
    // Loaded while other processes bundle and run the sources.
    this.#serving ??= loadServing();
    const [quick] = await Promise.all([compiled, this.#serving]);
    // The diagnostics of a check of types are better, so it runs if anything is wrong.
    const result = quick.ok ? quick : await compileProject(directory, { types: true, onOutput: () => undefined });
    if (this.#stopped) return;
    if (!result.ok) {
      if (!watch) throw new BrokenModelError(result.diagnostics);
      observer.compileFailed(result.diagnostics, this.#server !== undefined);
    } else if (this.#engine === undefined) await this.#start(result);
    else this.#reload(this.#engine, result, started);
    if (!result.ok) return;
    // The check takes seconds, so nothing waits for it. Checks run one after the other.
    this.#typeChecks = this.#typeChecks
      .then(() => this.#checkTypes(compilation, result.warnings))
      .catch((error: unknown) => this.#fail(error));
  }

  async #start({ snapshot, hash, warnings }: CompileResult & { ok: true }): Promise<void> {
    const { clock, environment, settleMs, port, observer } = this.options;
    const [{ LocalEngine }, { startLocalServer }] = await this.#serving!;
    const engine = new LocalEngine({ snapshot, hash }, { clock, environment, settleMs, configVersion: null });
    const server = await startLocalServer({
      engine,
      port,
      observe: (report) => observer.request(report),
      timersFired: (changes) => observer.timers(changes),
    });
    if (this.#stopped) return server.stop();
    this.#server = server;
    this.#engine = engine;
    this.#hash = hash;
    observer.ready({ url: server.url, engine, warnings });
  }

  #reload(engine: LocalEngine, { snapshot, hash, warnings }: CompileResult & { ok: true }, started: number): void {
    const { observer } = this.options;
    const before = engine.lifecycleCounts();
    const changed = hash !== this.#hash;
    try {
      if (changed) engine.replaceModel({ snapshot, hash });
    } catch (error) {
      const message = `the accepted operations could not be evaluated under this model: ${String(error)}`;
      observer.compileFailed([{ code: "EVALUATION_FAILED", severity: "error", message }], true);
      return;
    }
    this.#hash = hash;
    this.#server?.engineChanged();
    observer.reloaded({
      snapshot,
      warnings,
      changed,
      customers: engine.population.customerIds.length,
      before,
      after: engine.lifecycleCounts(),
      took: performance.now() - started,
    });
  }

  /** Reports what a check of types finds in addition to `known`; nothing if the sources have changed meanwhile. */
  async #checkTypes(compilation: number, known: readonly Diagnostic[]): Promise<void> {
    const { directory, observer } = this.options;
    const outdated = (): boolean => this.#stopped || compilation !== this.#compilation;
    if (outdated()) return;
    const result = await compileProject(directory, { types: true, onOutput: () => undefined });
    if (outdated()) return;
    // The same finding may have another place here, because the check of types gives exact ones.
    const key = ({ code, message }: Diagnostic): string => JSON.stringify([code, message]);
    const knownKeys = new Set(known.map(key));
    const found = result.ok ? result.warnings : result.diagnostics;
    observer.typesChecked(found.filter((diagnostic) => !knownKeys.has(key(diagnostic))));
  }
}
