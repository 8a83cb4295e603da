import { readFile } from "node:fs/promises";
import { marked } from "marked";

import { EMPTY_SNAPSHOT, type Snapshot } from "../../../src/model/snapshot/types.js";
import { compiled } from "../../dsl-compiler/project.js";

/** Names and types that are hard to write in a program or in Markdown. */
export const HARD: Snapshot = {
  ...EMPTY_SNAPSHOT,
  strictSchema: true,
  events: {
    project_created: {
      properties: {
        name: { type: "string" },
        seats: { type: "number", optional: true },
        "is paid": { type: "boolean" },
        on: { type: "date" },
        source: { type: "string", enum: ['we"b', "\u202eapi", "```"] },
        tags: { type: "array", items: { type: "string", enum: ["a", "b"] }, optional: true },
        counts: { type: "array", items: { type: "number" } },
      },
    },
    '`${process.exit(1)}` {x} "q" \\ ```': { properties: {} },
    "line\nbreak \u2028": { properties: {} },
    ["x".repeat(256)]: { properties: { "1": { type: "number" } } },
  },
  traits: {
    plan: { type: "string", enum: ["free", "pro"] },
    "renews on": { type: "date" },
    seats: { type: "number" },
    beta: { type: "boolean" },
    tags: { type: "array", items: { type: "date" } },
  },
  segments: [{ id: "some", when: { kind: "count", of: { event: "project_created" }, operator: "gte", value: 1 } }],
};

/** The code blocks of a plan, as Markdown renders them. */
export const blocksOf = (plan: string) =>
  marked
    .lexer(plan)
    .flatMap((token) => (token.type === "code" ? [{ language: token.lang, code: `${token.text}\n` }] : []));

/** The files of a plan by path, and the calls for events and traits that follow them. */
export function partsOf(plan: string) {
  const [client, handler, ...rest] = blocksOf(plan).map(({ code }) => code);
  const [clientPath, handlerPath] = [...plan.matchAll(/`([\w/]+\.(?:js|py))`:$/gm)].map(([, name]) => name!);
  const calls = rest.slice(0, -1);
  return { files: { [clientPath!]: client!, [handlerPath!]: handler! }, calls };
}

/** The model of docs/model.md. */
export async function guideModel(): Promise<Snapshot> {
  const guide = await readFile(new URL("../../../docs/model.md", import.meta.url), "utf8");
  const result = await compiled(/```ts\n(import \{[\s\S]*?)```/.exec(guide)![1]!);
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  return result.snapshot;
}
