import { compileProject, type CompileResult, type Diagnostic } from "../dsl-compiler/index.js";
import type { CustomerState } from "../http/admin/answers.js";
import type { Snapshot } from "../model/snapshot/types.js";
import type { Clock } from "./clock.js";
import type { LocalEngine } from "./engine.js";
import type { CustomerChange } from "./population.js";
import type { RequestReport } from "./report.js";
import type { LocalServer } from "./server.js";
import { SourceWatch } from "./watch.js";

/** What a reload changed. */
export interface Reload {
  snapshot: Snapshot;
  warnings: readonly Diagnostic[];
  /** Whether the model is another one; where it is not, nothing was evaluated again. */
  changed: boolean;
  customers: number;
  before: ReadonlyMap<string, number>;
  after: ReadonlyMap<string, number>;
  /** How long it took, in milliseconds. */
  took: number;
}

/** Told of what happens while a project is served. */
export interface SessionObserver {
  ready(server: { url: string; engine: LocalEngine; warnings: readonly Diagnostic[] }): void;
  request(report: RequestReport): void;
  timers(changes: readonly CustomerChange[]): void;
  reloaded(reload: Reload): void;
  /** The sources do not compile. `serving`: the last good model is kept; otherwise nothing is served until they do. */
  broken(diagnostics: readonly Diagnostic[], serving: boolean): void;
  typesChecked(diagnostics: readonly Diagnostic[]): void;
  output(text: string): void;
  /** Changes cannot be seen. */
  watchFailed(error: Error): void;
}

export interface SessionOptions {
  directory: string;
  /** 0: any free one. */
  port: number;
  watch: boolean;
  clock: Clock;
  environment: CustomerState["environment"];
  settleMs: number;
  observer: SessionObserver;
}

/** The sources do not compile, and nobody waits for them to change. */
export class BrokenModelError extends Error {
  constructor(readonly diagnostics: readonly Diagnostic[]) {
    super("the model does not compile");
  }
}

/** What serves a model takes long to load. */
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
  /** Counts looks at the sources, so that what is found in older ones is not told any more. */
  #look = 0;
  #work: Promise<void> = Promise.resolve();
  #typeChecks: Promise<void> = Promise.resolve();
  #pending = false;
  #stopped = false;
  #fail: (error: unknown) => void = () => undefined;

  constructor(private readonly options: SessionOptions) {}

  /** Serves until `stop` resolves. @throws {BrokenModelError} where nothing is watched and the sources do not compile; {PortTakenError} */
  async run(stop: Promise<unknown>): Promise<void> {
    const failed = new Promise<never>((_, reject) => (this.#fail = reject));
    const { directory, observer, watch } = this.options;
    try {
      // Before the sources are read, so that no change is missed.
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

  /** Brings what is served up to date with the sources; changes that come meanwhile are looked at afterwards, at once. */
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
    const look = ++this.#look;
    const started = performance.now();
    const { directory, observer, watch } = this.options;
    const compiled = compileProject(directory, { onOutput: (text) => observer.output(text) });
    // Loaded while other processes bundle and run the sources.
    this.#serving ??= loadServing();
    const [quick] = await Promise.all([compiled, this.#serving]);
    // What is wrong and what to do about it, the check of types tells better.
    const result = quick.ok ? quick : await compileProject(directory, { types: true, onOutput: () => undefined });
    if (this.#stopped) return;
    if (!result.ok) {
      if (!watch) throw new BrokenModelError(result.diagnostics);
      observer.broken(result.diagnostics, this.#server !== undefined);
    } else if (this.#engine === undefined) await this.#start(result);
    else this.#reload(this.#engine, result, started);
    if (!result.ok) return;
    // It takes seconds, so that nothing waits for it, and one waits for the one before.
    this.#typeChecks = this.#typeChecks
      .then(() => this.#checkTypes(look, result.warnings))
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
      const message = `what was accepted could not be evaluated under this model: ${String(error)}`;
      observer.broken([{ code: "EVALUATION_FAILED", severity: "error", message }], true);
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

  /** What the quick look found already is not told again, and nothing where the sources have changed since. */
  async #checkTypes(look: number, told: readonly Diagnostic[]): Promise<void> {
    const { directory, observer } = this.options;
    const outdated = (): boolean => this.#stopped || look !== this.#look;
    if (outdated()) return;
    const result = await compileProject(directory, { types: true, onOutput: () => undefined });
    if (outdated()) return;
    // The places of the same finding may differ: the check of types knows them better.
    const key = ({ code, message }: Diagnostic): string => JSON.stringify([code, message]);
    const known = new Set(told.map(key));
    const found = result.ok ? result.warnings : result.diagnostics;
    observer.typesChecked(found.filter((diagnostic) => !known.has(key(diagnostic))));
  }
}
