import { expect, it, onTestFinished } from "vitest";
import { call } from "../../src/db/api/call.js";
import { happened, inactiveFor, snapshotOf } from "../engine/support/builders.js";
import { createEmptyDatabase } from "../support/database.js";
import { isCluster } from "../support/is-cluster.js";
import { migrateUnreleased } from "../support/migrate.js";
import { TestEnvironment } from "../tasks/support/environment.js";

interface Page {
  data: { customerId: string }[];
  nextCursor: string | null;
}

it.skipIf(isCluster)(
  "pages of lists have every customer once, in the order of bytes, whatever the database's collation",
  async () => {
    const database = await createEmptyDatabase("locale_provider icu icu_locale 'en-US' locale 'C'");
    onTestFinished(() => database.drop());
    await migrateUnreleased(database.url);
    const { sql } = database;
    const environment = await TestEnvironment.create(
      sql,
      snapshotOf({
        states: { new: [["quiet", inactiveFor("1d")]], quiet: [] },
        segments: { seen: happened("login") },
      }),
    );
    // In English the order is another: _x, a-b, ab, adam, Bob, Zoe.
    const customers = ["Bob", "Zoe", "_x", "a-b", "ab", "adam"];
    const at = new Date().toISOString();
    await environment.ingest(customers.map((customer) => ({ customer, at, event: "login" })));
    await environment.evaluate();

    const { by, place } = environment;
    const now = new Date(Date.now() + 60_000);
    const lists: Record<string, (page: { limit: number; cursor?: string }) => Promise<string>> = {
      list_members_at: (page) => call(sql, "list_members_at", by, place, "seen", now, page),
      get_segment: (page) => call(sql, "get_segment", by, place, "seen", page),
      list_due_customers: (page) => call(sql, "list_due_customers", by, place, page),
    };
    for (const [list, read] of Object.entries(lists)) {
      const seen: string[] = [];
      let next: string | null = null;
      do {
        const page = JSON.parse(await read({ limit: 2, ...(next !== null && { cursor: next }) })) as Page;
        seen.push(...page.data.map(({ customerId }) => customerId));
        next = page.nextCursor;
      } while (next !== null);
      expect(seen, list).toEqual(customers);
    }
  },
);
