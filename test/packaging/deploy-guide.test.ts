import { parseYaml } from "@redocly/openapi-core";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { readConfig } from "../../src/server/config.js";
import { createDatabase } from "../support/database.js";
import { docBlocks } from "../support/doc-blocks.js";

// The parts of docs/deploy.md that need a machine: containers and systemd do not run here, but names must exist and settings be understood.

const ROOT = path.resolve(import.meta.dirname, "../..");
const TEST = "test/packaging/deploy-guide.test.ts";
const guide = readFileSync(path.join(ROOT, "docs/deploy.md"), "utf8");
const blocks = docBlocks(guide).filter(({ heldBy }) => heldBy.includes(TEST));
const blockWith = (text: string) => blocks.find(({ code }) => code.includes(text))!.code;

test("it has exactly these blocks", () => {
  expect(blocks.map(({ code }) => code.split("\n")[0])).toEqual([
    "create role svc login createrole password '…';",
    "docker compose up --build --detach",
    "systemctl enable --now svc-http@4400 svc-http@4401 svc-worker@1 svc-worker@2",
    "DATABASE_URL='postgres://svc:…@127.0.0.1:5432/svc'",
    "apt-get install pgbouncer",
  ]);
});

test("its statements create a user and a database that the user owns", async () => {
  const db = await createDatabase();
  const { sql } = db;
  const name = `svc_guide_${randomBytes(6).toString("hex")}`;
  try {
    const statements = blockWith("create role").replaceAll("svc", name).trim().split("\n");
    for (const statement of statements) await sql.unsafe(statement);
    const [row] = await sql`
      select r.rolcanlogin, r.rolcreaterole, pg_encoding_to_char(d.encoding) as encoding
      from pg_database as d join pg_roles as r on r.oid = d.datdba where d.datname = ${name}`;
    expect(row).toEqual({ rolcanlogin: true, rolcreaterole: true, encoding: "UTF8" });
  } finally {
    await sql.unsafe(`drop database if exists ${name}`);
    await sql.unsafe(`drop role if exists ${name}`);
    await db.drop();
  }
});

test("its containers are services of compose.yaml, and svc-server knows their options", async () => {
  const { services } = parseYaml(readFileSync(path.join(ROOT, "compose.yaml"), "utf8")) as { services: object };
  const [, service, command] = /^docker compose run --rm (\S+) (.+)$/m.exec(blockWith("docker"))!;
  expect(Object.keys(services)).toContain(service);
  const [verb, ...options] = command!.split(" ");
  const program = path.join(ROOT, "bin/svc-server.js");
  const { stdout } = await promisify(execFile)(process.execPath, [program, verb!, "--help"]);
  for (const option of options.filter((word) => word.startsWith("--"))) expect(stdout).toContain(option);
});

test("an instance for HTTP listens on the port in its name, whatever the file of variables says", async () => {
  const unit = readFileSync(path.join(ROOT, "deploy/systemd/svc-http@.service"), "utf8");
  const [program, ...argv] = /^ExecStart=(.*)\/usr\/bin\/node /m
    .exec(unit)![1]!
    .replaceAll("%i", "4401")
    .trim()
    .split(" ");
  // EnvironmentFile= takes precedence over Environment=.
  const env = { PATH: process.env["PATH"], SVC_PORT: "4400" };
  const { stdout } = await promisify(execFile)(program!, [...argv, "/bin/sh", "-c", "echo $SVC_PORT"], { env });
  expect(stdout).toBe("4401\n");
});

test("its units exist", () => {
  const units = [...blockWith("systemctl enable").matchAll(/ (svc-\w+@)\w+/g)].map(([, unit]) => unit!);
  expect(units).toHaveLength(4);
  expect(units.filter((unit) => !existsSync(path.join(ROOT, `deploy/systemd/${unit}.service`)))).toEqual([]);
});

test("its variables are those of the service", () => {
  const lines = blockWith("SVC_POOLER_URL").trim().split("\n");
  const env = Object.fromEntries(
    lines.map((line) => line.replaceAll("…", "x").replaceAll("'", "").split(/=(.*)/).slice(0, 2)),
  ) as object;
  const { config } = readConfig({ ...env, SVC_SECRET: "of a test of the guide, long enough" });
  expect(config).toMatchObject({
    databaseUrl: env["DATABASE_URL" as never],
    poolerUrl: env["SVC_POOLER_URL" as never],
  });
});

test("a shell reads its addresses as they are, whatever is in them", async () => {
  const own = /^With your own server, add `(DATABASE_URL=.*?)`/m.exec(guide)![1]!;
  const addresses = [own, ...blockWith("SVC_POOLER_URL").trim().split("\n")].map((line) =>
    line.replace("…", "a$b&c;d"),
  );
  expect(addresses).toHaveLength(3);
  for (const address of addresses) {
    const [, name, value] = /^(\w+)='(.*)'$/.exec(address) ?? /^(\w+)=(.*)$/.exec(address)!;
    const { stdout } = await promisify(execFile)("/bin/sh", ["-c", `set -a\n${address}\nprintenv ${name}`]);
    expect(stdout).toBe(`${value}\n`);
  }
});

test("the units, the image and npm start use the same Node.js option, which it names", () => {
  const textOf = (file: string) => readFileSync(path.join(ROOT, file), "utf8");
  const { scripts } = JSON.parse(textOf("package.json")) as { scripts: { start: string } };
  const [, option] = /^node (--\S+) bin/.exec(scripts.start)!;
  expect(textOf("docs/deploy.md")).toContain(`\`npm start\` start Node.js with \`${option}\``);
  for (const file of ["deploy/systemd/svc-.service.d/common.conf", "Dockerfile"])
    expect(/\bNODE_OPTIONS=(.*)/.exec(textOf(file))?.[1], file).toBe(option);
});

test("its commands for PgBouncer are valid bash, and use existing files", async () => {
  const code = blockWith("apt-get install pgbouncer");
  await promisify(execFile)("bash", ["-n", "-c", code]);
  const files = [...code.matchAll(/\s(deploy\/\S+)/g)].map(([, file]) => file!);
  expect(files).toEqual(["deploy/pgbouncer.ini"]);
  const [, users] = /^auth_file = (\S+)$/m.exec(readFileSync(path.join(ROOT, files[0]!), "utf8"))!;
  expect(code).toContain(users);
});
