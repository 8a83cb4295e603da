import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { compileProject } from "../../src/dsl-compiler/index.js";

const example = path.resolve(import.meta.dirname, "../../examples/saas");

interface Mistake {
  file: string;
  /** What is changed, and into what; every occurrence. */
  edits: [from: string | RegExp, to: string][];
  /** What is to be said: the code, the text that is marked, and a part of what to do. */
  told: [code: string, marked: string, fix: string];
}

const MISTAKES: Mistake[] = [
  {
    file: "model/segments.ts",
    edits: [["project.seats.atLeast(10)", "project.seets.atLeast(10)"]],
    told: ["UNKNOWN_PROPERTY", "seets", 'write "seats"'],
  },
  {
    file: "model/segments.ts",
    edits: [['account.plan.is("trial"), account', 'account.plan.is("trail"), account']],
    told: ["INVALID_VALUE", '"trail"', 'give one of "trial", "starter"'],
  },
  {
    file: "model/lifecycle.ts",
    edits: [['at_risk: inactiveFor("14d")', 'at_rsk: inactiveFor("14d")']],
    told: ["UNKNOWN_STATE", "at_rsk", 'write "at_risk"'],
  },
  {
    file: "model/lifecycle.ts",
    edits: [["{ terminal: true }", "{ terminal: true, to: { new: signedUp.happened() } }"]],
    told: ["TERMINAL_STATE_WITH_TRANSITIONS", "churned", "remove"],
  },
  {
    file: "model/journeys.ts",
    edits: [['step("share_report"', 'step("invite_team"']],
    told: ["DUPLICATE_STEP", '"invite_team"', "another id"],
  },
  {
    file: "model/segments.ts",
    edits: [
      ['segment("frustrated", {\n  when: any(', 'segment("frustrated", {\n  when: () => any(lookingAround.has(), '],
      ['when: all(stages.is("trial"), login', 'when: () => all(frustrated.has(), stages.is("trial"), login'],
    ],
    told: ["SEGMENT_CYCLE", "has()", "without reading the other"],
  },
  {
    file: "model/health.ts",
    edits: [[/weight: [\d.]+/g, "weight: 0"]],
    told: ["WEIGHTS_SUM_TO_ZERO", "health", "a weight above 0"],
  },
  {
    file: "model/rules.ts",
    edits: [["when: highValue.has()", "when: higValue.has()"]],
    told: ["TYPE_ERROR", "higValue", 'write "highValue"'],
  },
  {
    file: "model/signals.ts",
    edits: [['inactiveFor("5d")', 'inactiveFor("5 days")']],
    told: ["INVALID_DURATION", '"5 days"', "write a duration"],
  },
  {
    file: "model/rules.ts",
    edits: [["invoice.amount.atLeast(400)", 'invoice.amount.atLeast("400")']],
    told: ["TYPE_MISMATCH", '"400"', "give a number"],
  },
];

test("ten mistakes of ten kinds in one model are ten diagnostics, each with its code, its place and what to do", async () => {
  const directory = await mkdtemp(path.join(os.tmpdir(), "svc-mistakes-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  await cp(example, directory, { recursive: true });
  for (const { file, edits } of MISTAKES) {
    const place = path.join(directory, file);
    for (const [from, to] of edits) {
      const text = await readFile(place, "utf8");
      const changed = text.replace(from, to);
      expect(changed, `${file} has ${from}`).not.toBe(text);
      await writeFile(place, changed);
    }
  }

  const result = await compileProject(directory, { types: true });
  if (result.ok) throw new Error("the model compiles");
  const told = result.diagnostics.map(({ code, file, source = [], column = 0, endColumn = 0, severity }) => {
    return { severity, file, code, marked: source[0]?.slice(column - 1, endColumn - 1) };
  });
  const expected = MISTAKES.map(({ file, told: [code, marked] }) => ({ severity: "error", file, code, marked }));
  const inOrder = (one: object, other: object) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1);
  expect(told.toSorted(inOrder)).toEqual(expected.toSorted(inOrder));
  expect(told).toHaveLength(10);
  for (const {
    told: [code, marked, fix],
  } of MISTAKES) {
    const found = result.diagnostics.filter((one) => one.code === code);
    expect(found, `${code} at ${marked}`).toHaveLength(1);
    expect(found[0]!.fix).toContain(fix);
  }
});
