import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { keepLog } from "../support/run-log.js";
import { temporaryDirectory } from "../support/server.js";
import { bash, blocksOf, type Block } from "./support/guide.js";
import { pack, type Packed } from "./support/package.js";

// The package as others get it: packed, installed by docs/deploy.md in a directory that holds nothing else, and run there on the embedded PostgreSQL.

const ROOT = path.resolve(import.meta.dirname, "../..");
let directory: string;
let packed: Packed;

beforeAll(async () => {
  directory = await temporaryDirectory();
  packed = await pack(directory);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

test("the package has what is read at run time, as it stands in the project", async () => {
  for (const folder of ["bin", "deploy", "docs", "migrations", "sql", "starter", "src/dsl", "src/model"]) {
    const names = await readdir(path.join(ROOT, folder), { recursive: true, withFileTypes: true });
    const files = names.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
    const here = files.map((file) => path.relative(ROOT, file)).toSorted();
    expect(packed.files.filter((file) => file.startsWith(`${folder}/`))).toEqual(here);
  }
});

test("the package has nothing that nobody needs to run it", () => {
  const folders = new Set(packed.files.map((file) => file.split("/")[0]));
  const alone = ["CHANGELOG.md", "LICENSE", "README.md", "package.json"];
  expect([...folders].toSorted()).toEqual(
    [...alone, "bin", "deploy", "dist", "docs", "migrations", "sql", "src", "starter"].toSorted(),
  );
  expect(packed.files.filter((file) => /\.map$|\.test\.ts$|\.built|\.partial$/.test(file))).toEqual([]);
  expect(packed.bytes).toBeLessThan(3_000_000);
});

test("it installs as the guide says, and leads from the start of the service to a customer", async () => {
  const [install, settings, units, ready, bootstrap, ...more] = blocksOf("test/packaging/package.test.ts");
  expect(more).toEqual([]);
  const { version } = JSON.parse(await readFile(path.join(ROOT, "package.json"), "utf8")) as { version: string };
  expect(path.basename(packed.file)).toBe(`svc-${version}.tgz`);
  expect(install!.code).toContain(`./svc-${version}.tgz`);
  // An empty directory stands for the machine, and its owner for all users there.
  const machine = path.join(directory, "machine");
  const here = (words: string) => words.replaceAll(/(?<=[\s=])\/(etc|opt|var)\//g, `${machine}/$1/`);
  for (const made of ["etc/systemd/system", "opt", "var/lib/svc"])
    await mkdir(path.join(machine, made), { recursive: true });
  const users = 'useradd() { :; }; systemctl() { :; }; runuser() { shift 3; "$@"; }';
  const env = {
    PATH: process.env["PATH"],
    HOME: process.env["HOME"],
    // Whom the machine trusts, where npm asks its registry.
    NODE_EXTRA_CA_CERTS: process.env["NODE_EXTRA_CA_CERTS"],
    npm_config_prefer_offline: "true",
  };
  const type = ({ code }: Block) => bash(`${users}\n${here(code)}`, directory, env);
  for (const block of [install!, settings!, units!]) await type(block);

  const { command, variables } = await unitOf(path.join(machine, "etc/systemd/system"), here);
  const [program, ...argv] = command;
  const server = spawn(program!, argv, {
    cwd: variables["SVC_DATA_DIR"],
    env: { PATH: process.env["PATH"], ...variables, SVC_PORT: "0" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  keepLog(server.stderr, `packaged-${server.pid}`);
  const ended = once(server, "exit");
  try {
    const url = await listening(server.stdout);
    expect(await type({ ...ready!, code: ready!.code.replace("http://127.0.0.1:4400", url) })).toBe(ready!.answer);
    expect(await (await fetch(`${url}/docs/operations/upgrade`)).text()).toContain("<h1");
    await walk(url, await type(bootstrap!), path.join(machine, "opt/svc/node_modules/.bin"));
    server.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
  } finally {
    server.kill("SIGTERM"); // its embedded PostgreSQL ends with it
    await ended;
  }
}, 180_000);

/** What systemd runs as svc-all, and with which variables. */
async function unitOf(units: string, here: (words: string) => string) {
  const unit = await readFile(path.join(units, "svc-all.service"), "utf8");
  const common = await readFile(path.join(units, "svc-.service.d/common.conf"), "utf8");
  const [, command] = /^ExecStart=(.*)$/m.exec(here(unit))!;
  const [, inUnit] = /^Environment=(.*)$/m.exec(here(common))!;
  const [, file] = /^EnvironmentFile=(.*)$/m.exec(here(common))!;
  const said = (await readFile(file!, "utf8")).trim().split("\n");
  const variables = [...inUnit!.split(" "), ...said].map((line) => /^(\w+)=(.*)$/.exec(line)!.slice(1, 3));
  return {
    command: command!.replace("/usr/bin/node", process.execPath).split(" "),
    variables: Object.fromEntries(variables) as Record<string, string>,
  };
}

/** From what bootstrap printed to a customer's state, by the commands in `bin`. */
async function walk(url: string, printed: string, bin: string): Promise<void> {
  const env = {
    PATH: `${bin}:${path.dirname(process.execPath)}:${process.env["PATH"]}`,
    HOME: directory,
    SVC_API_URL: url,
    ...Object.fromEntries([...printed.matchAll(/^export (\w+)=(\S+)$/gm)].map(([, name, value]) => [name!, value!])),
  };
  const project = JSON.parse(
    await bash(
      "svc init --directory elsewhere/shop --slug shop --stack node --yes --json",
      path.dirname(path.dirname(bin)),
      env,
    ),
  ) as { keys: { test: string }; directory: string };
  const run = (line: string, added = {}) => bash(line, project.directory, { ...env, ...added });
  expect(await run("svc validate --strict")).toContain("The model is valid");
  expect(await run("svc deploy --yes")).toContain("Deployed v1 to test of shop");
  // What an editor sees of the language are the declarations of the package, and those of the client, for code that is checked by the types
  // of what was deployed.
  await run("svc types --output model/svc-types.ts");
  await writeFile(
    path.join(project.directory, "model/sender.ts"),
    `import { createClient } from "svc/client";
     import type { Schema } from "./svc-types.js";
     const client = createClient<Schema>({ url: "https://svc.example.com", apiKey: "svc_test_x" });
     client.track({ customerId: "c", event: "signed_up", properties: { source: "website" } });
     // @ts-expect-error there is no event of that name
     client.track({ customerId: "c", event: "signed_down" });`,
  );
  await run("tsc --noEmit --project .");
  await run("node instrumentation/track.mjs", { SVC_API_KEY: project.keys.test });
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
