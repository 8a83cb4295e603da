import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";

import { compileProject } from "../../src/dsl-compiler/index.js";
import type { CompileOptions, Diagnostic } from "../../src/dsl-compiler/index.js";

/** Writes a project folder for the running test, which is removed when the test ends. */
export async function project(files: Record<string, string>): Promise<string> {
  const directory = await mkdtemp(path.join(os.tmpdir(), "svc-project-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) await writeInto(directory, name, text);
  return directory;
}

/** Writes a file of a project, and the folders that it is in. */
export async function writeInto(directory: string, name: string, text: string): Promise<void> {
  await mkdir(path.dirname(path.join(directory, name)), { recursive: true });
  await writeFile(path.join(directory, name), text);
}

/** A project with only a `svc.config.ts`, compiled with its types. */
export async function compiled(source: string) {
  const directory = await mkdtemp(path.join(os.tmpdir(), "svc-project-"));
  try {
    await writeFile(path.join(directory, "svc.config.ts"), source);
    return await compileProject(directory, { types: true });
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** All diagnostics of a project, without source lines; a string is the content of its svc.config.ts. */
export async function diagnose(
  files: string | Record<string, string>,
  options?: CompileOptions,
): Promise<Omit<Diagnostic, "source">[]> {
  const directory = await project(typeof files === "string" ? { "svc.config.ts": files } : files);
  const result = await compileProject(directory, options);
  return (result.ok ? result.warnings : result.diagnostics).map(({ source: _, ...diagnostic }) => diagnostic);
}

/** A diagnostic as one line: `model/events.ts:3:7-12 UNKNOWN_STATE: message; fix`. */
export function inOneLine({ code, message, file, line, column, endColumn, fix }: Diagnostic): string {
  return `${file}:${line}:${column}-${endColumn ?? column} ${code}: ${message}; ${fix}`;
}
