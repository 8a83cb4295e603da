import type { Diagnostic } from "../../../dsl-compiler/index.js";
import { type Effect, stateBudget } from "../../../engine/index.js";
import type { LocalEngine } from "../../../local/engine.js";
import { curlLine } from "../../../local/help.js";
import type { CustomerChange } from "../../../local/population.js";
import type { RequestReport } from "../../../local/report.js";
import type { Reload, SessionObserver } from "../../../local/session.js";
import { showDiagnostics } from "../../output/diagnostics.js";
import type { Out } from "../../output/out.js";
import { stateSize, summary, plural, printable } from "../../../words/text.js";

/** Customers shown per request or timer. */
const CUSTOMERS_MAX = 20;

/** Prints what `svc dev` does: lines for people, or with `--json` one JSON document a line. */
export class DevReport implements SessionObserver {
  constructor(private readonly out: Out) {}

  ready({ url, engine, warnings }: { url: string; engine: LocalEngine; warnings: readonly Diagnostic[] }): void {
    const { clock, snapshot } = engine;
    const now = new Date(clock.now()).toISOString();
    const { bytes: stateBytes } = stateBudget(snapshot);
    const document = { type: "ready", url, clock: { kind: clock.kind, now }, stateBytes, warnings };
    this.#say(document, (style) => [
      ...this.#diagnostics(warnings),
      `${style.green("ready")} ${style.bold(url)} ${style.dim(summary(snapshot))}`,
      stateSize(stateBytes),
      ...(clock.kind === "test" ? [`It is ${now}; POST /clock moves the time.`] : []),
      `Look: ${url}/console`,
      `Try: ${curlLine(url, engine)}`,
    ]);
  }

  request(report: RequestReport): void {
    const { requestId, method, path, status, operations, changes, duplicates, diagnostics, error } = report;
    const document = {
      type: "request",
      requestId,
      method,
      path,
      status,
      operations: operations.map((one) => {
        const { customerId } = one;
        return one.type === "identify" ? { customerId, type: "identify" } : { customerId, event: one.event };
      }),
      duplicates,
      changes: changesOf(changes),
      diagnostics: error?.detail.diagnostics ?? diagnostics,
      ...(error === null ? {} : { error: { code: error.code, message: error.message } }),
    };
    this.#say(document, (style) => {
      const paint = error === null ? style.green : style.red;
      const what = [paint(String(status)), requestInWords(report)];
      if (error !== null) what.push(`${style.red(error.code)} ${printable(error.message)}`);
      else if (duplicates > 0) what.push(style.dim(plural(duplicates, "repetition")));
      const faults = diagnostics.map(({ code, message, path }) => ({ severity: "warning", code, message, path }));
      return [...this.#withChanges(what.join("  "), changes, operations.length), ...this.#diagnostics(faults)];
    });
    // An unexpected error needs its stack, which the answer does not contain.
    if (error?.cause instanceof Error) this.out.note(error.cause.stack ?? error.cause.message);
  }

  timers(changes: readonly CustomerChange[]): void {
    this.#say({ type: "timers", changes: changesOf(changes) }, (style) =>
      this.#withChanges(style.dim("time"), changes, 0),
    );
  }

  reloaded({ snapshot, warnings, changed, customers, before, after, took }: Reload): void {
    const moved = [...new Set([...before.keys(), ...after.keys()])]
      .map((state) => ({ state, before: before.get(state) ?? 0, after: after.get(state) ?? 0 }))
      .filter((count) => count.before !== count.after);
    const document = { changed, customers, lifecycle: moved, warnings, milliseconds: took };
    const what = changed
      ? `${summary(snapshot)}; ${plural(customers, "customer")} evaluated again`
      : "the model is the same";
    this.#say({ type: "reloaded", ...document }, (style) => [
      ...this.#diagnostics(warnings),
      `${style.green("reloaded")} in ${Math.round(took)} ms: ${what}`,
      ...moved.map((count) => `  ${printable(count.state)}: ${count.before} → ${count.after}`),
    ]);
  }

  compileFailed(problems: readonly Diagnostic[], serving: boolean): void {
    const then = serving ? "the last good one stays in use" : "waiting for its sources to change";
    this.#say({ type: "broken", serving, problems }, (style) => [
      ...this.#diagnostics(problems),
      `${style.red("broken")} The model does not compile; ${then}.`,
    ]);
  }

  typesChecked(problems: readonly Diagnostic[]): void {
    if (problems.length === 0 && !this.out.json) return;
    this.#say({ type: "types", problems }, (style) => [
      ...this.#diagnostics(problems),
      style.yellow(`${plural(problems.length, "finding")} of the type check; the model that runs is not affected.`),
    ]);
  }

  output(text: string): void {
    this.out.note(text.trimEnd());
  }

  watchFailed(error: Error): void {
    this.out.note(`Changes of some folders cannot be seen (${error.message}); restart svc dev after changing sources.`);
  }

  #say(document: object, lines: (style: Out["style"]) => string[]): void {
    this.out.result({ document }, () => lines(this.out.style).join("\n"));
  }

  #diagnostics(diagnostics: readonly unknown[]): string[] {
    return diagnostics.length === 0 ? [] : [showDiagnostics(diagnostics, this.out.style)];
  }

  /** A line, with the changes at its end if it is about one operation, otherwise with a line per customer below it. */
  #withChanges(line: string, changes: readonly CustomerChange[], operations: number): string[] {
    const shown = changes.filter(({ effects }) => effects.length > 0);
    // One operation names its customer in the line.
    if (operations === 1 && changes.length === 1) {
      return [[line, ...shown.map((change) => this.#changes(change))].join("  ")];
    }
    const rest = shown.length - CUSTOMERS_MAX;
    return [
      line,
      ...shown.slice(0, CUSTOMERS_MAX).map((change) => `  ${printable(change.customerId)}  ${this.#changes(change)}`),
      ...(rest > 0 ? [`  and ${plural(rest, "customer")} more`] : []),
    ];
  }

  /** What happened, in order; changes caused by time with their instant. */
  #changes({ effects }: CustomerChange): string {
    const { cyan, dim } = this.out.style;
    const timed = new Map(effects.map(({ at, cause }) => [at, cause.kind === "timer"]));
    const words = effectsInWords(effects).map(({ at, text }) => {
      const when = timed.get(at) === true ? dim(` (${this.out.at(new Date(at).toISOString())})`) : "";
      return cyan(printable(text)) + when;
    });
    return words.join(", ");
  }
}

function requestInWords({ method, path, operations }: RequestReport): string {
  const [first] = operations;
  if (first === undefined) return printable(`${method} ${path}`);
  if (operations.length > 1) return `batch of ${plural(operations.length, "operation")}`;
  return printable(`${first.type === "identify" ? "identify" : first.event}  ${first.customerId}`);
}

function changesOf(changes: readonly CustomerChange[]): object[] {
  return changes.map(({ customerId, effects }) => ({
    customerId,
    changes: effectsInWords(effects).map(({ at, text }) => ({ at: new Date(at).toISOString(), text })),
  }));
}

/** Effects in a few words, with their instants: each change once, however many rows and emissions it makes. */
function effectsInWords(effects: readonly Effect[]): { at: number; text: string }[] {
  return effects.flatMap((effect) => {
    const text = inWords(effect);
    return text === null ? [] : [{ at: effect.at, text }];
  });
}

function inWords(effect: Effect): string | null {
  switch (effect.kind) {
    case "transition":
      return effect.from === null ? `created as ${effect.to}` : `${effect.from} → ${effect.to}`;
    case "blocked":
      return `${effect.from} → ${effect.to} blocked: it was in that state at this instant already, or time alone has moved it too often`;
    case "segmentEntered":
      return `segment ${effect.segment} entered`;
    case "segmentExited":
      return `segment ${effect.segment} left`;
    case "health":
      return effect.overall === null ? "health none" : `health ${effect.overall} (${effect.band})`;
    case "ruleExecuted":
      return `rule ${effect.rule} ${RULE_RESULTS[effect.result]}${effect.error === null ? "" : `: ${effect.error}`}`;
    case "signalRaised":
      return `signal ${effect.signal} raised (${effect.severity})`;
    case "signalCleared":
      return `signal ${effect.signal} cleared`;
    case "emission":
      return emissionInWords(effect);
    case "journey":
      return null; // its emission shows what changed
  }
}

const RULE_RESULTS = { pass: "passed", fail: "not met", skip: "skipped: it passed before", error: "failed" } as const;

/** Only emissions that no other effect shows. */
function emissionInWords({ type, source, metadata }: Extract<Effect, { kind: "emission" }>): string | null {
  if (source === "rule") return `emitted ${type}`;
  if (source !== "journey") return null;
  const { journey: id, step } = metadata as { journey: string; step?: string };
  const journey = `journey ${id}`;
  if (step !== undefined) return `${journey}: ${step} done`;
  return `${journey} ${type.slice("journey.".length)}`;
}
