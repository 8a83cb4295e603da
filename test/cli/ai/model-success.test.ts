import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

import { QUESTIONS, successModel } from "../../../src/cli/commands/ai/success-model.js";
import { compileProject } from "../../../src/dsl-compiler/index.js";
import { says, startProvider, type Behaviour } from "../../support/language-model.js";
import { useOwner } from "../support/owner.js";
import type { RunOptions } from "../support/run-svc.js";
import { useDirectory } from "../../support/directory.js";

const DRAFT = `import { defineModel, event, inactiveFor, lifecycle } from "svc-success";

const reportShared = event("report_shared");

export default defineModel({
  events: [reportShared],
  lifecycle: lifecycle({
    initial: "new",
    states: {
      new: { to: { activated: reportShared.count().atLeast(2).within("7d") } },
      activated: { to: { lost: inactiveFor("30d") } },
      lost: { terminal: true },
    },
  }),
});
`;
const inAnswer = (source: string) => `Here it is.\n\n\`\`\`ts\n${source}\`\`\`\n\nTwo reports make a habit.`;

const folder = await useDirectory();
const provider = await startProvider();
const service = useOwner(() => ({ ai: { baseUrl: provider.baseUrl, apiKey: null, model: "small" } }));
beforeAll(() => service.addProject("app"));
beforeEach(() => {
  provider.asked.length = 0;
});
afterAll(() => provider.close());

const run = (argv: readonly string[], options: RunOptions = {}) =>
  service.svc(["ai", "model-success", "--project", "app", ...argv], { cwd: folder, ...options });

/** Gives these answers in turn, then repeats the last one. */
function inTurn(...answers: string[]): Behaviour {
  let turn = 0;
  return (request, response) => says(answers[Math.min(turn++, answers.length - 1)]!)(request, response);
}

const factsOf = (turn: number) =>
  JSON.parse(provider.asked[turn]!.body.messages[1]!.content) as {
    answers: Record<string, unknown>;
    baseline: string;
    draft?: string;
    diagnostics?: { code: string }[];
  };

test("without a language model the answers make a model that compiles", async () => {
  const output = path.join(folder, "alone", "svc.config.ts");
  await mkdir(path.dirname(output));
  const argv = ["--value-event", "report_shared", "--value-count", "2", "--yes", "--facts", "--output", output];
  const { code, stdout, stderr } = await run(argv);
  expect({ code, stderr }).toEqual({ code: 0, stderr: `Wrote the model to ${output}.\n` });
  const source = await readFile(output, "utf8");
  expect(stdout).toContain(source);
  expect(source).toContain('event("report_shared")');
  expect(await compileProject(path.dirname(output), { types: true })).toMatchObject({ ok: true, warnings: [] });
  expect(provider.asked).toEqual([]);
});

test("missing answers are asked for on a terminal, again if an answer is invalid", async () => {
  provider.behave(says(inAnswer(DRAFT)));
  const { code, stderr } = await run(["--usage-event", "page_seen", "--no-color"], {
    terminal: true,
    answers: [
      ["What does the product do?", "Reports for teams"],
      ["begins a customer's life?", ""],
      ["shows that a customer gets value?", "report_shared"],
      ["make a customer activated?", "none"],
      ["make a customer activated?", "0"],
      ["make a customer activated?", "2"],
      ["Within how many days?", ""],
      ["without any event", ""],
      ["many more is it lost?", "30"],
    ],
  });
  expect(code).toBe(0);
  expect(stderr).toContain("give a whole number from 1 to 1000");
  expect(stderr).not.toContain("regular use");
  expect(factsOf(0).answers).toEqual({
    ...Object.fromEntries(QUESTIONS.map((one) => [one.option, one.default])),
    ...{ product: "Reports for teams", valueEvent: "report_shared", valueCount: 2, usageEvent: "page_seen" },
    churnedDays: 30,
  });
});

test("a draft with correct types is shown and written, with the notes around it", async () => {
  provider.behave(says(inAnswer(DRAFT)));
  const output = path.join(folder, "draft.ts");
  const { code, stdout } = await run(["--yes", "--output", output]);
  expect(code).toBe(0);
  expect(stdout).toContain(
    `A language model's draft. Its types are right; it was not run, so read it before you run it:\n\n${DRAFT}\nHere it is.\n\n\n\nTwo reports make a habit.\n`,
  );
  expect(await readFile(output, "utf8")).toBe(DRAFT);
  const { answers, baseline } = factsOf(0);
  expect(answers).toMatchObject({ valueEvent: "project_created", valueCount: 3 });
  expect(baseline).toBe(successModel(answers as never));
});

test("a draft with wrong types is corrected", async () => {
  provider.behave(inTurn(inAnswer(DRAFT.replace("atLeast(2)", 'atLeast("2")')), inAnswer(DRAFT)));
  const { code, stdout, stderr } = await run(["--yes", "--json"]);
  expect(code).toBe(0);
  expect(stderr).toBe("The language model's draft has 1 error; asking it to correct them …\n");
  expect(factsOf(1)).toMatchObject({ draft: expect.stringContaining('atLeast("2")') as string });
  expect(factsOf(1).diagnostics).toHaveLength(1);
  expect(JSON.parse(stdout)).toMatchObject({ answer: { source: DRAFT, tries: 2, model: "small" }, problem: null });
});

test("a draft that is no model after three tries is refused, and the model made from the answers is kept", async () => {
  const marker = path.join(folder, "executed");
  const attack = `import { defineModel } from "svc-success";\nimport { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(marker)}, "");\nexport default defineModel({ events: [] });\n`;
  provider.behave(inTurn("I would rather not.", inAnswer(attack), inAnswer(attack)));
  const output = path.join(folder, "refused.ts");
  const { code, stdout, stderr } = await run(["--yes", "--output", output]);
  expect(code).toBe(1);
  expect(provider.asked).toHaveLength(3);
  expect(factsOf(1).diagnostics).toMatchObject([{ code: "DRAFT_MISSING" }]);
  expect(factsOf(2).diagnostics![0]).toMatchObject({ line: 2 });
  expect(stderr).toMatch(
    /error \[DRAFT_REFUSED\]: The language model's draft is not a valid model: after 3 tries it has \d+ errors?\. Continue with the model above, or ask again\.\n$/,
  );
  expect(existsSync(marker)).toBe(false);
  expect(await readFile(output, "utf8")).toContain('event("project_created")');
  expect(stdout).toContain("The model made from your answers");
});
