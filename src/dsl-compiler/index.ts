import { existsSync } from "node:fs";
import path from "node:path";

import { hashSnapshot } from "../snapshot/canonical.js";
import type { Snapshot } from "../snapshot/types.js";
import { parseSnapshot } from "../snapshot/validate.js";
import { bundleProject } from "./bundle.js";
import type { Diagnostic, Location } from "./diagnostic.js";
import { diagnostic } from "./diagnostic.js";
import { lint } from "./lint.js";
import { locator } from "./locate.js";
import type { Locate } from "./locate.js";
import type { Lowered } from "./lower.js";
import type { Outcome } from "./run.js";
import { runBundle } from "./run.js";

export type { Diagnostic } from "./diagnostic.js";

export type CompileResult =
  { ok: true; snapshot: Snapshot; hash: string; warnings: Diagnostic[] } | { ok: false; diagnostics: Diagnostic[] };

export interface CompileOptions {
  /** How long the author's modules may take to load, in milliseconds. */
  timeLimitMs?: number;
  /** Takes what the author's modules print; by default it goes to standard error. */
  onOutput?: (text: string) => void;
}

const CONFIG = "svc.config.ts";
const TIME_LIMIT_MS = 10_000;

/**
 * Compiles a project folder to a snapshot. The author's mistakes are diagnostics, all that can be found at once, never exceptions;
 * an exception means that the compiler itself could not work. The same sources give the same snapshot, byte for byte.
 *
 * @param directory the folder that holds `svc.config.ts`.
 */
export async function compileProject(directory: string, options: CompileOptions = {}): Promise<CompileResult> {
  const root = path.resolve(directory);
  if (!existsSync(path.join(root, CONFIG))) {
    const message = `there is no ${CONFIG} in ${root}`;
    return failed([
      diagnostic(
        "error",
        "CONFIG_MISSING",
        message,
        undefined,
        "run the command in a project's folder, or make a project first",
      ),
    ]);
  }
  const bundle = await bundleProject(root, CONFIG);
  if ("errors" in bundle) return failed(bundle.errors);

  const timeLimitMs = options.timeLimitMs ?? TIME_LIMIT_MS;
  const outcome = await runBundle(bundle.code, root, timeLimitMs);
  const locate = locator(root, bundle.map);
  // After a crash the output is the crash report of Node.js, which tells an author nothing.
  if (outcome.kind !== "ended" && outcome.output !== "") (options.onOutput ?? printOutput)(outcome.output);
  if (outcome.kind !== "lowered") return failed([...bundle.warnings, ...runDiagnostics(outcome, locate, timeLimitMs)]);
  return check(outcome.lowered, locate, bundle.warnings);
}

function printOutput(text: string): void {
  process.stderr.write(text);
}

function failed(diagnostics: Diagnostic[]): CompileResult {
  return { ok: false, diagnostics };
}

function runDiagnostics(
  outcome: Exclude<Outcome, { kind: "lowered" }>,
  locate: Locate,
  timeLimitMs: number,
): Diagnostic[] {
  switch (outcome.kind) {
    case "failed": {
      const fix =
        "correct the cause; where modules import each other in a circle, give a condition as a function: () => …";
      return [
        diagnostic(
          "error",
          "MODEL_FAILED",
          `the model could not be loaded: ${outcome.message}`,
          locate(outcome.stack),
          fix,
        ),
      ];
    }
    case "timedOut":
      return [diagnostic("error", "MODEL_TIMED_OUT", `the model was not loaded within ${timeLimitMs / 1000} seconds`)];
    case "ended": {
      const message = `the process that loaded the model ended ${outcome.how} before the model was complete`;
      const fix = "look for process.exit, for an await that never ends, or for more memory than a model may use";
      return [diagnostic("error", "MODEL_ENDED", message, undefined, fix)];
    }
  }
}

/** Validates what the model became, as every reader of a snapshot does, and finds the author's place of each problem. */
function check(lowered: Lowered, locate: Locate, sourceWarnings: Diagnostic[]): CompileResult {
  const place = placesOf(lowered, locate);
  const errors = lowered.problems.map(({ code, message, stack }) => {
    const fix =
      code === "NO_DEFAULT_EXPORT" || code === "NOT_A_MODEL" ? "write export default defineModel({ … })" : undefined;
    const location = locate(stack) ?? (fix === undefined ? undefined : { file: CONFIG, line: 1, column: 1 });
    return diagnostic("error", code, message, location, fix);
  });
  if (lowered.snapshot === null) return failed([...sourceWarnings, ...errors]);

  const parsed = parseSnapshot(lowered.snapshot);
  if (!parsed.ok) {
    errors.push(
      ...parsed.problems.map(({ path, code, message }) =>
        diagnostic("error", code, says(path, code, message), place(path)),
      ),
    );
  }
  if (!parsed.ok || errors.length > 0) return failed(unique([...sourceWarnings, ...errors]));
  const suspicions = lint(parsed.snapshot).map(({ path, code, message }) =>
    diagnostic("warning", code, message, place(path)),
  );
  return {
    ok: true,
    snapshot: parsed.snapshot,
    hash: hashSnapshot(parsed.snapshot),
    warnings: unique([...sourceWarnings, ...suspicions]),
  };
}

/** The messages of these speak for themselves; the others need the part of the model that they speak of. */
const SELF_CONTAINED =
  /^(UNKNOWN_|DUPLICATE_|TERMINAL_|SEGMENT_CYCLE|NO_LIFECYCLE|RESERVED_NAME|INVALID_DURATION|SNAPSHOT_TOO_LARGE)/;

function says(path: string, code: string, message: string): string {
  return path === "" || SELF_CONTAINED.test(code) ? message : `${path}: ${message}`;
}

/** Finds the place of the innermost part on a path that the author made by a call. */
function placesOf(lowered: Lowered, locate: Locate): (path: string) => Location | undefined {
  const stacks = new Map(lowered.stacks);
  return (path) => {
    for (let rest = path; ; rest = parent(rest)) {
      const location = locate(stacks.get(rest));
      if (location || rest === "") return location;
    }
  };
}

/** The last step of a path: `.member`, `[3]` or `["a member"]`. */
const LAST_STEP = /(?:(?:^|\.)[A-Za-z_$][A-Za-z0-9_$]*|\[\d+\]|\["(?:[^"\\]|\\.)*"\])$/;

/** The path of the part that holds the one on this path. */
function parent(path: string): string {
  const shorter = path.replace(LAST_STEP, "");
  return shorter === path ? "" : shorter;
}

/** A condition that is used in several places is wrong in all of them, and told once. */
function unique(diagnostics: Diagnostic[]): Diagnostic[] {
  const seen = new Set<string>();
  return diagnostics.filter((found) => {
    const key = JSON.stringify([found.code, found.message, found.file, found.line, found.column]);
    return !seen.has(key) && seen.add(key);
  });
}
