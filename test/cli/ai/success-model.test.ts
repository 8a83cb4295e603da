import fc from "fast-check";
import { format } from "oxfmt";
import { describe, expect, it } from "vitest";

import {
  QUESTIONS,
  type GivenAnswers,
  settleAnswers,
  type SuccessAnswers,
  successModel,
  type SuccessOption,
} from "../../../src/cli/commands/ai/success-model.js";
import type { Context } from "../../../src/cli/core/command.js";
import { compileModel, stateDocument } from "../../../src/engine/index.js";
import type { Snapshot } from "../../../src/model/snapshot/types.js";
import { compiled } from "../../dsl-compiler/project.js";
import { replay } from "../../engine/support/whole-history.js";

const DEFAULTS = Object.fromEntries(QUESTIONS.map((one) => [one.option, one.default])) as unknown as SuccessAnswers;

const check = (option: SuccessOption, answer: string) => QUESTIONS.find((one) => one.option === option)!.check(answer);

/** Names that are hard to turn into constants, or to distinguish from each other. */
const HARD = [
  ...["signed_up", "Signed Up", "signed-up", "event", "all", "default", "class", "toString", "3d", "größe", "注文"],
  ...["a".repeat(256), "💡 idea", '"quoted"', "`${x}`", "\\", "*/", "let", "async", "stages", "__proto", "as", "$x"],
];
const name = fc
  .oneof(fc.constantFrom(...HARD), fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 }))
  .filter((text) => check("startEvent", text) === undefined);
const days = fc.oneof(fc.constantFrom(1, 2, 3, 365), fc.integer({ min: 1, max: 365 }));
const answers: fc.Arbitrary<SuccessAnswers> = fc
  .record({
    product: fc
      .oneof(fc.constantFrom("@ts-ignore @ts-@ts-nocheck", "# sourceMappingURL=x", "*/ process.exit() /*"), fc.lorem())
      .filter((text) => check("product", text) === undefined),
    names: fc.tuple(name, name, name, fc.constantFrom("012", "000", "001", "010", "011")),
    valueCount: fc.oneof(fc.constantFrom(1, 2, 1_000), fc.integer({ min: 1, max: 1_000 })),
    activationDays: days,
    atRiskDays: days,
    churnedDays: days,
  })
  .map(({ names: [a, b, c, which], ...rest }) => {
    const [startEvent, valueEvent, usageEvent] = Array.from(which, (index) => [a, b, c][Number(index)]!);
    return { ...rest, startEvent: startEvent!, valueEvent: valueEvent!, usageEvent: usageEvent! };
  });

type Happened = [day: number, event: string];

/** The state of a customer at the end of a day, after these events. */
function standingOf({ snapshot, hash }: { snapshot: Snapshot; hash: string }) {
  const model = compileModel(snapshot, hash);
  const instant = (day: number) => Date.UTC(2030, 0, 1) + day * 86_400_000;
  return (happened: readonly Happened[], day: number) => {
    const events = happened.map(([on, event], index) => {
      const at = instant(on) + 3_600_000;
      return { eventId: String(index + 1), event, seq: index + 1, properties: {}, occurredAt: at, receivedAt: at };
    });
    const { state } = replay(model, {
      customerId: "c",
      createdAt: instant(0),
      firstEvaluatedAt: null,
      traits: {},
      traitsChangedAt: null,
      lastEventAt: null,
      lastTrack: null,
      events,
      through: instant(day + 1) - 1,
    });
    return stateDocument(state, { environment: "test", configVersion: null });
  };
}

describe("successModel", () => {
  it("compiles without warnings and type errors for all answers", { timeout: 300_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(answers, async (given) => {
        const source = successModel(given);
        expect(successModel(given)).toBe(source);
        const result = await compiled(source);
        expect(result).toMatchObject({ ok: true, warnings: [] });
        const events = new Set([given.startEvent, given.valueEvent, given.usageEvent]);
        if (result.ok) expect(Object.keys(result.snapshot.events).sort()).toEqual([...events].sort());
      }),
      { numRuns: 6 },
    );
  });

  it(
    "is written in the model language and formatted as authors do, for all answers",
    { timeout: 120_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(answers, async (given) => {
          const source = successModel(given);
          expect(source).not.toMatch(/@ts-/);
          // The width of other scripts differs from their number of characters.
          if (/^[\x20-\x7e]*$/.test(source.replaceAll("\n", "")))
            expect((await format("svc.config.ts", source, { printWidth: 120 })).code).toBe(source);
        }),
        { numRuns: 60 },
      );
    },
  );

  it("moves a customer through the lifecycle", async () => {
    const result = await compiled(successModel(DEFAULTS));
    if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
    const standing = standingOf(result);
    const onboarded: Happened[] = [
      [0, "signed_up"],
      [1, "project_created"],
      [2, "project_created"],
      [3, "project_created"],
    ];
    const used: Happened[] = [...onboarded, [4, "login"], [5, "login"], [6, "login"]];
    const back: Happened[] = [...used, [29, "login"]];
    expect(standing(onboarded.slice(0, 3), 2)).toMatchObject({ lifecycle: "trial" });
    expect(standing(onboarded.slice(0, 3), 17)).toMatchObject({ lifecycle: "trial", segments: ["stuck_in_trial"] });
    expect(standing(onboarded, 3)).toMatchObject({ lifecycle: "activated" });
    expect(standing(used, 6)).toMatchObject({
      lifecycle: "engaged",
      health: { band: "healthy" },
      segments: ["champions"],
      journeys: [{ status: "complete" }],
    });
    expect(standing(used, 14)).toMatchObject({ lifecycle: "activated", signals: [] });
    expect(standing(used, 18)).toMatchObject({ lifecycle: "activated", signals: [{ signalId: "going_quiet" }] });
    expect(standing(used, 28)).toMatchObject({ lifecycle: "at_risk", signals: [] });
    expect(standing(back, 29)).toMatchObject({ lifecycle: "activated" });
    expect(standing(back, 29 + 21 + 59)).toMatchObject({ lifecycle: "at_risk" });
    expect(standing(back, 29 + 21 + 61)).toMatchObject({ lifecycle: "churned" });
  });
});

describe("settleAnswers", () => {
  // Questions and answers are tested in model-success.test.ts.
  const context = (isTTY: boolean) => ({ io: { stdin: { isTTY }, stderr: { isTTY } } }) as unknown as Context;

  it("takes the given answers, and defaults for the rest, if it cannot ask", async () => {
    const given: GivenAnswers = { valueEvent: " order placed ", valueCount: "5", churnedDays: 90 };
    const expected = { ...DEFAULTS, valueEvent: "order placed", valueCount: 5, churnedDays: 90 };
    expect(await settleAnswers(context(true), given, { yes: true })).toEqual(expected);
    expect(await settleAnswers(context(false), given, { yes: false })).toEqual(expected);
  });

  it.each<[SuccessOption, string | number, string]>([
    ["product", "  ", "--product"],
    ["product", "two\nlines", "--product"],
    ["startEvent", "__proto__", "--start-event"],
    ["valueEvent", "a\u202eb", "--value-event"],
    ["usageEvent", "x".repeat(257), "--usage-event"],
    ["usageEvent", "half \ud800", "--usage-event"],
    ["valueCount", 1.5, "--value-count"],
    ["valueCount", "1e3", "--value-count"],
    ["activationDays", 0, "--activation-days"],
    ["atRiskDays", 366, "--at-risk-days"],
    ["churnedDays", -1, "--churned-days"],
  ])("refuses %s %j before anything is asked", async (option, value, name) => {
    const settled = settleAnswers(context(true), { [option]: value }, { yes: false });
    await expect(settled).rejects.toMatchObject({ message: expect.stringContaining(name), fix: expect.any(String) });
  });

  it("has valid defaults", () => {
    for (const { check: mistakeIn, default: otherwise } of QUESTIONS)
      expect(mistakeIn(String(otherwise))).toBe(undefined);
  });
});
