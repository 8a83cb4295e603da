import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { cp, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { useDirectory } from "../support/directory.js";
import { withoutProgress } from "./support/program.js";
import { openShop } from "./support/shop.js";

const guide = readFileSync(new URL("../../docs/backfill.md", import.meta.url), "utf8");
const EXAMPLE = fileURLToPath(new URL("../../examples/backfill", import.meta.url));
const PSQL = "/usr/bin/psql";

/** The blocks in page order, each with the text below it. */
const blocks = [...guide.matchAll(/^```(bash|sql)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?/gms)].map(
  ([, language, code, output]) => ({ language: language!, code: code!, output }),
);
const [query, check, send, recompute, compare] = blocks;
const errors = [...guide.matchAll(/^```text\n(backfill: .*?)^```\n/gms)].map(([, error]) => error!);

/** A copy of the example, which needs nothing else of the project. */
const directory = await useDirectory();
await cp(EXAMPLE, directory, { recursive: true });
const shop = await openShop();
const env = await shop.project("shop");
afterAll(() => shop.stop());

/** Runs a block as written, with values for its placeholders. */
async function run(code: string, variables = env) {
  const script = code.replaceAll(/(SVC_\w+)=[^\s]+( {2,}#.*)?/g, (_, name: string) => `${name}=${variables[name]}`);
  const bash = spawn("bash", ["-euo", "pipefail", "-c", script], {
    cwd: directory,
    env: { PATH: process.env["PATH"], ...variables, ...connection() },
    // Not a pipe: with one, which is a socket, bash reads the start-up file of a remote shell.
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr] = await Promise.all([text(bash.stdout), text(bash.stderr), once(bash, "close")]);
  return { stdout: withoutProgress(stdout), stderr, code: bash.exitCode };
}

function connection(): Record<string, string> {
  const { hostname, port, username, password, pathname } = new URL(shop.db.url);
  return {
    PGHOST: hostname,
    PGPORT: port,
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: pathname.slice(1),
    // For a user outside UTC.
    PGTZ: "America/New_York",
  };
}

test("all of its commands are tested here, and its mapping is that of the example", async () => {
  expect(blocks.map(({ language }) => language)).toEqual(["bash", "bash", "bash", "bash", "sql"]);
  expect(errors).toHaveLength(2);
  const [, code] = /```js\n(export function toOperation.*?)```/s.exec(guide)!;
  expect(await readFile(path.join(EXAMPLE, "mapping.mjs"), "utf8")).toContain(code);
});

test("the example can use its mapping of customers", async () => {
  const [, code] = /```js\n(export const toOperation.*?)```/s.exec(guide)!;
  const mapping = path.join(directory, "customers.mjs");
  await writeFile(mapping, `import { number, text } from "./lib/columns.mjs";\n${code}`);
  const { toOperation } = (await import(mapping)) as { toOperation: (row: Record<string, string>) => unknown };
  expect(toOperation({ id: "globex", plan: "pro", seats: "12" })).toEqual({
    type: "identify",
    customerId: "globex",
    traits: { plan: "pro", seats: 12 },
  });
});

test("the commands of examples/backfill/README.md check, send and help", async () => {
  const readme = await readFile(path.join(EXAMPLE, "README.md"), "utf8");
  const [, code] = /```sh\n(.*?)```/s.exec(readme)!;
  const another = await shop.project("readme");
  const script = code!.replaceAll(/(SVC_\w+)=\S+/g, (_, name: string) => `${name}=${another[name]}`);
  const { stdout, stderr, code: exit } = await run(`cd "$(mktemp -d)"; cp -r '${EXAMPLE}'/. .\n${script}`, another);
  expect({ stderr, exit }).toEqual({ stderr: "", exit: 0 });
  expect(stdout).toMatch(/^orders\.csv can be sent: 8 rows$.*^Done: 8 rows$.*^node backfill\.mjs </ms);
});

test("its query sends the rows of the example's file", async (context) => {
  if (!existsSync(PSQL)) return context.skip("there is no psql here");
  const { sql } = shop.db;
  await sql`
    create table public.orders (
      invoice_no text primary key, customer_id text, placed_at timestamptz, lines integer, units integer, amount numeric(12, 2), country text
    )`;
  const { stdout } = await run("cat orders.csv | tail -n +2 | psql -q -c '\\copy orders from stdin with csv'");
  expect(stdout).toBe("");
  const sent = await run(query!.code);
  expect(sent).toMatchObject({ stderr: "", code: 0 });
  expect(sent.stdout).toMatch(/^Done: 8 rows\n {2}events {10}8\n {2}customers {7}3\n/);
});

test("its commands print the documented output, and its query finds the same figures", async () => {
  for (const { code, output } of [check!, send!, recompute!]) {
    const { stdout, ...rest } = await run(code);
    expect(rest, code).toEqual({ stderr: "", code: 0 });
    // Ids are random by nature.
    const [printed, shown] = [stdout, output!].map((text) => text.replaceAll(/rec_[0-9a-f]{20}/g, "rec_…"));
    expect(printed, code).toBe(shown);
  }
  const [row] = await shop.db.sql.unsafe<Record<string, string | Date>[]>(compare!.code);
  const cells = compare!
    .output!.split("\n")[2]!
    .trim()
    .split(/ *\| */);
  const asPrinted = (value: string | Date) =>
    value instanceof Date ? value.toISOString().replace("T", " ").replace(".000Z", "+00") : value;
  expect(Object.values(row!).map(asPrinted)).toEqual(cells);
});

test("its errors match those of the program", async () => {
  const lines = (await readFile(path.join(EXAMPLE, "orders.csv"), "utf8")).split("\n");
  const changed = (row: number, from: string, to: string) => lines.with(row, lines[row]!.replace(from, to));
  const wrong = [
    changed(2, "2025-02-03T10:30:00Z", "2025-02-03 10:30:00").with(6, lines[6]!.replace(",United Kingdom", "")),
    changed(2, "96.00", "97.00"),
  ];
  for (const [index, error] of errors.entries()) {
    await rm(path.join(directory, "orders.csv.checkpoint.json"), { force: true });
    await writeFile(path.join(directory, "orders.csv"), wrong[index]!.join("\n"));
    const { stderr, code } = await run("node backfill.mjs orders.csv");
    expect({ stderr, code }).toEqual({ stderr: error, code: 1 });
  }
});
