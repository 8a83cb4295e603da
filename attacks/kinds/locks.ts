/** A user who may only read holds the advisory locks whose keys can be guessed. */
import { randomBytes } from "node:crypto";
import type { Sql } from "postgres";
import { connect } from "../../src/db/connect.js";
import { untilAborted } from "../flood.js";
import { NEIGHBOUR } from "../stage.js";
import type { Attack } from "./attack.js";
import { environmentIdOf } from "./project.js";

/** Numbers of future ingestion calls to lock. */
const BATCHES_AHEAD = 1_500;
const VERSIONS = 20;
/** Kinds of work: the lanes of recomputes. */
const LANES = 4;

export const LOCKS: Attack = {
  name: "advisory-locks",
  what: "a login of the role svc_reader holds every advisory lock of the neighbour that can be guessed",
  prepare: async (ground) => {
    const { cluster, databaseUrl } = ground.stage;
    const environment = await environmentIdOf(ground, NEIGHBOUR);
    const password = randomBytes(16).toString("hex");
    await cluster.query((sql) => sql.unsafe(`create role attacker login password '${password}' in role svc_reader`));
    const url = new URL(databaseUrl);
    url.username = "attacker";
    url.password = password;
    return async (signal) => {
      const sql = connect(url.href, {
        max: 1,
        applicationName: "svc attacks reader",
        statementTimeoutMs: 0,
        lasting: true,
      });
      try {
        await hold(sql, environment, () => ground.tally.sent(0)).catch((error: unknown) => {
          // The service may refuse it.
          ground.tally.answered(`refused with ${(error as { code?: string }).code ?? String(error)}`);
        });
        await untilAborted(signal);
      } finally {
        await sql.end({ timeout: 1 });
      }
    };
  },
};

/** Takes the locks that are free; does not wait or try again for others. */
async function hold(sql: Sql, environment: number, onHeld: () => void): Promise<void> {
  const held = await sql<{ taken: boolean }[]>`
    select pg_try_advisory_lock(k.one, k.other) as taken
    from (
      select -${environment}::integer, n from generate_series(0, ${BATCHES_AHEAD}::integer) as n
      union all
      select ${environment}::integer, n from generate_series(0, ${VERSIONS}::integer) as n
      union all
      select n, ${environment}::integer from generate_series(0, ${LANES}::integer) as n
    ) as k (one, other)`;
  for (const { taken } of held) if (taken) onHeld();
}
