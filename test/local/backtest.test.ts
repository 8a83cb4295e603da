import { writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";

import { samplesOf } from "../../src/backtest/samples.js";
import { backtestOfFile } from "../../src/local/backtest.js";
import { FileRefusedError, readOperations } from "../../src/local/operations-file.js";
import { project } from "../dsl-compiler/project.js";
import { DAY, iso, localModel, MODEL, START } from "./support/model.js";
import { serveLocally } from "./support/server.js";

const MODELS = [{ name: "local", ...localModel(MODEL) }];

type Line = Record<string, unknown>;

const at = (day: number) => iso(START + day * DAY);
const signedUp = (customerId: string, day: number): Line => ({ customerId, event: "signed_up", timestamp: at(day) });
const created = (customerId: string, day: number): Line => ({
  ...{ customerId, event: "project_created", properties: { seats: 1 } },
  timestamp: at(day),
});
const identify = (customerId: string, plan: string | null): Line => ({
  type: "identify",
  customerId,
  traits: { plan },
});

/** A file of these lines; it is removed after the test. */
async function file(lines: readonly (Line | string | Uint8Array)[]): Promise<string> {
  const parts = lines.map((line) =>
    Buffer.from(line instanceof Uint8Array || typeof line === "string" ? line : JSON.stringify(line)),
  );
  const name = path.join(await project({}), "events.jsonl");
  await writeFile(name, Buffer.concat(parts.flatMap((part) => [part, Buffer.from("\n")])));
  return name;
}

async function refusal(lines: Parameters<typeof file>[0]): Promise<FileRefusedError> {
  const refused = await readOperations(await file(lines), MODEL).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(FileRefusedError);
  return refused as FileRefusedError;
}

describe("a file of operations", () => {
  test("ends with its latest event, whatever the order of its lines", async () => {
    const { operations, end } = await readOperations(await file([created("a", 9), signedUp("a", 2), ""]), MODEL);
    expect(end).toBe(START + 9 * DAY);
    expect(operations.map(({ customerId }) => customerId)).toEqual(["a", "a"]);
  });

  test("an identify takes effect at the latest event before it, or at the first of the file", async () => {
    const lines = [identify("a", "free"), signedUp("b", 4), signedUp("a", 2), identify("a", "pro"), signedUp("c", 9)];
    const { operations } = await readOperations(await file(lines), MODEL);
    const identifies = operations.flatMap(({ operation }) => (operation.kind === "identify" ? operation : []));
    expect(identifies.map(({ acceptedAt }) => iso(acceptedAt))).toEqual([at(4), at(4)]);
  });

  test("a repeated idempotency key counts once with the same payload, and is refused with another", async () => {
    const line = { ...signedUp("a", 1), idempotencyKey: "k" };
    const { operations, repeated } = await readOperations(await file([line, line]), MODEL);
    expect({ operations: operations.length, repeated }).toEqual({ operations: 1, repeated: 1 });
    expect((await refusal([line, "", { ...line, customerId: "b" }])).problems).toMatchObject([
      { line: 3, code: "IDEMPOTENCY_CONFLICT", message: expect.stringContaining("line 1") as string },
    ]);
  });

  test.each<[what: string, line: Line | string | Uint8Array, code: string, says: RegExp]>([
    ["no JSON", "{", "MALFORMED_JSON", /not valid JSON/],
    ["bytes that are no UTF-8", new Uint8Array([0x22, 0xff, 0x22]), "MALFORMED_JSON", /UTF-8/],
    ["JSON of another shape", "5", "VALIDATION_ERROR", /^The line must be a JSON object/],
    ["no instant", { customerId: "a", event: "signed_up" }, "VALIDATION_ERROR", /`timestamp` is required/],
    [
      "an event that the strict schema does not know",
      { ...signedUp("a", 1), event: "signup" },
      "UNKNOWN_EVENT",
      /^The event "signup" is not declared by the model/,
    ],
    ["more than any operation is long", "x".repeat(600_000), "PAYLOAD_TOO_LARGE", /longer than 524,288 bytes/],
  ])("a line with %s is refused with its number", async (_, line, code, says) => {
    const { problems, lines } = await refusal([signedUp("a", 1), line]);
    expect({ lines, problems }).toMatchObject({ lines: 1, problems: [{ line: 2, code }] });
    expect(problems[0]!.message).toMatch(says);
  });

  test("fixes for a line refer to a file, and to a model that need not be deployed", async () => {
    const lines = [
      { ...signedUp("a", 1), timestamp: "yesterday" },
      { ...signedUp("a", 1), event: "signup" },
    ];
    expect((await refusal(lines)).problems.map(({ fix }) => fix)).toEqual([
      "Say when it happened, in ISO 8601 with a timezone, for example 2026-03-02T10:00:00Z.",
      "Declare the event in the model, or correct its name.",
    ]);
  });

  test.each([
    ["in order", [identify("a", "pro"), signedUp("a", 1), signedUp("b", 1)], false],
    ["without identifies", [signedUp("a", 2), signedUp("b", 1)], false],
    ["with both", [signedUp("a", 2), signedUp("b", 1), identify("b", "pro")], true],
  ])("reports whether identifies are mixed with unordered events: %s", async (_, lines, isUnordered) => {
    expect(await readOperations(await file(lines), MODEL)).toMatchObject({ isUnordered });
  });

  test("all wrong lines are counted, the first ones are reported, and nothing of the file is used", async () => {
    const refused = await refusal(Array.from({ length: 30 }, () => "{"));
    expect(refused).toMatchObject({
      message: "30 lines of the file cannot be accepted: the first 20 are listed, 10 more are not.",
      lines: 30,
    });
    expect(refused.problems.map(({ line }) => line)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  });

  test("a file without events is refused", async () => {
    expect((await refusal([identify("a", "pro")])).message).toBe("The file has no events.");
  });
});

describe("a backtest", () => {
  const past = async (lines: Line[]) => readOperations(await file(lines), MODEL);
  const WORDS = { outcome: "state:quiet", within: "14d", every: "7d", from: at(0) };

  test("compares what the model said at each instant with what happened after it", async () => {
    const { question, samples, report } = await backtestOfFile(
      WORDS,
      MODELS,
      await past([signedUp("a", 1), created("a", 20), created("a", 20.5), created("b", 60)]),
      { traits: "then" },
    );
    const [a] = samples.map((one) => [...samplesOf(question, one)]);
    const rows = a!.map(({ at, said, status, outcomeAt }) => [
      iso(at),
      said[0]!.state,
      status,
      outcomeAt && iso(outcomeAt),
    ]);
    expect(rows).toEqual([
      [at(7), "trial", "used", null],
      [at(14), "trial", "used", null],
      [at(21), "activated", "used", null],
      [at(28), "activated", "used", at(41.5)],
      [at(35), "activated", "used", at(41.5)],
      [at(42), "quiet", "there", null],
      [at(49), "quiet", "there", null],
      [at(56), "quiet", "there", null],
    ]);
    expect(report.samples).toEqual({ used: 5, withOutcome: 2, alreadyThere: 3, censored: 0 });
  });

  test("uses the traits of each instant, or the present ones for every instant", async () => {
    const operations = await past([signedUp("a", 1), signedUp("b", 30), identify("a", "pro"), created("b", 60)]);
    const payingFrom = async (traits: "then" | "now") => {
      const { question, samples } = await backtestOfFile(WORDS, MODELS, operations, { traits });
      const first = [...samplesOf(question, samples[0]!)].find(({ said }) => said[0]!.segments.includes("paying"));
      return iso(first!.at);
    };
    expect(await payingFrom("then")).toBe(at(35));
    expect(await payingFrom("now")).toBe(at(7));
  });

  test("of a sample takes the same customers each time, whatever the order of the file", async () => {
    const lines = Array.from({ length: 40 }, (_, index) => signedUp(`c${index}`, index));
    const sampled = async (of: Line[]) => {
      const result = await backtestOfFile(WORDS, MODELS, await past(of), { traits: "then", customers: 5 });
      expect(result.customersTotal).toBe(40);
      return result.samples.map(({ customerId }) => customerId).sort();
    };
    const chosen = await sampled(lines);
    expect(chosen).toHaveLength(5);
    expect(await sampled(lines.reverse())).toEqual(chosen);
  });

  test("replays a long history in parts, with the same samples", async () => {
    // More events than one part has.
    const lines = Array.from({ length: 30_000 }, (_, index) => created("a", index / 1_000));
    const { samples } = await backtestOfFile({ ...WORDS, within: "1d", every: "1d" }, MODELS, await past(lines), {
      traits: "then",
    });
    const few = lines.filter((_, index) => index % 100 === 0 || index > 29_990);
    const alike = await backtestOfFile({ ...WORDS, within: "1d", every: "1d" }, MODELS, await past(few), {
      traits: "then",
    });
    expect(samples).toEqual(alike.samples);
  });
});

describe("svc dev", () => {
  test("answers a backtest over the events that it accepted up to its clock", async () => {
    const { engine, clock, url } = await serveLocally();
    const ask = async (body: object) => {
      const response = await fetch(`${url}/backtest`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    };
    engine.accept([{ customerId: "a", event: "signed_up" }], "single");
    clock.moveTo(START + 60 * DAY);
    engine.accept([{ customerId: "b", event: "signed_up" }], "single");
    // No events were accepted after this, so the period ends at the last one.
    clock.moveTo(START + 90 * DAY);
    engine.advance();
    expect(await ask({ outcome: "state:quiet", within: "14d", from: at(0) })).toMatchObject({
      status: 200,
      body: {
        end: at(60),
        samples: { used: 3, withOutcome: 2, alreadyThere: 6, censored: 0 },
        models: [{ name: "local" }],
      },
    });
    expect(await ask({ outcome: "state:quiett", within: "14d" })).toMatchObject({
      status: 400,
      body: {
        error: {
          code: "VALIDATION_ERROR",
          field: "outcome",
          message: expect.stringContaining("state:quiet") as string,
        },
      },
    });
    expect(await ask({ outcome: "state:quiet", within: "14d", version: "v1" })).toMatchObject({ status: 400 });
  });
});
