import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, rm } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { keepLog } from "../support/run-log.js";
import { temporaryDirectory } from "../support/server.js";
import { install, pack, type Packed } from "./support/package.js";

// The package as others get it: packed, installed in a directory that holds nothing else, and run there on the embedded PostgreSQL.

const ROOT = path.resolve(import.meta.dirname, "../..");
let directory: string;
let packed: Packed;

beforeAll(async () => {
  directory = await temporaryDirectory();
  packed = await pack(directory);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

test("the package has what is read at run time, as it stands in the project", async () => {
  for (const folder of ["bin", "deploy", "docs", "migrations", "sql", "starter", "src/dsl", "src/snapshot"]) {
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

test("it installs in an empty directory, and leads from the start of the service to a customer", async () => {
  const bin = await install(packed, path.join(directory, "elsewhere"));
  const work = path.join(directory, "elsewhere", "work");
  await mkdir(work, { mode: 0o711 });
  const env = {
    PATH: `${bin}:${path.dirname(process.execPath)}:${process.env["PATH"]}`,
    HOME: work,
    SVC_DATA_DIR: path.join(work, "data"),
    SVC_PORT: "0",
  };
  const server = spawn("svc-server", ["start"], { cwd: work, env, stdio: ["ignore", "pipe", "pipe"] });
  keepLog(server.stderr, `packaged-${server.pid}`);
  const ended = once(server, "exit");
  try {
    const url = await listening(server.stdout);
    expect(await ready(url)).toEqual({ status: "ok" });
    expect(await page(`${url}/docs/operations/upgrade`)).toContain("<h1");

    const { organizationId, accessToken } = JSON.parse(
      await run("svc-server", ["bootstrap", "--organization", "acme", "--email", "ada@example.com", "--json"]),
    ) as { organizationId: string; accessToken: string };
    const headless = { SVC_API_URL: url, SVC_ORGANIZATION: organizationId, SVC_ACCESS_TOKEN: accessToken };
    const project = JSON.parse(
      await run(
        "svc",
        ["init", "--directory", "shop", "--slug", "shop", "--stack", "node", "--yes", "--json"],
        headless,
      ),
    ) as { keys: { test: string }; directory: string };
    const shop = project.directory;
    expect(await run("svc", ["validate", "--strict"], headless, shop)).toContain("The model is valid");
    // What an editor sees of the language are the declarations of the package.
    await run("tsc", ["--noEmit", "--project", "."], {}, shop);
    expect(await run("svc", ["deploy", "--yes"], headless, shop)).toContain("Deployed v1 to test of shop");

    const keyed = { ...headless, SVC_API_KEY: project.keys.test };
    await run("node", ["instrumentation/track.mjs"], keyed, shop);
    await vi.waitFor(
      async () =>
        expect(await run("svc", ["customers", "inspect", "cus_example"], headless, shop)).toMatch(
          /Lifecycle +activated/,
        ),
      { timeout: 30_000, interval: 500 },
    );

    server.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
  } finally {
    server.kill("SIGTERM"); // its embedded PostgreSQL ends with it
    await ended;
  }

  /** Answers what a command of the package prints, where it is done. */
  async function run(command: string, argv: string[], added: Record<string, string> = {}, cwd = work): Promise<string> {
    const child = spawn(command, argv, { cwd, env: { ...env, ...added }, stdio: ["ignore", "pipe", "pipe"] });
    const [output, errors, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "close") as Promise<[number | null]>,
    ]);
    expect(code, `${command} ${argv.join(" ")}\n${output}${errors}`).toBe(0);
    return output;
  }
}, 180_000);

async function listening(stdout: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stdout })) {
    const url = /listening on (\S+)/.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error("the service ended before it listened");
}

const page = async (url: string) => (await fetch(url)).text();
const ready = async (url: string) => (await fetch(`${url}/readyz`)).json();
