/** The model that a run deploys, compiled from its folder. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { compileProject, type Diagnostic } from "../dsl-compiler/index.js";
import type { Snapshot } from "../model/snapshot/types.js";
import { DemoFailure } from "./failure.js";
import { ROOT } from "./service/service.js";

export interface CompiledModel {
  directory: string;
  /** The folder for display: relative to this package if it is inside. */
  title: string;
  snapshot: Snapshot;
  /** The project slug in the folder's `.kite/config.json`, so that `svc` finds the project when run there; "demo" without one. */
  project: string;
}

/** Throws a DemoFailure with the model's first error and its place. */
export async function compileDemoModel(directory: string): Promise<CompiledModel> {
  const compiled = await compileProject(directory);
  if (!compiled.ok) {
    const errors = compiled.diagnostics.filter(({ severity }) => severity === "error");
    const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
    throw new DemoFailure(
      `the model in ${directory} does not compile: ${errors.map(place)[0] ?? "unknown error"}${more}`,
    );
  }
  const { snapshot } = compiled;
  const inside = path.relative(ROOT, path.resolve(directory));
  const title = inside.startsWith("..") || path.isAbsolute(inside) ? directory : inside;
  return { directory, title, snapshot, project: await projectSlug(directory) };
}

function place({ file, line, column, message, fix }: Diagnostic): string {
  const where = file === undefined ? "" : `${[file, line, column].filter((part) => part !== undefined).join(":")}: `;
  return `${where}${message}${fix === undefined ? "" : `; ${fix}`}`;
}

async function projectSlug(directory: string): Promise<string> {
  const file = path.join(directory, ".kite", "config.json");
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "{}";
    throw error;
  });
  try {
    const { project } = JSON.parse(text) as { project?: unknown };
    return typeof project === "string" && project !== "" ? project : "demo";
  } catch {
    throw new DemoFailure(`${file} is not valid JSON`);
  }
}
