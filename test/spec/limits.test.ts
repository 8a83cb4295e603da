import { createServer } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { svc } from "../cli/support/run-svc.js";
import { project } from "../dsl-compiler/project.js";
import { resetAllowance, setAllowance } from "./support/allowance.js";
import { expectAccepted, expectBatchTaken, expectTaken, limitHeaders } from "./support/answers.js";
import {
  documentOf,
  DOCUMENT_BYTES,
  eventIdOf,
  FORMS,
  nameOf,
  startSpec,
  type SpecFixture,
} from "./support/fixture.js";
import { happened } from "./support/models.js";
import { batchSize, empty, rateLimited, tooLarge, tooLong } from "./support/refusals.js";

// Section "Limits": what is at a limit is accepted and reads back, one more is refused.

let fixture: SpecFixture;
beforeAll(async () => {
  fixture = await startSpec();
});
afterAll(() => fixture.service.stop());

const event = { customerId: "c", event: "e" };
const sql = () => fixture.service.db.sql;

describe.each(FORMS)("track, as %s", (_form, sendTo, prefix) => {
  const send = (operation: object) => sendTo(fixture, operation);

  it.each<[field: "customerId" | "event", row: string]>([
    ["customerId", "| `customerId` length | 256 characters | track |"],
    ["event", "| `event` length | 256 characters | track |"],
  ])("%s: %s", async (field) => {
    const reply = await send({ ...event, [field]: nameOf(256) });
    expect(reply.status).toBe(202);
    expect(await fixture.storedEvent(reply)).toMatchObject({ [field]: nameOf(256) });
    await fixture.refuses(() => send({ ...event, [field]: nameOf(257) }), 400, tooLong(prefix + field));
  });

  it("| `idempotencyKey` length | 256 characters, non-empty | track |", async () => {
    const field = `${prefix}idempotencyKey`;
    const customerId = `keyed by ${prefix}`;
    const keyOf = (first: string, characters: number) => first + nameOf(characters - 1);
    for (const idempotencyKey of [`1${prefix}`, keyOf(prefix === "" ? "s" : "b", 256)]) {
      const first = await send({ ...event, customerId, idempotencyKey });
      expect(first.status).toBe(202);
      expect(eventIdOf(await send({ ...event, customerId, idempotencyKey }))).toBe(eventIdOf(first));
    }
    await fixture.refuses(() => send({ ...event, idempotencyKey: nameOf(257) }), 400, tooLong(field));
    await fixture.refuses(() => send({ ...event, idempotencyKey: "" }), 400, empty(field));
  });

  it("| `properties` size | 64 KiB serialized | track |", async () => {
    const properties = documentOf(DOCUMENT_BYTES);
    expect(Buffer.byteLength(JSON.stringify(properties))).toBe(64 * 1024);
    const reply = await send({ ...event, properties });
    expect(reply.status).toBe(202);
    expect((await fixture.storedEvent(reply)).properties).toEqual(properties);
    const over = { ...event, properties: documentOf(DOCUMENT_BYTES + 1) };
    await fixture.refuses(() => send(over), 400, tooLarge(`${prefix}properties`));
  });
});

describe("identify", () => {
  const identify = (customerId: string, traits: object) => ({ type: "identify", customerId, traits });

  it("| `customerId` length | 256 characters | identify |", async () => {
    expectBatchTaken(await fixture.batch([identify(nameOf(256), { at: "limit" })]), 1, 0);
    await fixture.evaluate();
    expect((await fixture.customer(nameOf(256))).traits).toEqual({ at: "limit" });
    const request = () => fixture.batch([identify(nameOf(257), {})]);
    await fixture.refuses(request, 400, tooLong("events[0].customerId"));
  });

  it("| `traits` size | 64 KiB serialized | identify |", async () => {
    const traits = documentOf(DOCUMENT_BYTES);
    expectBatchTaken(await fixture.batch([identify("large", traits)]), 1, 0);
    await fixture.evaluate();
    expect((await fixture.customer("large")).traits).toEqual(traits);
    const request = () => fixture.batch([identify("large", documentOf(DOCUMENT_BYTES + 1))]);
    await fixture.refuses(request, 400, tooLarge("events[0].traits"));
  });
});

describe("| operations per batch | 1 to 1,000 | batch |", () => {
  it.each([1, 1000])("%i are accepted and read back", async (count) => {
    const events = Array.from({ length: count }, (_, n) => ({ customerId: `batch of ${count}`, event: `e${n}` }));
    const reply = await fixture.batch(events);
    expectBatchTaken(reply, count);
    const rows = await sql()`
      select v.event from unnest(${(reply.body as { eventIds: string[] }).eventIds}::text[]) with ordinality as i (id, n)
      join svc_inspect.events as v on v.event_id = i.id order by i.n`;
    expect(rows.map((row) => row["event"] as string)).toEqual(events.map((each) => each.event));
  });

  it.each([0, 1001])("%i are refused", async (count) => {
    await fixture.refuses(() => fixture.batch(Array(count).fill(event)), 400, batchSize(count));
  });
});

describe("| rate limiting | per API key; each batch operation counts as one event | both ingestion endpoints |", () => {
  const live = () => ({ Authorization: `Bearer ${fixture.keys.live}` });

  beforeEach(() => setAllowance(fixture, { perSecond: 2, left: 10 }));
  afterAll(() => resetAllowance(fixture));

  it("both endpoints take from the same allowance, a batch as often as it has operations", async () => {
    const identify = { type: "identify", customerId: "c", traits: {} };
    expect(limitHeaders(await fixture.single(event))).toMatchObject({ "RateLimit-Remaining": "9" });
    expect(limitHeaders(await fixture.batch([event, identify, event]))).toMatchObject({ "RateLimit-Remaining": "6" });
  });

  it("what is left is accepted, one more is refused whole", async () => {
    await fixture.refuses(() => fixture.batch(Array(11).fill(event)), 429, rateLimited(2, 11, 10));
    expectBatchTaken(await fixture.batch(Array(10).fill(event)), 10);
    await fixture.refuses(() => fixture.single(event), 429, rateLimited(2, 1, 0));
    await fixture.refuses(() => fixture.batch([event]), 429, rateLimited(2, 1, 0));
  });

  it("each API key has its own", async () => {
    expectBatchTaken(await fixture.batch(Array(10).fill(event)), 10);
    expect((await fixture.single(event)).status).toBe(429);
    expectTaken(await fixture.single(event, live()));
  });

  describe("Rate-limit response headers", () => {
    it("| `RateLimit-Limit` | current event allowance for the window |", async () => {
      expect((await fixture.single(event)).headers.get("RateLimit-Limit")).toBe("1000");
      await sql()`update iam.plans set rate_burst = 2000`;
      expect((await fixture.single(event)).headers.get("RateLimit-Limit")).toBe("2000");
    });

    it("| `RateLimit-Remaining` | remaining operations |", async () => {
      const remaining = async (count: number) =>
        (await fixture.batch(Array(count).fill(event))).headers.get("RateLimit-Remaining");
      expect([await remaining(1), await remaining(4), await remaining(5), await remaining(1)]).toEqual([
        "9",
        "5",
        "0",
        "0",
      ]);
    });

    it("| `Retry-After` | seconds to wait after HTTP 429 |", async () => {
      expect((await fixture.single(event)).headers.get("Retry-After")).toBeNull();
      const reply = await fixture.batch(Array(100).fill(event));
      expect([reply.status, reply.headers.get("Retry-After")]).toEqual([429, "46"]);
    });

    it("| `RateLimit-Reset` | seconds until capacity is available after HTTP 429 |", async () => {
      expect((await fixture.single(event)).headers.get("RateLimit-Reset")).toBeNull();
      const reply = await fixture.batch(Array(100).fill(event));
      expect([reply.status, reply.headers.get("RateLimit-Reset")]).toEqual([429, "46"]);
    });

    it("refusals for other reasons tell the allowance too, and take nothing of it", async () => {
      for (const reply of [await fixture.single({}), await fixture.batch([]), await fixture.single("{")]) {
        expect(reply.status).toBe(400);
        expect(limitHeaders(reply)).toMatchObject({
          "RateLimit-Limit": expect.stringMatching(/^\d+$/) as unknown,
          "RateLimit-Remaining": expect.stringMatching(/^\d+$/) as unknown,
        });
      }
      expect(limitHeaders(await fixture.single(event))).toMatchObject({ "RateLimit-Remaining": "9" });
    });
  });
});

describe("| default list sizes | events 20, customers 50, rule logs 50, segment members 50 | CLI listings |", () => {
  beforeAll(async () => {
    await fixture.deploy(
      {
        events: { listed: { properties: {} } },
        segments: [{ id: "all", when: happened("listed") }],
        rules: [
          { id: "told", on: { kind: "event", of: { event: "listed" } }, then: { kind: "emit", type: "was.told" } },
        ],
      },
      "live",
    );
    const events = Array.from({ length: 51 }, (_, n) => ({ customerId: `listed ${100 + n}`, event: "listed" }));
    const headers = { Authorization: `Bearer ${fixture.keys.live}` };
    expectBatchTaken(await fixture.batch(events, headers), 51);
    await fixture.evaluate("live");
  });

  const list = async (...argv: string[]) => {
    const env = {
      SVC_API_URL: fixture.service.url,
      SVC_ACCESS_TOKEN: fixture.owner.token,
      SVC_ORGANIZATION: fixture.owner.organizationId,
    };
    const { code, stdout } = await svc([...argv, "--project", "app", "--env", "live", "--json"], { env });
    expect(code).toBe(0);
    return JSON.parse(stdout) as { data: { customerId: string }[]; nextCursor: string | null };
  };

  it.each([
    ["events list", ["events", "list", "--type", "listed"], 20],
    ["customers list", ["customers", "list", "--segment", "all"], 50],
    ["rules logs", ["rules", "logs"], 50],
    ["segments inspect", ["segments", "inspect", "all"], 50],
  ])("svc %s", async (_name, argv, size) => {
    const first = await list(...argv);
    expect(first.data).toHaveLength(size);
    const rest = await list(...argv, "--limit", "51", "--cursor", first.nextCursor!);
    expect([rest.data.length, rest.nextCursor]).toEqual([51 - size, null]);
    const whole = await list(...argv, "--limit", "51");
    expect(whole.data).toEqual([...first.data, ...rest.data]);
    expect(whole.nextCursor).toBeNull();
  });
});

it("| local engine port | 4401 default | `svc dev` |", async () => {
  // Somebody listens there; if it is not this test, then another program, which is as good.
  const other = createServer();
  await new Promise<void>((resolve) => {
    other.once("error", () => resolve());
    other.listen(4401, "127.0.0.1", () => resolve());
  });
  try {
    const cwd = await project({
      "svc.config.ts": 'import { defineModel } from "svc"; export default defineModel({});',
    });
    const { code, stdout } = await svc(["dev", "--no-watch", "--json"], { cwd });
    expect({ code, error: (JSON.parse(stdout) as { error: { code: string; message: string } }).error }).toMatchObject({
      code: 1,
      error: { code: "PORT_TAKEN", message: "the port 4401 is taken" },
    });
  } finally {
    await new Promise<void>((resolve) => other.close(() => resolve()));
  }
});

describe("Limits vary by deployment and plan; clients rely on the headers rather than a fixed number.", () => {
  it("another plan of the organization is another limit, at once", async () => {
    await sql()`insert into iam.plans (plan_id, rate_per_second, rate_burst) values ('small', 10, 1500)`;
    await sql()`update iam.organizations set plan_id = 'small'`;
    expect((await fixture.single(event)).headers.get("RateLimit-Limit")).toBe("1500");
    await sql()`update iam.organizations set plan_id = 'standard'`;
    expect((await fixture.single(event)).headers.get("RateLimit-Limit")).toBe("100000");
  });
});

describe("Idempotency keys are isolated per project and environment.", () => {
  const keyed = (customerId: string) => ({ customerId, event: "e", idempotencyKey: "shared" });

  it("per environment", async () => {
    expectTaken(await fixture.single(keyed("in test")));
    expectTaken(await fixture.single(keyed("in live"), { Authorization: `Bearer ${fixture.keys.live}` }));
    expect((await fixture.single(keyed("in live"))).status).toBe(409);
  });

  it("per project", async () => {
    const created = await fixture.admin("POST", "/projects", { body: { name: "Other", slug: "other" } });
    const { test } = (created.body as { keys: { test: string } }).keys;
    expectTaken(await fixture.single(keyed("in another project"), { Authorization: `Bearer ${test}` }));
  });
});

it("Property key order does not change the canonical payload.", async () => {
  const send = (properties: string) =>
    fixture.single(`{"customerId":"c","event":"e","properties":${properties},"idempotencyKey":"ordered"}`);
  const first = await send('{"a":1,"b":{"c":[1,2],"d":null}}');
  expectTaken(first);
  const again = { eventId: eventIdOf(first), accepted: true, queued: true, duplicate: true };
  expectAccepted(await send('{"b":{"d":null,"c":[1,2]},"a":1}'), again);
  expect((await send('{"b":{"d":null,"c":[2,1]},"a":1}')).status).toBe(409);
});
