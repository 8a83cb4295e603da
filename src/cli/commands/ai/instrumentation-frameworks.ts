import { readFile } from "node:fs/promises";
import path from "node:path";

/** What instrumentation is written for, by the language of the client. */
const NODE = ["node", "express", "fastify", "koa", "nextjs"] as const;
const PYTHON = ["python", "django", "flask", "fastapi"] as const;

export const FRAMEWORKS = [...NODE, ...PYTHON] as const;
export type Framework = (typeof FRAMEWORKS)[number];
export type NodeFramework = (typeof NODE)[number];
export type PythonFramework = (typeof PYTHON)[number];

export function isNode(framework: Framework): framework is NodeFramework {
  return NODE.includes(framework as NodeFramework);
}

/** Packages of npm that tell a framework, what is built upon others first. */
const PACKAGES = [
  ["next", "nextjs"],
  ["fastify", "fastify"],
  ["express", "express"],
  ["koa", "koa"],
] as const;

const PYTHON_FILES = ["requirements.txt", "pyproject.toml"];
const PYTHON_PACKAGES = ["django", "fastapi", "flask"] as const;

/**
 * The framework that a backend is written with, by what its package.json, requirements.txt or pyproject.toml asks for; where several are
 * there, what tells more wins. `python` or `node` where only the language is known, and `node` where nothing is: files that cannot be read
 * tell nothing.
 */
export async function detectFramework(directory: string): Promise<Framework> {
  const [manifest, ...python] = await Promise.all(
    ["package.json", ...PYTHON_FILES].map((name) => textOf(path.join(directory, name))),
  );
  const packages = packagesIn(manifest);
  const known = PACKAGES.find(([name]) => packages.has(name))?.[1];
  if (known !== undefined) return known;
  const requirements = python.filter((text) => text !== undefined).join("\n");
  const isAsked = (name: string) =>
    new RegExp(`^[\\s"'\\[,]*${name}(?![\\w.-])|["']${name}(?![\\w.-])`, "im").test(requirements);
  const framework = PYTHON_PACKAGES.find(isAsked);
  if (framework !== undefined) return framework;
  return manifest === undefined && python.some((text) => text !== undefined) ? "python" : "node";
}

function packagesIn(manifest: string | undefined): Set<string> {
  try {
    const { dependencies, devDependencies } = JSON.parse(manifest ?? "{}") as Record<string, object | undefined>;
    return new Set([...Object.keys(dependencies ?? {}), ...Object.keys(devDependencies ?? {})]);
  } catch {
    // What npm cannot read either tells nothing.
    return new Set();
  }
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch {
    return undefined;
  }
}
