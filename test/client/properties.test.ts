import fc from "fast-check";
import { expect, it } from "vitest";
import { createClient, type ClientError } from "../../src/client/index.js";
import { propertyRuns } from "../support/property-runs.js";
import { refusal, startFront, type Fate } from "./support/front.js";
import { Memory } from "./support/memory.js";

// Whatever happens to the requests: each operation is accepted once, in order per customer, and refusals are reported.

interface Sending {
  do: "track" | "identify" | "batch";
  customer: number;
  bad: boolean;
  count: number;
}
type Step = Sending | { do: "flush" | "pause" };

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom("track" as const, "track" as const, "identify" as const, "batch" as const),
      customer: fc.nat(2),
      bad: fc.boolean(),
      count: fc.integer({ min: 1, max: 12 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("flush" as const, "pause" as const) }) },
);
const fate = fc.constantFrom<Fate[]>(
  ...(["pass", "pass", "loseRequest", "loseAnswer", "cutAnswer", "stall", "stallAfter", "stallBody"] as const),
  refusal(429, "RATE_LIMIT_EXCEEDED", {}, { "retry-after": "0" }),
  refusal(503, "SERVICE_UNAVAILABLE"),
  { status: 202, body: "<html>" },
  { status: 413, body: "<html>" },
);

it("loses and duplicates nothing, and keeps the order", async () => {
  const met = new Set<unknown>();
  const sees = async (steps: readonly Step[], fates: readonly Fate[]): Promise<void> => {
    const memory = new Memory();
    // A single operation would be refused as too large; a proxy that rejects everything is not tested here.
    const front = await startFront(memory.backend, (request, body) => {
      const chosen = fates[request] ?? "pass";
      const isAlone = !body.includes("},{");
      met.add(typeof chosen === "object" ? chosen.status : chosen);
      return typeof chosen === "object" && chosen.status === 413 && isAlone ? "loseRequest" : chosen;
    });
    const refused: ClientError[] = [];
    const client = createClient({
      url: front.url,
      apiKey: "k",
      batchOperations: 5,
      batchBytes: 1_000,
      flushIntervalMs: 1,
      retryFirstMs: 1,
      retryLongestMs: 1,
      timeoutMs: 25,
      onError: (error) => refused.push(error),
      onRetry: () => undefined,
    });
    let count = 0;
    const expected: { customer: string; name: string; bad: boolean }[] = [];
    const calls: Promise<unknown>[] = [];
    for (const each of steps) {
      if (!("customer" in each)) {
        if (each.do === "flush") await client.flush();
        else await new Promise((resolve) => setImmediate(resolve));
      } else {
        const customerId = `c${each.customer}`;
        const isIdentify = each.do === "identify";
        const operations = Array.from({ length: each.do === "batch" ? each.count : 1 }, () => {
          const name = String(++count);
          const bad = each.bad && !isIdentify;
          expected.push({ customer: customerId, name, bad });
          return { customerId, event: bad ? "bad" : "e", properties: { name } };
        });
        if (each.do === "batch") calls.push(client.batch(operations).catch((error: unknown) => error));
        else if (isIdentify) client.identify({ customerId, traits: { name: String(count) } });
        else client.track(operations[0]!);
      }
    }
    const outcomes = await Promise.all(calls);
    const { left } = await client.close({ timeoutMs: 30_000 });
    await front.stop();
    expect(left).toEqual([]);

    const nameOf = (operation: (typeof memory.accepted)[number]) =>
      (operation.type === "track" ? operation.properties : operation.traits)?.["name"] as string;
    const good = expected.filter(({ bad }) => !bad);
    const events = memory.accepted.filter(({ type }) => type === "track");
    const identified = memory.accepted.filter(({ type }) => type === "identify").map(nameOf);
    expect(new Set(events.map(nameOf)).size).toBe(events.length);
    expect([...new Set(memory.accepted.map(nameOf))].sort()).toEqual(good.map(({ name }) => name).sort());
    for (const customer of ["c0", "c1", "c2"]) {
      // Identify operations of a batch whose answer was lost occur again, but only at the position of that batch.
      const last = (names: string[]) => names.filter((name, index) => !names.slice(index + 1).includes(name));
      const own = memory.accepted.filter(({ customerId }) => customerId === customer);
      expect(own.filter(({ type }) => type === "track").map(nameOf)).toEqual(
        good.filter((each) => each.customer === customer && !identified.includes(each.name)).map(({ name }) => name),
      );
      expect(last(own.filter(({ type }) => type === "identify").map(nameOf))).toEqual(
        good.filter((each) => each.customer === customer && identified.includes(each.name)).map(({ name }) => name),
      );
    }
    const inBatches = outcomes.flatMap((outcome) => (outcome as { refused?: unknown[] }).refused ?? []);
    expect(refused.map(({ code }) => code)).toEqual(refused.map(() => "UNKNOWN_EVENT"));
    expect(refused.length + inBatches.length).toBe(expected.filter(({ bad }) => bad).length);
    expect(client.stats).toMatchObject({ accepted: good.length, waiting: 0, waitingBytes: 0, dropped: 0 });
  };
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.array(fate, { maxLength: 12 }), sees), {
    numRuns: propertyRuns(25),
  });
  expect(met.size).toBeGreaterThanOrEqual(10);
});
