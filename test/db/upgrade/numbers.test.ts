import { rm } from "node:fs/promises";
import { expect, it, onTestFinished } from "vitest";
import { migrate } from "../../../src/db/migrate/migrate.js";
import { loadRelease } from "./fixture.js";
import { makeThisVersion } from "./next-version.js";

it("every environment numbers on above what all shared until 000003", async () => {
  const root = await makeThisVersion();
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const { database: db } = await loadRelease("000003");
  onTestFinished(() => db.drop());
  await migrate(db.url, { root });
  const rows = await db.sql<{ above: boolean }[]>`
    select
      pg_sequence_last_value(svc.batch_seq(environment_id)) > (select max(batch_seq) from svc.ingest_batches) + 100000000
      and pg_sequence_last_value(svc.evaluation_seq(environment_id)) > (select max(emission_seq) from svc.emissions) / 65536 + 100000000 as above
    from svc.environments`;
  expect(rows.map(({ above }) => above)).toEqual([true, true]);
});
