import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { compileProject } from "../../src/dsl-compiler/index.js";
import { canonicalJson, hashSnapshot } from "../../src/model/snapshot/canonical.js";
import { project } from "./project.js";

const example = (name: string) => path.resolve(import.meta.dirname, "../../examples", name);

test.each(["saas", "cdnow", "fines"])(
  "the example %s compiles without a warning, with and without its types to the same bytes",
  async (name) => {
    const first = await compileProject(example(name), { types: true });
    const second = await compileProject(example(name));
    if (!first.ok || !second.ok) throw new Error(JSON.stringify([first, second], null, 2));
    expect(first.warnings).toEqual([]);
    expect(canonicalJson(second.snapshot)).toBe(canonicalJson(first.snapshot));
    expect(second.hash).toBe(first.hash);
    expect(first.hash).toBe(hashSnapshot(first.snapshot));
  },
);

test("a model becomes the whole snapshot", async () => {
  const directory = await project({
    "svc.config.ts": `
      import { defineModel, inactiveFor, lifecycle, number, event, oneOf, segment, traits } from "svc";
      const order = event("order", { total: number().optional() });
      const customer = traits({ plan: oneOf("free", "pro") });
      export default defineModel({
        events: { order },
        traits: customer,
        lifecycle: lifecycle({
          initial: "new",
          states: { new: { to: { lost: inactiveFor("30d") } }, lost: { terminal: true } },
        }),
        segments: [segment("large", { when: order.where((p) => p.total.atLeast(5)).happened() })],
      });`,
  });
  const where = { kind: "compare", property: "total", operator: "gte", value: 5 };
  expect(await compileProject(directory)).toEqual({
    ok: true,
    warnings: [],
    hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    snapshot: {
      formatVersion: 1,
      strictSchema: false,
      events: { order: { properties: { total: { type: "number", optional: true } } } },
      traits: { plan: { type: "string", enum: ["free", "pro"] } },
      lifecycle: {
        initial: "new",
        states: [
          { name: "new", transitions: [{ to: "lost", when: { kind: "inactiveFor", duration: "30d" } }] },
          { name: "lost", terminal: true, transitions: [] },
        ],
      },
      journeys: [],
      segments: [{ id: "large", when: { kind: "count", of: { event: "order", where }, operator: "gte", value: 1 } }],
      health: null,
      rules: [],
      signals: [],
    },
  });
});

test("an empty model is a model", async () => {
  const directory = await project({
    "svc.config.ts": `import { defineModel } from "svc"; export default defineModel({});`,
  });
  expect(await compileProject(directory)).toMatchObject({
    ok: true,
    warnings: [],
    snapshot: { events: {}, segments: [], lifecycle: null },
  });
});

test("modules that import each other in a circle may give conditions as functions", async () => {
  const directory = await project({
    "svc.config.ts": `
      import { defineModel } from "svc";
      import { stages } from "./stages.js";
      import * as segments from "./segments.js";
      export default defineModel({ lifecycle: stages, segments });`,
    "stages.ts": `
      import { lifecycle } from "svc";
      import { quiet } from "./segments.js";
      export const stages = lifecycle({ initial: "a", states: { a: { to: { b: () => quiet.has() } }, b: {} } });`,
    "segments.ts": `
      import { all, inactiveFor, segment } from "svc";
      import { stages } from "./stages.js";
      export const quiet = segment("quiet", { when: () => all(stages.is("a"), inactiveFor("3d")) });`,
  });
  expect(await compileProject(directory)).toMatchObject({ ok: true, warnings: [] });
});

test("the author's console is passed on and is no part of the snapshot", async () => {
  const directory = await project({
    "svc.config.ts": `import { defineModel } from "svc"; console.log("loaded"); export default defineModel({});`,
  });
  const printed: string[] = [];
  expect(await compileProject(directory, { onOutput: (text) => printed.push(text) })).toMatchObject({ ok: true });
  expect(printed.join("")).toBe("loaded\n");
});

test("a folder without svc.config.ts is told", async () => {
  const directory = await mkdtemp(path.join(os.tmpdir(), "svc-project-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  expect(await compileProject(directory)).toEqual({
    ok: false,
    diagnostics: [
      {
        code: "CONFIG_MISSING",
        severity: "error",
        message: `there is no svc.config.ts in ${directory}`,
        fix: "run the command in a project's folder, or make a project: svc init",
      },
    ],
  });
});
