import { createServer } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { svc } from "../cli/support/run-svc.js";
import { project } from "../dsl-compiler/project.js";
import { emit, happened, rule, snapshotOf } from "../engine/support/builders.js";
import { resetAllowance, setAllowance } from "./support/allowance.js";
import { expectBatchTaken, expectTaken, limitHeaders } from "./support/answers.js";
import { useSpec } from "./support/fixture.js";
import { rateLimited } from "./support/refusals.js";

// Section "Limits". Those of operations and batches are in their sections: values at a limit are accepted and read back, one more is refused.

const fixture = useSpec();

const event = { customerId: "c", event: "e" };
const sql = () => fixture.service.db.sql;

describe("| rate limiting | per API key; each batch operation counts as one event | both ingestion endpoints |", () => {
  beforeEach(() => setAllowance(fixture, { perSecond: 2, left: 10 }));
  afterAll(() => resetAllowance(fixture));

  it("as many operations as remain are accepted, and a batch with one more is refused as a whole", async () => {
    await fixture.refuses(() => fixture.batch(Array(11).fill(event)), 429, rateLimited(2, 11, 10));
    expectBatchTaken(await fixture.batch(Array(10).fill(event)), 10);
    await fixture.refuses(() => fixture.single(event), 429, rateLimited(2, 1, 0));
    await fixture.refuses(() => fixture.batch([event]), 429, rateLimited(2, 1, 0));
  });

  it("each API key has its own allowance", async () => {
    expectBatchTaken(await fixture.batch(Array(10).fill(event)), 10);
    expect((await fixture.single(event)).status).toBe(429);
    expectTaken(await fixture.single(event, { Authorization: `Bearer ${fixture.keys.live}` }));
  });

  describe("Rate-limit response headers", () => {
    it("| `RateLimit-Limit` | current event allowance for the window |", async () => {
      expect((await fixture.single(event)).headers.get("RateLimit-Limit")).toBe("1000");
      await sql()`update iam.plans set rate_burst = 2000`;
      expect((await fixture.single(event)).headers.get("RateLimit-Limit")).toBe("2000");
    });

    it("| `RateLimit-Remaining` | remaining operations |: each operation of a batch counts, of either kind", async () => {
      const identify = { type: "identify", customerId: "c", traits: {} };
      expect(limitHeaders(await fixture.single(event))).toMatchObject({ "RateLimit-Remaining": "9" });
      const remaining = [];
      for (const batch of [[event, identify, event], Array(6).fill(event), [event]])
        remaining.push(limitHeaders(await fixture.batch(batch))["RateLimit-Remaining"]);
      expect(remaining).toEqual(["6", "0", "0"]);
    });

    it("| `Retry-After` | seconds to wait after HTTP 429 |, | `RateLimit-Reset` | seconds until capacity is available after HTTP 429 |", async () => {
      const none = { "Retry-After": null, "RateLimit-Reset": null };
      expect(limitHeaders(await fixture.single(event))).toMatchObject(none);
      const reply = await fixture.batch(Array(100).fill(event));
      expect(reply.status).toBe(429);
      expect(limitHeaders(reply)).toMatchObject({ "Retry-After": "46", "RateLimit-Reset": "46" });
    });

    it("refusals for other reasons have the headers too, and use no allowance", async () => {
      for (const reply of [await fixture.single({}), await fixture.batch([]), await fixture.single("{")]) {
        expect(reply.status).toBe(400);
        expect(limitHeaders(reply)).toMatchObject({
          "RateLimit-Limit": "1000",
          "RateLimit-Remaining": expect.stringMatching(/^\d+$/) as unknown,
        });
      }
      expect(limitHeaders(await fixture.single(event))).toMatchObject({ "RateLimit-Remaining": "9" });
    });
  });
});

describe("| default list sizes | events 20, customers 50, rule logs 50, segment members 50 | CLI listings |", () => {
  beforeAll(async () => {
    const listed = { events: { listed: { properties: {} } }, segments: { all: happened("listed") } };
    await fixture.deploy(snapshotOf({ ...listed, rules: { told: rule("listed", emit("was.told")) } }), "live");
    const events = Array.from({ length: 51 }, (_, n) => ({ customerId: `listed ${100 + n}`, event: "listed" }));
    const headers = { Authorization: `Bearer ${fixture.keys.live}` };
    expectBatchTaken(await fixture.batch(events, headers), 51);
    await fixture.evaluate("live");
  });

  const list = async (...argv: string[]) => {
    const { service, owner } = fixture;
    const options = { at: service.url, by: owner };
    const { code, stdout } = await svc([...argv, "--project", "app", "--env", "live", "--json"], options);
    expect(code).toBe(0);
    return JSON.parse(stdout) as { data: { customerId: string }[]; nextCursor: string | null };
  };

  it.each([
    ["events list --type listed", 20],
    ["customers list --segment all", 50],
    ["rules logs", 50],
    ["segments inspect all", 50],
  ])("svc %s", async (line, size) => {
    const argv = line.split(" ");
    const first = await list(...argv);
    expect(first.data).toHaveLength(size);
    const rest = await list(...argv, "--limit", "51", "--cursor", first.nextCursor!);
    expect([rest.data.length, rest.nextCursor]).toEqual([51 - size, null]);
    const data = [...first.data, ...rest.data];
    expect(await list(...argv, "--limit", "51")).toMatchObject({ data, nextCursor: null });
  });
});

it("| local engine port | 4401 default | `svc dev` |", async () => {
  // The port must be in use; whether by this test or another program does not matter.
  const other = createServer();
  await new Promise<unknown>((resolve) => other.once("error", resolve).listen(4401, "127.0.0.1", () => resolve(0)));
  onTestFinished(() => void other.close());
  const cwd = await project({
    "svc.config.ts": 'import { defineModel } from "svc-success"; export default defineModel({});',
  });
  const { code, stdout } = await svc(["dev", "--no-watch", "--json"], { cwd });
  expect({ code, document: JSON.parse(stdout) as unknown }).toMatchObject({
    code: 1,
    document: { error: { code: "PORT_TAKEN", message: "the port 4401 is taken" } },
  });
});

it("Limits vary by deployment and plan; clients rely on the headers rather than a fixed number: another plan of the organization is another limit, at once", async () => {
  await sql()`insert into iam.plans (plan_id, rate_per_second, rate_burst) values ('small', 10, 1500)`;
  for (const [plan, limit] of Object.entries({ small: "1500", standard: "100000" })) {
    await sql()`update iam.organizations set plan_id = ${plan}`;
    expect((await fixture.single(event)).headers.get("RateLimit-Limit")).toBe(limit);
  }
});
