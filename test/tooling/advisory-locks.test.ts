import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { repository } from "./support/project.js";

/** The prefix of each lock key, in the sources and in the table of docs/architecture.md. Equal prefixes could collide. */
const KEYS: Readonly<Record<string, string>> = {
  "uuid_hash_extended(ingest.batch_id": "hash of a `batch_id` (one key)",
  "uuid_hash_extended(await_first_try.batch_id": "hash of a `batch_id` (one key)",
  "-_key.environment_id": "(−`environment_id`, batch number), shared",
  "7501": "(7501, random number), for the session",
  "${MIGRATE_LOCK}": "7205759403793 (one key), for the session",
  "${MARK}::integer": "(mark, random number)",
  "${USERS_LOCK}": "one key of the cluster's database `postgres`",
};

test("the table of docs/architecture.md has every advisory lock key", () => {
  const sources = ["sql", "src"].flatMap((folder) =>
    readdirSync(path.join(repository, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => /\.(sql|ts)$/.test(file))
      .map((file) => readFileSync(path.join(repository, folder, file), "utf8")),
  );
  const taken = sources.flatMap((text) =>
    [...text.matchAll(/pg_(?:try_)?advisory_(?:xact_)?lock(?:_shared)?\(([^,)]+)/g)].map(([, key]) => key!.trim()),
  );
  expect(new Set(taken)).toEqual(new Set(Object.keys(KEYS)));
  const table = readFileSync(path.join(repository, "docs/architecture.md"), "utf8");
  for (const key of Object.values(KEYS)) expect(table).toContain(`| ${key} `);
});
