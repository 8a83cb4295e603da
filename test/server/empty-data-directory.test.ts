import { readdir, rm } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { temporaryDirectory } from "../support/server.js";
import { refused, runServer } from "./support/run-server.js";

// The operator's commands without DATABASE_URL, in a directory without a database. `svc-server doctor`: doctor.test.ts.

let directory: string, dataDir: string;
beforeEach(async () => {
  directory = await temporaryDirectory();
  dataDir = path.join(directory, "data");
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const run = (command: string, env: Readonly<Record<string, string>> = {}) =>
  runServer(undefined, command.split(" "), { SVC_DATA_DIR: dataDir, ...env });

const ENVIRONMENT = "--organization acme --project shop --env live";

it.each([
  "plans list",
  "plans show standard",
  "plans set small --rate-per-second 100 --rate-burst 1000",
  "plans assign acme standard",
  "plans remove small",
  "users list",
  "users link --email ada@example.com",
  "users sign-in --email ada@example.com",
  "tokens list --organization acme",
  "tokens create --organization acme --label CI",
  "tokens revoke tok_1",
  `environments export ${ENVIRONMENT} --output shop.export`,
  "environments import shop.export --organization acme --project shop",
  `environments unfreeze ${ENVIRONMENT}`,
  `environments delete ${ENVIRONMENT}`,
  "packs list",
  "packs up citus",
  "packs down citus",
])("svc-server %s makes no database, and nothing else", async (command) => {
  const line = `there is no database in ${dataDir}; set SVC_DATA_DIR to the data directory of the service, or DATABASE_URL to its database`;
  expect(await run(command)).toEqual(refused(line));
  expect(await readdir(directory)).toEqual([]);
});

it("svc-server bootstrap makes a database, says so and where, and does not repeat that; variables that tell PostgreSQL's clients of other servers do not disturb it", async () => {
  const elsewhere = {
    PGSSLMODE: "require",
    PGSSLNEGOTIATION: "direct",
    PGOPTIONS: "-c work_mem=1",
    PGTARGETSESSIONATTRS: "standby",
    PGPORT: "1",
  };
  const made = `svc-server: a new embedded database was made in ${dataDir}, because DATABASE_URL is not set\n`;
  const bootstrap = "bootstrap --organization acme --email ada@example.com --json";
  expect(await run(bootstrap, elsewhere)).toMatchObject({ code: 0, stderr: made });
  expect(await run(bootstrap, elsewhere)).toMatchObject({ code: 0, stderr: "" });
});
