import { afterEach, describe, expect, test } from "vitest";
import type { SentOperation } from "../../src/client/index.js";
import type { Overview } from "../../src/http/admin/answers.js";
import { DemoFailure } from "../../src/demo/failure.js";
import { lines } from "../../src/demo/progress.js";
import { partitionOf, sendAll } from "../../src/demo/send.js";
import { settle } from "../../src/demo/settle.js";
import { type Fate, type Front, refusal, startFront } from "../client/support/front.js";
import { Memory } from "../client/support/memory.js";

function* operations(count: number): Generator<SentOperation> {
  for (let index = 0; index < count; index++) {
    const customerId = `customer-${index % 37}`;
    if (index % 10 === 0) yield { type: "identify", customerId, traits: { seats: index } };
    else yield { type: "track", customerId, event: "e", idempotencyKey: `key-${index}` };
  }
}

test("customers are spread over all partitions", () => {
  const partitions = Array.from({ length: 400 }, (_, index) => partitionOf(`customer-${index}`, 4));
  for (const one of [0, 1, 2, 3]) expect(partitions.filter((other) => other === one).length).toBeGreaterThan(60);
});

describe("sending", () => {
  let memory: Memory;
  let front: Front;
  afterEach(() => front.stop());

  async function start(next: (request: number) => Fate): Promise<{ url: string; apiKey: string }> {
    memory = new Memory();
    front = await startFront(memory.backend, next);
    return { url: front.url, apiKey: "svc_test_x" };
  }

  test("loses and duplicates nothing when requests fail temporarily, and reports its progress", async () => {
    const progress: number[] = [];
    const service = await start((request) => (request % 2 === 0 ? "loseAnswer" : "pass"));
    const sent = await sendAll(operations(9_500), { ...service, onProgress: (done) => progress.push(done) });
    expect(sent).toEqual({ events: 8_550, retries: expect.any(Number) as number });
    expect(sent.retries).toBeGreaterThan(5);
    const byCustomer = (all: Iterable<SentOperation>) =>
      [...all]
        .filter(({ type }) => type === "track")
        .toSorted((a, b) => (a.customerId < b.customerId ? -1 : a.customerId > b.customerId ? 1 : 0));
    expect(byCustomer(memory.accepted)).toEqual(byCustomer(operations(9_500)));
    expect(progress.at(-1)).toBe(9_500);
  });

  test("ends at the first operation that is refused, and names it", async () => {
    const service = await start(() => refusal(422, "SOME_CODE", { field: "events[3].event" }));
    const sent = sendAll(operations(9_500), { ...service, senders: 1 });
    await expect(sent).rejects.toThrow(
      'the service refused "key-3" of the customer "customer-3": 422 SOME_CODE event: ',
    );
    await expect(sent).rejects.toBeInstanceOf(DemoFailure);
    expect(memory.accepted).toEqual([]);
  });

  test("ends if the service refuses everything, and passes on an error of its source", async () => {
    await expect(sendAll(operations(10), await start(() => refusal(401, "INVALID_API_KEY")))).rejects.toThrow(
      "the service refused: 401 INVALID_API_KEY",
    );
    await front.stop();
    function* source() {
      yield* operations(1_500);
      throw new DemoFailure("file:1501: is not JSON", 2);
    }
    await expect(sendAll(source(), await start(() => "pass"))).rejects.toThrow("file:1501");
  });

  test("can be stopped from outside while it waits", async () => {
    const stop = new AbortController();
    const service = await start(() => {
      setImmediate(() => stop.abort(new DemoFailure("stopped by SIGINT")));
      return refusal(503, "SERVICE_UNAVAILABLE", {}, { "retry-after": "5" });
    });
    await expect(sendAll(operations(10), { ...service, signal: stop.signal })).rejects.toThrow("stopped by SIGINT");
  });
});

function overview(pending: number, customersDue: number, deliveries: number): Overview {
  return {
    environment: "test",
    configVersion: "v1",
    customers: 1,
    customersDue,
    customersSetAside: 0,
    events: { accepted: 10, pending, ahead: 0 },
    lifecycle: [],
    segments: [],
    webhooks: { delivered: 0, pending: deliveries, failed: 0 },
    emissions: {},
  };
}

describe("waiting for the service", () => {
  test("ends only when no event is pending, no timer is due and no delivery is pending", async () => {
    const figures = [overview(5, 1, 0), overview(0, 1, 2), overview(0, 0, 2), overview(0, 0, 0), overview(9, 9, 9)];
    const seen: Overview[] = [];
    const onOverview = (one: Overview) => seen.push(one);
    const settled = await settle({ overview: async () => figures.shift()!, onOverview, pollMs: 1 });
    expect(settled.overview).toEqual(overview(0, 0, 0));
    expect(seen.length).toBe(4);
  });

  test("fails when there is no progress, and says what remains", async () => {
    const stuck = settle({ overview: async () => overview(3, 2, 1), pollMs: 1, stallMs: 20 });
    await expect(stuck).rejects.toThrow("3 events pending, 2 customers due, 1 deliveries pending");
  });
});

test("progress in a file is reported once at every tenth, and never goes back", () => {
  let text = "";
  const progress = lines({ write: (more) => (text += more) }, "sending", 1_000, "operations");
  for (const done of [0, 50, 100, 120, 90, 350, 1_000, 1_000]) progress.update(done);
  progress.finish();
  const shown = ["10 % (100", "30 % (350", "100 % (1000"].map((done) => `sending ${done} of 1000 operations)\n`);
  expect(text).toBe(shown.join(""));
});
