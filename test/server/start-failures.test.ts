import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { once } from "node:events";
import { readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { createDatabase, useDatabase, createEmptyDatabase } from "../support/database.js";
import { isCluster } from "../support/is-cluster.js";
import { listen } from "../support/listen.js";
import { temporaryDirectory } from "../support/server.js";
import { refused, type Run, runServer } from "./support/run-server.js";

const PROGRAM = fileURLToPath(new URL("../../bin/svc-server.js", import.meta.url));

const db = await useDatabase();
const url = new URL(db.url);

/** Runs `svc-server start`, by default of HTTP only, until it ends by itself. */
async function start(env: Record<string, string>, role = "http"): Promise<Run> {
  const given = { PATH: process.env["PATH"], SVC_PORT: "0", SVC_SECRET: "x".repeat(32), LOG_LEVEL: "error", ...env };
  const child = execFile(process.execPath, [PROGRAM, "start", "--role", role], { env: given });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout!), text(child.stderr!), once(child, "close")]);
  return { code: code as number, stdout, stderr };
}

/** Accesses the database like a start, in this process. */
const migrate = ({ DATABASE_URL, ...env }: Record<string, string>) => runServer(DATABASE_URL, ["migrate"], env);

/** The database's URL with some parts replaced. */
function changed(parts: Partial<Pick<URL, "hostname" | "port" | "username" | "password" | "pathname">>): string {
  return Object.assign(new URL(db.url), parts).href;
}

it("a port in use is reported in one line with a fix, and with its stack at log level debug", async () => {
  const other = createServer();
  const { port } = new URL(await listen(other));
  onTestFinished(() => void other.close());
  const line = `cannot listen: another process listens on 127.0.0.1:${port}; end it, or set SVC_PORT to another port (0 takes a free one)`;
  const env = { DATABASE_URL: db.url, SVC_PORT: port };
  expect(await start(env)).toEqual(refused(line));
  const { stderr } = await start({ ...env, LOG_LEVEL: "debug" }, "all");
  expect(stderr).toContain(`svc-server: ${line}\nStartError: ${line}\n    at `);
  expect(stderr).toContain("Caused by: Error: listen EADDRINUSE");

  // Before an embedded database is created, which takes long and would be left behind.
  const SVC_DATA_DIR = await temporaryDirectory();
  onTestFinished(() => rm(SVC_DATA_DIR, { recursive: true }));
  expect(await start({ SVC_PORT: port, SVC_DATA_DIR })).toEqual(refused(line));
  expect(await readdir(SVC_DATA_DIR)).toEqual([]);
});

it("the folder in which a command is given does not matter, whatever its package.json has", async () => {
  const folder = await temporaryDirectory();
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(path.join(folder, "package.json"), "{broken");
  const env = {
    PATH: process.env["PATH"],
    DATABASE_URL: db.url,
    SVC_SECRET: "x".repeat(32),
    GRAPHILE_WORKER_SCHEMA: "mine",
  };
  const child = execFile(process.execPath, [PROGRAM, "migrate"], { cwd: folder, env });
  const [stderr, [code]] = await Promise.all([text(child.stderr!), once(child, "close")]);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(await db.sql`select from pg_namespace where nspname = 'mine'`).toHaveLength(0);
});

type Failure = [what: string, env: Record<string, string>, line: string | RegExp];
const failedWith = (line: string | RegExp): Run =>
  typeof line === "string" ? refused(line) : { code: 1, stdout: "", stderr: expect.stringMatching(line) as string };

it("an address that the machine does not have is reported in one line", async () => {
  const line = "cannot listen: 203.0.113.7 is not an address of this machine; correct SVC_HOST";
  expect(await start({ DATABASE_URL: db.url, SVC_HOST: "203.0.113.7" })).toEqual(refused(line));
});

it.each<Failure>([
  [
    "a database server that is not there",
    { DATABASE_URL: changed({ port: "1" }) },
    `nothing listens at ${url.hostname}:1 (ECONNREFUSED); start the database server, or correct DATABASE_URL`,
  ],
  [
    "a data directory that cannot be made",
    { SVC_DATA_DIR: "/dev/null/data" },
    /^svc-server: cannot create the data directory \/dev\/null\/data \(ENOTDIR.*\); set SVC_DATA_DIR to one that this user can write to\n$/,
  ],
  [
    "a data directory below one in which nobody can make any", // Linux has it and says ENOENT
    { SVC_DATA_DIR: "/proc/svc/data" },
    /^svc-server: cannot create the data directory \/proc\/svc\/data \(E[A-Z]+: .* '\/proc(\/svc)?'\); set SVC_DATA_DIR to one that this user can write to\n$/,
  ],
  [
    "a file of certificates that is not there",
    { DATABASE_URL: `${db.url}?sslmode=verify-full&sslrootcert=/nowhere/authority.pem` },
    "cannot read the file /nowhere/authority.pem that DATABASE_URL names (ENOENT); correct sslrootcert, sslcert or sslkey there",
  ],
  [
    "a file of certificates that is a directory",
    { DATABASE_URL: `${db.url}?sslmode=verify-full&sslrootcert=/tmp` },
    "cannot read a file that DATABASE_URL names (EISDIR); correct sslrootcert, sslcert or sslkey there",
  ],
  [
    "a database that is not there",
    { DATABASE_URL: changed({ pathname: "/nowhere" }) },
    `the database server at ${url.host} has no database nowhere; create it (createdb nowhere), or correct DATABASE_URL`,
  ],
  [
    "a data directory that cannot be written to", // nobody makes directories there, root neither
    { SVC_DATA_DIR: "/sys" },
    /^svc-server: cannot write to the data directory \/sys \(E[A-Z]+\); set SVC_DATA_DIR to one that this user can write to\n$/,
  ],
  [
    "an unknown setting in the address",
    { DATABASE_URL: `${db.url}?options=-c%20nonsense%3D1` },
    `the database server at ${url.host} does not accept the settings of this session (unrecognized configuration parameter "nonsense"); correct options in DATABASE_URL`,
  ],
  [
    "a setting in the address with an impossible value",
    { DATABASE_URL: `${db.url}?options=-c%20statement_timeout%3Dabc` },
    `the database server at ${url.host} does not accept the settings of this session (invalid value for parameter "statement_timeout": "abc"); correct options in DATABASE_URL`,
  ],
  [
    "the directory of a socket that is not there",
    { DATABASE_URL: "postgres:///svc?host=/nosock&port=6000" },
    "nothing listens at the socket /nosock/.s.PGSQL.6000 (ENOENT); start the database server, or correct DATABASE_URL",
  ],
  [
    "a server in the parameters of the address",
    { DATABASE_URL: "postgres:///svc?host=127.0.0.1&port=1" },
    "nothing listens at 127.0.0.1:1 (ECONNREFUSED); start the database server, or correct DATABASE_URL",
  ],
])("%s is reported in one line by every command that uses the database", async (_, env, line) => {
  expect(await migrate(env)).toEqual(failedWith(line));
  if (env["DATABASE_URL"] === undefined) return;
  expect(await runServer(env["DATABASE_URL"], ["doctor"])).toEqual(failedWith(line));
  expect(await runServer(env["DATABASE_URL"], ["plans", "list"])).toEqual(failedWith(line));
});

it.skipIf(isCluster)("a server without TLS is named as such by every command that uses the database", async () => {
  const DATABASE_URL = `${db.url}?sslmode=require`;
  expect(await migrate({ DATABASE_URL })).toEqual(
    refused(`the database server at ${url.host} does not support TLS; remove sslmode from DATABASE_URL`),
  );
  // Only the other driver says what the server answered.
  const line =
    `the database server at ${url.host} ends the connection as TLS begins (ECONNRESET); ` +
    "if it does not support TLS, remove sslmode from DATABASE_URL, else see that it runs";
  expect(await runServer(DATABASE_URL, ["doctor"])).toEqual(refused(line));
  expect(await runServer(DATABASE_URL, ["plans", "list"])).toEqual(refused(line));
});

// The nodes of a cluster trust each other without a password, and so also this process.
it.skipIf(isCluster)("a wrong password is reported in one line that does not contain it", async () => {
  const line =
    `the database server at ${url.host} refuses the password of the user ${url.username}; ` +
    "correct DATABASE_URL, or set the password: alter role … password '…'";
  expect(await migrate({ DATABASE_URL: changed({ password: "hunter2" }) })).toEqual(refused(line));
});

it("a user without permission to migrate is reported in one line", async () => {
  const empty = await createEmptyDatabase();
  onTestFinished(() => empty.drop());
  const user = `${empty.name}_guest`;
  await empty.sql.unsafe(`create role ${user} login password 'guest'`);
  onTestFinished(() => empty.sql.unsafe(`drop role ${user}`).then(() => undefined));
  const DATABASE_URL = changed({ pathname: `/${empty.name}`, username: user, password: "guest" });
  const { code, stderr } = await migrate({ DATABASE_URL });
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^svc-server: .*permission denied for database .*; start as the owner of the database, or .*\n$/,
  );
  expect(stderr).toContain(`alter database "${empty.name}" owner to "${user}"`);

  const migrated = await createDatabase();
  onTestFinished(() => migrated.drop());
  expect(
    await migrate({ DATABASE_URL: changed({ pathname: `/${migrated.name}`, username: user, password: "guest" }) }),
  ).toEqual(
    failedWith(
      new RegExp(
        `^svc-server: .*permission denied for .*; its objects belong to another user: name that one in DATABASE_URL, or run as that one: reassign owned by current_user to "${user}"; .*\n$`,
      ),
    ),
  );
});

it("a user's own limit of connections is named", async () => {
  const empty = await createEmptyDatabase();
  onTestFinished(() => empty.drop());
  const user = `${empty.name}_few`;
  await empty.sql.unsafe(`create role ${user} login password 'few' connection limit 0`);
  onTestFinished(() => empty.sql.unsafe(`drop role ${user}`).then(() => undefined));
  const line = new RegExp(
    `has no connections left \\(too many connections for role "${user}"\\); alter role "${user}" connection limit …, or end other clients\n$`,
  );
  expect(await migrate({ DATABASE_URL: changed({ username: user, password: "few" }) })).toEqual(failedWith(line));
  // One connection holds the lock; the job queue's migration needs another.
  await empty.sql.unsafe(`alter role ${user} connection limit 1; alter database ${empty.name} owner to ${user}`);
  expect(
    await migrate({ DATABASE_URL: changed({ pathname: `/${empty.name}`, username: user, password: "few" }) }),
  ).toEqual(
    failedWith(new RegExp(`too many connections for role .*; alter role "${user}" connection limit …, or end `)),
  );
  await empty.sql.unsafe(`alter database ${empty.name} owner to current_user; drop owned by ${user}`);
});

it("schemas of another application are named before anything is created", async () => {
  const other = await createEmptyDatabase();
  onTestFinished(() => other.drop());
  const [{ user }] = await other.sql<[{ user: string }]>`select current_user as user`;
  await other.sql`create schema svc`;
  await other.sql`create table svc.orders (id integer)`;
  const line = `another application has schemas in this database that the service needs for itself: svc of ${user}; name another database`;
  expect(await migrate({ DATABASE_URL: other.url })).toEqual(refused(line));
  // By a user who may not look into them.
  const owner = `${other.name}_owner`;
  await other.sql.unsafe(`create role ${owner} login password 'x'; alter database ${other.name} owner to ${owner}`);
  await other.sql`create schema graphile_migrate`;
  await other.sql`create table graphile_migrate.migrations (hash text, filename text)`;
  const DATABASE_URL = changed({ pathname: `/${other.name}`, username: owner, password: "x" });
  expect(await migrate({ DATABASE_URL })).toEqual(refused(line.replace(": svc", `: graphile_migrate of ${user}, svc`)));
  expect(await other.sql`select from pg_namespace where nspname ~ '^(svc_|iam|graphile_worker)'`).toHaveLength(0);
  await other.sql.unsafe(`alter database ${other.name} owner to current_user; drop role ${owner}`);
});

it("a database newer than the program is reported in one line", async () => {
  const newer = await createDatabase();
  onTestFinished(() => newer.drop());
  await newer.sql`
    insert into graphile_migrate.migrations (hash, previous_hash, filename)
    select 'sha1:0', hash, '999999.sql' from graphile_migrate.migrations order by filename desc limit 1`;
  const line =
    /^svc-server: the database is newer than this program: it has migration 999999\.sql, .*; install the version that made it, or a later one\n$/;
  expect(await migrate({ DATABASE_URL: newer.url })).toEqual(failedWith(line));

  // After a failed start, signals end the process again.
  const listeners = () => process.listenerCount("SIGTERM") + process.listenerCount("SIGINT");
  const before = listeners();
  expect(await runServer(newer.url, ["start", "--role", "http"], { SVC_PORT: "0" })).toEqual(failedWith(line));
  expect(listeners()).toBe(before);
});

/** The address of a database of its own as a new superuser; `of` are the ways to give the user's sessions a default. */
async function useDefaults() {
  const database = await createDatabase();
  onTestFinished(() => database.drop());
  const { name, url, sql } = database;
  const user = `${name}_user`;
  await sql.unsafe(`create role ${user} login superuser password 'user'`);
  onTestFinished(() => sql.unsafe(`drop role ${user}`).then(() => undefined));
  const { href } = Object.assign(new URL(url), { username: user, password: "user" });
  return { sql, DATABASE_URL: href, of: [`database ${name}`, `role ${user}`, `role ${user} in database ${name}`] };
}

it("a read-only database is reported in one line, even if nothing is to be migrated, with the setting to change", async () => {
  const { sql, DATABASE_URL, of } = await useDefaults();
  for (const each of of) {
    await sql.unsafe(`alter ${each} set default_transaction_read_only = on`);
    const line =
      "the database is read-only, because default_transaction_read_only is on; name another one in DATABASE_URL, or set it off: " +
      `alter ${each} set default_transaction_read_only = off`;
    expect(await migrate({ DATABASE_URL })).toEqual(refused(line));
  }
  const inAddress = Object.assign(new URL(DATABASE_URL), {
    search: "?options=-c%20default_transaction_read_only%3Don",
  });
  expect(await migrate({ DATABASE_URL: inAddress.href })).toEqual(
    refused(
      "the database is read-only, because default_transaction_read_only is on; name another one in DATABASE_URL, or remove it from options in DATABASE_URL",
    ),
  );
});

it("a setting that switches foreign keys and triggers off is reported in one line, with the statement that corrects it", async () => {
  const { sql, DATABASE_URL, of } = await useDefaults();
  for (const each of of) {
    await sql.unsafe(`alter ${each} set session_replication_role = replica`);
    const statement = `alter ${each} set session_replication_role = origin`;
    const line = `the database checks no foreign keys and runs no triggers, because session_replication_role is replica; as a superuser: ${statement}`;
    expect(await migrate({ DATABASE_URL })).toEqual(refused(line));
    await sql.unsafe(statement);
    expect((await migrate({ DATABASE_URL })).code).toBe(0);
  }
  const inAddress = Object.assign(new URL(DATABASE_URL), {
    search: "?options=-c%20session_replication_role%3Dreplica",
  });
  expect(await migrate({ DATABASE_URL: inAddress.href })).toEqual(
    refused(
      "the database checks no foreign keys and runs no triggers, because session_replication_role is replica; remove it from options in DATABASE_URL",
    ),
  );
});
