// Writes migrations/committed/000001.sql from sql/schema, in graphile-migrate's format. Only until the first release: from then
// on changes come by graphile-migrate's current.sql (migrations/README.md). With --check it writes nothing and exits 1 where the
// file is not up to date.
import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { calculateHash } from "graphile-migrate/dist/hash.js";
import { serializeMigration } from "graphile-migrate/dist/migration.js";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const committed = path.join(root, "migrations/committed");
const file = path.join(committed, "000001.sql");

await mkdir(committed, { recursive: true });
const later = (await readdir(committed)).filter((name) => /^\d+.*\.sql$/.test(name) && name !== "000001.sql");
if (later.length > 0) fail(`000001.sql is released, because ${later[0]} follows it; write a migration instead`);

const { schema } = JSON.parse(await readFile(path.join(root, "sql/install.json"), "utf8"));
const parts = await Promise.all(
  schema.map(async (name) => `-- ${name}\n\n${(await readFile(path.join(root, name), "utf8")).trim()}\n`),
);
const body = parts.join("\n").trim() + "\n";
const text = serializeMigration(body, { Previous: "-", Hash: calculateHash(body, null) });

const current = await readFile(file, "utf8").catch((error) => {
  if (error.code === "ENOENT") return "";
  throw error;
});
if (process.argv.includes("--check")) {
  if (current !== text)
    fail("migrations/committed/000001.sql is not what sql/schema says; run node scripts/release-migration.js");
} else if (current !== text) {
  await writeFile(file, text);
  await chmod(file, 0o644);
  console.log("wrote migrations/committed/000001.sql");
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
