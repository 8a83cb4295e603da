import { expect, it, onTestFinished } from "vitest";
import { hashCredential } from "../../../src/http/request/credentials.js";
import { capturedLog } from "../../support/captured-log.js";
import { useIngest } from "../ingest/fixture.js";

// Refusals of whole requests, and of some of their calls.

const { log, lines } = capturedLog();
const fixture = await useIngest({ log });
const keyHash = hashCredential(fixture.keys.test);
const { sql } = fixture.service.db;
const send = (batch: unknown[]) =>
  fixture.service.request("POST", "/v1/batch", {
    body: { batch },
    headers: { Authorization: `Basic ${Buffer.from(`${fixture.keys.test}:`).toString("base64")}` },
  });
const calls = (count: number, more: (n: number) => object = () => ({})) =>
  Array.from({ length: count }, (_, n) => ({ type: "track", userId: "u", event: "login", ...more(n) }));

/** Sets the tokens of each key's bucket, whose size is 1,000 or `tokens` if larger. */
async function fill(tokens: number, perSecond = 1) {
  await sql`update iam.plans set rate_per_second = ${perSecond}, rate_burst = ${Math.max(1_000, tokens)}`;
  await sql`update svc.key_usage set tokens = ${tokens}, refilled_at = now()`;
}

it("rate-limits a request larger than the bucket as a whole: all of it is stored, or none", async () => {
  onTestFinished(() => fill(100_000, 50_000));
  await fill(990);
  const before = await fixture.stored();
  const reason = expect.stringMatching(/^The request has 2100 .* 99\d can be accepted now/) as string;
  const error = { code: "RATE_LIMIT_EXCEEDED", reason };
  expect(await send(calls(2_100))).toMatchObject({ status: 429, body: { error } });
  expect(await fixture.stored()).toEqual(before);

  await fill(1_000);
  expect(await send(calls(2_100))).toMatchObject({ status: 200, body: { success: true } });
  expect((await fixture.stored()).events).toBe(before.events + 2_100);

  // Later requests wait until the overdraft is refilled; SDKs respect Retry-After.
  const refused = await send(calls(1));
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get("Retry-After"))).toBeGreaterThan(1_090);
  expect(refused.headers.get("RateLimit-Remaining")).toBe("0");
});

it("rate-limits by the calls that the model uses, also for a process of the previous version", async () => {
  onTestFinished(() => fill(100_000, 50_000));
  await fill(5);
  expect((await send([...calls(20, () => ({ type: "page", name: "nothing" })), ...calls(5)])).status).toBe(200);
  expect((await send(calls(100))).status).toBe(429);
  const body = JSON.stringify({ calls: true, events: Array(100).fill({ customerId: "u", event: "login" }) });
  const old = sql`select svc_api.ingest(${keyHash}, gen_random_uuid(), ${body}, false)`;
  await expect(old).rejects.toThrow("RATE_LIMIT_EXCEEDED");
});

it("refuses only the call that the database refuses, wherever it is in the request, and logs it", async () => {
  await sql`alter table svc.events add constraint refuse_bad check (1 / (customer_id <> 'bad')::integer = 1)`;
  onTestFinished(async () => {
    await sql`alter table svc.events drop constraint refuse_bad`;
    await fill(100_000, 50_000);
  });
  const before = await fixture.stored();
  const bad = [3, 1_050];
  const batch = calls(1_100, (n) => (bad.includes(n) ? { userId: "bad" } : { messageId: `m${n}` }));
  const message = "The call has a value that cannot be stored.";
  const refused = bad.map((index) => ({ index, code: "INVALID_CALL", message }));
  for (let n = 0; n < 2; n++)
    expect(await send(batch)).toMatchObject({ status: 200, body: { success: true, refused } });
  expect((await fixture.stored()).events).toBe(before.events + 1_098);
  const err = expect.objectContaining({ code: "22012" }) as unknown;
  const named = bad.map((index) => ({ index, code: "INVALID_CALL" }));
  for (const line of [
    { msg: "the database refused a call", index: 1_050, err },
    { msg: "calls were refused", refused: 2, calls: named },
  ])
    expect(lines).toContainEqual(expect.objectContaining(line));
  // A bucket that just holds the request: its halves are not limited again.
  await fill(1_000);
  expect((await send(batch.slice(0, 1_000))).status).toBe(200);
});
