import { describe, expect, it } from "vitest";
import path from "node:path";
import { useDatabase } from "../support/database.js";
import { useDirectory } from "../support/directory.js";
import { violations } from "../support/invariants.js";
import { createOrganization, exportTo, fillEnvironment, importedId, importFrom, rowsOf } from "./support/moving.js";

const from = await useDatabase();
const to = await useDatabase();
const directory = await useDirectory();
const file = path.join(directory, "a.export");
const environment = await fillEnvironment(from);
await createOrganization(to.sql);

describe("an environment that was moved", () => {
  it("has each row of each table, with all columns that the catalog has", async () => {
    const before = await rowsOf(from.sql, environment.environmentId);
    expect(
      [...before].filter(([, rows]) => rows.length === 0).map(([name]) => name),
      "has no row to move",
    ).toEqual([]);
    await exportTo(from, environment, file);
    await importFrom(to, file);
    const after = await rowsOf(to.sql, await importedId(to.sql));
    expect([...after.keys()]).toEqual([...before.keys()]);
    for (const [name, rows] of before) expect(after.get(name), name).toEqual(rows);
    expect(await violations(from.sql)).toEqual([]);
    expect(await violations(to.sql)).toEqual([]);
  });
});
