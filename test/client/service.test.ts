import { describe, expect, it } from "vitest";
import {
  type BatchRefusedError,
  createClient,
  type Client,
  type ClientError,
  type ClientOptions,
} from "../../src/client/index.js";
import { insertedOf, useCounted } from "./support/stored.js";
import { refusal, serviceAt, startFront, type Fate } from "./support/front.js";

// The client and the real service, with a server between them that fails, stalls and cuts connections.

const QUICK = { flushIntervalMs: 2, retryFirstMs: 2, retryLongestMs: 20, batchOperations: 40 };
const clientOf = (url: string, apiKey: string, options: Partial<ClientOptions> = {}) =>
  createClient({ url, apiKey, ...QUICK, onError: () => undefined, onRetry: () => undefined, ...options });
const CUSTOMERS = 7;

/** Sends `count` operations of some customers: every fifth is an identify, one in fifty is refused by the schema, one in fifty goes by `batch`. */
async function sendAll(client: Client, count: number): Promise<{ refused: number }> {
  let refused = 0;
  for (let n = 0; n < count; n++) {
    const customerId = `customer ${n % CUSTOMERS}`;
    const isBad = n % 50 === 27;
    const event = { customerId, event: isBad ? "unknown" : "counted", properties: { n } };
    if (n % 5 === 4) client.identify({ customerId, traits: { seen: n } });
    else if (n % 50 === 3) await client.batch([event]).catch(() => refused++);
    else client.track(event);
    if (isBad) refused++;
    // Like the requests of a backend: sometimes a turn of the event loop later.
    if (n % 30 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return { refused };
}

/** By customer, the numbers of its events in the required order of acceptance, and its last trait. */
function expected(count: number): { events: Record<string, number[]>; traits: Record<string, number> } {
  const result = { events: {} as Record<string, number[]>, traits: {} as Record<string, number> };
  for (let n = 0; n < count; n++) {
    const customerId = `customer ${n % CUSTOMERS}`;
    if (n % 5 === 4) result.traits[customerId] = n;
    else if (n % 50 !== 27) (result.events[customerId] ??= []).push(n);
  }
  return result;
}

const fixture = await useCounted();

describe("a service that is hard to reach", () => {
  it("receives everything once, in order per customer", async () => {
    const fates: Fate[] = [
      ...(["loseRequest", "loseAnswer", "stall", "cutAnswer", "stallAfter", "stallBody"] as const),
      refusal(429, "RATE_LIMIT_EXCEEDED", {}, { "retry-after": "0" }),
      { status: 502, body: "<html>" },
    ];
    const front = await startFront(
      serviceAt(() => fixture.service.url),
      // Every other request passes.
      (request) => (request % 2 === 0 ? "pass" : fates[(request >> 1) % fates.length]!),
    );
    const errors: ClientError[] = [];
    const client = clientOf(front.url, fixture.keys.test, { timeoutMs: 200, onError: (error) => errors.push(error) });
    const count = 600;
    const { refused } = await sendAll(client, count);
    expect(await client.close({ timeoutMs: 60_000 })).toEqual({ left: [] });
    await front.stop();
    expect(new Set(front.requests.map(({ fate }) => fate)).size).toBe(fates.length + 1);
    expect(refused).toBe(12);
    expect(new Set(errors.map(({ code, field }) => `${code} ${field}`))).toEqual(new Set(["UNKNOWN_EVENT event"]));
    expect(client.stats).toMatchObject({ refused, accepted: count - refused, waiting: 0, dropped: 0 });
    expect(await insertedOf(fixture.service.db.sql)).toEqual(expected(count));
  });

  it("explains what is wrong with each operation, and where", async () => {
    const client = clientOf(fixture.service.url, fixture.keys.test);
    const attempt = client.batch([
      { customerId: "words", event: "counted", properties: { n: 1 } },
      { customerId: "words", event: "counted", properties: { n: "2", m: 3 } },
      { customerId: "words", event: "counted", properties: { n: 1e-320 }, timestamp: "2026-02-30T10:00:00Z" },
    ]);
    const error = (await attempt.catch((reason: unknown) => reason)) as BatchRefusedError;
    expect(error.refused.map(({ index, error: { code, field, status } }) => [index, code, field, status])).toEqual([
      [2, "VALIDATION_ERROR", "timestamp", 400],
      [1, "INVALID_PROPERTY_TYPE", "properties.n", 422],
    ]);
    const [, { error: schema } = { error: null }] = error.refused;
    expect(schema?.diagnostics.map(({ path }) => path).sort()).toEqual(["properties.m", "properties.n"]);
    expect(schema?.fix).toEqual(expect.any(String));
    expect(await client.batch([{ customerId: "words", event: "counted", properties: { n: 4 } }])).toMatchObject({
      accepted: 1,
    });
  });

  it("an unknown key stops the client, and a client with a valid key sends the remaining operations", async () => {
    const stranger = clientOf(fixture.service.url, "svc_test_unknown");
    stranger.track({ customerId: "left", event: "counted", properties: { n: 1 } });
    await expect(stranger.flush()).rejects.toMatchObject({ code: "INVALID_API_KEY", status: 401 });
    const { left } = await stranger.close();
    const client = clientOf(fixture.service.url, fixture.keys.test);
    const first = await client.batch(left);
    expect(first).toMatchObject({ accepted: 1 });
    expect(await client.batch(left)).toEqual(first);
  });
});
