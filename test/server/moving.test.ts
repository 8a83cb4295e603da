import { spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { readdir, readFile, stat, truncate, writeFile, copyFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { TransactionSql } from "postgres";
import { describe, expect, it } from "vitest";
import { call } from "../../src/db/api/call.js";
import { tick } from "../../src/db/api/evaluation.js";
import { newSecret, sealingKey, sealSecret } from "../../src/webhooks/secret.js";
import { importEnvironment } from "../../src/server/environments/import.js";
import { sweepRetention } from "../../src/tasks/periodic-jobs.js";
import { createDatabase, setUnusualDefaults, useDatabase } from "../support/database.js";
import { docBlocks } from "../support/doc-blocks.js";
import { useDirectory } from "../support/directory.js";
import { violations } from "../support/invariants.js";
import { lockWaiter, waitingForLock } from "../support/locks.js";
import { TestEnvironment } from "../tasks/support/environment.js";
import { CHANGED, customersOf, historiesOf, MODEL } from "../tasks/support/population.js";
import { queue } from "../tasks/support/recompute.js";
import { claim, createWebhook, SERVICE_SECRET } from "../webhooks/support/fixtures.js";
import {
  createOrganization,
  exportTo,
  fillEnvironment,
  importedId,
  importFrom,
  rowsOf,
  storyOf,
} from "./support/moving.js";
import { refused, runServer } from "./support/run-server.js";

// `svc-server environments`: from one database to another.

const from = await useDatabase();
const to = await useDatabase();
// Their servers can format values differently.
await setUnusualDefaults(from);
const directory = await useDirectory();
const organization = await createOrganization(to.sql);
const fileOf = (name: string) => path.join(directory, `${name}.export`);

const filled = await fillEnvironment(from);
await exportTo(from, filled, fileOf("filled"));
const exported = await rowsOf(from.sql, filled.environmentId);

/** The number of projects, environments, events, keys and versions in a database. */
async function heldBy(sql: typeof to.sql): Promise<object> {
  const [row] = await sql<[object]>`
    select (select count(*)::int from svc.projects) as projects, (select count(*)::int from svc.homes) as homes,
      (select count(*)::int from svc.events) as events, (select count(*)::int from svc.api_keys) as keys,
      (select count(*)::int from svc.config_versions) as versions,
      (select count(*)::int from iam.audit_log where action = 'environment.imported') as entries`;
  return { ...row };
}

/** A small environment with histories of three customers. */
async function smallEnvironment(): Promise<TestEnvironment> {
  const environment = await TestEnvironment.create(from.sql, MODEL);
  await environment.ingest(historiesOf(customersOf(3, "small_")));
  return environment;
}

/** As `smallEnvironment`, exported to the file of this name. */
async function exportedAs(name: string): Promise<TestEnvironment> {
  const environment = await smallEnvironment();
  await exportTo(from, environment, fileOf(name));
  return environment;
}

/** Runs the command that imports a file. */
const importing = (file: string, organization: string, project: string) =>
  runServer(to.url, ["environments", "import", file, "--organization", organization, "--project", project], {
    SVC_SECRET: "a secret that is long enough for the server",
  });

/** Waits until an export has frozen the environment. */
const untilFrozen = ({ environmentId }: TestEnvironment) =>
  expect
    .poll(
      () => from.sql`select from svc.environments where environment_id = ${environmentId} and frozen_at is not null`,
      { timeout: 20_000 },
    )
    .toHaveLength(1);

const EVENT = { customer: "c", at: "2026-05-01T00:00:00Z", event: "paid" };

describe("an environment that was moved", () => {
  it("has each row of each table, with all columns of the catalog", async () => {
    const before = await rowsOf(from.sql, filled.environmentId);
    expect(
      [...before].filter(([, rows]) => rows.length === 0).map(([name]) => name),
      "has no row to move",
    ).toEqual([]);
    expect(await importFrom(to, fileOf("filled"), "filled")).toMatchObject({ wasThere: false });
    const after = await rowsOf(to.sql, await importedId(to.sql, "filled"));
    expect([...after.keys()]).toEqual([...before.keys()]);
    for (const [name, rows] of before) expect(after.get(name), name).toEqual(rows);
    expect(await violations(from.sql)).toEqual([]);
    expect(await violations(to.sql)).toEqual([]);
  });

  it("has large rows byte for byte, more than fit into any buffer", async () => {
    const environment = await smallEnvironment();
    await from.sql`
      insert into svc.events (environment_id, event_seq, customer_id, event, properties, occurred_at, accepted_at)
      select ${environment.environmentId}, 1000000 + n, 'large', 'paid', jsonb_build_object(
        'text', (select string_agg(md5((n * 300 + k)::text), ' ') from generate_series(1, 100 + n % 200) as k)
      ), now(), now()
      from generate_series(1, 4000) as n`;
    const digestOf = (sql: typeof from.sql, id: number) => sql`
      select count(*)::int as rows, md5(string_agg(md5(properties::text), '' order by event_seq)) as digest
      from svc.events where environment_id = ${id}`;
    const before = await digestOf(from.sql, environment.environmentId);
    await exportTo(from, environment, fileOf("large"));
    await importFrom(to, fileOf("large"), "large");
    expect([...(await digestOf(to.sql, await importedId(to.sql, "large")))]).toEqual([...before]);
    // They belong to no call, which would violate an invariant.
    for (const { sql } of [from, to]) await sql`delete from svc.events where customer_id = 'large'`;
  });

  it("is recognized when its file is imported again, which changes nothing", async () => {
    const before = await heldBy(to.sql);
    expect(await importFrom(to, fileOf("filled"), "filled")).toMatchObject({ wasThere: true });
    expect(await heldBy(to.sql)).toEqual(before);
  });

  it("assigns numbers above all imported ones", async () => {
    const numbers = await to.sql<{ name: string; ahead: boolean }[]>`
      select s.sequence as name, pg_sequence_last_value(s.sequence::regclass) > s.used as ahead
      from (
        select pg_get_serial_sequence('svc.lifecycle_transitions', 'transition_seq') as sequence, max(transition_seq) as used
        from svc.lifecycle_transitions
        union all
        select pg_get_serial_sequence('svc.health_scores', 'score_seq'), max(score_seq) from svc.health_scores
        union all
        select pg_get_serial_sequence('svc.recomputes', 'recompute_seq'), max(recompute_seq) from svc.recomputes
        union all
        select pg_get_serial_sequence('svc.config_activations', 'activation_seq'), max(activation_seq) from svc.config_activations
      ) as s`;
    expect(numbers.filter(({ ahead }) => !ahead)).toEqual([]);
    const last = async (sql: typeof to.sql, id: number) => {
      const [row] = await sql<[{ batch: string; evaluation: string }]>`
        select pg_sequence_last_value(svc.batch_seq(${id})) as batch, pg_sequence_last_value(svc.evaluation_seq(${id})) as evaluation`;
      return { ...row };
    };
    expect(await last(to.sql, await importedId(to.sql, "filled"))).toEqual(await last(from.sql, filled.environmentId));
  });

  it("continues like one that was never moved", async () => {
    const [stays, moves] = [
      await TestEnvironment.create(from.sql, MODEL),
      await TestEnvironment.create(from.sql, MODEL),
    ];
    const customers = customersOf(12, "both_");
    const histories = historiesOf(customers);
    const half = histories.length / 2;
    const options = { settleSeconds: 0, at: "2026-06-01T00:00:00Z" };
    for (const environment of [stays, moves]) {
      await createWebhook(from.sql, environment.environmentId, "https://hooks.example.com/");
      await environment.ingest(histories.slice(0, half));
      await environment.evaluate(options);
      // Pending operations move, too.
      await environment.ingest(histories.slice(half, half + 10));
    }
    await exportTo(from, moves, fileOf("both"));
    await importFrom(to, fileOf("both"), "both");
    const by = { ...organization, requestId: "test" };
    const moved = moves.movedTo(to.sql, await importedId(to.sql, "both"), by, "both");
    for (const environment of [stays, moved]) {
      await environment.evaluate(options);
      await environment.ingest(histories.slice(half + 10));
      await environment.evaluate(options);
      await environment.deploy(CHANGED);
      await environment.ingest(customers.map((customer) => ({ ...EVENT, customer })));
      await environment.evaluate(options);
    }
    const anonymous = (story: object) => JSON.stringify(story).replaceAll(/\b(evt|emi)_[0-9a-f]{16}/g, "$1");
    for (const customer of customers) {
      expect(anonymous(await storyOf(moved, customer))).toEqual(anonymous(await storyOf(stays, customer)));
    }
    const deliveries = async ({ sql, environmentId }: TestEnvironment) => {
      const [row] = await sql<[object]>`
        select count(*)::int as deliveries, count(distinct emission_seq)::int as emissions
        from svc.deliveries where environment_id = ${environmentId}`;
      return { ...row };
    };
    expect(await deliveries(moved)).toEqual(await deliveries(stays));
    expect(await violations(to.sql)).toEqual([]);
  });

  it("recognizes operations that are sent again", async () => {
    const environment = await smallEnvironment();
    const keyed = { ...EVENT, key: "key 1" };
    await environment.send([keyed]);
    await exportTo(from, environment, fileOf("again"));
    await importFrom(to, fileOf("again"), "again");
    const id = await importedId(to.sql, "again");
    const moved = environment.movedTo(to.sql, id, { ...organization, requestId: "test" }, "again");
    const stored = async () => (await to.sql`select from svc.events where environment_id = ${id}`).length;
    const before = await stored();
    await moved.send([keyed, { ...keyed, key: "key 2" }]);
    expect(await stored()).toBe(before + 1);
  });

  it("is neither evaluated nor delivered in its old database", async () => {
    const environment = await smallEnvironment();
    await createWebhook(from.sql, environment.environmentId, "http://127.0.0.1:9/");
    await environment.evaluate({ settleSeconds: 0 });
    await environment.send([EVENT]);
    const due = () => from.sql`
      select from svc.deliveries where environment_id = ${environment.environmentId} and status = 'pending'`;
    expect((await due()).length).toBeGreaterThan(0);
    // Whether a worker that looks for work starts a job.
    const isFound = async () => {
      await from.sql`delete from graphile_worker._private_jobs`;
      await tick(from.sql, "looks", 0);
      const jobs = await from.sql`
        select from graphile_worker._private_jobs where (payload ->> 'environmentId')::int = ${environment.environmentId}`;
      return jobs.length > 0;
    };
    expect(await isFound()).toBe(true);
    await exportTo(from, environment, fileOf("waits"));
    expect(await isFound()).toBe(false);
    await environment.evaluate({ settleSeconds: 0 });
    expect(await environment.pending()).toHaveLength(1);
    const claimed = await claim(from.sql, "old", 1_000);
    expect(claimed.filter(({ environmentId }) => environmentId === environment.environmentId)).toEqual([]);
  });
});

describe("a file", () => {
  it("is readable only by its owner, without leftovers next to it", async () => {
    const { mode } = await stat(fileOf("filled"));
    expect(mode & 0o777).toBe(0o600);
    expect((await readdir(directory)).filter((name) => name.endsWith(".partial"))).toEqual([]);
  });

  const other = async (name: string, change: (file: string) => Promise<unknown>) => {
    const file = fileOf(name);
    await copyFile(fileOf("filled"), file);
    await change(file);
    return file;
  };
  const edited = (edit: (text: string) => string) => async (file: string) =>
    writeFile(file, edit(await readFile(file, "latin1")), "latin1");
  const whole = "is damaged: it was cut off, or changed after it was written; copy it again, or export again";
  const none = "is not an export of an environment; svc-server environments export writes one";

  it.each([
    [
      "is cut off in the middle",
      whole,
      async (file: string) => truncate(file, Math.floor((await stat(file)).size / 2)),
    ],
    ["lacks its last byte", whole, async (file: string) => truncate(file, (await stat(file)).size - 1)],
    ["lacks its last line", whole, edited((text) => text.replace(/\n[^\n]*\n$/, "\n"))],
    ["has another value in a row", whole, edited((text) => text.replace("c020", "c920"))],
    ["has the rows of a table in those of another", whole, edited((text) => text.replace("\\.\n", ""))],
    ["is empty", none, async (file: string) => truncate(file, 0)],
    ["is something else", none, (file: string) => writeFile(file, Buffer.from([0x1f, 0x8b, 8, 0, 10, 255, 254]))],
    ["is other JSON", none, (file: string) => writeFile(file, '{"format": "other"}\n{}\n')],
    ["is null", none, (file: string) => writeFile(file, "null\n{}\n")],
  ])("that %s is refused without effect", async (name, said, change) => {
    const file = await other(name, change);
    const before = await heldBy(to.sql);
    await expect(importFrom(to, file, "refused")).rejects.toThrow(`${file} ${said}`);
    expect(await heldBy(to.sql)).toEqual(before);
  });

  /** Changes a file and its checksum. */
  const sealed = (edit: (text: string) => string) => async (file: string) => {
    const text = await readFile(file, "latin1");
    const end = text.lastIndexOf("\n", text.length - 2) + 1;
    const { rows } = JSON.parse(text.slice(end)) as { rows: object };
    const body = Buffer.from(edit(text.slice(0, end)), "latin1");
    const sha256 = createHash("sha256").update(body).digest("hex");
    await writeFile(file, Buffer.concat([body, Buffer.from(`${JSON.stringify({ rows, sha256 })}\n`)]));
  };

  it("that is complete and contains invalid data is refused in a line that says where, and nothing is imported", async () => {
    const db = await createDatabase();
    try {
      await createOrganization(db.sql);
      const before = await heldBy(db.sql);
      for (const [value, said] of [
        ["paid\tpaid", "extra data after last expected column"],
        ["pa\0d", 'invalid byte sequence for encoding "UTF8": 0x00'],
        ["pa\xff", 'invalid byte sequence for encoding "UTF8": 0xff'],
      ] as const) {
        const file = await other(
          "invalid",
          sealed((text) => text.replace("\tpaid\t", `\t${value}\t`)),
        );
        const message = await importFrom(db, file).then(String, (error: unknown) => (error as Error).message);
        expect(message).toMatch(/ contains data that cannot be stored \(table events, line \d+\): /);
        expect(message).toContain(said);
        expect(message).toMatch(/; nothing was imported: export again$/);
        expect(await heldBy(db.sql)).toEqual(before);
      }
    } finally {
      await db.drop();
    }
  });

  it("of another version of the format, or of another schema, is refused", async () => {
    const later = await other(
      "later",
      edited((text) => text.replace('"formatVersion":1', '"formatVersion":2')),
    );
    await expect(importFrom(to, later)).rejects.toThrow(
      "has version 2 of the format, and this program reads version 1",
    );
    const db = await createDatabase();
    try {
      await createOrganization(db.sql);
      await db.sql`alter table svc.signals add column note text`;
      await expect(importFrom(db, fileOf("filled"))).rejects.toThrow(
        "The tables of the file are not those of this database.",
      );
      await db.sql`alter table svc.signals drop column note`;
      await db.sql`
        insert into graphile_migrate.migrations (hash, previous_hash, filename) select 'sha1:x', max(hash), '999999.sql'
        from graphile_migrate.migrations where filename = (select max(filename) from graphile_migrate.migrations)`;
      await expect(importFrom(db, fileOf("filled"))).rejects.toThrow(
        /^The file is of a database whose last migration is \d+\.sql; that of this one is 999999\.sql\. /,
      );
    } finally {
      await db.drop();
    }
  });

  it("that exists is not overwritten, and one that cannot be written leaves the environment unchanged", async () => {
    const environment = await smallEnvironment();
    await expect(exportTo(from, environment, fileOf("filled"))).rejects.toThrow(
      "already exists; name another file with --output",
    );
    await expect(exportTo(from, environment, path.join(directory, "none", "a"))).rejects.toThrow(
      "cannot be written (ENOENT)",
    );
    await environment.send([EVENT]);
  });
});

describe("an import is refused", () => {
  it("if the environment is not empty", async () => {
    await exportedAs("second");
    await expect(importFrom(to, fileOf("second"), "filled")).rejects.toThrow(
      /^The environment test of the project "filled" is not empty: svc\.\w+ has rows of it\. Name another project/,
    );
  });

  it("if it is frozen there, left by a move, whose deletion makes room", async () => {
    const { project } = (await exportedAs("returned")).place;
    const args = ["environments", "import", fileOf("returned"), "--organization", project, "--project", project];
    const { code, stderr } = await runServer(from.url, args, { SVC_SECRET: "x".repeat(32) });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      new RegExp(
        `The environment test of the project "${project}" is frozen here since \\S+Z and not empty, as a move leaves it: svc\\.\\w+ has rows of it\\. ` +
          `If it lives elsewhere now, delete this copy: svc-server environments delete --organization ${project} --project ${project} --env test\\. ` +
          "If it never left, it needs no import: unfreeze it\\.\n$",
      ),
    );
  });

  it("if a version of the project differs", async () => {
    const place = { name: "Versions", slug: "versions" };
    const key = () => ({ hash: Buffer.from(`${Math.random()}`), hint: "svc_" });
    const by = { ...organization, requestId: "test" };
    await call(to.sql, "create_project", by, place, { test: key(), live: key() });
    const live = { project: "versions", environment: "live" } as const;
    const version = { snapshot: JSON.stringify(MODEL), hash: "other", provenance: null, expected: null, force: true };
    await call(to.sql, "deploy_config", by, live, version);
    await exportedAs("versions");
    await expect(importFrom(to, fileOf("versions"), "versions")).rejects.toThrow(
      "The version v1 of this project differs from that in the file. Name another project with --project",
    );
  });

  it("if one of its keys belongs to another environment", async () => {
    const environment = await exportedAs("keys");
    await importFrom(to, fileOf("keys"), "keys");
    await call(from.sql, "operator_unfreeze_environment", environment.place.project, environment.place);
    await exportTo(from, environment, fileOf("keys-again"));
    const before = await heldBy(to.sql);
    await expect(importFrom(to, fileOf("keys-again"), "keys-again")).rejects.toThrow(
      "an API key of the file already exists in another environment of this database: a copy of the same, which is frozen if a move left it; " +
        "then svc-server environments delete makes room",
    );
    expect(await heldBy(to.sql)).toEqual(before);
  });

  it("if signing secrets were encrypted with another secret", async () => {
    const environment = await smallEnvironment();
    const { webhookId } = await createWebhook(from.sql, environment.environmentId, "https://hooks.example.com/");
    await exportTo(from, environment, fileOf("secret"));
    await expect(importFrom(to, fileOf("secret"), "secret", "another secret")).rejects.toThrow(
      `the signing secret of the webhook ${webhookId} cannot be read here; set SVC_SECRET`,
    );
  });

  it("if the project's slug is invalid, or the organization does not exist", async () => {
    await expect(importFrom(to, fileOf("filled"), "Not a slug")).rejects.toThrow(
      '"Not a slug" is not a valid project slug. Use',
    );
    expect(await importing(fileOf("filled"), "nobody", "p")).toEqual(
      refused('There is no organization "nobody". `svc-server users list` shows the organizations of every user.'),
    );
  });
});

describe("an import", () => {
  it("that is killed leaves nothing, and can be repeated", async () => {
    const environment = await TestEnvironment.create(from.sql, MODEL);
    await environment.ingest(historiesOf(customersOf(20, "killed_")));
    await environment.evaluate();
    await exportTo(from, environment, fileOf("killed"));
    const before = await heldBy(to.sql);
    const program = fileURLToPath(new URL("../../bin/svc-server.js", import.meta.url));
    const args = ["environments", "import", fileOf("killed"), "--organization", "moved", "--project", "killed"];
    const run = () =>
      spawn(process.execPath, [program, ...args], {
        env: { PATH: process.env["PATH"], DATABASE_URL: to.url, SVC_SECRET: "a secret of the tests, long enough" },
        stdio: "ignore",
      });
    await to.sql.begin(async (tx) => {
      // It gets as far as this table, after most of the others.
      await tx`lock table svc.trait_updates in exclusive mode`;
      const child = run();
      await expect.poll(() => waitingForLock(to.sql, "copy svc.%"), { timeout: 30_000 }).toBe(1);
      child.kill("SIGKILL");
      await once(child, "exit");
    });
    await expect.poll(() => waitingForLock(to.sql, "copy svc.%")).toBe(0);
    expect(await heldBy(to.sql)).toEqual(before);
    const [code] = (await once(run(), "exit")) as [number];
    expect(code).toBe(0);
    expect(await rowsOf(to.sql, await importedId(to.sql, "killed"))).toEqual(
      await rowsOf(from.sql, environment.environmentId),
    );
  }, 60_000);

  it("is done once when started twice at the same time", async () => {
    await exportedAs("twice");
    const both = await Promise.all([1, 2].map(() => importFrom(to, fileOf("twice"), "twice")));
    expect(both.map(({ wasThere }) => wasThere).sort()).toEqual([false, true]);
    expect(await violations(to.sql)).toEqual([]);
  });

  it("ends after another one that is about to, so that neither sets a sequence back that both continue", async () => {
    await exportedAs("afterwards");
    const { environmentId } = await TestEnvironment.create(to.sql);
    const header = {
      environment: { name: "test", createdAt: new Date(), activeVersion: null },
      export: randomUUID(),
      erased: {},
    };
    let imported: Promise<unknown> = Promise.resolve();
    await to.sql.begin(async (tx) => {
      await tx`select svc_api.operator_finish_import(${environmentId}, ${JSON.stringify(header)}::text::json)`;
      imported = importFrom(to, fileOf("afterwards"), "afterwards");
      imported.catch(() => undefined);
      const waiting = () => to.sql`select from pg_locks where not granted and relation = 'svc.environments'::regclass`;
      await expect.poll(waiting, { timeout: 20_000 }).toHaveLength(1);
    });
    expect(await imported).toMatchObject({ wasThere: false });
    expect(await violations(to.sql)).toEqual([]);
  });

  it("into an environment in use makes its senders wait, and loses nothing that they send", async () => {
    const target = await TestEnvironment.create(to.sql);
    const [row] = await to.sql<[{ slug: string; organization: string }]>`
      select p.slug, o.slug as organization from svc.projects as p
      join svc.environments as e using (project_id) join iam.organizations as o using (organization_id)
      where e.environment_id = ${target.environmentId}`;
    await exportedAs("target");
    let sent: Promise<void> = Promise.resolve();
    let run: ReturnType<typeof importing> | undefined;
    await to.sql.begin(async (tx) => {
      await tx`lock table svc.trait_updates in exclusive mode`;
      run = importing(fileOf("target"), row.organization, row.slug);
      await expect.poll(() => waitingForLock(to.sql, "copy svc.%"), { timeout: 20_000 }).toBe(1);
      sent = target.send([{ ...EVENT, customer: "meanwhile" }]);
      await expect.poll(() => waitingForLock(to.sql, "%svc_api.ingest%")).toBe(1);
    });
    expect(await run).toMatchObject({ code: 0, stderr: "" });
    await sent;
    const [last] = await to.sql<{ customer: string }[]>`
      select customer_id as customer from svc.events where environment_id = ${target.environmentId} order by event_seq desc limit 1`;
    expect(last!.customer).toBe("meanwhile");
    expect(await violations(to.sql)).toEqual([]);
  }, 60_000);

  it("is not disturbed by the first sweep of the environment, which may come meanwhile", async () => {
    const environment = await smallEnvironment();
    await from.sql`insert into svc.retention (environment_id) values (${environment.environmentId})`;
    await exportTo(from, environment, fileOf("swept"));
    const target = await TestEnvironment.create(to.sql);
    await to.sql`update iam.plans set retention_days = 30`;
    let imported: Promise<unknown> = Promise.resolve();
    await to.sql.begin(async (tx) => {
      const [row] = await tx<[{ slug: string; organization: string }]>`
        select p.slug, o.slug as organization from svc.projects as p
        join svc.environments as e using (project_id) join iam.organizations as o using (organization_id)
        where e.environment_id = ${target.environmentId}`;
      await tx`lock table svc.emissions in exclusive mode`;
      imported = importEnvironment(to.url, fileOf("swept"), { ...row, project: row.slug }, SERVICE_SECRET);
      imported.catch(() => undefined);
      await expect.poll(() => waitingForLock(to.sql, "copy svc.%"), { timeout: 20_000 }).toBe(1);
      await sweepRetention(to.sql, new AbortController().signal);
    });
    expect(await imported).toMatchObject({ wasThere: false });
    expect(await violations(to.sql)).toEqual([]);
  });
});

describe("an export", () => {
  it("includes what calls from before the freeze store, and refuses the next call", async () => {
    const environment = await smallEnvironment();
    let exported: ReturnType<typeof exportTo> | undefined;
    await from.sql.begin(async (tx) => {
      // It has read its key, but what it stores is not visible yet.
      const body = '{"events": [{"customerId": "c", "event": "paid", "idempotencyKey": "in flight"}]}';
      await tx`select svc_api.ingest(${environment.keyHash}, gen_random_uuid(), ${body}, false)`;
      exported = exportTo(from, environment, fileOf("flight"));
      await untilFrozen(environment);
      await expect(environment.send([EVENT])).rejects.toMatchObject({ code: "SV012" });
    });
    const { trailer } = (await exported)!;
    const [{ events }] = await from.sql<[{ events: number }]>`
      select count(*)::int as events from svc.events where environment_id = ${environment.environmentId}`;
    expect(trailer.rows["events"]).toBe(events);
    expect(await readFile(fileOf("flight"), "latin1")).toContain("in flight");
  });

  it("waits for the outcomes of deliveries in progress", async () => {
    const environment = await smallEnvironment();
    const { webhookId } = await createWebhook(from.sql, environment.environmentId, "https://hooks.example.com/");
    await environment.evaluate({ settleSeconds: 0 });
    const due = (await claim(from.sql, "sender", 1_000)).filter((delivery) => delivery.webhookId === webhookId);
    expect(due.length).toBeGreaterThan(0);
    const exported = exportTo(from, environment, fileOf("delivering"));
    await untilFrozen(environment);
    const outcome = { latencyMs: 3, statusCode: 204, error: null, response: null, retryAfterSeconds: null };
    const attemptedAt = new Date().toISOString();
    await call(
      from.sql,
      "record_attempts",
      due.map((delivery) => ({ ...delivery, attemptedAt, ...outcome })),
    );
    await call(from.sql, "release_webhooks", "sender");
    expect((await exported).trailer.rows["delivery_attempts"]).toBe(due.length);
  });

  it("is refused while a recompute is unfinished, and the environment stays in use", async () => {
    const environment = await smallEnvironment();
    const id = await queue(from.sql, environment);
    await expect(exportTo(from, environment, fileOf("recompute"))).rejects.toThrow(
      `The recompute ${id} of this environment is not finished. Wait until it is, or cancel it (svc recompute cancel ${id} --env test), then repeat.`,
    );
    await environment.send([EVENT]);
    await from.sql`delete from svc.recomputes where recompute_id = ${id}`;
  });

  it("is refused while a recompute is just being requested, and the environment stays in use", async () => {
    const environment = await smallEnvironment();
    let exported: Promise<unknown> = Promise.resolve();
    const id = await from.sql.begin(async (tx) => {
      const { by, place } = environment;
      const queued = JSON.parse(await call(tx, "create_recompute", by, place, null, false, null)) as { id: string };
      exported = exportTo(from, environment, fileOf("requested"));
      exported.catch(() => undefined);
      await lockWaiter(from.sql, "%operator_freeze_environment%");
      return queued.id;
    });
    await expect(exported).rejects.toThrow(`The recompute ${id} of this environment is not finished.`);
    await environment.send([EVENT]);
    await from.sql`delete from svc.recomputes where recompute_id = ${id}`;
  });

  /** Exports an environment to a file, and does something else once the file is being written; returns the export. */
  async function exportDuring(environment: TestEnvironment, name: string, work: (tx: TransactionSql) => Promise<void>) {
    // A transaction from before the freeze holds the export up until another one, from after it, has locked a table.
    const before = await from.sql.reserve();
    await before`begin`;
    await before`select from svc.environments`;
    const exporting = exportTo(from, environment, fileOf(name));
    // Avoid an unhandled rejection before it is awaited.
    exporting.catch(() => undefined);
    const looked = () =>
      from.sql`
        select from pg_stat_activity
        where datname = current_database() and state = 'idle' and query like '%operator_changes_under_way%'`;
    await expect.poll(looked, { timeout: 20_000 }).toHaveLength(1);
    await from.sql.begin(async (tx) => {
      await tx`lock table svc.signals in access exclusive mode`;
      await before`commit`;
      before.release();
      await lockWaiter(tx, "copy (select%");
      await work(tx);
    });
    // Not awaited here, because it may fail.
    return { exporting };
  }

  it.each([
    ["unfrozen", false],
    ["unfrozen and frozen again", true],
  ])("fails without a file if the environment is %s while it is written", async (_, again) => {
    const environment = await smallEnvironment();
    const { place } = environment;
    const name = `unfrozen ${String(again)}`;
    const { exporting } = await exportDuring(environment, name, async () => {
      await call(from.sql, "operator_unfreeze_environment", place.project, place);
      if (again) await call(from.sql, "operator_freeze_environment", place.project, place);
    });
    await expect(exporting).rejects.toThrow(
      "The environment was unfrozen while the file was written, so what it stored since is not in the file. Export it again if it is to be moved.",
    );
    expect((await readdir(directory)).filter((file) => file.includes(name))).toEqual([]);
  });

  it("is complete if the environment is deleted while it is written", async () => {
    const environment = await smallEnvironment();
    const { place, environmentId: id } = environment;
    // As if it had been exported before.
    await call(from.sql, "operator_freeze_environment", place.project, place);
    await from.sql`update svc.environments set frozen_at = now() - interval '1 hour' where environment_id = ${id}`;
    let deleting: Promise<unknown> = Promise.resolve();
    const { exporting } = await exportDuring(environment, "deleted", async (tx) => {
      deleting = call(from.sql, "operator_delete_environment", place.project, place);
      await lockWaiter(tx, "%operator_delete_environment%");
    });
    await deleting;
    expect(await from.sql`select from svc.events where environment_id = ${id}`).toHaveLength(0);
    const { trailer } = await exporting;
    await importFrom(to, fileOf("deleted"), "deleted");
    const events = await to.sql`select from svc.events where environment_id = ${await importedId(to.sql, "deleted")}`;
    expect(events.length).toBeGreaterThan(0);
    expect(events).toHaveLength(trailer.rows["events"]!);
  });

  it("that fails leaves the environment frozen and no file, and can be repeated", async () => {
    const environment = await smallEnvironment();
    let failing: Promise<unknown> = Promise.resolve();
    let id = "";
    await from.sql.begin(async (tx) => {
      await tx`select from svc.environments`;
      failing = expect(exportTo(from, environment, fileOf("fails"))).rejects.toThrow("is not finished");
      await untilFrozen(environment);
      // A request from just before the freeze.
      id = await queue(from.sql, environment);
    });
    await failing;
    expect((await readdir(directory)).filter((name) => name.includes("fails"))).toEqual([]);
    await untilFrozen(environment);
    await from.sql`delete from svc.recomputes where recompute_id = ${id}`;
    await exportTo(from, environment, fileOf("fails"));
  });
});

describe("an environment that is deleted", () => {
  const deleteIn = async (db: typeof from, { place }: TestEnvironment) =>
    JSON.parse(
      (
        await runServer(
          db.url,
          [
            "environments delete --json --env test --organization".split(" "),
            [place.project, "--project", place.project],
          ].flat(),
        )
      ).stdout,
    ) as { rows: Record<string, number> };

  it("leaves no row in any table and others untouched; it can be imported again", async () => {
    const [before, other] = [await rowsOf(from.sql, filled.environmentId), await smallEnvironment()];
    const others = await rowsOf(from.sql, other.environmentId);
    const { rows } = await deleteIn(from, filled);
    const versions = ["config_versions", "payload_checks"];
    const after = await rowsOf(from.sql, filled.environmentId);
    for (const [name, left] of after) {
      expect(left, name).toEqual(versions.includes(name) ? before.get(name) : []);
      if (!versions.includes(name) && name !== "key_usage") expect(rows[name], name).toBe(before.get(name)!.length);
    }
    expect(await rowsOf(from.sql, other.environmentId)).toEqual(others);
    expect(await violations(from.sql)).toEqual([]);

    const { project } = filled.place;
    await importEnvironment(from.url, fileOf("filled"), { organization: project, project }, SERVICE_SECRET);
    // Not compared with the state before the deletion: a worker can have counted what was not counted yet in the file.
    expect(await rowsOf(from.sql, filled.environmentId)).toEqual(exported);
    expect(await violations(from.sql)).toEqual([]);
  });

  it("has to be frozen", async () => {
    const environment = await smallEnvironment();
    const before = await rowsOf(from.sql, environment.environmentId);
    const { project } = environment.place;
    const args = ["environments", "delete", "--organization", project, "--project", project, "--env", "test"];
    expect(await runServer(from.url, args)).toEqual(
      refused(
        "The environment is not frozen, so it is in use, and nothing was deleted. Export it first, which freezes it.",
      ),
    );
    expect(await rowsOf(from.sql, environment.environmentId)).toEqual(before);
  });

  it("is not deleted while a call from before the freeze can still store something in it", async () => {
    const { place } = await smallEnvironment();
    await from.sql.begin(async (tx) => {
      const [{ pid }] = await tx<[{ pid: number }]>`select pg_backend_pid() as pid`;
      await call(from.sql, "operator_freeze_environment", place.project, place);
      await expect(call(from.sql, "operator_delete_environment", place.project, place)).rejects.toMatchObject({
        message: "ENVIRONMENT_NOT_FROZEN",
        detail: expect.stringContaining(`in the server processes ${pid}.`) as string,
      });
    });
    await call(from.sql, "operator_delete_environment", place.project, place);
  });

  it("is passed over by sweeps and counts meanwhile, and its keys are not rotated any more", async () => {
    const { by, place, environmentId: id } = await smallEnvironment();
    const { sql } = from;
    await call(sql, "operator_freeze_environment", place.project, place);
    await sql`update svc.environments set frozen_at = now() - interval '1 hour' where environment_id = ${id}`;
    await sql`insert into svc.retention (environment_id) values (${id})`;
    await sql`insert into svc.idempotency_keys values (${id}, 'k', 1, 5, now() - interval '200 days')`;
    await sql`insert into svc.retired_keys values (${id}, now() - interval '100 days', 5, 'c', 'k')`;
    await sql`insert into svc.trend_progress (environment_id, outdated_since) values (${id}, null)`;
    for (const table of ["trend_changes", "trend_counts"]) {
      await sql`
        insert into svc.${sql(table)} (environment_id, measure, day, name, value, count)
        values (${id}, 'lifecycle', '2026-01-01', '', 'new', 1)`;
    }
    const [{ key }] = await sql<
      [{ key: string }]
    >`select api_key_id as key from svc.api_keys where environment_id = ${id}`;
    let deleting: Promise<unknown> = Promise.resolve();
    let rotating: Promise<unknown> = Promise.resolve();
    await sql.begin(async (tx) => {
      await tx`select from svc.trend_counts where environment_id = ${id} for update`;
      deleting = call(sql, "operator_delete_environment", place.project, place);
      await lockWaiter(tx, "%operator_delete_environment%");
      expect(await call(sql, "sweep_keys", id, 100)).toBe(0);
      expect(await call(sql, "count_trends", id, 100)).toBe(0);
      rotating = expect(
        call(sql, "rotate_key", by, place, key, 60, { hash: Buffer.from("new"), hint: "svc_test_" }),
      ).rejects.toMatchObject({ message: "KEY_NOT_FOUND" });
      await lockWaiter(tx, "%rotate_key%");
    });
    expect(await deleting).toMatchObject({ rows: { api_keys: 1, retired_keys: 1, trend_changes: 1 } });
    await rotating;
  });
});

describe("svc-server environments", () => {
  const page = readFileSync(new URL("../../docs/operations/moving.md", import.meta.url), "utf8");
  const commands = docBlocks(page).map(({ code }) => code.trim());
  const secret = "a secret that is long enough for the server";

  it("exports, imports and abandons a move as in docs/operations/moving.md, in words and as JSON", async () => {
    const environment = await smallEnvironment();
    const { project } = environment.place;
    await from.sql`
      insert into svc.webhooks (environment_id, webhook_id, url, event_types, sealed_secret, previous_sealed_secret, previous_secret_expires_at)
      values (${environment.environmentId}, 'whk_1', 'https://hooks.example.com/', '{*}',
        ${sealSecret(newSecret(), sealingKey(secret))}, ${sealSecret(newSecret(), sealingKey("one of before"))}, now() + '1 day')`;
    const file = fileOf("commands");
    /** Replaces the page's names with the test's. */
    const argsOf = (command: string, names: Record<string, string>) =>
      command
        .split(" ")
        .slice(1)
        .map((word) => ({ live: "test", "shop-live.export": file, ...names })[word] ?? word);
    const [exporting, importing, unfreezing, deleting, ...more] = commands;
    expect(more).toEqual([]);
    const there = { acme: project, shop: project };
    const here = argsOf(importing!, { acme: "moved", shop: "commands" });
    expect(await runServer(from.url, argsOf(exporting!, there))).toEqual({
      code: 0,
      stdout: `${file} has 9 events and 0 customers of ${project}/${project}, test.
The environment is frozen here: it accepts, evaluates and delivers nothing. Import the file elsewhere, or cancel the move:
svc-server environments unfreeze --organization ${project} --project ${project} --env test
`,
      stderr: "note: the environment is frozen from now on; if this fails, export again, or unfreeze it\n",
    });
    expect(await runServer(to.url, here, { SVC_SECRET: secret })).toEqual({
      code: 0,
      stdout:
        "moved/commands, test has 9 events and 0 customers. It accepts events, evaluates and delivers from now on; send events to this service.\n",
      stderr: "",
    });
    expect((await runServer(to.url, here, { SVC_SECRET: secret })).stdout).toBe(
      "moved/commands, test was imported from this file before. Nothing has changed.\n",
    );
    const json = await runServer(to.url, [...here, "--json"], { SVC_SECRET: secret });
    expect(JSON.parse(json.stdout)).toMatchObject({ environment: "test", rows: { events: 9 }, wasThere: true });
    expect((await runServer(from.url, argsOf(unfreezing!, there))).stdout).toMatch(
      /, test is active again; it was frozen since \S+Z\. Do not import the file that was exported\.\n$/,
    );
    expect((await runServer(from.url, argsOf(unfreezing!, there))).stdout).toMatch(/, test is not frozen\.\n$/);
    await call(from.sql, "operator_freeze_environment", project, environment.place);
    expect((await runServer(from.url, argsOf(deleting!, there))).stdout).toBe(
      `Deleted 9 events and 0 customers of ${project}/${project}, test, with its keys and webhooks. The environment is empty and no longer frozen.\n`,
    );
  });

  it("are called as in docs/scale.md", () => {
    const scale = readFileSync(new URL("../../docs/scale.md", import.meta.url), "utf8");
    expect(docBlocks(scale).at(-1)!.code.trim().split("\n")).toEqual(commands.slice(0, 2));
  });
});
