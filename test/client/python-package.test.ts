import { execFile } from "node:child_process";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { useIngest } from "../http/ingest/fixture.js";
import { INSTALL_MS_MAX, installed } from "../support/debian.js";
import { useDirectory } from "../support/directory.js";

// The client for Python as a package: installed by pip into an empty environment, used there, and checked by mypy.

const ROOT = path.resolve(import.meta.dirname, "../..");
const read = (file: string) => readFile(path.join(ROOT, file), "utf8");
const { version } = JSON.parse(await read("package.json")) as { version: string };
const { name, description } = JSON.parse(await read("packages/svc-success-client/package.json")) as {
  name: string;
  description: string;
};

it("has the same metadata and licence as the package for Node.js", async () => {
  expect(await read("python/pyproject.toml")).toContain(
    `\n[project]\nname = "${name}"\nversion = "${version}"\ndescription = "${description}"\n`,
  );
  expect(await read("python/LICENSE")).toBe(await read("LICENSE"));
});

describe("installed by pip", async () => {
  const directory = await useDirectory();
  const fixture = await useIngest();
  const empty = path.join(directory, "empty");
  const venv = path.join(directory, "venv/bin/python");
  /** Runs a program in a directory that holds nothing else. */
  const run = (program: string, ...argv: string[]) =>
    promisify(execFile)(program, argv, {
      cwd: empty,
      env: { PATH: process.env["PATH"], SVC_API_URL: fixture.service.url, SVC_API_KEY: fixture.keys.test },
    });

  let skipped: string | null = null;
  beforeAll(async () => {
    skipped = await installed(
      ["/usr/bin/mypy", ...["pip", "setuptools", "wheel"].map((part) => `/usr/lib/python3/dist-packages/${part}`)],
      ["mypy", "python3-pip", "python3-setuptools", "python3-wheel"],
    );
    if (skipped !== null) return;
    await mkdir(empty);
    // pip leaves its build files in the folder.
    await cp(path.join(ROOT, "python"), path.join(directory, "python"), { recursive: true });
    // Debian's pip and setuptools: any other setuptools would have to be downloaded.
    await run(
      "/usr/bin/python3",
      "-m",
      "venv",
      "--without-pip",
      "--system-site-packages",
      path.join(directory, "venv"),
    );
    await run(venv, "-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation", "../python");
  }, INSTALL_MS_MAX);
  beforeEach(({ skip }) => {
    if (skipped !== null) skip(skipped);
  });

  it("has its version, description, licence and types", async () => {
    const { stdout } = await run(venv, "-m", "pip", "show", "--files", name);
    expect(stdout.split("\n")).toEqual(
      expect.arrayContaining([
        ...[`Name: ${name}`, `Version: ${version}`, `Summary: ${description}`, "License: MIT", "Requires: "],
        ...["  svc_client/__init__.py", "  svc_client/py.typed"],
        expect.stringMatching(/^ {2}svc_success_client-[\d.]+dist-info\/(licenses\/)?LICENSE$/),
      ]),
    );
  });

  it("sends to the service as its README shows", async () => {
    const [, program] = /^```python\n(.*?)^```$/ms.exec(await read("python/README.md"))!;
    const place = "import svc_client\nprint(svc_client.__file__)";
    const { stdout, stderr } = await run(venv, "-c", `${program}\n${place}`);
    expect(stderr).toBe("");
    expect(stdout.startsWith(path.join(directory, "venv/lib/"))).toBe(true);
    const { sql } = fixture.service.db;
    expect(await sql`select customer_id, event, properties from svc_inspect.events`).toEqual([
      { customer_id: "globex", event: "order_placed", properties: { amount: 120.5, currency: "EUR" } },
    ]);
  });

  it("passes mypy for Python 3.8", async () => {
    const { stdout } = await run("/usr/bin/mypy", "--strict", "--python-version", "3.8", "../python/svc_client");
    expect(stdout).toBe("Success: no issues found in 1 source file\n");
  });

  it("lets mypy find every wrong call of a program, and no others", async () => {
    const program = `
from __future__ import annotations
import datetime
from svc_client import Client, SvcError
told: list[SvcError] = []
client = Client("https://svc.example.com", "k", told.append, flush_interval=5, queue_operations=3)
Client("https://svc.example.com", None)  # wrong
Client("https://svc.example.com", "k", on_error=lambda: None)  # wrong
Client("https://svc.example.com", "k", timeout="5")  # wrong
seats: dict[str, int] = {"seats": 3}
queued: bool = client.identify("c", seats)
client.identify("c")  # wrong
client.track("c", "e", {"a": [1, None]}, datetime.datetime.now(datetime.timezone.utc), "key")
client.track(5, "e")  # wrong
client.track("c", "e", ["a"])  # wrong
client.track("c", "e", timestamp=5)  # wrong
client.trak("c", "e")  # wrong
ids: list[str] = client.batch([{"customerId": "c", "event": "e"}])
client.batch({"customerId": "c"})  # wrong
try:
    client.flush(timeout=30)
except SvcError as error:
    print(error.code.lower(), error.status + 1, [index + 1 for index, _ in error.refused])
    print(error.operation["event"])  # wrong
client.flush(timeout="30")  # wrong
client.batch(client.close())
`;
    await writeFile(path.join(empty, "program.py"), program);
    const checked = run("/usr/bin/mypy", "--strict", "--python-executable", venv, "program.py");
    const { stdout } = await checked.then(
      () => expect.fail("mypy found nothing"),
      (error: unknown) => error as { stdout: string },
    );
    const lines = [...stdout.matchAll(/^program\.py:(\d+): error: /gm)].map(([, line]) => Number(line));
    const wrong = program.split("\n").flatMap((line, index) => (line.endsWith("# wrong") ? [index + 1] : []));
    expect([...new Set(lines)], stdout).toEqual(wrong);
  });
});
