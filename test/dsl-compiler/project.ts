import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";

import { compileProject } from "../../src/dsl-compiler/index.js";
import type { CompileOptions, Diagnostic } from "../../src/dsl-compiler/index.js";

/** Writes a project folder for the running test, which is removed when the test has ended. */
export async function project(files: Record<string, string>): Promise<string> {
  const directory = await mkdtemp(path.join(os.tmpdir(), "svc-project-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(directory, name)), { recursive: true });
    await writeFile(path.join(directory, name), text);
  }
  return directory;
}

/** A project of a `svc.config.ts` alone, compiled with its types. */
export async function compiled(source: string) {
  const directory = await mkdtemp(path.join(os.tmpdir(), "svc-project-"));
  try {
    await writeFile(path.join(directory, "svc.config.ts"), source);
    return await compileProject(directory, { types: true });
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** Everything that is said about a project, without the author's lines; a string stands for its svc.config.ts. */
export async function diagnose(
  files: string | Record<string, string>,
  options?: CompileOptions,
): Promise<Omit<Diagnostic, "source">[]> {
  const directory = await project(typeof files === "string" ? { "svc.config.ts": files } : files);
  const result = await compileProject(directory, options);
  return (result.ok ? result.warnings : result.diagnostics).map(({ source: _, ...told }) => told);
}

/** A diagnostic in one line: `model/events.ts:3:7-12 UNKNOWN_STATE: message; fix`. */
export function inOneLine({ code, message, file, line, column, endColumn, fix }: Diagnostic): string {
  return `${file}:${line}:${column}-${endColumn ?? column} ${code}: ${message}; ${fix}`;
}
