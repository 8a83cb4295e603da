import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it, vi } from "vitest";

import { type Framework, instrumentationPlan } from "../../../src/cli/commands/ai/instrumentation.js";
import { project } from "../../dsl-compiler/project.js";
import { INSTALL_MS_MAX, installed } from "../../support/debian.js";
import { freePort } from "../../support/free-port.js";
import { cannedServer, json } from "../support/canned-server.js";
import { isThere } from "../support/program.js";
import { HARD, partsOf } from "./plan.js";
import { linkPackages } from "../../support/linked-packages.js";

// Runs the code that `svc ai suggest-events` writes for each framework with that framework.

const ROOT = path.resolve(import.meta.dirname, "../../..");

const CREATED = {
  type: "track",
  customerId: "acme",
  event: "project_created",
  properties: {
    ...{ name: "text", seats: 1, "is paid": true, on: "2030-01-31" },
    ...{ source: 'we"b', tags: ["a"], counts: [1] },
  },
  timestamp: expect.stringMatching(/^\d{4}-.*(Z|\+00:00)$/),
  idempotencyKey: "project_created/1042",
};

/** A service that accepts and records what the client sends. */
async function service() {
  const server = await cannedServer(({ body }) => {
    const { events } = JSON.parse(body) as { events: { type: string }[] };
    const eventIds = events.filter(({ type }) => type === "track").map((_, index) => String(index));
    return json({ accepted: events.length, rejected: 0, eventIds }, 202);
  });
  return {
    env: { ...process.env, SVC_API_URL: server.url, SVC_API_KEY: "svc_test_key", PYTHONDONTWRITEBYTECODE: "1" },
    operations: () => server.seen.flatMap(({ body }) => JSON.parse(body).events as unknown[]),
  };
}

const filesOf = (framework: Framework) => partsOf(instrumentationPlan(HARD, framework)).files;

/** Requests a new record; returns the answer. */
async function post(url: string) {
  const answer = await fetch(`${url}/records`, { method: "POST", headers: { connection: "close" } });
  return [answer.status, await answer.json()] as const;
}

describe("Node.js", () => {
  /** A project with the files of a framework and the packages that they import. */
  async function projectOf(framework: Framework, packages: readonly string[]): Promise<string> {
    const directory = await project({ ...filesOf(framework), "package.json": '{"type":"module"}' });
    await linkPackages(directory);
    for (const name of packages)
      await symlink(path.join(ROOT, "node_modules", name), path.join(directory, "node_modules", name));
    return directory;
  }

  it.each([
    ["node", []],
    ["express", ["express"]],
    ["fastify", ["fastify"]],
    ["koa", ["koa"]],
  ] as const)("%s serves requests, and has sent everything when it exits", async (framework, packages) => {
    const { env, operations } = await service();
    const directory = await projectOf(framework, packages);
    // Listens on a free port and prints it.
    await writeFile(
      path.join(directory, "port.js"),
      `import { Server } from "node:net";
const { listen } = Server.prototype;
Server.prototype.listen = function (...given) {
  return listen.apply(this, given).once("listening", () => console.log("port " + this.address().port));
};`,
    );
    const child = spawn(process.execPath, ["--import", "./port.js", "server.js"], {
      cwd: directory,
      env: { ...env, PORT: "0" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const stderr = text(child.stderr);
    const ended = once(child, "exit");
    let port: string | undefined;
    for await (const line of createInterface({ input: child.stdout })) {
      port = /^port (\d+)$/.exec(line)?.[1];
      if (port !== undefined) break;
    }
    expect(await post(`http://127.0.0.1:${port}`)).toMatchObject([201, { id: "1042" }]);
    child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
    expect(await stderr).toBe("");
    expect(operations()).toEqual([CREATED]);
  });

  it("nextjs sends the handler's operations after it has answered", async () => {
    const { env, operations } = await service();
    const directory = await projectOf("nextjs", []);
    // The only function used of Next.js is `after`, which takes a callback to run once the answer is sent.
    await mkdir(path.join(directory, "node_modules/next"));
    const write = (name: string, text: string) => writeFile(path.join(directory, name), text);
    await write("node_modules/next/package.json", '{ "type": "module", "exports": { "./server": "./server.js" } }');
    await write(
      "node_modules/next/server.js",
      "globalThis.afterwards = []; export const after = (run) => void globalThis.afterwards.push(run);",
    );
    await write(
      "call.js",
      `import { POST } from "./app/api/records/route.js";
const answer = await POST();
console.log(answer.status, JSON.stringify(await answer.json()));
await Promise.all(globalThis.afterwards.map((run) => run()));`,
    );
    const run = await promisify(execFile)(process.execPath, ["call.js"], { cwd: directory, env });
    expect(run).toMatchObject({ stdout: expect.stringMatching(/^201 \{"id":"1042",.*\}\n$/), stderr: "" });
    expect(operations()).toEqual([CREATED]);
  });
});

/** Debian's Python, which finds Debian's packages. */
const PYTHON = "/usr/bin/python3";

describe("Python", () => {
  let skipped: string | null = null;
  beforeAll(async () => {
    const names = ["django", "fastapi", "flask", "uvicorn"];
    skipped = await installed(
      names.map((name) => `/usr/lib/python3/dist-packages/${name}`),
      names.map((name) => `python3-${name}`),
    );
  }, INSTALL_MS_MAX);

  /** A directory with the files of a framework, and the client in `folder`. */
  async function projectOf(framework: Framework, folder: string, more: Record<string, string> = {}): Promise<string> {
    const directory = await project({ ...filesOf(framework), ...more });
    const client = path.join(ROOT, "python/svc_client/__init__.py");
    await copyFile(client, path.join(directory, folder, "svc_client.py"));
    return directory;
  }

  it("plain runs, as does each of its calls, and everything is sent when it exits", async ({ skip }) => {
    if (!isThere("python3")) skip("there is no python3");
    const { env, operations } = await service();
    const { calls } = partsOf(instrumentationPlan(HARD, "python"));
    const program = `from types import SimpleNamespace
from app import save
from svc_setup import svc
record = save()
account = SimpleNamespace(id="acme")
${calls.join("\n")}`;
    const directory = await projectOf("python", ".", { "calls.py": program });
    for (const program of ["app.py", "calls.py"]) {
      const run = await promisify(execFile)("python3", [program], { cwd: directory, env });
      expect(run).toEqual({ stdout: "", stderr: "" });
    }
    const [first, ...others] = operations();
    expect(first).toEqual(CREATED);
    const names = others.map((one) => (one as { event?: string }).event).sort();
    expect(names).toEqual([...Object.keys(HARD.events), undefined].sort());
    expect(others).toContainEqual({
      type: "identify",
      customerId: "acme",
      traits: { plan: "free", "renews on": "2030-01-31", seats: 1, beta: true, tags: ["2030-01-31"] },
    });
  });

  const SITE = {
    "settings.py": `SECRET_KEY = "none"
ALLOWED_HOSTS = ["127.0.0.1"]
ROOT_URLCONF = "urls"
USE_TZ = True
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "db.sqlite3"}}
`,
    "urls.py": `from django.urls import path
from records.views import create
urlpatterns = [path("records", create)]
`,
    "records/__init__.py": "",
  };

  it.for([
    ["django", "records", SITE, ["-m", "django", "runserver", "--noreload", "--settings=settings", "--pythonpath=."]],
    ["flask", ".", {}, ["-m", "flask", "--app", "app", "run", "--port"]],
    ["fastapi", ".", {}, ["-m", "uvicorn", "app:app", "--port"]],
  ] as const)(
    "%s serves requests, and has sent everything when it is stopped",
    async ([framework, folder, more, command], { skip }) => {
      if (skipped !== null) skip(skipped);
      const { env, operations } = await service();
      const directory = await projectOf(framework, folder, more);
      const port = await freePort();
      const child = spawn(PYTHON, [...command, String(port)], {
        cwd: directory,
        env,
        stdio: ["ignore", "pipe", "pipe"],
      });
      const output = Promise.all([text(child.stdout), text(child.stderr)]);
      const ended = once(child, "exit");
      const url = `http://127.0.0.1:${port}`;
      await vi.waitFor(() => fetch(url), { timeout: 30_000, interval: 50 });
      expect(await post(url)).toMatchObject([201, { id: 1042 }]);
      child.kill("SIGINT");
      await ended;
      expect((await output).join("\n")).not.toContain("Traceback");
      expect(operations()).toEqual([CREATED]);
    },
  );
});
