import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { envelope, snapshot, startService, type Actor, type Service } from "../../support/service.js";
import { addDifferences, difference, giveUp } from "./support/recomputes.js";
import { cursorOf } from "./support/cursors.js";

let service: Service;
let owner: Actor;
beforeAll(async () => {
  service = await startService();
  owner = await service.owner("acme");
});
afterAll(() => service.stop());

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown;
const recomputeId = expect.stringMatching(/^rec_[0-9a-f]{20}$/) as unknown;

interface Job {
  id: string;
  status: string;
  dry_run: boolean;
  customerId: string | null;
  pins: { configVersion: string | null; evaluatedAt: string; customersCreatedThrough: string };
}

/** Of jobs, or of their customers. */
interface Page {
  data: Job[];
  nextCursor: string | null;
}

let slug = "";
let projects = 0;
/** A project of its own for each test. */
beforeEach(async () => {
  slug = `p${projects++}`;
  await service.request("POST", "/projects", { by: owner, body: { name: "App", slug } });
});

const post = (path: string, body: unknown, by = owner) =>
  service.request("POST", `/projects/${slug}/${path}`, { by, body });
const get = (path: string, by = owner) => service.request("GET", `/projects/${slug}/${path}`, { by });
const deploy = (changes: Parameters<typeof snapshot>[0], query = "") =>
  post(`config-versions${query}`, { snapshot: snapshot(changes), force: true });
const queue = async (body: unknown, query = "") => {
  const reply = await post(`recomputes${query}`, body);
  expect(reply.status).toBe(202);
  return reply.body as Job;
};
const read = async (path: string) => {
  const reply = await get(path);
  expect(reply.status).toBe(200);
  return reply.body as Page;
};
/** All items of a list, page by page. */
const readAll = async (path: string, limit: number) => {
  const items: Job[] = [];
  const sizes: number[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const next: Page = await read(`${path}&limit=${limit}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    items.push(...next.data);
    sizes.push(next.data.length);
    cursor = next.nextCursor;
  }
  return { items, sizes };
};
const audit = () => service.db.sql`
  select action, environment, target, details, actor from iam.audit_log
  where project = ${slug} and action ~ '^(recompute|preview)[.]' order by audit_seq`;
const waiting = () => service.db.sql`
  select j.payload from graphile_worker._private_jobs as j join graphile_worker._private_tasks as t on t.id = j.task_id
  join svc.environments as e on e.environment_id = (j.payload ->> 'environmentId')::integer
  join svc.projects as p on p.project_id = e.project_id
  where t.identifier = 'recompute' and p.slug = ${slug}`;

describe("POST /projects/:project/recomputes", () => {
  it("queues a recompute of all, pinned to the active version and to now, and asks a worker for it", async () => {
    await deploy({ segments: [{ id: "chosen" }] });
    const began = new Date().toISOString();
    const reply = await post("recomputes", { all: true });
    expect(reply.status).toBe(202);
    const job = reply.body as Job;
    expect(job).toEqual({
      id: recomputeId,
      status: "queued",
      dry_run: false,
      environment: "test",
      customerId: null,
      pins: { configVersion: "v1", evaluatedAt: timestamp, customersCreatedThrough: job.pins.evaluatedAt },
      attempt: 0,
      nextAttemptAt: null,
      error: null,
      progress: { customersTotal: null, customersDone: 0 },
      result: {
        lifecycleChanged: 0,
        healthChanged: 0,
        segmentsEntered: 0,
        segmentsExited: 0,
        customersChanged: 0,
        rules: 0,
        rulesRemoved: 0,
        emissions: 0,
      },
      requestedBy: "owner@acme.example",
      requestedAt: timestamp,
      startedAt: null,
      finishedAt: null,
    });
    expect(job.pins.evaluatedAt >= began && job.pins.evaluatedAt <= new Date().toISOString()).toBe(true);
    expect(reply.headers.get("Location")).toBe(`/projects/${slug}/recomputes/${job.id}?env=test`);
    expect(await service.request("GET", reply.headers.get("Location")!, { by: owner })).toMatchObject({
      status: 200,
      body: job,
    });
    expect(await waiting()).toHaveLength(1);
  });

  it("keeps the pins while other versions become active, and has none before the first deploy", async () => {
    const before = await queue({ all: true });
    await deploy({});
    const first = await queue({ all: true });
    await deploy({ segments: [{ id: "chosen" }] });
    const second = await queue({ all: true });
    const versions = [before, first, second].map(async ({ id }) => ((await get(`recomputes/${id}`)).body as Job).pins);
    expect((await Promise.all(versions)).map(({ configVersion }) => configVersion)).toEqual([null, "v1", "v2"]);
  });

  it("pins to a whole millisecond, so that the pin is what the document says", async () => {
    const { id, pins } = await queue({ all: true });
    const [row] = await service.db.sql`select pinned_at = ${pins.evaluatedAt}::timestamptz as same from svc.recomputes
      where recompute_id = ${id}`;
    expect(row).toEqual({ same: true });
  });

  it("takes a customer that does not exist for one of whom there is nothing to do", async () => {
    expect(await queue({ customerId: "nobody", dryRun: true })).toMatchObject({
      status: "queued",
      customerId: "nobody",
      dry_run: true,
    });
  });

  it("queues what was queued already once more", async () => {
    const jobs = [await queue({ all: true }), await queue({ all: true })];
    expect(new Set(jobs.map(({ id }) => id)).size).toBe(2);
  });

  it("takes over scope and pins of a dry run", async () => {
    await deploy({});
    const dry = await queue({ customerId: "globex", dryRun: true }, "?env=test");
    await deploy({ segments: [{ id: "chosen" }] });
    const run = await queue({ from: dry.id });
    expect(run).toMatchObject({ dry_run: false, customerId: "globex", pins: dry.pins });
    expect(run.id).not.toBe(dry.id);
    expect(await queue({ from: dry.id, dryRun: true })).toMatchObject({ dry_run: true, pins: dry.pins });
  });

  it("takes nothing over from what is no dry run of this environment", async () => {
    const run = await queue({ all: true });
    expect(await post("recomputes", { from: run.id })).toMatchObject({
      status: 409,
      body: envelope("RECOMPUTE_NOT_A_DRY_RUN", `The recompute "${run.id}" is no dry run.`, { field: "from" }),
    });
    const dry = await queue({ all: true, dryRun: true });
    const preview = (await post("previews", { snapshot: snapshot() })).body as { id: string };
    for (const [id, query] of [
      ["rec_1", ""],
      [dry.id, "?env=live"],
      [preview.id, ""],
    ] as const)
      expect(await post(`recomputes${query}`, { from: id })).toMatchObject({
        status: 404,
        body: envelope("RECOMPUTE_NOT_FOUND", `There is no recompute "${id}" in this environment.`),
      });
  });

  it.each([
    ["nothing", {}, "The body must have at least one member.", undefined],
    ["no scope", { dryRun: true }, "The body does not say what to recompute.", undefined],
    ["two scopes", { customerId: "globex", all: true }, "`customerId` and `all` exclude each other.", "all"],
    ["a scope and a dry run", { all: true, from: "rec_1" }, "`all` and `from` exclude each other.", "from"],
    ["all that is not", { all: false }, "`all` must be true.", "all"],
    ["an empty id", { customerId: "" }, "`customerId` must not be empty.", "customerId"],
    ["a blank id", { customerId: " " }, undefined, "customerId"],
    ["an id that is too long", { customerId: "c".repeat(257) }, undefined, "customerId"],
    ["a dry run that is no yes or no", { all: true, dryRun: "yes" }, undefined, "dryRun"],
  ])("refuses %s, and queues nothing", async (_what, body, message, field) => {
    const reply = await post("recomputes", body);
    expect(reply).toMatchObject({
      status: 400,
      body: {
        error: {
          code: "VALIDATION_ERROR",
          ...(message === undefined ? {} : { message }),
          ...(field === undefined ? {} : { field }),
        },
      },
    });
    expect((await read("recomputes")).data).toEqual([]);
  });

  it("is written down without the customer", async () => {
    await deploy({});
    const all = await queue({ all: true });
    const one = await queue({ customerId: "globex", dryRun: true });
    const entry = { action: "recompute.queued", environment: "test", actor: "owner@acme.example" };
    expect([...(await audit())]).toEqual([
      { ...entry, target: all.id, details: { kind: "recompute", scope: "all", version: "v1" } },
      { ...entry, target: one.id, details: { kind: "dry_run", scope: "customer", version: "v1" } },
    ]);
  });
});

describe("GET /projects/:project/recomputes", () => {
  it("lists recomputes and dry runs of the environment, the newest first, in pages, without previews", async () => {
    const made: Job[] = [];
    for (const body of [{ all: true }, { customerId: "globex" }, { all: true, dryRun: true }]) {
      made.unshift(await queue(body));
      await post("previews", { snapshot: snapshot() });
    }
    await queue({ all: true }, "?env=live");
    expect((await readAll("recomputes?env=test", 2)).items).toEqual(made);
    expect(await read("recomputes")).toEqual({ data: made, nextCursor: null });
  });

  it("shows twenty unless told otherwise", async () => {
    await service.db.sql`update iam.plans set recomputes = 21`;
    for (let n = 0; n < 21; n++) await queue({ all: true });
    const page = await read("recomputes");
    expect(page.data).toHaveLength(20);
    expect((await read(`recomputes?cursor=${page.nextCursor}`)).data).toHaveLength(1);
  });

  it("filters by status, past thousands of previews", async () => {
    const dead = await queue({ all: true });
    await giveUp(service.db.sql, dead.id, "It failed.");
    await service.db.sql`
      insert into svc.recomputes (environment_id, recompute_id, kind, snapshot, hash, pinned_at, requested_by)
      select r.environment_id, 'prv_' || n, 'preview', '{}', 'hash', now(), 'a@b' from svc.recomputes as r, generate_series(1, 2500) as n
      where r.recompute_id = ${dead.id}`;
    const queued = await queue({ all: true });
    const { items, sizes } = await readAll("recomputes?status=dead_letter", 20);
    expect(items).toMatchObject([{ id: dead.id, status: "dead_letter", error: "It failed." }]);
    // What lies between is looked at in parts.
    expect(sizes).toEqual([0, 1]);
    expect((await readAll("recomputes?status=queued", 20)).items).toEqual([queued]);
  });
});

describe("GET /projects/:project/recomputes/:recompute/customers", () => {
  /** As many customers as asked for, of three weights. */
  const withCustomers = async (count: number) => {
    const { id } = await queue({ all: true, dryRun: true });
    const differences = Array.from({ length: count }, (_, n) =>
      difference(`c${String(n).padStart(3, "0")}`, {}, [1, 2.2, 1e10][n % 3]),
    );
    await addDifferences(service.db.sql, id, differences);
    return { id, differences };
  };

  it("lists the most telling differences first, then by id, in pages", async () => {
    const { id, differences } = await withCustomers(10);
    const expected = [...differences].sort((a, b) => b.weight - a.weight || (a.customerId < b.customerId ? -1 : 1));
    const { items, sizes } = await readAll(`recomputes/${id}/customers?order=weight`, 3);
    expect(items).toEqual(expected.map(({ document }) => document));
    expect(sizes).toEqual([3, 3, 3, 1]);
    expect((await read(`recomputes/${id}/customers?limit=3`)).data).toEqual(items.slice(0, 3));
  });

  it("lists them by id where that is asked for", async () => {
    const { id, differences } = await withCustomers(10);
    const { items } = await readAll(`recomputes/${id}/customers?order=customerId`, 4);
    expect(items).toEqual(differences.map(({ document }) => document));
  });

  it("goes on after ids of any characters", async () => {
    const { id } = await queue({ all: true });
    const ids = ["a b", " c", "ä/ö", '"', "1 2 3", "\u{1d4b3}"];
    await addDifferences(
      service.db.sql,
      id,
      ids.map((customer) => difference(customer)),
    );
    for (const order of ["weight", "customerId"]) {
      const { items } = await readAll(`recomputes/${id}/customers?order=${order}`, 1);
      expect(items.map(({ customerId }) => customerId).sort()).toEqual([...ids].sort());
    }
  });

  it("keeps a page of large differences small, and leaves none out", async () => {
    const { id } = await queue({ all: true });
    // Text that does not compress: the limit is of what is stored.
    const [row] = await service.db.sql<[{ noise: string }]>`
      select string_agg(md5(n::text), '') as noise from generate_series(1, 12000) as n`;
    const emissions = [
      { eventType: "x", source: "rule", metadata: { noise: row.noise }, timestamp: "2026-03-02T10:00:00.000Z" },
    ];
    await addDifferences(
      service.db.sql,
      id,
      ["a", "b", "c", "d", "e"].map((customer) => difference(customer, { emissions, emissionsOmitted: 7 })),
    );
    const { items, sizes } = await readAll(`recomputes/${id}/customers?order=weight`, 50);
    expect(items.map(({ customerId }) => customerId)).toEqual(["a", "b", "c", "d", "e"]);
    expect(Math.max(...sizes)).toBeLessThan(5);
  });

  it("takes the cursor of one order for none of the other", async () => {
    const { id } = await withCustomers(2);
    const { nextCursor } = await read(`recomputes/${id}/customers?limit=1`);
    expect(await get(`recomputes/${id}/customers?order=customerId&cursor=${nextCursor}`)).toMatchObject({
      status: 400,
      body: { error: { code: "VALIDATION_ERROR", field: "cursor" } },
    });
  });

  it.each(["x y", "1", "1.2.3 c", "NaN c", "9e99 c", "-1 c", " c"])(
    "refuses a cursor that was forged as %j",
    async (position) => {
      const { id } = await withCustomers(1);
      const cursor = await cursorOf(service.db.sql, "recompute_customers_by_weight", position);
      expect(await get(`recomputes/${id}/customers?cursor=${cursor}`)).toMatchObject({
        status: 400,
        body: { error: { code: "VALIDATION_ERROR" } },
      });
    },
  );
});

describe("POST /projects/:project/recomputes/:recompute/retry", () => {
  it("puts one that was given up back into the queue, with what it has done and its pins", async () => {
    const { id, pins } = await queue({ all: true });
    await giveUp(service.db.sql, id);
    await service.db.sql`delete from graphile_worker._private_jobs`;
    const reply = await post(`recomputes/${id}/retry`, {});
    expect(reply.status).toBe(202);
    expect(reply.body).toMatchObject({
      id,
      status: "queued",
      pins,
      attempt: 10,
      error: null,
      nextAttemptAt: null,
      progress: { customersTotal: 3, customersDone: 2 },
      startedAt: timestamp,
      finishedAt: null,
    });
    const [row] = await service.db.sql`
      select failures, last_customer_id from svc.recomputes where recompute_id = ${id}`;
    expect(row).toEqual({ failures: 0, last_customer_id: "globex" });
    expect(await waiting()).toHaveLength(1);
    expect((await audit()).at(-1)).toEqual({
      action: "recompute.retried",
      environment: "test",
      target: id,
      details: { kind: "recompute", version: null, customersDone: 2 },
      actor: "owner@acme.example",
    });
  });

  it("happens once, however many ask at once", async () => {
    const { id } = await queue({ all: true });
    await giveUp(service.db.sql, id);
    const replies = await Promise.all([1, 2, 3, 4].map(() => post(`recomputes/${id}/retry`, {})));
    expect(replies.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409]);
    expect((await audit()).map(({ action }) => action as string)).toEqual(["recompute.queued", "recompute.retried"]);
  });

  it.each([
    ["queued", "", "Wait for it: what fails is tried again by itself."],
    ["running", "", "Wait for it: what fails is tried again by itself."],
    ["retrying", ", next_attempt_at = now()", "Wait for it: what fails is tried again by itself."],
    ["completed", ", finished_at = now()", "Queue a new recompute where another is needed."],
  ])("is for none that is %s", async (status, more, fix) => {
    const { id } = await queue({ all: true });
    await service.db.sql.unsafe(`update svc.recomputes set status = '${status}'${more} where recompute_id = '${id}'`);
    expect(await post(`recomputes/${id}/retry`, {})).toMatchObject({
      status: 409,
      body: envelope("RECOMPUTE_NOT_DEAD", `The recompute "${id}" is ${status}, so there is nothing to retry.`, {
        fix,
      }),
    });
    expect((await get(`recomputes/${id}`)).body).toMatchObject({ status });
  });
});

describe("a recompute that is not there", () => {
  it.each(["", "/customers"])("cannot be read%s, nor one of another environment or organization", async (path) => {
    const { id } = await queue({ all: true });
    const preview = (await post("previews", { snapshot: snapshot() })).body as { id: string };
    for (const [asked, query] of [
      ["rec_1", ""],
      [id, "?env=live"],
      [preview.id, ""],
    ] as const)
      expect(await get(`recomputes/${asked}${path}${query}`)).toMatchObject({
        status: 404,
        body: envelope("RECOMPUTE_NOT_FOUND", `There is no recompute "${asked}" in this environment.`),
      });
    const stranger = await service.owner(`other-${slug}${path.slice(1)}`);
    await service.request("POST", "/projects", { by: stranger, body: { name: "Same slug", slug } });
    expect(await get(`recomputes/${id}${path}`, stranger)).toMatchObject({ status: 404 });
  });

  it("cannot be retried", async () => {
    const preview = (await post("previews", { snapshot: snapshot() })).body as { id: string };
    await giveUp(service.db.sql, preview.id);
    for (const id of ["rec_1", preview.id])
      expect(await post(`recomputes/${id}/retry`, {})).toMatchObject({
        status: 404,
        body: { error: { code: "RECOMPUTE_NOT_FOUND" } },
      });
  });
});

describe("POST /projects/:project/previews", () => {
  it("queues a preview beside the active version, deploys nothing, and asks a worker for it", async () => {
    await deploy({});
    const reply = await post("previews", { snapshot: snapshot({ segments: [{ id: "chosen" }] }), sample: 1000 });
    expect(reply.status).toBe(202);
    const preview = reply.body as Job;
    expect(preview).toMatchObject({
      id: expect.stringMatching(/^prv_[0-9a-f]{20}$/) as unknown,
      status: "queued",
      dry_run: true,
      environment: "test",
      sample: 1000,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
      pins: { configVersion: "v1" },
    });
    expect(preview).not.toHaveProperty("customerId");
    expect(reply.headers.get("Location")).toBe(`/projects/${slug}/previews/${preview.id}?env=test`);
    expect((await service.request("GET", reply.headers.get("Location")!, { by: owner })).body).toEqual(preview);
    expect((await read("config-versions")).data).toHaveLength(1);
    expect(await waiting()).toHaveLength(1);
  });

  it("has the hash that a deploy of the same model has", async () => {
    const model = snapshot({ segments: [{ id: "chosen" }] });
    const { hash } = (await post("previews", { snapshot: model })).body as { hash: string };
    expect((await post("config-versions", { snapshot: model })).body).toMatchObject({ hash });
  });

  it("looks at all customers unless told otherwise", async () => {
    expect((await post("previews", { snapshot: snapshot() })).body).toMatchObject({ sample: null });
  });

  it("refuses a snapshot as a deploy does", async () => {
    const body = { snapshot: { formatVersion: 99 } };
    const [preview, deployed] = [await post("previews", body), await post("config-versions", body)];
    expect(preview.status).toBe(422);
    expect(preview.body).toEqual(deployed.body);
  });

  it.each([0, -1, 1.5, "10", 1e12])("refuses a sample of %j", async (sample) => {
    expect(await post("previews", { snapshot: snapshot(), sample })).toMatchObject({
      status: 400,
      body: { error: { code: "VALIDATION_ERROR", field: "sample" } },
    });
  });

  it("is written down with what it is of", async () => {
    const preview = (await post("previews", { snapshot: snapshot(), sample: 5 })).body as { id: string; hash: string };
    expect([...(await audit())]).toEqual([
      {
        action: "preview.queued",
        environment: "test",
        target: preview.id,
        details: { hash: preview.hash, sample: 5, version: null },
        actor: "owner@acme.example",
      },
    ]);
  });

  it("lists its customers as a recompute does", async () => {
    const { id } = (await post("previews", { snapshot: snapshot() })).body as { id: string };
    const differences = [difference("a", {}, 3), difference("b", {}, 2), difference("c", {}, 1)];
    await addDifferences(service.db.sql, id, [...differences].reverse());
    expect((await readAll(`previews/${id}/customers?order=weight`, 2)).items).toEqual(
      differences.map(({ document }) => document),
    );
  });

  it.each(["", "/customers"])("is not found%s where there is none, nor is a recompute one", async (path) => {
    const { id } = await queue({ all: true });
    for (const asked of ["prv_1", id])
      expect(await get(`previews/${asked}${path}`)).toMatchObject({
        status: 404,
        body: envelope("PREVIEW_NOT_FOUND", `There is no preview "${asked}" in this environment.`),
      });
  });
});
