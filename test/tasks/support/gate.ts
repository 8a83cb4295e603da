import { setTimeout as delay } from "node:timers/promises";
import type { Sql } from "postgres";
import { connect } from "../../../src/db/connect.js";
import type { TestDatabase } from "../../support/database.js";

/** The key of the advisory lock that a recompute waits for. */
const KEY = 7_599;

/** In the middle of each customer: its result is written but not committed, and the next ones were read already. */
const EACH_CUSTOMER =
  "before update of customers_done on svc.recomputes for each row when (new.customers_done > old.customers_done)";

/** Stops recomputes of a database at a certain statement, by default for each customer. Passes one at a time. */
export class Gate {
  private constructor(
    private readonly sql: Sql,
    private holder: Sql,
    private next: Sql,
  ) {}

  /** Installs a closed gate. */
  static async close({ sql, url }: TestDatabase, at = EACH_CUSTOMER): Promise<Gate> {
    await sql.unsafe(`
      create or replace function gate() returns trigger language plpgsql as $$
      begin
        perform pg_advisory_xact_lock(${KEY});
        return new;
      end
      $$;
      create trigger gate ${at} execute function gate();
    `);
    const session = () => connect(url, { max: 1, applicationName: "test gate" });
    const gate = new Gate(sql, session(), session());
    await gate.holder`select pg_advisory_lock(${KEY})`;
    return gate;
  }

  /** Resolves once a recompute waits at the gate (true), or the run is over (false). */
  async reached(run: Promise<unknown>): Promise<boolean> {
    const over = run.then(
      () => true,
      () => true,
    );
    for (;;) {
      if ((await this.#waiting()) > 0) return true;
      if (await Promise.race([over, delay(1, false)])) return false;
    }
  }

  /** Lets only the customer at the gate pass. */
  async pass(): Promise<void> {
    // The lock is granted in the order of requests.
    const held = this.next`select pg_advisory_lock(${KEY})`.execute();
    while ((await this.#waiting()) < 2) await delay(1);
    await this.holder`select pg_advisory_unlock(${KEY})`;
    await held;
    [this.holder, this.next] = [this.next, this.holder];
  }

  /** Removes the gate, unless done already. */
  async open(): Promise<void> {
    await Promise.all([this.holder.end(), this.next.end()]);
    await this.sql`drop function if exists gate() cascade`;
  }

  async #waiting(): Promise<number> {
    const [{ waiting }] = await this.sql<[{ waiting: number }]>`
      select count(*)::integer as waiting from pg_locks
      where locktype = 'advisory' and objid = ${KEY} and not granted
        and database = (select oid from pg_database where datname = current_database())`;
    return waiting;
  }
}
