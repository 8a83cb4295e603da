import { describe, expect, it } from "vitest";
import { snapshot, type Reply } from "../../support/service.js";
import { INSTANT, invalid, refused, useApi } from "./support/api.js";
import { cursorOf } from "./support/cursors.js";
import { addDifferences, difference, giveUp, type Difference } from "./support/recomputes.js";

const api = useApi("each");
const { get, post, read, readAll, audit, entry } = api;

interface Job {
  id: string;
  status: string;
  customerId: string | null;
  pins: { configVersion: string | null; evaluatedAt: string; customersCreatedThrough: string };
}

/** Deploys a different model for each name. */
const deploy = (segment: string) =>
  post("/config-versions", { snapshot: snapshot({ segments: [{ id: segment }] }), force: true });
const queue = async (body: unknown, query = "", list = "recomputes") => {
  const reply = await post(`/${list}${query}`, body);
  expect(reply.status).toBe(202);
  return reply.body as Job;
};
const preview = () => queue({ snapshot: snapshot() }, "", "previews");
const waiting = () => api.sql`
  select j.payload from graphile_worker._private_jobs as j join graphile_worker._private_tasks as t on t.id = j.task_id
  join svc.environments as e on e.environment_id = (j.payload ->> 'environmentId')::integer
  join svc.projects as p on p.project_id = e.project_id
  where t.identifier = 'recompute' and p.slug = ${api.slug}`;
/** The job at the location that an answer gives. */
const follow = async ({ headers }: Reply) =>
  (await api.service.request("GET", headers.get("Location")!, { by: api.owner })).body;

describe("POST /projects/:project/recomputes", () => {
  it("queues a recompute of all, pinned to the active version and to now, and adds its job", async () => {
    await deploy("chosen");
    const began = new Date().toISOString();
    const reply = await post("/recomputes", { all: true });
    expect(reply.status).toBe(202);
    const job = reply.body as Job;
    const { evaluatedAt } = job.pins;
    const scope = { dry_run: false, environment: "test", customerId: null };
    const nothing = { attempt: 0, error: null, nextAttemptAt: null, startedAt: null, finishedAt: null };
    expect(job).toMatchObject({
      ...{ status: "queued", ...scope, ...nothing, requestedAt: INSTANT, requestedBy: "owner@acme.example" },
      id: expect.stringMatching(/^rec_[0-9a-f]{20}$/) as string,
      pins: { configVersion: "v1", customersCreatedThrough: evaluatedAt },
      progress: { customersTotal: null, customersDone: 0 },
      result: { lifecycleChanged: 0, customersChanged: 0, rulesRemoved: 0, emissions: 0 },
    });
    expect(evaluatedAt >= began && evaluatedAt <= new Date().toISOString()).toBe(true);
    // Pinned to a whole millisecond, as the document shows it.
    const [row] = await api.sql`
      select pinned_at = ${evaluatedAt}::timestamptz as same from svc.recomputes where recompute_id = ${job.id}`;
    expect(row).toEqual({ same: true });
    expect(reply.headers.get("Location")).toBe(`/projects/${api.slug}/recomputes/${job.id}?env=test`);
    expect(await follow(reply)).toEqual(job);
    expect(await waiting()).toHaveLength(1);
  });

  it("keeps its pins when other versions become active, and is refused before the first deploy", async () => {
    const jobs = [await queue({ all: true })];
    for (const segment of ["chosen", "other"]) {
      await deploy(segment);
      jobs.push(await queue({ all: true }));
    }
    const found = await Promise.all(jobs.map(({ id }) => read<Job>(`/recomputes/${id}`)));
    expect(found.map(({ pins }) => pins.configVersion)).toEqual([null, "v1", "v2"]);
    expect(new Set(found.map(({ id }) => id)).size).toBe(3);
  });

  it("accepts an unknown customer, for which nothing is to be done, and records nothing", async () => {
    await deploy("chosen");
    const all = await queue({ all: true });
    const one = await queue({ customerId: "nobody", dryRun: true });
    expect(one).toMatchObject({ status: "queued", customerId: "nobody", dry_run: true });
    expect(await audit("recompute")).toEqual([
      entry("recompute.queued", all.id, { kind: "recompute", scope: "all", version: "v1" }),
      entry("recompute.queued", one.id, { kind: "dry_run", scope: "customer", version: "v1" }),
    ]);
  });

  it("adopts scope and pins of a dry run of this environment, and of nothing else", async () => {
    await deploy("chosen");
    const dry = await queue({ customerId: "globex", dryRun: true }, "?env=test");
    await deploy("other");
    const { id, ...run } = await queue({ from: dry.id });
    expect(run).toMatchObject({ dry_run: false, customerId: "globex", pins: dry.pins });
    expect(id).not.toBe(dry.id);
    expect(await queue({ from: dry.id, dryRun: true })).toMatchObject({ dry_run: true, pins: dry.pins });
    const message = `The recompute "${id}" is not a dry run.`;
    const expected = refused(409, "RECOMPUTE_NOT_A_DRY_RUN", { field: "from", message });
    expect(await post("/recomputes", { from: id })).toMatchObject(expected);
    for (const [from, query] of [
      ["rec_1", ""],
      [dry.id, "?env=live"],
      [(await preview()).id, ""],
    ] as const)
      expect(await post(`/recomputes${query}`, { from })).toMatchObject(refused(404, "RECOMPUTE_NOT_FOUND"));
  });

  it("accepts every id that events may have", async () => {
    await deploy("chosen");
    for (const customerId of [" ", "\nid", "\u2028"])
      expect(await queue({ customerId, dryRun: true })).toMatchObject({ customerId });
  });

  it("refuses an invalid scope, and queues nothing", async () => {
    const wrong: [body: object, field: string | undefined, message?: string][] = [
      [{}, undefined, "The body must have at least one member."],
      [{ dryRun: true }, undefined, "The body does not say what to recompute."],
      [{ customerId: "globex", all: true }, "all", "`customerId` and `all` exclude each other."],
      [{ all: true, from: "rec_1" }, "from", "`all` and `from` exclude each other."],
      [{ all: false }, "all", "`all` must be true."],
      [{ customerId: "" }, "customerId", "`customerId` must not be empty."],
      [{ customerId: "\0" }, "customerId"],
      [{ customerId: "c".repeat(257) }, "customerId"],
      [{ all: true, dryRun: "yes" }, "dryRun"],
    ];
    for (const [body, field, message] of wrong)
      expect(await post("/recomputes", body), JSON.stringify(body)).toMatchObject(invalid(field, message));
    expect(await read("/recomputes")).toMatchObject({ data: [] });
  });
});

describe("GET /projects/:project/recomputes", () => {
  it("lists recomputes and dry runs of the environment, newest first, in pages of 20 by default, without previews", async () => {
    const made: Job[] = [];
    for (const body of [{ all: true }, { customerId: "globex" }, { all: true, dryRun: true }]) {
      made.unshift(await queue(body));
      await preview();
    }
    await queue({ all: true }, "?env=live");
    expect((await readAll("/recomputes?env=test", 2)).items).toEqual(made);
    expect(await read("/recomputes")).toEqual({ data: made, nextCursor: null });
    await api.sql`update iam.plans set recomputes = 21`;
    for (let n = made.length; n < 21; n++) await queue({ all: true });
    expect((await readAll("/recomputes")).sizes).toEqual([20, 1]);
  });

  it("filters by status, past thousands of previews", async () => {
    const dead = await queue({ all: true });
    await giveUp(api.sql, dead.id, "It failed.");
    await api.sql`
      insert into svc.recomputes (environment_id, recompute_id, kind, snapshot, hash, pinned_at, requested_by)
      select r.environment_id, 'prv_' || n, 'preview', '{}', 'hash', now(), 'a@b' from svc.recomputes as r, generate_series(1, 2500) as n
      where r.recompute_id = ${dead.id}`;
    const queued = await queue({ all: true });
    const { items, sizes } = await readAll("/recomputes?status=dead_letter", 20);
    expect(items).toMatchObject([{ id: dead.id, status: "dead_letter", error: "It failed." }]);
    // The rows between are scanned in parts.
    expect(sizes).toEqual([0, 1]);
    expect((await readAll("/recomputes?status=queued", 20)).items).toEqual([queued]);
  });
});

describe("GET /projects/:project/recomputes/:recompute/customers", () => {
  /** Adds a job with differences; returns the address of their list. */
  const withCustomers = async (differences: readonly Difference[]) => {
    const { id } = await queue({ all: true, dryRun: true });
    await addDifferences(api.sql, id, differences);
    return `/recomputes/${id}/customers`;
  };
  /** Differences with three weights. */
  const ten = Array.from({ length: 10 }, (_, n) => difference(`c${n}`, {}, [1, 2.2, 1e10][n % 3]));
  const documents = (differences: readonly Difference[]) => differences.map(({ document }) => document);

  it("lists the most significant differences first, then by id, in pages, or by id on request", async () => {
    const path = await withCustomers(ten);
    const { items, sizes } = await readAll(`${path}?order=weight`, 3);
    const byWeight = [...ten].sort((a, b) => b.weight - a.weight || (a.customerId < b.customerId ? -1 : 1));
    expect([items, sizes]).toEqual([documents(byWeight), [3, 3, 3, 1]]);
    expect(await read(`${path}?limit=3`)).toMatchObject({ data: items.slice(0, 3) });
    expect((await readAll(`${path}?order=customerId`, 4)).items).toEqual(documents(ten));
  });

  it("continues after ids of any characters", async () => {
    const ids = ["a b", " c", "ä/ö", '"', "1 2 3", "\u{1d4b3}"];
    const path = await withCustomers(ids.map((customer) => difference(customer)));
    for (const order of ["weight", "customerId"]) {
      const { items } = await readAll<Job>(`${path}?order=${order}`, 1);
      expect(items.map(({ customerId }) => customerId).sort(), order).toEqual([...ids].sort());
    }
  });

  it("shortens pages of large differences, and omits none", async () => {
    // Text that does not compress: the limit applies to stored bytes.
    const [row] = await api.sql<[{ noise: string }]>`
      select string_agg(md5(n::text), '') as noise from generate_series(1, 12000) as n`;
    const emission = { eventType: "x", source: "rule", metadata: row, timestamp: "2026-03-02T10:00:00.000Z" };
    const large = { emissions: [emission], emissionsOmitted: 7 };
    const path = await withCustomers(["a", "b", "c", "d", "e"].map((customer) => difference(customer, large)));
    const { items, sizes } = await readAll<Job>(`${path}?order=weight`, 50);
    expect(items.map(({ customerId }) => customerId)).toEqual(["a", "b", "c", "d", "e"]);
    expect(Math.max(...sizes)).toBeLessThan(5);
  });

  it("refuses cursors of the other order, and forged ones", async () => {
    const path = await withCustomers(ten);
    const { nextCursor } = await read<{ nextCursor: string }>(`${path}?limit=1`);
    expect(await get(`${path}?order=customerId&cursor=${nextCursor}`)).toMatchObject(invalid("cursor"));
    for (const position of ["x y", "1", "1.2.3 c", "NaN c", "9e99 c", "-1 c", " c"]) {
      const cursor = await cursorOf(api.sql, "recompute_customers_by_weight", position);
      expect(await get(`${path}?cursor=${cursor}`), position).toMatchObject(invalid());
    }
  });
});

describe("POST /projects/:project/recomputes/:recompute/retry", () => {
  it("queues a recompute that was given up again once, with its progress and pins, in concurrent requests", async () => {
    const { id, pins } = await queue({ all: true });
    await giveUp(api.sql, id);
    await api.sql`delete from graphile_worker._private_jobs`;
    const replies = await Promise.all([1, 2, 3, 4].map(() => post(`/recomputes/${id}/retry`)));
    const [retried, ...late] = replies.toSorted((a, b) => a.status - b.status);
    expect(late.map(({ status }) => status)).toEqual([409, 409, 409]);
    const progress = { customersTotal: 3, customersDone: 2 };
    const begun = { attempt: 10, error: null, nextAttemptAt: null, startedAt: INSTANT, finishedAt: null };
    expect(retried).toMatchObject({ status: 202, body: { id, status: "queued", pins, progress, ...begun } });
    const [row] = await api.sql`select failures, last_customer_id from svc.recomputes where recompute_id = ${id}`;
    expect(row).toEqual({ failures: 0, last_customer_id: "globex" });
    expect(await waiting()).toHaveLength(1);
    const details = { kind: "recompute", version: null, customersDone: 2 };
    expect((await audit("recompute")).slice(1)).toEqual([entry("recompute.retried", id, details)]);
  });

  it("is refused for one that was not given up", async () => {
    const { id } = await queue({ all: true });
    const [later, at] = [{ next_attempt_at: new Date() }, { finished_at: new Date() }];
    for (const [status, columns, fix] of [
      ["queued", {}, "Wait for it: failed attempts are retried automatically."],
      ["running", {}, "Wait for it: failed attempts are retried automatically."],
      ["retrying", later, "Wait for it: failed attempts are retried automatically."],
      ["completed", at, "Queue a new recompute if you need another one."],
    ] as const) {
      const row = { status, next_attempt_at: null, ...columns };
      await api.sql`update svc.recomputes set ${api.sql(row)} where recompute_id = ${id}`;
      const message = `The recompute "${id}" is ${status}, so there is nothing to retry.`;
      expect(await post(`/recomputes/${id}/retry`)).toMatchObject(refused(409, "RECOMPUTE_NOT_DEAD", { message, fix }));
      expect(await read(`/recomputes/${id}`)).toMatchObject({ status });
    }
  });
});

describe("POST /projects/:project/recomputes/:recompute/cancel", () => {
  it("ends a recompute that waits, which a retry queues again, and is recorded", async () => {
    const { id } = await queue({ all: true });
    const reply = await post(`/recomputes/${id}/cancel`);
    const error = `Cancelled by owner@acme.example. Nothing was changed. To resume it: svc recompute retry ${id}`;
    expect(reply).toMatchObject({ status: 200, body: { id, status: "dead_letter", error, finishedAt: INSTANT } });
    expect(await read(`/recomputes/${id}`)).toEqual(reply.body);
    const details = { kind: "recompute", version: null, customersDone: 0 };
    expect((await audit("recompute")).slice(1)).toEqual([entry("recompute.cancelled", id, details)]);
    expect(await post(`/recomputes/${id}/retry`)).toMatchObject({ status: 202, body: { id, status: "queued" } });
  });

  it("is refused once it has ended, and of concurrent requests all but one", async () => {
    const { id } = await queue({ all: true });
    const replies = await Promise.all([1, 2, 3, 4].map(() => post(`/recomputes/${id}/cancel`)));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409]);
    const message = `The recompute "${id}" has ended: dead_letter.`;
    expect(await post(`/recomputes/${id}/cancel`)).toMatchObject(refused(409, "RECOMPUTE_FINISHED", { message }));
    expect(await audit("recompute")).toHaveLength(2);
  });
});

describe("POST /projects/:project/previews", () => {
  it("queues a preview against the active version, deploys nothing, adds its job, and is recorded", async () => {
    await deploy("chosen");
    const model = snapshot({ segments: [{ id: "other" }] });
    const reply = await post("/previews", { snapshot: model, sample: 1000 });
    const { id, hash } = reply.body as { id: string; hash: string };
    const queued = { status: "queued", dry_run: true, environment: "test", sample: 1000 };
    expect(reply).toMatchObject({ status: 202, body: { ...queued, pins: { configVersion: "v1" } } });
    expect(id).toMatch(/^prv_[0-9a-f]{20}$/);
    expect(reply.headers.get("Location")).toBe(`/projects/${api.slug}/previews/${id}?env=test`);
    expect(await follow(reply)).toEqual(reply.body);
    expect((await readAll("/config-versions")).items).toHaveLength(1);
    expect(await waiting()).toHaveLength(1);
    expect(await audit("preview")).toEqual([entry("preview.queued", id, { hash, sample: 1000, version: "v1" })]);
    // A deploy of the same model has the same hash.
    expect(await post("/config-versions", { snapshot: model })).toMatchObject({ body: { hash } });
  });

  it("refuses a snapshot as a deploy does, and an invalid sample size", async () => {
    const body = { snapshot: { formatVersion: 99 } };
    const [asked, deployed] = [await post("/previews", body), await post("/config-versions", body)];
    expect(asked).toMatchObject({ status: 422, body: deployed.body });
    for (const sample of [0, -1, 1.5, "10", 1e12])
      expect(await post("/previews", { snapshot: snapshot(), sample })).toMatchObject(invalid("sample"));
  });

  it("covers all customers by default, and lists them like a recompute", async () => {
    const made = await preview();
    expect(made).toMatchObject({ sample: null });
    const { id } = made;
    const differences = [difference("a", {}, 3), difference("b", {}, 2), difference("c", {}, 1)];
    await addDifferences(api.sql, id, [...differences].reverse());
    const { items } = await readAll(`/previews/${id}/customers?order=weight`, 2);
    expect(items).toEqual(differences.map(({ document }) => document));
  });
});

it("does not find jobs of the other environment or another kind", async () => {
  const [recompute, previewed] = [(await queue({ all: true })).id, (await preview()).id];
  for (const [list, id, other, code] of [
    ["recomputes", recompute, previewed, "RECOMPUTE_NOT_FOUND"],
    ["previews", previewed, recompute, "PREVIEW_NOT_FOUND"],
  ] as const)
    for (const path of ["", "/customers"]) {
      expect(await get(`/${list}/${other}${path}`)).toMatchObject(refused(404, code));
      expect(await get(`/${list}/${id}${path}?env=live`)).toMatchObject(refused(404, code));
    }
  await giveUp(api.sql, previewed);
  for (const id of ["rec_1", previewed])
    expect(await post(`/recomputes/${id}/retry`)).toMatchObject(refused(404, "RECOMPUTE_NOT_FOUND"));
});
