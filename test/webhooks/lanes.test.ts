import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ClaimedDelivery } from "../../src/db/api/webhooks.js";
import { EndpointQueues } from "../../src/tasks/deliver/endpoint-queues.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

interface Sent {
  delivery: ClaimedDelivery;
  answer(accepted: boolean): Promise<void>;
}

/** Lanes whose requests the test answers. */
function lanes(underWayMax = 1_000) {
  const open: Sent[] = [];
  let low = 0;
  const made = new EndpointQueues({
    underWayMax,
    send: (delivery) =>
      new Promise((resolve) => {
        const sent: Sent = {
          delivery,
          answer: async (accepted) => {
            open.splice(open.indexOf(sent), 1);
            resolve({ accepted, recorded: Promise.resolve() });
            await vi.advanceTimersByTimeAsync(0);
          },
        };
        open.push(sent);
      }),
    onLow: () => (low += 1),
  });
  return { lanes: made, open, low: () => low };
}

function claimed(count: number, more: Partial<ClaimedDelivery> = {}): ClaimedDelivery[] {
  return Array.from({ length: count }, (_, n) => ({
    environmentId: 1,
    webhookId: "whk_1",
    emissionSeq: String(n),
    attempt: 1,
    eventId: `emi_${n}`,
    url: "https://example.com",
    sealedSecret: new Uint8Array(),
    previousSealedSecret: null,
    maxConcurrency: 8,
    maxPerSecond: null,
    failing: false,
    body: "{}",
    databaseAheadMs: 0,
    ...more,
  }));
}

/** Lanes with these deliveries from a first claim that exhausted what was due. */
function lanesWith(deliveries: ClaimedDelivery[]) {
  const made = lanes();
  made.lanes.add(deliveries, [], false);
  return made;
}

test("an unknown webhook gets two requests at once; each accepted one allows one more, up to its limit", async () => {
  const { open } = lanesWith(claimed(100));
  const underWay = [open.length];
  for (let n = 0; n < 12; n++) {
    await open[0]!.answer(true);
    underWay.push(open.length);
  }
  expect(underWay).toEqual([2, 3, 4, 5, 6, 7, 8, 8, 8, 8, 8, 8, 8]);
});

test("each failed request allows one less at once, down to one", async () => {
  const { open } = lanesWith(claimed(100));
  for (let n = 0; n < 12; n++) await open[0]!.answer(true);
  expect(open).toHaveLength(8);
  const underWay: number[] = [];
  for (let n = 0; n < 10; n++) {
    await open[0]!.answer(false);
    underWay.push(open.length);
  }
  expect(underWay).toEqual([7, 6, 5, 4, 3, 2, 1, 1, 1, 1]);
  await open[0]!.answer(true);
  expect(open).toHaveLength(2);
});

test("a webhook that was failing when claimed starts with one", () => {
  const { open } = lanesWith(claimed(2, { failing: true }));
  expect(open).toHaveLength(1);
});

test("failing webhooks use at most half of all requests, and each of them has its turn", async () => {
  const { lanes: some, open } = lanes(20);
  for (let n = 0; n < 30; n++) some.add(claimed(2, { webhookId: `whk_${n}`, failing: true }), [], false);
  expect(open).toHaveLength(10);
  expect(some.failingRoom()).toBe(0);
  some.add(claimed(1, { webhookId: "whk_good" }), [], false);
  expect(open).toHaveLength(11);
  const tried = new Set(open.map(({ delivery }) => delivery.webhookId));
  for (let n = 0; n < 40; n++) {
    await open[0]!.answer(false);
    for (const { delivery } of open) tried.add(delivery.webhookId);
  }
  expect(tried.size).toBe(31);
});

test("slow webhooks use at most half of all requests, too, although they accept, and are asked for no more than that", async () => {
  const { lanes: some, open } = lanes(80);
  const claim = () => {
    const rooms = some.rooms();
    const due = rooms.flatMap(({ webhookId, room }) => claimed(room, { webhookId }));
    some.add(due, rooms, false);
    return due.length;
  };
  for (let n = 0; n < 100; n++) some.add(claimed(1, { webhookId: `whk_${n}` }), [], false);
  // Nothing is known of them at first.
  expect(open).toHaveLength(80);
  for (let rounds = 0; rounds < 3; rounds++) {
    await vi.advanceTimersByTimeAsync(1_500);
    for (const sent of [...open]) await sent.answer(true);
    claim();
  }
  expect(open).toHaveLength(40);
  expect(claim()).toBe(0);
  some.add(claimed(2, { webhookId: "whk_good" }), [], false);
  expect(open).toHaveLength(42);
  const tried = new Set<string>();
  for (let n = 0; n < 400; n++) {
    tried.add(open[0]!.delivery.webhookId);
    await open[0]!.answer(true);
    claim();
  }
  expect(tried.size, "each of them has its turn").toBe(101);
});

test("a webhook that was slow once counts as slow for ten minutes, also while it is idle", async () => {
  const { lanes: some, open } = lanes(40);
  const emit = () => {
    for (let n = 0; n < 30; n++) some.add(claimed(1, { webhookId: `whk_${n}` }), [], false);
  };
  const answerAll = async () => {
    while (open.length > 0) await open[0]!.answer(true);
  };
  emit();
  expect(open).toHaveLength(30);
  await vi.advanceTimersByTimeAsync(1_500);
  await answerAll();
  await vi.advanceTimersByTimeAsync(9 * 60_000);
  some.rooms();
  emit();
  expect(open).toHaveLength(20);
  await answerAll();
  await vi.advanceTimersByTimeAsync(2 * 60_000);
  some.rooms();
  emit();
  expect(open).toHaveLength(30);
});

test("lanes take turns", () => {
  const { open } = lanesWith([...claimed(3), ...claimed(3, { webhookId: "whk_2" })]);
  expect(open.map(({ delivery }) => delivery.webhookId)).toEqual(["whk_1", "whk_2", "whk_1", "whk_2"]);
});

test("a limit per second spaces requests evenly", async () => {
  const { open } = lanesWith(claimed(20, { maxPerSecond: 10, maxConcurrency: 100 }));
  const started: number[] = [];
  for (let elapsed = 0; elapsed < 1_000; elapsed += 50) {
    started.push(open.length);
    while (open.length > 0) await open[0]!.answer(true);
    await vi.advanceTimersByTimeAsync(50);
  }
  expect(started.reduce((sum, count) => sum + count)).toBe(10);
  expect(Math.max(...started)).toBe(1);
});

test("deliveries that waited too long are given back unsent; those in progress are not", async () => {
  const { lanes: some, open } = lanesWith(claimed(5));
  expect([...some.waiting()]).toHaveLength(3);
  await vi.advanceTimersByTimeAsync(1_900);
  some.rooms();
  expect([...some.waiting()]).toHaveLength(3);
  await vi.advanceTimersByTimeAsync(200);
  await open[0]!.answer(true);
  expect(open).toHaveLength(1);
  expect([...some.waiting()]).toEqual([]);
});

test("a webhook can be assigned as many deliveries as it accepts in a tenth of a second; one that does not answer, only those in progress", async () => {
  const { lanes: some, open } = lanes();
  const waitingOf = (webhookId: string) => [...some.waiting()].filter((held) => held.webhookId === webhookId).length;
  const claim = () => {
    const rooms = some.rooms();
    for (const { webhookId, room } of rooms) some.add(claimed(room, { webhookId }), rooms, false);
  };
  some.add([...claimed(2), ...claimed(2, { webhookId: "whk_hangs" })], [], false);
  for (let elapsed = 0; elapsed < 500; elapsed += 10) {
    for (let n = 0; n < 3; n++) await open.find(({ delivery }) => delivery.webhookId === "whk_1")?.answer(true);
    await vi.advanceTimersByTimeAsync(10);
    claim();
  }
  expect(waitingOf("whk_1")).toBeGreaterThan(20);
  expect(waitingOf("whk_1")).toBeLessThan(40);
  expect(waitingOf("whk_hangs")).toBe(0);
  expect(open.filter(({ delivery }) => delivery.webhookId === "whk_hangs")).toHaveLength(2);
});

test("a filled lane asks for more whenever it runs low, until a claim does not fill it", async () => {
  const { lanes: some, open, low } = lanesWith(claimed(4));
  await open[0]!.answer(true);
  await open[0]!.answer(true);
  const asked = low();
  expect(asked).toBeGreaterThan(0);
  // The claim returned nothing, because its total was used up elsewhere.
  some.add([], [], true);
  await open[0]!.answer(true);
  expect(low()).toBeGreaterThan(asked);
  some.add([], some.rooms(), false);
  const last = low();
  while (open.length > 0) await open[0]!.answer(true);
  expect(low()).toBe(last);
});

test("the capacity of an idle webhook is remembered for a while, then forgotten", async () => {
  const { lanes: some, open } = lanesWith(claimed(20));
  while (open.length > 0) await open[0]!.answer(true);
  await vi.advanceTimersByTimeAsync(9_000);
  expect(some.rooms()).toHaveLength(1);
  some.add(claimed(20), [], false);
  expect(open).toHaveLength(8);
  while (open.length > 0) await open[0]!.answer(true);
  await vi.advanceTimersByTimeAsync(11_000);
  expect(some.rooms()).toEqual([]);
});

test("closed lanes start nothing more", async () => {
  const { lanes: some, open } = lanesWith(claimed(5));
  some.close();
  while (open.length > 0) await open[0]!.answer(true);
  expect([...some.waiting()]).toEqual([]);
});
