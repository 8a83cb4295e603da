import { execFile } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";

import { project } from "../dsl-compiler/project.js";
import { cannedServer, json, NEVER } from "./support/canned-server.js";
import { useOwner } from "./support/owner.js";
import { ended, isThere, start } from "./support/program.js";
import { type RunOptions, steady } from "./support/run-svc.js";
import { linkPackages } from "../support/linked-packages.js";

const PARTS = ["display", "events", "health", "journeys", "lifecycle", "rules", "segments", "signals", "traits"];
const FILES = [
  ...[".github/workflows/svc.yml", ".gitignore", ".kite/config.json", "README.md", "instrumentation/track.mjs"],
  ...PARTS.map((part) => `model/${part}.ts`),
  ...["package.json", "svc.config.ts", "tsconfig.json"],
];

const WHOAMI = { user: { email: "a@b" }, organization: { id: "org_1", slug: "acme", role: "owner" } };
const ROOT = path.resolve(import.meta.dirname, "../..");

const service = useOwner();

/** Runs a command as the owner; replaces what differs from run to run. */
const run = async (argv: readonly string[], options: RunOptions = {}) =>
  steady(await service.svc(argv, options), [
    [service.by.organizationId, "<org>"],
    [options.cwd ?? "<none>", "<cwd>"],
    [ROOT, "<package>"],
    [/(svc_(?:test|live)_)[0-9a-f]{48}/g, "$1<key>"],
  ]);

const folder = () => project({});

async function filesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name)))
    .sort();
}

let made = 0;
/** A starter with its keys; each has its own project. */
async function initialized(stack: string): Promise<{ directory: string; slug: string; keys: { test: string } }> {
  const directory = await folder();
  const slug = `starter-${++made}`;
  const argv = ["init", "--yes", "--json", "--name", "The Starter", "--slug", slug, "--stack", stack];
  const { code, stdout } = await service.svc(argv, { cwd: directory });
  expect(code, stdout).toBe(0);
  for (const file of await filesIn(directory))
    expect(await readFile(path.join(directory, file), "utf8"), file).not.toMatch(/\{\{[A-Z]/);
  await linkPackages(directory);
  return { directory, slug, keys: (JSON.parse(stdout) as { keys: { test: string } }).keys };
}

describe("a new project", () => {
  // docs/walk.md shows the other output, and what comes next.
  test("as JSON it is one document", async () => {
    const cwd = await folder();
    const argv = ["init", "--yes", "--json", "--name", "Größe & Co", "--directory", "new/shop"];
    const { code, stdout, stderr } = await run([...argv, "--stack", "python", "--env", "live"], { cwd });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const files = FILES.flatMap((file) =>
      file.endsWith("track.mjs") ? ["instrumentation/svc_client.py", "instrumentation/track.py"] : [file],
    );
    expect(JSON.parse(stdout)).toEqual({
      project: { slug: "grosse-co", name: "Größe & Co", createdAt: expect.any(String) },
      keys: { test: "svc_test_<key>", live: "svc_live_<key>" },
      directory: "<cwd>/new/shop",
      files,
    });
    const directory = path.join(cwd, "new/shop");
    expect(await filesIn(directory)).toEqual(files);
    expect(JSON.parse(await readFile(path.join(directory, ".kite/config.json"), "utf8"))).toEqual({
      project: "grosse-co",
      defaultEnvironment: "live",
      organization: service.by.organizationId,
      apiUrl: service.url,
    });
    expect(await readFile(path.join(directory, "README.md"), "utf8")).toMatch(/^# Größe & Co\n\n.*`grosse-co`/);
  });

  test("missing answers are asked for on a terminal, again if an answer is invalid", async () => {
    const cwd = path.join(await folder(), "My Shop");
    await mkdir(cwd);
    const { code, stdout, stderr } = await run(["init", "--no-color"], {
      cwd,
      terminal: true,
      answers: [
        ["Name (My Shop): ", ""],
        ["Slug (my-shop): ", "My Shop"],
        ["Slug (my-shop): ", "asked"],
        ["Stack (node): ", "python"],
        ["(y/N)", "y"],
      ],
    });
    expect(code, stderr).toBe(0);
    expect(stdout).toContain("Created the project asked.");
    expect(stdout).toContain("python3 instrumentation/track.py");
    expect(stderr).toContain("give 1 to 63 lower-case letters, digits and hyphens, not a hyphen first\n");
    expect(stderr).toContain(
      "Create the project asked in organization acme at <service>, and a python starter in <cwd>?",
    );
  });

  test("a directory with only .git and leftovers of a killed run counts as empty", async () => {
    const cwd = await folder();
    await mkdir(path.join(cwd, ".git"));
    await mkdir(path.join(cwd, ".svc-init-999999999", "model"), { recursive: true });
    expect((await run(["init", "--yes", "--slug", "in-git"], { cwd })).code).toBe(0);
    expect(await filesIn(cwd)).toEqual(FILES);
    expect(await readdir(cwd)).not.toContain(".svc-init-999999999");
  });
});

test("an existing project gets a starter without keys; one that does not exist gets nothing", async () => {
  const cwd = await folder();
  await service.addProject("before");
  const argv = ["init", "--existing", "--slug", "before", "--yes", "--json"];
  const { code, stdout } = await run(argv, { cwd });
  expect({ code, document: JSON.parse(stdout) as unknown }).toEqual({
    code: 0,
    document: { project: { slug: "before", name: "before" }, directory: "<cwd>", files: FILES },
  });
  expect(await filesIn(cwd)).toEqual(FILES);
  expect(await readFile(path.join(cwd, ".kite/config.json"), "utf8")).toContain(
    '"project": "before",\n  "defaultEnvironment": "test"',
  );
  const left = await folder();
  const { stderr } = await run(["init", "--existing", "--slug", "nowhere", "--yes"], { cwd: left });
  expect(stderr).toContain("[PROJECT_NOT_FOUND]");
  expect(await readdir(left)).toEqual([]);
});

describe("a refusal leaves the directory as it was", () => {
  const argv = ["init", "--yes", "--slug", "refused"];
  test("for a directory that is not empty", async () => {
    const cwd = await folder();
    for (const name of ["a.txt", "b.txt", "c.txt", "d.txt"]) await writeFile(path.join(cwd, name), "");
    const choose = "Choose an empty or a new directory with --directory.\n";
    expect((await run(argv, { cwd })).stderr).toBe(
      `error [DIRECTORY_NOT_EMPTY]: <cwd> is not empty: it contains a.txt, b.txt, c.txt, 1 more. ${choose}`,
    );
    expect(await readdir(cwd)).toEqual(["a.txt", "b.txt", "c.txt", "d.txt"]);
    for (const file of ["a.txt", "a.txt/b"]) {
      expect((await run([...argv, "--directory", file], { cwd })).stderr).toBe(
        `error [DIRECTORY_NOT_EMPTY]: <cwd>/${file} is not a directory. ${choose}`,
      );
    }
    expect((await service.ask("GET", "/projects/refused/overview")).status).toBe(404);
  });

  test("for one that cannot be written to, and one in which another init is running", async () => {
    expect(await run([...argv, "--directory", "/proc/shop"])).toMatchInlineSnapshot(`
      exit 1
      ! error [FILE_NOT_WRITTEN]: /proc/shop could not be written to (ENOENT); nothing was created. Make room, or choose a --directory that you may write to.
    `);
    const cwd = await folder();
    await mkdir(path.join(cwd, `.svc-init-${process.ppid}`));
    expect((await run(argv, { cwd })).stderr).toBe(
      `error [DIRECTORY_NOT_EMPTY]: Another svc init is running in <cwd> (process ${process.ppid}). Wait until it ends, or choose another --directory.\n`,
    );
  });

  test("for a slug that is taken, and a service that cannot be reached", async () => {
    const cwd = await folder();
    await service.addProject("taken");
    for (const place of [["--directory", "x/y"], []]) {
      const taken = await run(["init", "--yes", "--slug", "taken", ...place], { cwd });
      expect(taken.stderr).toContain("error [SLUG_TAKEN]");
      expect(await readdir(cwd)).toEqual([]);
    }
    const { stderr } = await run([...argv, "--directory", "x"], { cwd, at: "http://127.0.0.1:1" });
    expect(stderr).toContain("[SERVICE_UNREACHABLE]");
    expect(await readdir(cwd)).toEqual([]);
  });

  test("a file created during the run stays as it is, and the error says where the others are", async () => {
    const cwd = await folder();
    const made = { project: { slug: "acme", name: "acme" }, keys: { test: "t", live: "l" } };
    const { url } = await cannedServer(({ method }) => {
      if (method === "GET") return json(WHOAMI);
      writeFileSync(path.join(cwd, "README.md"), "mine");
      return json(made, 201);
    });
    const { code, stderr } = await run(["init", "--yes", "--slug", "acme"], { cwd, at: url });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /\[FILE_NOT_WRITTEN\].*README\.md exists now.*Move them from <cwd>\/\.svc-init-\d+ to <cwd>/,
    );
    expect(await readFile(path.join(cwd, "README.md"), "utf8")).toBe("mine");
  });

  test.each([
    [2, "[USAGE]: There is no default slug for this project. Add --slug.", ["--yes", "--name", "日本"]],
    [
      1,
      "[CONFIRMATION_REQUIRED]: Creating a project needs a confirmation, and there is no terminal to ask on. Add --yes.",
    ],
  ])("exit code %i: %s", async (code, error, given = []) => {
    const result = await run(["init", ...given], { cwd: await folder() });
    expect(result).toEqual({ code, stdout: "", stderr: `error ${error}\n` });
  });

  test("when the answer is no", async () => {
    const cwd = await folder();
    const given = ["--name", "No", "--slug", "refused", "--stack", "node"];
    const { code, stderr } = await run(["init", ...given], { cwd, terminal: true, answers: [["(y/N)", "n"]] });
    expect(code).toBe(1);
    expect(stderr).toContain("[CANCELLED]");
    expect(await readdir(cwd)).toEqual([]);
    expect((await service.ask("GET", "/projects/refused/overview")).status).toBe(404);
  });
});

describe.each(["node", "python"])("the %s starter", (stack) => {
  const [program, script] = stack === "node" ? [process.execPath, "track.mjs"] : ["python3", "track.py"];
  test("validates without a warning, deploys, and accepts what its example sends, also a second time", async ({
    skip,
  }) => {
    if (!isThere(program)) skip("there is no python3");
    const { directory, keys, slug } = await initialized(stack);
    expect(await run(["validate", "--strict"], { cwd: directory })).toMatchInlineSnapshot(`
      The model is valid: 7 events, 4 traits, 5 lifecycle states, 1 journey, 3 segments, 3 health components, 1 rule, 1 signal.
      State of one customer: at most 10 KiB.
    `);
    const deployed = await run(["deploy", "--yes"], { cwd: directory });
    expect(deployed.code, deployed.stderr).toBe(0);

    // Through a path with a symbolic link.
    const link = path.join(await folder(), "link");
    await symlink(directory, link);
    const send = (key: string): Promise<{ code?: number; stdout: string; stderr: string }> =>
      promisify(execFile)(program, [path.join(link, "instrumentation", script)], {
        cwd: directory,
        env: { PATH: process.env["PATH"], SVC_API_KEY: key },
      }).catch((error: unknown) => error as { code: number; stdout: string; stderr: string });
    for (let time = 0; time < 2; time++) {
      expect((await send(keys.test)).stdout).toBe("Sent. See where it stands: svc customers inspect cus_example\n");
      expect((await service.ask("GET", `/projects/${slug}/overview?env=test`)).body).toMatchObject({
        events: { accepted: 6 },
      });
    }
    expect(await send("")).toMatchObject({
      code: 1,
      stderr: "set SVC_API_KEY to the key that was printed when the project was made\n",
    });
    expect(await send("svc_test_unknown")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`${service.url} took nothing: INVALID_API_KEY: `) as string,
    });
  });
});

/** Runs the program `svc init` in a new directory, at a service that never answers one kind of request, and signals it during that. */
async function interrupted(method: string, signal: NodeJS.Signals) {
  const parent = await folder();
  let during = 0;
  const { url } = await cannedServer((request) => {
    if (request.method !== method) return json(WHOAMI);
    during = readdirSync(path.join(parent, "a/b")).length;
    child.kill(signal);
    return NEVER;
  });
  const child = start(["init", "--yes", "--slug", "shop", "--directory", "a/b"], { cwd: parent, at: url });
  const result = await ended(child);
  return { ...result, killedBy: child.signalCode, during, after: await readdir(parent) };
}

test.each(["SIGINT", "SIGTERM"] as const)("%s before the project is created leaves nothing", async (signal) => {
  const nothing = { code: null, stdout: "", stderr: "", during: 1, after: [] };
  expect(await interrupted("GET", signal)).toEqual({ ...nothing, killedBy: signal });
});

test("Ctrl+C while the project is created leaves no files, and says how to check whether the project exists", async () => {
  expect(await interrupted("POST", "SIGINT")).toEqual({
    ...{ code: 1, killedBy: null, stdout: "", during: 1, after: [] },
    stderr:
      "error [OUTCOME_UNKNOWN]: Stopped before the service answered; it is not known whether this was carried out. See for yourself: `svc projects list`. " +
      "If it lists shop, `svc init --existing --slug shop --directory a/b` writes its starter, and " +
      "`svc keys create --name <name> --env test --project shop` creates a key; if not, run the command again.\n",
  });
});
