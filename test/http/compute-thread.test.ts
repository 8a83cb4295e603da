import { expect, it, onTestFinished, vi } from "vitest";
import type { TravelJob } from "../../src/http/admin/travel-stored.js";
import { ComputeThread } from "../../src/http/compute/compute-thread.js";
import { snapshot } from "../support/service.js";

const START = Date.UTC(2026, 0, 1);
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

/** The only page of events. */
function page(): Uint8Array {
  const events = { seqs: [1], at: [START], names: ["login"], properties: [{}] };
  return new TextEncoder().encode(JSON.stringify({ events, more: false, lastAt: null, lastSeq: null }));
}

it("a job is not ended with the thread although two questions of a job before it failed", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const thread = new ComputeThread();
  onTestFinished(async () => {
    vi.useRealTimers();
    await thread.end();
  });
  const gone = new Error("the connection was lost");
  // As two questions that are asked at the same time do; whether a job asks two depends on how fast the thread is.
  const failsTwice = {
    then(_: unknown, fail: (error: Error) => void) {
      fail(gone);
      fail(gone);
    },
  };
  const failing = { snapshot: () => failsTwice as unknown as Promise<never> };
  await expect(thread.run("travelStored", replay("first"), { answers: failing })).rejects.toBe(gone);
  vi.advanceTimersByTime(IDLE_MS_MAX / 2);
  let begun: () => void = () => undefined;
  const beginning = new Promise<void>((resolve) => (begun = resolve));
  let goOn: (model: unknown) => void = () => undefined;
  const answers = {
    snapshot: () => {
      begun();
      return new Promise((resolve) => (goOn = resolve));
    },
    events: () => Promise.resolve(page()),
  };
  const running = thread.run("travelStored", replay("second"), { answers });
  await beginning;
  vi.advanceTimersByTime(IDLE_MS_MAX);
  goOn(snapshot({}));
  expect(JSON.parse(await running)).toMatchObject({ customerId: "c", configVersion: "v1" });
});
