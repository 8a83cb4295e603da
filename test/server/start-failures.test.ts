import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { createDatabase, createEmptyDatabase, type TestDatabase } from "../support/database.js";

const PROGRAM = fileURLToPath(new URL("../../bin/svc-server.js", import.meta.url));

let db: TestDatabase;
let url: URL;
beforeAll(async () => {
  db = await createDatabase();
  url = new URL(db.url);
});
afterAll(() => db.drop());

/** The exit code of `svc-server start`, and what it wrote to standard error. */
async function start(env: Record<string, string>): Promise<{ code: number | null; stderr: string }> {
  const given = { PATH: process.env["PATH"], SVC_PORT: "0", SVC_SECRET: "x".repeat(32), LOG_LEVEL: "error", ...env };
  const child = execFile(process.execPath, [PROGRAM, "start"], { env: given });
  let stderr = "";
  child.stderr!.on("data", (chunk: string) => (stderr += chunk));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stderr };
}

/** The database's URL with other parts. */
function changed(parts: Partial<Pick<URL, "hostname" | "port" | "username" | "password" | "pathname">>): string {
  return Object.assign(new URL(db.url), parts).href;
}

const refused = (line: string) => ({ code: 1, stderr: `svc-server: ${line}\n` });

it("a port that is taken is one line with what to do, and its stack where the log is told to say more", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void other.close());
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const line = `cannot listen: another process listens on 127.0.0.1:${port}; end it, or set SVC_PORT to another port (0 takes a free one)`;
  const env = { DATABASE_URL: db.url, SVC_PORT: String(port) };
  expect(await start(env)).toEqual(refused(line));
  const { stderr } = await start({ ...env, LOG_LEVEL: "debug" });
  expect(stderr).toContain(`svc-server: ${line}\nStartError: ${line}\n    at `);
  expect(stderr).toContain("Caused by: Error: listen EADDRINUSE");
});

it("an address that the machine has not is one line", async () => {
  expect(await start({ DATABASE_URL: db.url, SVC_HOST: "203.0.113.7" })).toEqual(
    refused("cannot listen: 203.0.113.7 is no address of this machine; correct SVC_HOST"),
  );
});

it("a database server that is not there is one line", async () => {
  expect(await start({ DATABASE_URL: changed({ port: "1" }) })).toEqual(
    refused(`nothing listens at ${url.hostname}:1 (ECONNREFUSED); start the database server, or correct DATABASE_URL`),
  );
});

it.each([
  ["is not there", "/nowhere/authority.pem", "the file /nowhere/authority.pem", "ENOENT"],
  ["is a directory", "/tmp", "a file", "EISDIR"],
])("a file of certificates that %s is one line", async (_, given, file, code) => {
  const DATABASE_URL = `${db.url}?sslmode=verify-full&sslrootcert=${given}`;
  expect(await start({ DATABASE_URL })).toEqual(
    refused(`cannot read ${file} that DATABASE_URL names (${code}); correct sslrootcert, sslcert or sslkey there`),
  );
});

it("a database that is not there is one line", async () => {
  expect(await start({ DATABASE_URL: changed({ pathname: "/nowhere" }) })).toEqual(
    refused(
      `the database server at ${url.host} has no database nowhere; create it (createdb nowhere), or correct DATABASE_URL`,
    ),
  );
});

it("a wrong password is one line, without the password", async () => {
  const { code, stderr } = await start({ DATABASE_URL: changed({ password: "hunter2" }) });
  expect({ code, stderr }).toEqual(
    refused(
      `the database server at ${url.host} refuses the password of the user ${url.username}; ` +
        "correct DATABASE_URL, or set the password: alter role … password '…'",
    ),
  );
});

it("a user that may not migrate is one line", async () => {
  const empty = await createEmptyDatabase();
  onTestFinished(() => empty.drop());
  const user = `${empty.name}_guest`;
  await empty.sql.unsafe(`create role ${user} login password 'guest'`);
  onTestFinished(() => empty.sql.unsafe(`drop role ${user}`).then(() => undefined));
  const { code, stderr } = await start({
    DATABASE_URL: changed({ pathname: `/${empty.name}`, username: user, password: "guest" }),
  });
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^svc-server: .*permission denied for database .*; start as the owner of the database, or .*\n$/,
  );
  expect(stderr).toContain(`alter database "${empty.name}" owner to "${user}"`);
});

it("a database that is newer than the program is one line", async () => {
  const newer = await createDatabase();
  onTestFinished(() => newer.drop());
  await newer.sql`
    insert into graphile_migrate.migrations (hash, previous_hash, filename)
    select 'sha1:0', hash, '999999.sql' from graphile_migrate.migrations order by filename desc limit 1`;
  const { code, stderr } = await start({ DATABASE_URL: newer.url });
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^svc-server: the database is newer than this program: it has migration 999999\.sql, .*; install the version that made it, or a later one\n$/,
  );
});

it("a database that is read-only is one line, also where nothing is to migrate", async () => {
  const readonly = await createDatabase();
  onTestFinished(() => readonly.drop());
  await readonly.sql.unsafe(`alter database ${readonly.name} set default_transaction_read_only = on`);
  expect(await start({ DATABASE_URL: readonly.url })).toEqual(
    refused(
      "the database is read-only, because default_transaction_read_only is on; name another one in DATABASE_URL, or set it off " +
        "for this one: alter database … set default_transaction_read_only = off",
    ),
  );
});

it("a data directory that cannot be made is one line", async () => {
  const { code, stderr } = await start({ SVC_DATA_DIR: "/dev/null/data" });
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^svc-server: cannot create the data directory \/dev\/null\/data \(ENOTDIR.*\); set SVC_DATA_DIR to one that this user can write to\n$/,
  );
});

it("a data directory that cannot be written to is one line", async () => {
  // Nobody makes directories there, root neither.
  expect(await start({ SVC_DATA_DIR: "/sys" })).toEqual({
    code: 1,
    stderr: expect.stringMatching(
      /^svc-server: cannot write to the data directory \/sys \(E[A-Z]+\); set SVC_DATA_DIR to one that this user can write to\n$/,
    ) as string,
  });
});
