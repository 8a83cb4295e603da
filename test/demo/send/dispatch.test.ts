import { afterEach, describe, expect, test } from "vitest";
import { DemoFailure } from "../../../src/demo/failure.js";
import { sendAll } from "../../../src/demo/send/dispatch.js";
import { partitionOf } from "../../../src/demo/send/partition.js";
import type { Outgoing } from "../../../src/demo/send/outgoing.js";
import { startFlakyService, type Behaviour, type FlakyService } from "./flaky-service.js";

const QUICK = { firstWaitMs: 1, longestWaitMs: 20, giveUpAfterMs: 10_000 };

function operations(count: number, customers = 37): Outgoing[] {
  return Array.from({ length: count }, (_, index) => {
    const customerId = `customer-${index % customers}`;
    if (index % 10 === 0) {
      const json = JSON.stringify({ type: "identify", customerId, traits: { seats: index } });
      return { customerId, kind: "identify", json, origin: `traits ${index}` };
    }
    const idempotencyKey = `key-${index}`;
    return {
      customerId,
      kind: "track",
      json: JSON.stringify({ type: "track", customerId, event: "e", idempotencyKey }),
      origin: idempotencyKey,
    };
  });
}

const tracksOf = (all: Outgoing[]) => all.filter(({ kind }) => kind === "track");

describe("sending", () => {
  let service: FlakyService;
  afterEach(() => service.stop());

  const start = async (behave: (request: number) => Behaviour) => (service = await startFlakyService(behave));
  const send = (all: Outgoing[], policy = QUICK) => sendAll(all, { url: service.url, apiKey: "svc_test_x", policy });

  /** Every event once, and each customer's in the order in which they were given. */
  function expectAllStored(all: Outgoing[]) {
    const sent = tracksOf(all);
    expect(service.stored.length).toBe(sent.length);
    for (const customerId of new Set(sent.map((one) => one.customerId))) {
      const stored = service.stored.filter((one) => one.customerId === customerId).map(({ key }) => key);
      expect(stored).toEqual(sent.filter((one) => one.customerId === customerId).map(({ origin }) => origin));
    }
  }

  test("delivers everything in batches of at most 1,000, each customer's operations in order", async () => {
    await start(() => ({ kind: "accept" }));
    const all = operations(9_500);
    expect(await send(all)).toEqual({ operations: 9_500, events: 8_550, retries: 0 });
    expectAllStored(all);
    expect(Math.max(...service.batches)).toBe(1_000);
    expect(service.batches.filter((size) => size < 1_000).length).toBeLessThanOrEqual(4);
  });

  test("loses and doubles nothing when the service fails in every way that may be tried again", async () => {
    const moods: Behaviour[] = [
      { kind: "reset" },
      {
        kind: "answer",
        status: 429,
        headers: { "retry-after": "0" },
        body: '{"error":{"code":"RATE_LIMIT_EXCEEDED"}}',
      },
      { kind: "lose" },
      { kind: "answer", status: 500 },
      { kind: "accept" },
      { kind: "answer", status: 503, body: "<html>no backend</html>" },
      { kind: "accept" },
    ];
    await start((request) => moods[request % moods.length]!);
    const all = operations(20_000);
    const { events, retries } = await send(all);
    expect(events).toBe(18_000);
    expect(retries).toBeGreaterThan(20);
    expectAllStored(all);
  });

  test("continues after the service was away", async () => {
    let gone: Promise<void> | null = null;
    await start((request) => {
      if (request === 6) gone = service.vanish();
      return { kind: "accept" };
    });
    const all = operations(12_000);
    const sent = send(all);
    await expect.poll(() => gone).not.toBeNull();
    await Promise.resolve(gone);
    await service.reappear();
    expect(await sent).toMatchObject({ operations: 12_000 });
    expectAllStored(all);
  });

  test("waits as long as Retry-After asks", async () => {
    let refusedAt = 0;
    let acceptedAt = 0;
    await start((request) => {
      if (request === 1) {
        refusedAt = performance.now();
        return { kind: "answer", status: 429, headers: { "retry-after": "1" } };
      }
      acceptedAt = performance.now();
      return { kind: "accept" };
    });
    await send(operations(10, 1));
    expect(acceptedAt - refusedAt).toBeGreaterThanOrEqual(990);
  });

  test.each([400, 401, 402, 409, 413, 422])(
    "sends nothing more after a %i, and names the operation that was refused",
    async (status) => {
      const body = JSON.stringify({
        error: { code: "SOME_CODE", message: "No.", requestId: "r", field: "events[3].properties.x" },
      });
      await start(() => ({ kind: "answer", status, body }));
      const failure = await send(operations(4_000, 1)).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(DemoFailure);
      expect((failure as Error).message).toBe(
        `the service refused a batch (key-3, customer "customer-0"): ${status} SOME_CODE events[3].properties.x No.`,
      );
      expect(service.requests).toBe(1);
      expect(service.stored).toEqual([]);
    },
  );

  test("stops all senders when one is refused", async () => {
    await start((request) => (request === 5 ? { kind: "answer", status: 422 } : { kind: "accept" }));
    await expect(send(operations(60_000))).rejects.toThrow(/422/);
    expect(service.requests).toBeLessThan(15);
  });

  test("gives up after the time that was set, with the last reason", async () => {
    await start(() => ({
      kind: "answer",
      status: 503,
      body: '{"error":{"code":"SERVICE_UNAVAILABLE","message":"Later."}}',
    }));
    await expect(send(operations(10), { ...QUICK, giveUpAfterMs: 60 })).rejects.toThrow(
      /gave up .* 503 SERVICE_UNAVAILABLE Later\./,
    );
    expect(service.stored).toEqual([]);
  });

  test("gives up at once where Retry-After lies beyond the limit", async () => {
    await start(() => ({ kind: "answer", status: 429, headers: { "retry-after": "86400" } }));
    await expect(send(operations(10, 1))).rejects.toThrow(/gave up/);
    expect(service.requests).toBe(1);
  });

  test("passes on the failure of its source", async () => {
    await start(() => ({ kind: "accept" }));
    async function* source() {
      yield* operations(1_500);
      throw new DemoFailure("file:1501: is not valid JSON", 2);
    }
    await expect(sendAll(source(), { url: service.url, apiKey: "k", policy: QUICK })).rejects.toThrow("file:1501");
  });

  test("can be stopped from outside while it waits", async () => {
    const stop = new AbortController();
    await start(() => {
      setImmediate(() => stop.abort(new DemoFailure("stopped by SIGINT")));
      return { kind: "answer", status: 503, headers: { "retry-after": "5" } };
    });
    const sent = sendAll(operations(10, 1), { url: service.url, apiKey: "k", policy: QUICK, signal: stop.signal });
    await expect(sent).rejects.toThrow("stopped by SIGINT");
  });
});

test("a customer keeps its lane, and customers spread over all lanes", () => {
  const lanes = Array.from({ length: 400 }, (_, index) => partitionOf(`customer-${index}`, 4));
  expect(lanes).toEqual(Array.from({ length: 400 }, (_, index) => partitionOf(`customer-${index}`, 4)));
  for (const lane of [0, 1, 2, 3]) expect(lanes.filter((one) => one === lane).length).toBeGreaterThan(60);
});
