// Releases migrations/current.sql: commits it as the next file of the chain, in graphile-migrate's format, and empties it.
// Refuses if it has no statements, or if an earlier file of the chain was edited. Needs no database: test/db/migrate.test.ts checks that
// the statements lead to sql/schema.
import { chmod, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { calculateHash } from "graphile-migrate/dist/hash.js";
import { parseMigrationText, serializeMigration } from "graphile-migrate/dist/migration.js";

const BLANK = "-- Statements that bring a database of the last release to sql/schema; see README.md.\n";

// Tests pass another folder.
const folder = process.argv[2] ?? fileURLToPath(new URL("../migrations", import.meta.url));
const current = path.join(folder, "current.sql");
const committed = path.join(folder, "committed");

const body = (await readFile(current, "utf8")).replace(BLANK, "").trim();
if (statementsOf(body) === "") fail("migrations/current.sql has no statements; there is nothing to release");

const last = await lastOfChain();
const number = String(Number.parseInt(last.name, 10) + 1).padStart(6, "0");
const name = `${number}.sql`;
const text = serializeMigration(body, { Previous: last.hash, Hash: calculateHash(body, last.hash) });
await writeFile(path.join(committed, name), text, { flag: "wx" });
await chmod(path.join(committed, name), 0o644);
await writeFile(current, BLANK);
console.log(`wrote migrations/committed/${name}; it is never edited from now on`);

/** The last file of the chain, after checking each file's hash and its reference to the previous file. */
async function lastOfChain() {
  let last = null;
  for (const name of (await readdir(committed)).filter((file) => /^\d{6}\.sql$/.test(file)).sort()) {
    const { headers, body } = parseMigrationText(name, await readFile(path.join(committed, name), "utf8"));
    const previous = last?.hash ?? "-";
    if (headers.Previous !== previous) fail(`migrations/committed/${name} does not follow ${last?.name ?? "nothing"}`);
    if (headers.Hash !== calculateHash(body, last?.hash ?? null))
      fail(`migrations/committed/${name} was edited after its release; restore it`);
    last = { name, hash: headers.Hash };
  }
  return last ?? fail("migrations/committed has no first file");
}

/** The text without comments and white space. A string may contain what looks like a comment, but then a statement is around it. */
function statementsOf(sql) {
  return sql
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/--.*$/gm, "")
    .trim();
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
