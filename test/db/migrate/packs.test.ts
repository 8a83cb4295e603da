import { mkdir, writeFile } from "node:fs/promises";
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished, vi } from "vitest";
import { migrate } from "../../../src/db/migrate/migrate.js";
import { installPack, listPacks, removePack } from "../../../src/db/migrate/packs.js";
import { refused, runServer } from "../../server/support/run-server.js";
import { describeCatalog } from "../../support/catalog.js";
import { useDatabase } from "../../support/database.js";
import { useDirectory } from "../../support/directory.js";
import { isCluster } from "../../support/is-cluster.js";
import { lockWaiter, waitingForLock } from "../../support/locks.js";

// `svc-server packs`, and the rules for all packs.

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

const db = await useDatabase();
const before = await describeCatalog(db.sql);
const root = await useDirectory();

/** The guide's blocks, in order. */
const [commands, beforeCitus, upCitus] = [
  ...readFileSync(path.join(ROOT, "docs/operations/packs.md"), "utf8").matchAll(
    /<!-- test\/db\/migrate\/packs\.test\.ts [^\n]*\n\n```(?:bash|sql)\n([\s\S]*?)```/g,
  ),
].map(([, text]) => text!);

const packs = (...args: string[]) => runServer(db.url, ["packs", ...args], { LOG_LEVEL: "warn" });

const printed = (stdout: string) => ({ code: 0, stdout, stderr: "" });
const CITUS = "Citus: spreads what environments own over the nodes of a cluster; see docs/scale.md.";

// Databases of a cluster have the pack.
it.skipIf(isCluster)("is listed, and has a guide of its commands", async () => {
  const used = ["list", "up citus", "down citus"].map((line) => `svc-server packs ${line}\n`);
  expect(commands).toBe(used.join(""));
  expect(await packs("list")).toEqual(printed(`citus\tnot installed\t${CITUS}\n`));
});

it("goes up and down, and leaves nothing behind except dependent objects of others", async () => {
  const folder = path.join(root, "migrations/packs/notes");
  await mkdir(folder, { recursive: true });
  const migration = `-- Notes.
-- Up Migration
create schema notes;
create view notes.organizations as select organization from svc_inspect.organizations;
-- Down Migration
drop view notes.organizations;
drop schema notes;
`;
  await writeFile(path.join(folder, "000001_notes.sql"), migration);
  expect(await installPack(db.url, "notes", root)).toEqual(["000001_notes"]);
  expect(await installPack(db.url, "notes", root), "a second time").toEqual([]);
  expect(await listPacks(db.url, root)).toEqual([{ name: "notes", about: "Notes.", migrations: 1, applied: 1 }]);
  expect(await describeCatalog(db.sql)).not.toEqual(before);

  await db.sql`create view public.chart as select organization from notes.organizations`;
  await expect(removePack(db.url, "notes", root)).rejects.toThrow(
    /^pack notes: cannot drop .*view chart depends on view notes.organizations/s,
  );
  expect(await listPacks(db.url, root)).toMatchObject([{ name: "notes", applied: 1 }]);
  await db.sql`drop view public.chart`;
  expect(await removePack(db.url, "notes", root)).toEqual(["000001_notes"]);
  expect(await describeCatalog(db.sql)).toEqual(before);
  expect(await removePack(db.url, "notes", root), "a second time").toEqual([]);
  // If there is no other pack.
  const [ledger] = await db.sql`select to_regnamespace('svc_packs') as schema`;
  expect(ledger).toEqual({ schema: isCluster ? "svc_packs" : null });
});

/** The pack `waits`, whose migration waits until the returned function is called, however long statements may take by default. */
async function addWaitingPack(): Promise<() => Promise<unknown>> {
  const folder = path.join(root, "migrations/packs/waits");
  await mkdir(folder, { recursive: true });
  const up = "create schema waits; select pg_sleep(0.3), pg_advisory_xact_lock(42);";
  await writeFile(
    path.join(folder, "000001_waits.sql"),
    `-- Waits.\n-- Up Migration\n${up}\n-- Down Migration\ndrop schema waits;\n`,
  );
  const session = await db.sql.reserve();
  await session`select pg_advisory_lock(42)`;
  return async () => {
    await session`select pg_advisory_unlock(42)`;
    session.release();
  };
}

it("goes up while a migration waits, and takes longer than the database's default allows", async () => {
  const proceed = await addWaitingPack();
  await db.sql.unsafe(`alter database ${db.name} set statement_timeout = '200ms'`);
  onTestFinished(async () => void (await db.sql.unsafe(`alter database ${db.name} reset statement_timeout`)));
  const up = installPack(db.url, "waits", root);
  await lockWaiter(db.sql, "%pg_advisory_xact_lock(42)%");
  let migrated: Promise<unknown> | undefined;
  const sentence = await new Promise((onWait, reject) => {
    migrated = migrate(db.url, { onWait });
    migrated.catch(reject);
  });
  await proceed();
  expect(await up).toEqual(["000001_waits"]);
  await migrated;
  expect(sentence).toMatch(/^another process migrates the database/);
  expect(await removePack(db.url, "waits", root)).toEqual(["000001_waits"]);
});

it("keeps the record of a pack that one process installs while another one removes it", async () => {
  const proceed = await addWaitingPack();
  await proceed();
  await db.sql`create schema if not exists svc_packs`;
  await db.sql`create table svc_packs.waits (id serial primary key, name text not null, run_on timestamp not null)`;
  const reader = await db.sql.reserve();
  await reader`begin`;
  await reader`lock table svc_packs.waits in access share mode`;
  const down = removePack(db.url, "waits", root);
  await lockWaiter(db.sql, "drop table%");
  const up = installPack(db.url, "waits", root);
  await vi.waitUntil(async () => (await waitingForLock(db.sql, "svc packs")) === 2, { timeout: 20_000 });
  await reader`commit`;
  reader.release();
  expect(await Promise.allSettled([down, up])).toEqual([
    { status: "fulfilled", value: [] },
    { status: "fulfilled", value: ["000001_waits"] },
  ]);
  expect(await listPacks(db.url, root)).toContainEqual({ name: "waits", about: "Waits.", migrations: 1, applied: 1 });
  await removePack(db.url, "waits", root);
});

it("refuses an unknown pack, and unknown commands", async () => {
  expect(await packs("up", "citrus")).toEqual(refused("there is no pack `citrus`; available: citus"));
  expect(await packs()).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("Name a command of packs") as string,
  });
});

// Its effects with Citus: test/db/citus/pack.test.ts.
it.skipIf(isCluster)("has a guide for the pack citus with the preparations that the program requires", async () => {
  expect(upCitus).toBe("svc-server packs up citus\n");
  const { stderr } = await packs("up", "citus");
  const [extension, node] = beforeCitus!.trim().split("\n");
  expect(stderr).toContain(`\`${extension!.replace(";", "")}\``);
  const [refusal] = await db.sql.unsafe<[{ text: string }]>(
    readFileSync(path.join(ROOT, "migrations/packs/citus/000001_placements.sql"), "utf8")
      .match(/'the cluster has no node[^']*'/)![0]
      .replace(/^/, "select ")
      .concat(" as text"),
  );
  expect(refusal.text).toContain(node!.replace("'node-1', 5432", "host, port").replace(";", ""));
});

it.skipIf(isCluster)(
  "refuses the pack citus on a server without Citus, and leaves the database unchanged",
  async () => {
    const catalog = await describeCatalog(db.sql);
    expect(await packs("up", "citus")).toEqual(
      refused(
        "pack citus: this server has no extension citus: install Citus on every node, preload it " +
          "(shared_preload_libraries = 'citus'), restart, execute `create extension citus` in this database as a superuser, then " +
          "repeat (55000)",
      ),
    );
    expect(await describeCatalog(db.sql)).toEqual(catalog);
    expect(await packs("down", "citus")).toEqual(printed("The pack citus is not installed.\n"));
    expect(await describeCatalog(db.sql)).toEqual(catalog);
  },
);
