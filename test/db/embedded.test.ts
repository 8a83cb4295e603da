import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { connect } from "../../src/db/connect.js";
import { openCluster } from "../../src/db/embedded/cluster.js";
import { SetupError } from "../../src/db/embedded/command.js";
import { findPostmaster } from "../../src/db/embedded/postmaster.js";
import { startEmbedded, type EmbeddedServer } from "../../src/db/embedded/embedded.js";
import { endServer, temporaryDirectory } from "../support/server.js";

const OPTIONS = { sync: false, settings: { shared_buffers: "16MB" } };
const AS_ROOT = process.geteuid?.() === 0;

/** A cluster that was never started, to be copied: creating one takes as long as a whole test. */
const made = await temporaryDirectory();
await openCluster(made, OPTIONS);
afterAll(() => rm(made, { recursive: true, force: true }));

let directory: string;
const processes: ChildProcess[] = [];

beforeEach(async () => void (directory = await temporaryDirectory()));

afterEach(async () => {
  for (const child of processes.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  if ((await readdir(directory)).includes("postgres")) await endServer(directory);
  await rm(directory, { recursive: true, force: true });
});

/** Starts another process that uses the server in the directory; resolves once it does. */
async function startUser(): Promise<{ child: ChildProcess; url: string; leave: () => Promise<void> }> {
  const script = fileURLToPath(new URL("embedded-user.ts", import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", script, directory], { stdio: ["pipe", "pipe", "inherit"] });
  processes.push(child);
  const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const leave = async () => {
    child.stdin.end();
    await once(child, "exit");
  };
  return { child, url, leave };
}

async function postmaster(): Promise<number | null> {
  return (await findPostmaster(await openCluster(directory, OPTIONS)))?.pid ?? null;
}

async function query(url: string, text: string): Promise<unknown[]> {
  const sql = connect(url, { max: 1, applicationName: "test" });
  try {
    return [...(await sql.unsafe(text))];
  } finally {
    await sql.end();
  }
}

async function withServer(work: (server: EmbeddedServer) => Promise<void>): Promise<void> {
  const server = await startEmbedded(directory, OPTIONS);
  try {
    await work(server);
  } finally {
    await server.stop();
  }
}

test("an empty directory becomes a durable UTF-8 database that sorts by code point", async () => {
  const settings = ["server_encoding", "fsync", "listen_addresses", "TimeZone"];
  const server = await startEmbedded(directory);
  const shown = settings.map((name) => `current_setting('${name}')`).join(" || ',' || ");
  const rows = await query(server.url, `select ${shown} as all, 'Z' < 'a' as sorted, upper('é') as upper`);
  expect(rows).toEqual([{ all: "UTF8,on,127.0.0.1,UTC", sorted: true, upper: "É" }]);
  await server.stop();
});

test("processes that start at once share one server, which lives until the last of them leaves", async () => {
  const users = await Promise.all([startUser(), startUser(), startUser()]);
  const [first, second, third] = users;
  expect(new Set(users.map(({ url }) => url)).size).toBe(1);
  await Promise.all([first.leave(), second.leave()]);
  expect(await query(third.url, "select 1 as one")).toEqual([{ one: 1 }]);
  await third.leave();
  expect(await postmaster()).toBeNull();
});

test("leftovers of a killed initdb are removed and not used", async () => {
  const impossiblePid = 2 ** 22 + 1;
  await mkdir(path.join(directory, `postgres.new-${impossiblePid}-abc`, "data"), { recursive: true });
  await withServer(async () => expect(await readdir(directory)).toEqual(["postgres"]));
});

describe("an existing cluster", () => {
  beforeEach(() => promisify(execFile)("cp", ["-a", path.join(made, "postgres"), directory]));

  test("its server runs as another user than root, and local users can neither connect without the password nor read it", async () => {
    await withServer(async (server) => {
      const wrong = Object.assign(new URL(server.url), { password: "guess" });
      await expect(query(wrong.href, "select 1")).rejects.toMatchObject({ code: "28P01" });
      const home = path.join(directory, "postgres");
      expect((await stat(home)).mode & 0o077).toBe(0);
      expect((await stat(path.join(home, "password"))).mode & 0o077).toBe(0);
      // A later start may run as that user.
      const owners = (await readdir(home)).map(async (name) => (await stat(path.join(home, name))).uid);
      expect(new Set(await Promise.all(owners))).toEqual(new Set([(await stat(home)).uid]));
      if (process.platform !== "linux") return;
      const status = await readFile(`/proc/${await postmaster()}/status`, "utf8");
      expect(Number(/^Uid:\s+(\d+)/m.exec(status)?.[1])).toBeGreaterThan(0);
    });

    // A cluster of another version is refused with both versions.
    const file = path.join(directory, "postgres/data/PG_VERSION");
    const current = (await readFile(file, "utf8")).trim();
    await writeFile(file, "12\n");
    await expect(startEmbedded(directory)).rejects.toThrow(
      new RegExp(`was made by PostgreSQL 12, but this version brings ${current}; .*SVC_DATA_DIR`),
    );
    await writeFile(file, `${current}\n`);
  });

  test("the last user stops the server, and the next start finds the data at the same address, even while it stops", async () => {
    const first = await startEmbedded(directory, OPTIONS);
    await query(first.url, "create table kept (id int)");
    await first.stop();
    await first.stop();
    expect(await postmaster()).toBeNull();
    const second = await startEmbedded(directory, OPTIONS);
    expect(second.url).toBe(first.url);
    const [, third] = await Promise.all([second.stop(), startEmbedded(directory, OPTIONS)]);
    expect(await query(third.url, "select count(*)::int as n from kept")).toEqual([{ n: 0 }]);
    await third.stop();
  });

  test("data that a copy or a volume has opened to others is closed to them again", async () => {
    const data = path.join(directory, "postgres/data");
    for (const mode of [0o755, 0o770]) {
      await chmod(data, mode);
      await withServer(async () => expect((await stat(data)).mode & 0o777).toBe(0o700));
    }
  });

  test("a file of the port that has none is replaced, and one that cannot be read is named with what to do", async () => {
    const file = path.join(directory, "postgres/port");
    await writeFile(file, "none\n");
    await withServer(async ({ url }) => expect(await readFile(file, "utf8")).toBe(`${new URL(url).port}\n`));
    await rm(file);
    await mkdir(file);
    await expect(startEmbedded(directory, OPTIONS)).rejects.toThrow(
      new SetupError(
        `cannot read ${file} (EISDIR); start as the user that made it, or remove it: the next start makes it again`,
      ),
    );
  });

  test("an empty postmaster.pid, as a crash during a start leaves it, is named with what to do", async () => {
    const file = path.join(directory, "postgres/data/postmaster.pid");
    await writeFile(file, "");
    const data = path.dirname(file);
    await expect(startEmbedded(directory, OPTIONS)).rejects.toThrow(
      new SetupError(
        `PostgreSQL did not start in ${data}: pg_ctl: the PID file "${file}" is empty; ` +
          `a former start was interrupted: if no PostgreSQL runs there, remove ${file}, and start again`,
      ),
    );
    await rm(file);
  });

  test("a server that was started and cannot be used is stopped again", async () => {
    const home = path.join(directory, "postgres");
    for (const password of ["of another cluster\n", ""]) {
      await writeFile(path.join(home, "password"), password);
      await expect(startEmbedded(directory, OPTIONS)).rejects.toThrow(
        new SetupError(
          `PostgreSQL in ${home}/data refuses the password in ${home}/password; ` +
            "restore that file as it was with this data, or write the password of the user svc into it",
        ),
      );
      expect(await postmaster()).toBeNull();
    }
  });

  test("a killed process leaves its server running, and the next one adopts it", async () => {
    const { child, url } = await startUser();
    const pid = await postmaster();
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(await postmaster()).toBe(pid);
    await withServer(async (server) => {
      expect(server.url).toBe(url);
      expect(await postmaster()).toBe(pid);
    });
    expect(await postmaster()).toBeNull();
  });

  test("a server that crashed with its process starts again with what it had committed", async () => {
    const { child, url } = await startUser();
    await query(url, "create table kept (id int)");
    child.kill("SIGKILL");
    await once(child, "exit");
    process.kill((await postmaster())!, "SIGKILL");
    await withServer(async (server) => {
      expect(await query(server.url, "select count(*)::int as n from kept")).toEqual([{ n: 0 }]);
    });
  });

  test("a server that crashed starts again although its process id is that of another process", async () => {
    const { child } = await startUser();
    child.kill("SIGKILL");
    await once(child, "exit");
    process.kill((await postmaster())!, "SIGKILL");
    const file = path.join(directory, "postgres/data/postmaster.pid");
    await vi.waitUntil(async () => (await postmaster()) === null);
    await writeFile(file, (await readFile(file, "utf8")).replace(/^\d+/, String(process.pid)));
    await withServer(async (server) => expect(await query(server.url, "select 1 as n")).toEqual([{ n: 1 }]));
  });

  test("a copy of a directory in use has a server of its own", async () => {
    const copy = await temporaryDirectory();
    onTestFinished(async () => {
      await endServer(copy);
      await rm(copy, { recursive: true, force: true });
    });
    await withServer(async (server) => {
      await promisify(execFile)("cp", ["-a", `${directory}/.`, copy]);
      const other = await startEmbedded(copy, OPTIONS);
      await query(other.url, "create table of_the_copy (id int)");
      const there = "select to_regclass('of_the_copy') is not null as there";
      expect(await query(server.url, there)).toEqual([{ there: false }]);
      await other.stop();
      expect(await query(server.url, there)).toEqual([{ there: false }]);
    });
  });

  test("a server that dies while in use is started again, once a running statement has ended", async () => {
    const lost = vi.fn();
    const server = await startEmbedded(directory, { ...OPTIONS, onServerLost: lost });
    const before = await postmaster();
    // It computes without waiting, so its process does not notice that the server is gone.
    const working = query(server.url, "select sum(i) from (select generate_series(1, 20000000) as i) as numbers").then(
      () => "ended",
      () => "ended",
    );
    const atWork = "select from pg_stat_activity where query like '%as numbers' and pid <> pg_backend_pid()";
    await vi.waitFor(async () => expect(await query(server.url, atWork)).toHaveLength(1));

    process.kill(before!, "SIGKILL");

    expect(await working).toBe("ended");
    await vi.waitFor(() => query(server.url, "select"), { timeout: 30_000 });
    expect(await postmaster()).not.toBe(before);
    expect(lost).not.toHaveBeenCalled();
    await server.stop();
    expect(await postmaster()).toBeNull();
  });
});

test.runIf(AS_ROOT)("a data directory below an inaccessible one is refused with the variable to set", async () => {
  const closed = path.join(directory, "closed");
  await mkdir(closed, { mode: 0o700 });
  await expect(startEmbedded(path.join(closed, "data"))).rejects.toThrow(
    /cannot enter .*closed\/data; set SVC_DATA_DIR/,
  );
});
