import { execFile } from "node:child_process";
import { connect, createServer } from "node:net";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  BatchRefusedError,
  ClientError,
  createClient,
  InvalidOperationError,
  type Client,
  type ClientOptions,
  type SentOperation,
} from "../../src/client/index.js";
import { listen } from "../support/listen.js";
import { refusal, startFront, type Fate, type Front } from "./support/front.js";
import { Memory } from "./support/memory.js";

// The client against a correct in-memory service behind a misbehaving server.

const QUICK = { flushIntervalMs: 5, retryFirstMs: 1, retryLongestMs: 5 };
/** Time for the first requests on a busy machine. */
const BUSY = { timeout: 20_000 };

async function start(next?: (request: number, body: string) => Fate, options: Partial<ClientOptions> = {}) {
  const memory = new Memory();
  const front = await startFront(memory.backend, next);
  onTestFinished(() => front.stop());
  const errors: ClientError[] = [];
  const retries: ClientError[] = [];
  const onError = (error: ClientError) => errors.push(error);
  const client = clientOf(`${front.url}/`, { onError, onRetry: (error) => retries.push(error), ...options });
  return { client, memory, front, errors, retries };
}

function clientOf(url: string, options: Partial<ClientOptions> = {}): Client {
  const client = createClient({ url, apiKey: "svc_test_x", ...QUICK, ...options });
  onTestFinished(() => void client.close({ timeoutMs: 0 }));
  return client;
}

const batches = ({ requests }: Front) =>
  requests.map(({ body }) => (JSON.parse(body) as { events: SentOperation[] }).events.length);
const keys = (operations: readonly SentOperation[]) =>
  operations.map((operation) =>
    operation.type === "track" ? operation.idempotencyKey : JSON.stringify(operation.traits),
  );
const track = (key: number | string, event = "e") => ({ customerId: "c", event, idempotencyKey: String(key) });
const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index));

describe("sending", () => {
  it("accepts an operation immediately, and sends collected operations in one request", async () => {
    const { client, memory, front } = await start();
    const properties = { amount: 1 };
    expect(client.track({ customerId: "c", event: "paid", properties })).toBe(true);
    properties.amount = 2;
    expect(client.identify({ customerId: "c", traits: { plan: "pro", gone: null } })).toBe(true);
    expect(client.stats).toMatchObject({ waiting: 2, accepted: 0 });
    await vi.waitFor(() => expect(client.stats).toMatchObject({ waiting: 0, waitingBytes: 0, accepted: 2 }), BUSY);
    expect(memory.accepted).toEqual([
      expect.objectContaining({ type: "track", event: "paid", properties: { amount: 1 } }),
      { type: "identify", customerId: "c", traits: { plan: "pro", gone: null } },
    ]);
    expect(batches(front)).toEqual([2]);
  });

  it("uses batches bounded by count and bytes, and sends a full one without waiting for the interval", async () => {
    const { client, memory, front } = await start(undefined, { flushIntervalMs: 3_600_000, batchOperations: 100 });
    for (const key of numbers(250)) client.track(track(key));
    await vi.waitFor(() => expect(client.stats.accepted).toBe(200), BUSY);
    await client.flush();
    expect(batches(front)).toEqual([100, 100, 50]);
    expect(keys(memory.accepted)).toEqual(numbers(250));

    const heavy = await start(undefined, { flushIntervalMs: 3_600_000, batchBytes: 100_000 });
    for (const key of numbers(5)) heavy.client.track({ ...track(key), properties: { text: "x".repeat(40_000) } });
    await vi.waitFor(() => expect(heavy.client.stats.accepted).toBe(4), BUSY);
    await heavy.client.flush();
    expect(batches(heavy.front)).toEqual([2, 2, 1]);
  });

  it("uses smaller batches if a proxy rejects large ones, and refuses an operation that is too large by itself", async () => {
    const { client, memory, front, errors } = await start((_, body) =>
      body.length > 4_000 ? { status: 413, body: "<html>" } : "pass",
    );
    for (const key of numbers(8)) client.track({ ...track(key), properties: { text: "x".repeat(800) } });
    await client.flush();
    expect(batches(front)).toEqual([8, 4, 4]);
    expect(keys(memory.accepted)).toEqual(numbers(8));
    expect(errors).toEqual([]);

    const narrow = await start(() => ({ status: 413, body: "<html>" }));
    narrow.client.track(track("alone"));
    await narrow.client.flush();
    expect(narrow.errors).toMatchObject([{ code: "PAYLOAD_TOO_LARGE", operation: track("alone") }]);
  });

  it("refuses an invalid address, key or limit", () => {
    const options = { url: "https://svc.example.com", apiKey: "svc_test_x" };
    for (const url of ["", "svc.example.com", "ftp://x", "https://a:b@x", "https://x?y", "https://x/v1/", undefined])
      expect(() => createClient({ ...options, url: url as string }), url).toThrow(/^url must be/);
    for (const apiKey of ["", "a b", "ü", undefined])
      expect(() => createClient({ ...options, apiKey: apiKey as string })).toThrow(/^apiKey must be an API key/);
    expect(() => createClient({ ...options, batchOperations: 1_001 })).toThrow(
      new TypeError("batchOperations must be a whole number from 1 to 1000, not 1001"),
    );
    expect(() => createClient({ ...options, flushInterval: 5 } as ClientOptions)).toThrow(
      /^there is no option flushInterval; there are url, apiKey, /,
    );
    expect(() => createClient({ ...options, queueBytes: 5 })).toThrow(/^queueBytes must be/);
    expect(() => createClient({ ...options, timeoutMs: NaN })).toThrow(/^timeoutMs must be/);
  });
});

describe("a temporary failure", () => {
  // rules.test.ts tests which answers are temporary failures.
  const FATES: [string, Fate][] = [
    ["a lost request", "loseRequest"],
    ["a lost answer", "loseAnswer"],
    ["half an answer", "cutAnswer"],
    ["no answer", "stall"],
    ["no answer after the batch was accepted", "stallAfter"],
    ["an answer that does not end", "stallBody"],
    ["429", refusal(429, "RATE_LIMIT_EXCEEDED", {}, { "retry-after": "0" })],
    ["a proxy's 502", { status: 502, body: "<html>" }],
    ["a page in the service's place", { status: 202, body: "<html>" }],
    ["an answer for another batch", { status: 202, body: '{"accepted":1,"rejected":0,"eventIds":[]}' }],
    ["a gateway's error", { status: 400, body: '{"error":{"code":"BadRequest","message":"No."}}' }],
    ["a redirect", { status: 302, headers: { location: "http://127.0.0.1:1/" }, body: "" }],
    ["a change of the protocol", { status: 101, headers: { connection: "upgrade", upgrade: "websocket" }, body: "" }],
  ];
  it.each(FATES)("(%s) repeats the request byte for byte, and nothing overtakes it", async (_, fate) => {
    // On a busy machine more tries than intended can time out, so only the minimum is certain.
    const options = { flushIntervalMs: 0, timeoutMs: 200 };
    const { client, memory, front, errors, retries } = await start(
      (request) => (request === 0 ? fate : "pass"),
      options,
    );
    client.track({ customerId: "c", event: "first" });
    client.identify({ customerId: "c", traits: { n: 1 } });
    await vi.waitFor(() => expect(front.requests).not.toEqual([]));
    client.track({ customerId: "c", event: "second" });
    await client.flush();
    const bodies = front.requests.map(({ body }) => body);
    const [first, second, ...others] = new Set(bodies);
    expect(others).toEqual([]);
    expect(second).toContain("second");
    expect(bodies.lastIndexOf(first!)).toBeLessThan(bodies.indexOf(second!));
    expect(bodies.indexOf(second!)).toBeGreaterThanOrEqual(2);
    const events = memory.accepted.filter(({ type }) => type === "track");
    expect(events).toMatchObject([{ event: "first" }, { event: "second" }]);
    expect(errors).toEqual([]);
    expect([retries.length, client.stats.retries]).toEqual([bodies.length - 2, bodies.length - 2]);
  });

  it("is retried after a connection that was closed as soon as it was made, long before the time limit", async () => {
    const memory = new Memory();
    const front = await startFront(memory.backend);
    let connections = 0;
    // As a tunnel or a proxy does whose backend is restarting.
    const tunnel = createServer((socket) => {
      socket.on("error", () => undefined);
      if (++connections === 1) return void socket.destroy();
      const inner = connect(Number(new URL(front.url).port), "127.0.0.1");
      inner.on("error", () => socket.destroy());
      socket.pipe(inner).pipe(socket);
    });
    const url = await listen(tunnel);
    onTestFinished(async () => {
      await front.stop();
      tunnel.close();
    });
    const client = createClient({ url, apiKey: "svc_test_x", retryFirstMs: 1, timeoutMs: 3_600_000 });
    client.track(track(1));
    await client.flush();
    await client.close();
    expect(keys(memory.accepted)).toEqual(["1"]);
  });

  it("is not retried before Retry-After", async () => {
    const waits: number[] = [];
    const { client } = await start(
      (request) => (request === 0 ? refusal(503, "SERVICE_UNAVAILABLE", {}, { "retry-after": "0.2" }) : "pass"),
      { onRetry: (_, { waitMs }) => waits.push(waitMs) },
    );
    client.track(track(1));
    await client.flush();
    expect(waits).toHaveLength(1);
    expect(waits[0]).toBeGreaterThanOrEqual(200);
    expect(waits[0]).toBeLessThan(201);
  });

  it("delays a flush no longer than its timeout, and is retried after that", async () => {
    let isAway = true;
    const { client, memory } = await start(() => (isAway ? "loseRequest" : "pass"));
    client.track(track(1));
    await expect(client.flush({ timeoutMs: 30 })).rejects.toMatchObject({ code: "TIMEOUT" });
    isAway = false;
    await client.flush();
    expect(keys(memory.accepted)).toEqual(["1"]);
  });
});

describe("a refusal", () => {
  it("affects only the refused operation, and reports it as it was sent, with the message of the service", async () => {
    const { client, memory, front, errors } = await start();
    for (let index = 0; index < 1_000; index++) client.track(track(index, index % 400 === 7 ? "bad" : "e"));
    await client.flush();
    const bad = ["7", "407", "807"];
    expect(keys(memory.accepted)).toEqual(numbers(1_000).filter((key) => !bad.includes(key)));
    expect(errors).toMatchObject(
      bad.map((key) => ({
        ...{ name: "ClientError", code: "UNKNOWN_EVENT", status: 422, field: "event", requestId: "req" },
        operation: { type: "track", ...track(key, "bad") },
        diagnostics: [{ code: "UNKNOWN_EVENT", path: "event", message: "No such event." }],
      })),
    );
    expect(batches(front)).toEqual([1_000, 997]);
    expect(client.stats).toMatchObject({ accepted: 997, refused: 3, waiting: 0 });
  });

  it("is attributed to its operation even if the service does not name it", async () => {
    const { client, memory, errors } = await start((_, body) =>
      body.includes('"poison"') ? refusal(400, "MALFORMED_JSON") : "pass",
    );
    for (const key of numbers(20)) client.track(track(key === "13" ? "poison" : key));
    await client.flush();
    expect(errors).toMatchObject([{ code: "MALFORMED_JSON", operation: track("poison") }]);
    expect(keys(memory.accepted)).toEqual(numbers(20).filter((key) => key !== "13"));
  });

  it("by the client itself is thrown at the call, and nothing is queued", async () => {
    const { client } = await start();
    expect(() => client.track({ customerId: "c", event: "e", properties: { a: NaN } })).toThrow(InvalidOperationError);
    expect(() => client.identify({ customerId: "", traits: {} })).toThrow(/^customerId must have/);
    await expect(client.batch([track(1), { ...track(2), properties: { a: 1n } }])).rejects.toThrow(
      /^operations\[1\]\.properties\.a is a bigint/,
    );
    await expect(client.batch({} as [])).rejects.toThrow(/^operations must be an array, not an Object$/);
    expect(client.stats).toMatchObject({ waiting: 0, dropped: 0 });
  });
});

describe("what stops the client", () => {
  it("is reported once; everything stays queued, and flush tries again", async () => {
    let key = refusal(401, "INVALID_API_KEY") as Fate;
    const { client, memory, front, errors } = await start(() => key);
    client.track(track(1));
    await vi.waitFor(() => expect(errors).toHaveLength(1));
    expect(errors).toMatchObject([{ code: "INVALID_API_KEY", status: 401, operation: null }]);
    client.track(track(2));
    await expect(client.flush()).rejects.toMatchObject({ code: "INVALID_API_KEY" });
    await expect(client.batch([track("mine")])).rejects.toMatchObject({ code: "INVALID_API_KEY" });
    expect({ told: errors.length, requests: front.requests.length }).toEqual({ told: 1, requests: 3 });
    expect(client.stats).toMatchObject({ waiting: 2 });
    key = "pass";
    await client.flush();
    expect(keys(memory.accepted)).toEqual(["1", "2"]);
    key = refusal(402, "PLAN_REQUIRED");
    client.track(track(3));
    await expect(client.flush()).rejects.toMatchObject({ code: "PLAN_REQUIRED" });
    expect(errors.map(({ code }) => code)).toEqual(["INVALID_API_KEY", "PLAN_REQUIRED"]);
  });

  it("does not delay operations after a flush, even of an empty queue", async () => {
    let key = refusal(401, "INVALID_API_KEY") as Fate;
    const { client, memory } = await start(() => key);
    await expect(client.batch([track("mine")])).rejects.toMatchObject({ code: "INVALID_API_KEY" });
    key = "pass";
    await client.flush();
    client.track(track(1));
    await vi.waitFor(() => expect(keys(memory.accepted)).toEqual(["1"]));
  });

  it("a quota that resets in days does not hold up a flush, and sending resumes by itself when it is available", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const used = refusal(429, "MONTHLY_QUOTA_EXCEEDED", {}, { "retry-after": "864000" });
    const { client, front, errors } = await start((request) => (request % 2 === 0 ? used : "pass"));
    client.track(track(1));
    await expect(client.flush()).rejects.toMatchObject({ code: "MONTHLY_QUOTA_EXCEEDED", status: 429 });
    expect(errors).toHaveLength(1);
    await client.flush();
    expect(client.stats).toMatchObject({ accepted: 1 });
    client.track(track(2));
    await expect(client.flush()).rejects.toMatchObject({ code: "MONTHLY_QUOTA_EXCEEDED" });
    await vi.advanceTimersByTimeAsync(863_999_000);
    expect(client.track(track(3))).toBe(true);
    expect(front.requests).toHaveLength(3);
    await vi.advanceTimersByTimeAsync(1_000);
    await vi.waitFor(() => expect(client.stats).toMatchObject({ accepted: 3, waiting: 0 }));
  });
});

describe("a full queue", () => {
  it("accepts nothing more, says so, and has room again after an answer", async () => {
    let fate: Fate = "loseRequest";
    const { client, memory, errors } = await start(() => fate, { queueOperations: 3, flushIntervalMs: 0 });
    expect(numbers(5).map((key) => client.track(track(key)))).toEqual([true, true, true, false, false]);
    expect(errors).toMatchObject(["3", "4"].map((key) => ({ code: "QUEUE_FULL", operation: track(key) })));
    expect(client.stats).toMatchObject({ waiting: 3, dropped: 2 });
    const ready = client.ready();
    fate = "pass";
    await ready;
    expect(client.track(track("5"))).toBe(true);
    await client.flush();
    expect(keys(memory.accepted)).toEqual(["0", "1", "2", "5"]);
  });

  it("is sent without waiting for the interval, and has room again after the answer", async () => {
    const { client, memory } = await start(undefined, { queueOperations: 3, flushIntervalMs: 3_600_000 });
    for (const key of numbers(10)) {
      await client.ready();
      client.track(track(key));
    }
    expect(keys(memory.accepted)).toEqual(numbers(9));
  });

  it("is limited by bytes, too", async () => {
    const { client } = await start(() => "loseRequest", { queueBytes: 1024 * 1024 });
    const heavy = (key: string) => ({ ...track(key), properties: { text: "x".repeat(60_000) } });
    const accepted = numbers(20).filter((key) => client.track(heavy(key)));
    expect(accepted).toEqual(numbers(17));
    expect(client.stats.waitingBytes).toBeLessThanOrEqual(1024 * 1024);
    expect(client.track(track("small"))).toBe(true);
  });

  it.each([
    ["by operations", { queueOperations: 10, batchOperations: 4 }, ""],
    ["by bytes", { queueBytes: 1024 * 1024, batchBytes: 200_000 }, "x".repeat(60_000)],
  ])(
    "makes many concurrent callers wait for room, %s, and callers that do not use their room block no others",
    async (_, bounds, x) => {
      const { client, memory, errors } = await start(undefined, { ...bounds, flushIntervalMs: 0 });
      await Promise.all(
        numbers(50).map(async (worker) => {
          for (const key of numbers(4)) {
            await client.ready();
            if (key !== "2") client.track({ ...track(`${worker}/${key}`), properties: { x } });
          }
        }),
      );
      await client.flush();
      expect(errors).toEqual([]);
      expect(memory.accepted).toHaveLength(150);
    },
  );
});

describe("batch", () => {
  it("sends its operations after those that wait, in as many requests as needed, and returns the ids", async () => {
    const { client, memory, front } = await start((request) => (request === 1 ? "loseAnswer" : "pass"), {
      flushIntervalMs: 3_600_000,
    });
    client.track(track("waiting"));
    const operations = numbers(2_500).map((key) => track(key));
    const identify = { type: "identify" as const, customerId: "c", traits: { n: 1 } };
    const result = await client.batch([identify, ...operations]);
    expect(result).toEqual({ accepted: 2_501, eventIds: numbers(2_500).map((key) => `evt_${key}`) });
    expect(keys(memory.accepted)).toEqual(["waiting", '{"n":1}', ...numbers(2_500)]);
    expect(batches(front)).toEqual([1_000, 1_000, 1_000, 502]);
    expect(await client.batch([])).toEqual({ accepted: 0, eventIds: [] });
  });

  it("rejects with the refused operations after the rest was accepted", async () => {
    const { client, memory, errors } = await start();
    const attempt = client.batch(numbers(50).map((key) => track(key, key === "9" || key === "20" ? "bad" : "e")));
    const error = (await attempt.catch((reason: unknown) => reason)) as BatchRefusedError;
    expect(error).toBeInstanceOf(BatchRefusedError);
    expect(error.message).toBe("2 of 50 operations were refused; operations[9]: event: It is UNKNOWN_EVENT.");
    expect(error).toMatchObject({
      code: "BATCH_REFUSED",
      accepted: 48,
      refused: [
        { index: 9, error: { code: "UNKNOWN_EVENT", operation: track(9, "bad") } },
        { index: 20, error: { code: "UNKNOWN_EVENT", operation: track(20, "bad") } },
      ],
    });
    expect(memory.accepted).toHaveLength(48);
    expect(errors).toEqual([]);
  });

  it("reports operations that conflict with earlier ones, removes them in one step, and keeps the earlier ones", async () => {
    const { client, memory, front } = await start();
    await client.batch(numbers(40).map((key) => track(key)));
    await client.batch(numbers(40).map((key) => track(key)));
    const attempt = client.batch(numbers(41).map((key) => track(key, Number(key) % 2 === 1 ? "other" : "e")));
    const refused = numbers(20).map((n) => ({ index: 2 * Number(n) + 1, error: { code: "IDEMPOTENCY_CONFLICT" } }));
    await expect(attempt).rejects.toMatchObject({ accepted: 21, refused });
    expect(batches(front)).toEqual([40, 40, 41, 21]);
    expect(keys(memory.accepted)).toEqual(numbers(41));
  });
});

describe("close", () => {
  it("sends waiting operations, and accepts no more", async () => {
    const { client, memory, errors } = await start((request) => (request < 3 ? { status: 503, body: "" } : "pass"), {
      flushIntervalMs: 3_600_000,
    });
    for (const key of numbers(5)) client.track(track(key));
    const [first, second] = [client.close(), client.close()];
    expect(client.track(track("late"))).toBe(false);
    await expect(client.batch([track("late")])).rejects.toMatchObject({ code: "CLOSED" });
    await expect(client.ready()).rejects.toMatchObject({ code: "CLOSED" });
    expect([await first, await second]).toEqual([{ left: [] }, { left: [] }]);
    await client.flush();
    expect(keys(memory.accepted)).toEqual(numbers(5));
    expect(errors).toMatchObject([{ code: "CLOSED", operation: track("late") }]);
  });

  it.each<[string, Fate]>([
    ["does not answer", "stall"],
    ["is unavailable", { status: 503, headers: { "retry-after": "300" }, body: "" }],
    ["refuses the key", refusal(401, "INVALID_API_KEY")],
  ])("returns the remaining operations if the service %s, ready to be sent again", async (_, fate) => {
    const { client, front } = await start(() => fate, { timeoutMs: 60_000 });
    client.track({ customerId: "c", event: "first", properties: { a: 1 } });
    client.identify({ customerId: "c", traits: { n: 1 } });
    const waiting = client.flush().catch((error: unknown) => error);
    const mine = client.batch([track("mine")]).catch((error: unknown) => error);
    await vi.waitFor(() => expect(front.requests).not.toEqual([]));
    const { left } = await client.close({ timeoutMs: 20 });
    expect(left).toMatchObject([{ type: "track", event: "first" }, { type: "identify" }]);
    for (const error of [await waiting, await mine]) expect(error).toBeInstanceOf(ClientError);
    await expect(client.flush()).rejects.toMatchObject({ code: "CLOSED" });
    const next = await start();
    await next.client.batch(left);
    expect(next.memory.accepted).toEqual(left);
  });

  it("waits without limit if asked to, and refuses a timeout that is not a number", async () => {
    const { client, memory } = await start((request) => (request < 2 ? { status: 503, body: "" } : "pass"));
    for (const timeoutMs of [NaN, null, "5000"] as number[]) {
      const message = /^timeoutMs must be a number of milliseconds, or Infinity, not (NaN|null|"5000")$/;
      await expect(client.flush({ timeoutMs })).rejects.toThrow(message);
      await expect(client.close({ timeoutMs })).rejects.toThrow(message);
    }
    expect(client.track(track("1"))).toBe(true);
    await client.flush({ timeoutMs: 2 ** 31 });
    client.track(track("2"));
    expect(await client.close({ timeoutMs: Infinity })).toEqual({ left: [] });
    expect(keys(memory.accepted)).toEqual(["1", "2"]);
  });

  it("keeps the process alive until everything is sent; without it, the process ends and waiting operations are lost", async () => {
    const { memory, front } = await start((request) => (request === 0 ? { status: 503, body: "" } : "pass"));
    const program = `
      import { createClient } from "${new URL("../../dist/client/index.js", import.meta.url).href}";
      const client = createClient({ url: "${front.url}", apiKey: "svc_test_x", flushIntervalMs: 60_000, retryFirstMs: 200 });
      client.track({ customerId: "c", event: "e", idempotencyKey: "of a process" });`;
    const run = (code: string) => promisify(execFile)(process.execPath, ["--input-type=module", "--eval", code]);
    expect(await run(program)).toEqual({ stdout: "", stderr: "" });
    expect(front.requests).toEqual([]);
    expect((await run(`${program} console.log(await client.close())`)).stdout).toBe("{ left: [] }\n");
    expect(keys(memory.accepted)).toEqual(["of a process"]);
  });
});

describe("by default", () => {
  it("the client warns once per code, and survives errors in callbacks", async () => {
    const warnings: (Error & { code?: string })[] = [];
    const listen = (warning: Error) => warning.name === "SvcClient" && warnings.push(warning);
    process.on("warning", listen);
    onTestFinished(() => void process.off("warning", listen));
    const { memory, front } = await start((request) => (request < 6 ? { status: 503, body: "" } : "pass"));
    const silent = clientOf(front.url);
    for (const key of ["1", "2", "3"]) silent.track(track(key, "bad"));
    await silent.flush();
    await vi.waitFor(() => expect(warnings).toHaveLength(2));
    expect(warnings.map(({ name, code, message }) => [name, code, message])).toEqual([
      ["SvcClient", "UNEXPECTED_ANSWER", expect.stringMatching(/^tried 5 times, and continues: /)],
      ["SvcClient", "UNKNOWN_EVENT", expect.stringMatching(/^event: .*reported once/)],
    ]);
    const fail = (message: string) => {
      throw new Error(message);
    };
    const clumsy: [string, () => unknown][] = [
      ["mine", () => fail("mine")],
      ["mine, later", () => Promise.reject(new Error("mine, later"))],
    ];
    for (const [message, onError] of clumsy) {
      const client = clientOf(front.url, { onError });
      client.track(track("4", "bad"));
      client.track(track("5"));
      await client.flush();
      expect(keys(memory.accepted)).toEqual(["5"]);
      const failed = `a callback of the client failed: Error: ${message}`;
      await vi.waitFor(() => expect(warnings.at(-1)?.message).toBe(failed));
    }
  });
});
