import { expect, it, onTestFinished, vi } from "vitest";
import type { TravelJob } from "../../src/http/admin/travel-stored.js";
import { ComputeThread } from "../../src/http/compute/compute-thread.js";
import { snapshot } from "../support/service.js";

const START = Date.UTC(2026, 0, 1);
/** More events than a state keeps of a window. */
const PAGE = 1_500;
const sum = { kind: "aggregate", function: "sum", property: "seats", of: { event: "login" }, within: "1d" } as const;
const MODEL = snapshot({ segments: [{ id: "much", when: { ...sum, operator: "gte", value: 2 } }] });
const IDLE_MS_MAX = 10_000;

/** A replay under a model that the thread has not compiled yet. */
const replay = (hash: string): TravelJob => ({
  part: "state",
  stored: {
    ...{ customerId: "c", createdAt: START, traits: {}, state: null, traitsText: "{}", exactFrom: null },
    ...{ version: 1, hash, configVersion: "v1", activeVersion: "v1" },
  },
  environment: "test",
  at: START + 30 * 86_400_000,
  limit: 0,
  reverse: false,
});

/** The page of that number, from 0, with an event each minute. */
function page(number: number, { size, more }: { size: number; more: boolean }): Uint8Array {
  const numbers = Array.from({ length: size }, (_, index) => number * size + index);
  const events = {
    seqs: numbers.map((each) => each + 1),
    at: numbers.map((each) => START + each * 60_000),
    names: numbers.map(() => "login"),
    properties: numbers.map(() => ({ seats: 1 })),
  };
  const lastAt = new Date(events.at.at(-1)!).toISOString();
  return new TextEncoder().encode(JSON.stringify({ events, more, lastAt, lastSeq: events.seqs.at(-1) }));
}

it("a job is not ended with the thread although two questions of a job before it failed", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const thread = new ComputeThread();
  onTestFinished(async () => {
    vi.useRealTimers();
    await thread.end();
  });
  const gone = new Error("the connection was lost");
  let lose: () => void = () => undefined;
  const lost = new Promise<never>((_, reject) => (lose = () => reject(gone)));
  let pages = 0;
  const failing = thread.run("travelStored", replay("first"), {
    answers: {
      snapshot: () => Promise.resolve(MODEL),
      // The last page and earlier events are asked for at the same time.
      events: () => (pages < 3 ? Promise.resolve(page(pages++, { size: PAGE, more: true })) : lost),
      history: () => {
        lose();
        return lost;
      },
    },
  });
  await expect(failing).rejects.toBe(gone);
  vi.advanceTimersByTime(IDLE_MS_MAX / 2);
  let begun: () => void = () => undefined;
  const beginning = new Promise<void>((resolve) => (begun = resolve));
  let goOn: (model: unknown) => void = () => undefined;
  const answers = {
    snapshot: () => {
      begun();
      return new Promise((resolve) => (goOn = resolve));
    },
    // So few that the state keeps them, and no earlier ones are asked for, however slow the thread is.
    events: () => Promise.resolve(page(0, { size: 10, more: false })),
  };
  const running = thread.run("travelStored", replay("second"), { answers });
  await beginning;
  vi.advanceTimersByTime(IDLE_MS_MAX);
  goOn(MODEL);
  expect(JSON.parse(await running)).toMatchObject({ customerId: "c", configVersion: "v1" });
});
