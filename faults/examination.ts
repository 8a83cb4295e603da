/** The examination after each fault, while nothing is under way: what was lost or duplicated, and which customers differ from an undisturbed run. */
import { compare } from "./comparison.js";
import type { Client } from "./client.js";
import type { Server } from "./stage/server.js";
import { evaluationCaughtUp, usageCaughtUp } from "./caught-up.js";
import type { Ledger } from "./ledger.js";
import { postBatch } from "./load.js";
import type { Operation } from "./operations.js";

export interface Findings {
  /** Events that were acknowledged since the last examination, and are not stored under the acknowledged id. */
  lost: number;
  /** Stored events of the examined customers that were not acknowledged. */
  doubled: number;
  /** Violated invariants in the whole database. */
  violated: number;
  /** Examined customers who differ from the undisturbed run: in state, history, emissions or executions of rules. */
  different: number;
  /** A few of each, in words. */
  examples: string[];
}

export interface ExaminerOptions {
  server: Server;
  /** Whether the usage of keys is corrected by a job, rather than by the recovery from a crash. */
  isCluster: boolean;
  ledger: Ledger;
  /** Sends to the undisturbed environment. */
  client: Client;
  /** The environment under faults, and the one that receives the same operations only without faults. */
  environments: { struck: number; undisturbed: number };
  signal: AbortSignal;
}

/** Well below the limit of a request. */
const MIRRORED_AT_ONCE = 500;

export class Examiner {
  /** Operations accepted before do not belong to the run. */
  readonly #since = new Date();

  constructor(private readonly options: ExaminerOptions) {}

  /** To be called while nothing is sent. */
  async examine(): Promise<Findings> {
    const { server, ledger, signal } = this.options;
    const fresh = ledger.takeFresh();
    const customers = [...new Set(fresh.map(({ customerId }) => customerId))];
    // If a customer begins with an identify, whether evaluation sees that before the events after it depends on how soon they follow.
    const comparable = customers.filter((customer) => !ledger.begunByIdentify.has(customer));
    await this.#mirror(fresh);
    await evaluationCaughtUp(server, signal);
    if (this.options.isCluster) await usageCaughtUp(server, signal);
    const { lost, doubled } = await this.#events(fresh, customers);
    const { struck, undisturbed } = this.options.environments;
    const { different, examples } = await server.query((sql) =>
      compare(sql, struck, undisturbed, { customers: comparable, since: this.#since }),
    );
    const violated = await server.query(
      (sql) =>
        sql<
          { line: string }[]
        >`select i.invariant || ': ' || array_to_string(i.examples, ' ') as line from svc_inspect.invariants() as i`,
    );
    return {
      lost: lost.length,
      doubled: doubled.reduce((sum, { surplus }) => sum + surplus, 0),
      violated: violated.length,
      different,
      examples: [
        ...lost.slice(0, 3).map((key) => `lost: ${key}`),
        ...doubled.slice(0, 3).map(({ customer, surplus }) => `${surplus} events too many: ${customer}`),
        ...violated.map(({ line }) => line),
        ...examples.map(
          ({ customer, one, other }) => `${customer}: ${one ?? "missing"}, but undisturbed ${other ?? "missing"}`,
        ),
      ],
    };
  }

  /** Sends the operations in the order of their acceptance, which keeps each customer's order. */
  async #mirror(operations: readonly Operation[]): Promise<void> {
    for (let at = 0; at < operations.length; at += MIRRORED_AT_ONCE)
      await postBatch(operations.slice(at, at + MIRRORED_AT_ONCE), this.options.client);
  }

  #events(fresh: readonly Operation[], customers: readonly string[]) {
    const { server, ledger, environments } = this.options;
    const keys = fresh.flatMap(({ key }) => key ?? []);
    // Joined here and not in the database: on a cluster, the rows are on a node.
    return server.query(async (sql) => {
      const stored = await sql<{ key: string; id: string }[]>`
        select k.idempotency_key as key, svc.event_id(e.event_seq) as id
        from svc.idempotency_keys as k
        join svc.events as e on e.environment_id = k.environment_id and e.event_seq = k.event_seq
        where k.environment_id = ${environments.struck} and k.idempotency_key = any(${keys}::text[])`;
      const counts = await sql<{ customer: string; events: number }[]>`
        select e.customer_id as customer, count(*)::integer as events
        from svc.events as e
        where e.environment_id = ${environments.struck} and e.customer_id = any(${customers as string[]}::text[])
        group by e.customer_id`;
      const storedAs = new Map(stored.map(({ key, id }) => [key, id]));
      return {
        lost: keys.filter((key) => storedAs.get(key) !== ledger.ids.get(key)),
        doubled: counts
          .map(({ customer, events }) => ({ customer, surplus: events - (ledger.events.get(customer) ?? 0) }))
          .filter(({ surplus }) => surplus > 0),
      };
    });
  }
}
