import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { svc, type Result } from "../../cli/support/run-svc.js";
import { describeCatalog } from "../../support/catalog.js";
import { createDatabase, type TestDatabase } from "../../support/database.js";
import { violations } from "../../support/invariants.js";
import { isCluster } from "../../support/is-cluster.js";
import { IS_DEEP } from "../../support/property-runs.js";
import { startServiceProcess, type ServiceProcess } from "../../support/service-process.js";
import { customersTold, startReceiver, type Receiver } from "../../webhooks/support/receiver.js";
import { readCommitted, PROJECT_ROOT } from "../../../src/db/migrate/files.js";
import { makeThisVersion } from "./next-version.js";
import { loadRelease, RELEASES, type Known } from "./fixture.js";
import { callablesOf, allShown, shownBy, viewsOf, type Callable } from "./surface.js";

// Databases of every release, filled by the service of that release, under the present one.

const root = await makeThisVersion();
afterAll(() => rm(root, { recursive: true, force: true }));

it("there is a database of every release", async () => {
  const committed = await readCommitted(PROJECT_ROOT);
  expect(RELEASES).toEqual(committed.map(({ filename }) => filename.replace(".sql", "")));
});

/** The catalog without objects of graphile-worker, which it maintains itself. */
async function ours(database: TestDatabase): Promise<string[]> {
  return (await describeCatalog(database.sql)).filter((line) => !line.includes("graphile_worker"));
}

/** The statements and commands of docs/operations/upgrade.md. */
const guide = (language: "sql" | "bash"): string[] =>
  [
    ...readFileSync(path.join(PROJECT_ROOT, "docs/operations/upgrade.md"), "utf8").matchAll(
      /<!-- test\/db\/upgrade\/upgrade\.test\.ts [^\n]*\n\n *```(sql|bash)\n([\s\S]*?)```/g,
    ),
  ].flatMap(([, found, text]) => (found === language ? [text!.trim()] : []));

/** The environment `test` of the fixture's project `saas`. */
const PROJECT = ["--project", "saas", "--env", "test"];

// The oldest goes through every migration. `npm run test:deep` tests those between.
const TRIED = IS_DEEP ? RELEASES : [RELEASES[0]!, RELEASES.at(-1)!];

describe.each(TRIED)("a database of release %s", (release) => {
  let db: TestDatabase;
  let known: Known;
  let before: { callables: Callable[]; views: Map<string, string[]>; shown: Map<string, string[]> };
  let receiver: Receiver;
  let service: ServiceProcess;

  beforeAll(async () => {
    ({ database: db, known } = await loadRelease(release));
    before = { callables: await callablesOf(db.sql), views: await viewsOf(db.sql), shown: await allShown(db.sql) };
    receiver = await startReceiver();
    // Without workers, so that nothing is evaluated before the comparison.
    service = await start("http");
  });
  afterAll(async () => {
    await service.stop();
    await receiver.close();
    await db.drop();
  });

  const start = (role: "http" | "all") =>
    startServiceProcess(
      db.url,
      { SVC_SECRET: known.secret, SVC_WEBHOOK_ALLOW_PRIVATE: "1", SVC_SETTLE_SECONDS: "0" },
      { role, root },
    );

  /** Runs a command line as the fixture's owner. */
  async function command(...args: string[]): Promise<unknown> {
    const credentials = { SVC_ACCESS_TOKEN: known.accessToken, SVC_ORGANIZATION: known.organizationId };
    const env = { SVC_API_URL: service.url, ...credentials };
    const { code, stdout }: Result = await svc([...args, "--json"], { env, input: "live\n", now: Date.now() });
    expect(code, stdout).toBe(0);
    return JSON.parse(stdout) as unknown;
  }

  async function send(key: string, body: object): Promise<{ status: number; body: unknown }> {
    const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
    const response = await fetch(`${service.url}/v1/events`, { method: "POST", headers, body: JSON.stringify(body) });
    return { status: response.status, body: await response.json() };
  }

  // Databases of a cluster are distributed, unlike those of releases.
  it.skipIf(isCluster)("equals a database of this version, except for former functions and sequences", async () => {
    const fresh = await createDatabase();
    try {
      const [wanted, found] = await Promise.all([ours(fresh), ours(db)]);
      expect(wanted.filter((line) => !found.includes(line))).toEqual([]);
      const more = found.filter((line) => !wanted.includes(line));
      const shared = /^(relation|sequence) svc\.(batch|evaluation)_seq /;
      expect(more.filter((line) => !line.startsWith("function ") && !shared.test(line))).toEqual([]);
    } finally {
      await fresh.drop();
    }
  });

  it.runIf(release <= "000003")(
    "continues the numbers of every environment above those of the former shared sequences",
    async () => {
      const rows = await db.sql<{ above: boolean }[]>`
      select
        pg_sequence_last_value(svc.batch_seq(environment_id)) > (select max(batch_seq) from svc.ingest_batches) + 100000000
        and pg_sequence_last_value(svc.evaluation_seq(environment_id)) > (select max(emission_seq) from svc.emissions) / 65536 + 100000000 as above
      from svc.environments`;
      expect(rows.map(({ above }) => above)).toEqual([true, true]);
    },
  );

  it("satisfies every invariant as that version left it", async () => {
    expect(await violations(db.sql)).toEqual([]);
  });

  it("still has every function that a process of that version calls, for the same roles", async () => {
    expect(await callablesOf(db.sql)).toEqual(expect.arrayContaining(before.callables));
  });

  it.runIf(release <= "000013")(
    "gives workers of that version nothing to evaluate, as they cannot read the present state",
    async () => {
      const names = await db.sql<{ name: string }[]>`
      select proname as name from pg_proc where proname in ('begin_evaluation', 'begin_trial_evaluation') and pronargs = 5`;
      expect(names.map(({ name }) => name)).toContain("begin_evaluation");
      for (const { name } of names) {
        const said =
          await db.sql`select svc_api.${db.sql(name)}(environment_id, 10, 10, '0', null) as taken from svc.environments`;
        expect(said.map(({ taken }) => taken as unknown)).toEqual(said.map(() => ({ busy: true, customers: [] })));
      }
    },
  );

  it("still has every column of its views, in its position and with the same content", async () => {
    const views = await viewsOf(db.sql);
    for (const [view, columns] of before.views) {
      expect(views.get(view)?.slice(0, columns.length), view).toEqual(columns);
      const shown = await shownBy(db.sql, view, columns);
      const former = before.shown.get(view)!;
      // A migration can add tables; everything else in the views is unchanged.
      if (view === "tables") expect(shown, view).toEqual(expect.arrayContaining(former));
      else expect(shown, view).toEqual(former);
    }
    expect(before.shown.get("customer_states")).not.toEqual([]);
  });

  it.runIf(release === RELEASES.at(-1))(
    "cannot be taken back by a program of that version, or has views that this program can put in its place",
    async () => {
      const views = await viewsOf(db.sql);
      const wider = [...before.views].filter(([view, columns]) => views.get(view)!.length > columns.length);
      const isNewer = (await readCommitted(root)).length > RELEASES.length;
      expect(wider.length > 0 && !isNewer, "current.sql needs a statement: see migrations/README.md").toBe(false);
    },
  );

  it("is up to date by the guide's command, and answers the guide's questions", async () => {
    const [command] = guide("bash") as [string];
    expect(command).toBe("svc-server migrate");
    const env = { PATH: process.env["PATH"], DATABASE_URL: db.url, LOG_LEVEL: "error" };
    const options = { cwd: root, env };
    expect(await promisify(execFile)(process.execPath, ["bin/svc-server.js", "migrate"], options)).toEqual({
      stdout: "The database is up to date.\n",
      stderr: "",
    });
    const [ledger, transactions] = guide("sql") as [string, string];
    expect((await db.sql.unsafe(ledger))[0]).toMatchObject({ filename: "000001.sql" });
    expect((await db.sql.unsafe(transactions)).length).toBeGreaterThan(0);
  });

  it("answers a repeated request with the original event, and recognizes its keys", async () => {
    const repeated = await send(known.keys.test, known.answered.request);
    expect(repeated).toMatchObject({ status: 202, body: { eventId: known.answered.eventId } });
    expect(await send(known.keys.revoked, known.answered.request)).toMatchObject({ status: 401 });
  });

  it("can be inspected with svc", async () => {
    expect(await command("whoami")).toMatchObject({ organization: { slug: "acme" } });
    expect(await command("config", "versions", ...PROJECT)).toMatchObject({ data: [{}, {}] });
    expect(await command("keys", "list", ...PROJECT)).toMatchObject({ data: [{}, {}, {}] });
    expect(await command("webhooks", "list", ...PROJECT)).toMatchObject({ data: [{}, {}, {}] });
    expect(await command("recompute", "list", ...PROJECT)).toMatchObject({ data: [{}, {}] });
    const { data } = (await command("customers", "list", ...PROJECT)) as { data: { customerId: string }[] };
    expect(data.length).toBeGreaterThan(20);
    const { customerId } = data[0]!;
    expect(await command("customers", "inspect", customerId, ...PROJECT)).toMatchObject({ customerId });
    await command("customers", "timeline", customerId, ...PROJECT);
    await command("diagnose", ...PROJECT);
  });

  it("evaluates, delivers and recomputes", async () => {
    for (const id of [known.webhook.id, known.failingWebhook]) {
      await command("webhooks", "update", id, "--url", receiver.url, "--yes", ...PROJECT);
    }
    await service.stop();
    service = await start("all");
    expect(await command("customers", "release", "--customer", known.setAside, "--yes", ...PROJECT)).toBeDefined();
    const event = { event: "signed_up", properties: { source: "partner" } };
    const numbers = await lastNumbers();
    expect(await send(known.keys.second, { customerId: "after-the-upgrade", ...event })).toMatchObject({ status: 202 });
    expect(await send(known.keys.live, { customerId: "after-the-upgrade", ...event })).toMatchObject({ status: 202 });
    await expect.poll(unfinished, { timeout: 50_000 }).toEqual({ pending: 0, due: 0, deliveries: 0, set_aside: 0 });

    expect(await command("customers", "inspect", "after-the-upgrade", ...PROJECT)).toMatchObject({
      lifecycle: "trial",
    });
    expect(customersTold(receiver, known.webhook.secret)).toContain("after-the-upgrade");

    // The fixture's second version has one more segment than the version of the states.
    const first = (await command("recompute", "--all", "--yes", ...PROJECT)) as Recompute;
    expect(first.result.lifecycleChanged).toBe(0);
    const again = (await command("recompute", "--all", "--dry-run", "--yes", ...PROJECT)) as Recompute;
    expect(again.result.customersChanged).toBe(0);
    expect(await violations(db.sql)).toEqual([]);
    for (const { environmentId, event, emission } of numbers) {
      const [below] = await db.sql`
        select
          (select count(*)::int from svc.events
            where environment_id = ${environmentId} and customer_id = 'after-the-upgrade' and event_seq <= ${event}) as events,
          (select count(*)::int from svc.emissions
            where environment_id = ${environmentId} and customer_id = 'after-the-upgrade' and emission_seq <= ${emission}) as emissions`;
      expect(below, "ids are above those of that time").toEqual({ events: 0, emissions: 0 });
    }
  });

  /** The last numbers by environment; a follower of events is past the first. */
  async function lastNumbers(): Promise<{ environmentId: number; event: string; emission: string }[]> {
    const rows = await db.sql<{ environmentId: number; event: string; emission: string; passed: boolean }[]>`
      select
        e.environment_id as "environmentId", e.last as event, svc.accepted_through(e.environment_id) >= e.last as passed,
        (select coalesce(max(m.emission_seq), 0) from svc.emissions as m where m.environment_id = e.environment_id) as emission
      from (select environment_id, max(event_seq) as last from svc.events group by environment_id) as e`;
    expect(rows.length).toBeGreaterThan(0);
    expect(
      rows.every(({ passed }) => passed),
      "followers get past all that was there",
    ).toBe(true);
    return rows;
  }

  interface Recompute {
    result: { lifecycleChanged: number; customersChanged: number };
  }

  async function unfinished(): Promise<unknown> {
    const [row] = await db.sql`
      select
        (select count(*)::int from svc.inbox) as pending,
        (select count(*)::int from svc.customers where next_due_at < now()) as due,
        (select count(*)::int from svc.deliveries as d join svc.webhooks as w using (environment_id, webhook_id)
          where d.status = 'pending' and w.disabled_at is null) as deliveries,
        (select count(*)::int from svc.customers where set_aside_at is not null) as set_aside`;
    return row;
  }
});
