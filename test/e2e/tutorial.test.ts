import { mkdir, readdir, readFile, symlink } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import postgres from "postgres";
import { beforeAll, expect, test } from "vitest";
import { untilQuiet } from "../cli/support/shop.js";
import { freePort } from "../support/free-port.js";
import { playGuide } from "../support/guide-play.js";
import { keepLog } from "../support/run-log.js";
import { useDirectory } from "../support/directory.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const TUTORIAL = path.join(ROOT, "docs/tutorial.md");

const directory = await useDirectory();
beforeAll(async () => {
  // Stands for the clone: the same files, with its own data.
  await mkdir(path.join(directory, "svc"));
  for (const name of await readdir(ROOT)) {
    if (name !== ".svc-data" && name !== ".git")
      await symlink(path.join(ROOT, name), path.join(directory, "svc", name));
  }
});

test("docs/tutorial.md shows what its commands print", { timeout: 180_000 }, async () => {
  const [service, dev, receiver] = await Promise.all([freePort(), freePort(), freePort()]);
  const tutorial = await readFile(TUTORIAL, "utf8");
  // The packages are installed already; the first step of .ci/run tests this command.
  const install = "npm ci --no-audit --no-fund";
  expect(tutorial).toContain(`\n${install}\n`);
  expect(await readFile(path.join(ROOT, ".ci/run"), "utf8")).toContain(` ${install}\n`);
  const written = await playGuide(tutorial.replace(install, ": the packages are there"), {
    directory,
    env: {
      PATH: process.env["PATH"],
      HOME: directory,
      TZ: "UTC",
      TMPDIR: process.env["TMPDIR"],
      SVC_PORT: String(service),
      SVC_API_URL: `http://127.0.0.1:${service}`,
    },
    ports: { 4400: String(service), 4401: String(dev), 8080: String(receiver) },
    untilQuiet: () => quiet(path.join(directory, "svc/.svc-data/postgres")),
    printed: (output) =>
      keepLog(
        Readable.from(
          output
            .split("\n")
            .filter((line) => line.startsWith("{"))
            .join("\n"),
        ),
        "tutorial",
      ),
  });
  // Update by `npx vitest run test/e2e/tutorial.test.ts -u`.
  await expect(written.replace(": the packages are there", install)).toMatchFileSnapshot(TUTORIAL);
});

/** Waits until the service of this data directory, if one runs, has no work left. */
async function quiet(home: string): Promise<void> {
  const [port, password] = await Promise.all(
    ["port", "password"].map((name) => readFile(path.join(home, name), "utf8").catch(() => "")),
  );
  if (!port || !password) return;
  const sql = postgres({
    host: "127.0.0.1",
    port: Number(port),
    database: "svc",
    user: "svc",
    password: password.trim(),
    max: 1,
  });
  try {
    const runs = await sql`select`.then(
      () => true,
      () => false,
    );
    if (runs) await untilQuiet({ sql });
  } finally {
    await sql.end();
  }
}
