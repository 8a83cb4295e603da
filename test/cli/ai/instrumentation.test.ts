import { execFile } from "node:child_process";
import { symlink } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { marked } from "marked";
import { describe, expect, it } from "vitest";

import { detectFramework, FRAMEWORKS, instrumentationPlan } from "../../../src/cli/commands/ai/instrumentation.js";
import { typesOf } from "../../../src/cli/commands/types.js";
import { EMPTY_SNAPSHOT } from "../../../src/model/snapshot/types.js";
import { project } from "../../dsl-compiler/project.js";
import { isThere } from "../support/program.js";
import { tsconfig, typeMistakes } from "../support/types.js";
import { blocksOf, guideModel, HARD, partsOf } from "./plan.js";

const ROOT = path.resolve(import.meta.dirname, "../../..");
const NODE = ["node", "express", "fastify", "koa", "nextjs"] as const;
const PYTHON = ["python", "django", "flask", "fastapi"] as const;

describe("detectFramework", () => {
  it.each<[string, Record<string, string>, string]>([
    ["nothing", {}, "node"],
    ["a package.json without any", { "package.json": '{"dependencies":{"pg":"8"}}' }, "node"],
    ["a package.json that is broken", { "package.json": "{" }, "node"],
    ["express", { "package.json": '{"dependencies":{"express":"^5"}}' }, "express"],
    ["fastify", { "package.json": '{"dependencies":{"fastify":"^5","express":"^5"}}' }, "fastify"],
    ["koa", { "package.json": '{"dependencies":{"koa":"^3"}}' }, "koa"],
    ["next", { "package.json": '{"dependencies":{"next":"16","express":"5"}}' }, "nextjs"],
    ["requirements without any", { "requirements.txt": "requests==2\ndjango-environ\n" }, "python"],
    ["django", { "requirements.txt": "# web\nDjango>=5\nflask\n" }, "django"],
    ["flask", { "requirements.txt": "Flask[async]==3.1\n" }, "flask"],
    ["fastapi", { "pyproject.toml": '[project]\ndependencies = ["fastapi[all]>=0.1", "flask-cors"]\n' }, "fastapi"],
    ["poetry", { "pyproject.toml": '[tool.poetry.dependencies]\nflask = "^3"\n' }, "flask"],
    ["a front end of Python", { "package.json": '{"devDependencies":{}}', "requirements.txt": "django" }, "django"],
  ])("detects %s", async (_, files, expected) => {
    expect(await detectFramework(await project(files))).toBe(expected);
  });

  it("assumes a Node.js backend for a directory that does not exist", async () => {
    expect(await detectFramework(path.join(ROOT, "nowhere"))).toBe("node");
  });
});

describe("a plan", () => {
  it("begins with the events that most parts depend on, and names these parts", async () => {
    const plan = instrumentationPlan(await guideModel(), "node");
    expect([...plan.matchAll(/^### 3\.\d+ `(.*)`$/gm)].map(([, name]) => name)).toEqual([
      ...["project_created", "signed_up", "invoice_paid", "login", "member_invited", "ticket_opened"],
    ]);
    expect(plan).toContain("- the segment `power_users`, which reads `seats`");
    expect(plan).toContain("- the lifecycle `trial → activated`");
    expect(plan).toContain("- `renewsOn`: the rule `plan_changed`, the signal `renewal_at_risk`");
    expect(plan).toContain("svc events list --env test --since 1h --type project_created");
    expect(plan).toContain('    source: "web", // one of "web", "api"\n    template: "text", // optional\n');
  });

  it.each(FRAMEWORKS)("for %s is the same each time, and valid Markdown whatever the names are", (framework) => {
    const plan = instrumentationPlan(HARD, framework);
    expect(instrumentationPlan(HARD, framework)).toBe(plan);
    // Two files, four events, the traits, the check.
    expect(blocksOf(plan)).toHaveLength(8);
    expect(marked.lexer(plan).filter(({ type }) => type === "heading")).toHaveLength(10);
    expect(plan).not.toMatch(/[\u2028\u202e]/);
  });

  it("of a model that declares nothing shows how to start", () => {
    const plan = instrumentationPlan(EMPTY_SNAPSHOT, "python");
    expect(plan).toContain("The model declares 0 events and 0 traits. It is not strict");
    expect(blocksOf(plan)).toHaveLength(3);
  });

  it(
    "calls the client of Node.js as its types say, with values that the model takes",
    { timeout: 120_000 },
    async () => {
      const files: Record<string, string> = {
        "svc-types.ts": typesOf(HARD),
        "others.d.ts": `declare module "express";\ndeclare module "next/server";\n`,
        "tsconfig.json": tsconfig({
          ...{ allowJs: true, checkJs: true, noImplicitAny: false, esModuleInterop: true },
          ...{ module: "esnext", moduleResolution: "bundler" },
          paths: { koa: [path.join(ROOT, "node_modules/@types/koa/index.d.ts")] },
        }),
      };
      for (const framework of NODE) {
        const { files: written, calls } = partsOf(instrumentationPlan(HARD, framework));
        for (const [name, code] of Object.entries(written)) files[`${framework}/${name}`] = code;
        expect(calls).toHaveLength(5);
        files[`${framework}.ts`] = `import type { Client } from "svc-success-client";
import type { Schema } from "./svc-types.js";
declare const svc: Client<Schema>;
declare const record: { id: string; accountId: string; createdAt: Date };
declare const account: { id: string };
${calls.join("\n")}`;
      }
      const directory = await project(files);
      // TypeScript looks for the types of packages next to the files.
      await symlink(path.join(ROOT, "node_modules"), path.join(directory, "node_modules"));
      expect(await typeMistakes(directory)).toBe("");
    },
  );

  it("for Python and its frameworks is Python", async () => {
    const files: Record<string, string> = {};
    for (const framework of PYTHON) {
      const parts = partsOf(instrumentationPlan(HARD, framework));
      expect(parts.calls).toHaveLength(5);
      for (const [name, code] of Object.entries({ ...parts.files, "calls.py": parts.calls.join("\n") }))
        files[`${framework}/${name}`] = code;
    }
    if (!isThere("python3")) return;
    const directory = await project(files);
    const names = Object.keys(files).map((name) => path.join(directory, name));
    const compiled = await promisify(execFile)("python3", ["-m", "py_compile", ...names], { env: process.env });
    expect(compiled).toEqual({ stdout: "", stderr: "" });
  });
});
