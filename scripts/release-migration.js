// Releases migrations/current.sql: commits it as the next file of the chain, in graphile-migrate's format, and empties it.
// Refuses where it has no statements, and where the chain before it was touched. Needs no database: that the statements lead to
// sql/schema is what test/db/migrate.test.ts shows.
import { chmod, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { calculateHash } from "graphile-migrate/dist/hash.js";
import { parseMigrationText, serializeMigration } from "graphile-migrate/dist/migration.js";

const BLANK = "-- Statements that bring a database of the last release to sql/schema; see README.md.\n";

// Another folder than the project's own is for tests.
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

/** The file that the next one follows, with each file's hash checked against what it says and what the one before says. */
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

/** Without comments and white space. Quotes may hold what looks like a comment, but then there is a statement around them. */
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
