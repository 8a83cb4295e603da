import { expect, it } from "vitest";
import { call } from "../../../src/db/api/call.js";
import type { PageEnd } from "../../../src/db/api/recompute.js";
import { rolledBack, useDatabase } from "../../support/database.js";
import { TestEnvironment } from "../../tasks/support/environment.js";
import { MODEL } from "../../tasks/support/population.js";

const { sql } = await useDatabase();
const environment = await TestEnvironment.create(sql, MODEL);
const hours = ["01-05T10", "01-05T11", "01-05T12", "03-02T10", "05-04T10"];
await environment.ingest(hours.map((hour) => ({ customer: "c", at: `2026-${hour}:00:00.123Z`, event: "paid" })));
await environment.evaluate({ settleSeconds: 0 });
const customer = [environment.environmentId, "c"] as const;

// Before PostgreSQL 18 IST is read as Israel time, so only there would a place written that way lose hours.
it.each(["ISO, MDY", "SQL, DMY", "German"])(
  "pages for a replay continue where the last one ended: %s",
  async (style) => {
    const read = await rolledBack(sql, async (tx) => {
      await tx.unsafe(`set local datestyle = '${style}'; set local timezone = 'Asia/Kolkata'`);
      const all = { events: 0, runs: 0 };
      let end: PageEnd = { lastAt: null, lastSeq: null };
      for (let more = true; more;) {
        const page = await call(tx, "read_recompute_events", ...customer, end, [], 2, 1_000_000);
        all.events += page.events.seqs?.length ?? 0;
        [end, more] = [page, page.more];
      }
      end = { lastAt: null, lastSeq: null };
      for (let more = true; more;) {
        const page = await call(tx, "read_recompute_executions", ...customer, 0, end, 1);
        all.runs += page.runs?.length ?? 0;
        [end, more] = [page, page.runs !== null];
      }
      return all;
    });
    const [stored] = await sql`
    select
      (select count(*)::integer from svc.events where customer_id = 'c') as events,
      (select count(*)::integer from svc.rule_executions where customer_id = 'c') as runs`;
    expect(read).toEqual(stored);
    expect(Math.min(read.events, read.runs)).toBeGreaterThan(1);
  },
);
