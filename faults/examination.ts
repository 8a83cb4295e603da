/** What is looked at after each fault, while nothing is under way: what was lost or doubled, and who is not as an undisturbed run has them. */
import { compare } from "./comparison.js";
import type { Client } from "./client.js";
import type { EmbeddedCluster } from "./stage/cluster.js";
import { evaluationCaughtUp } from "./caught-up.js";
import type { Ledger } from "./ledger.js";
import { postBatch } from "./load.js";
import type { Operation } from "./operations.js";

export interface Findings {
  /** Events that were acknowledged since the last look, and are not stored under the id that was answered. */
  lost: number;
  /** Events of the customers concerned that are stored beyond those that were acknowledged. */
  doubled: number;
  /** Invariants that do not hold, of the whole database. */
  violated: number;
  /** Customers concerned who differ from the undisturbed run: in state, history, emissions or executions of rules. */
  different: number;
  /** A few of each, in words. */
  examples: string[];
}

export interface ExaminerOptions {
  cluster: EmbeddedCluster;
  ledger: Ledger;
  /** Sends to the undisturbed environment. */
  client: Client;
  /** The environment that is struck, and the one that gets the same operations only while all is well. */
  environments: { struck: number; undisturbed: number };
  signal: AbortSignal;
}

/** Well below what a request may hold. */
const MIRRORED_AT_ONCE = 500;

export class Examiner {
  /** What was accepted before belongs to no run. */
  readonly #since = new Date();

  constructor(private readonly options: ExaminerOptions) {}

  /** To be called while nothing is sent. */
  async examine(): Promise<Findings> {
    const { cluster, ledger, signal } = this.options;
    const fresh = ledger.takeFresh();
    const customers = [...new Set(fresh.map(({ customerId }) => customerId))];
    // Whether such a customer begins with the identify, or with the events that follow, depends on how soon they follow.
    const comparable = customers.filter((customer) => !ledger.begunByIdentify.has(customer));
    await this.#mirror(fresh);
    await evaluationCaughtUp(cluster, signal);
    const { lost, doubled } = await this.#events(fresh, customers);
    const { struck, undisturbed } = this.options.environments;
    const { different, examples } = await cluster.query((sql) =>
      compare(sql, struck, undisturbed, { customers: comparable, since: this.#since }),
    );
    const violated = await cluster.query(
      (sql) =>
        sql<
          { said: string }[]
        >`select i.invariant || ': ' || array_to_string(i.examples, ' ') as said from svc_inspect.invariants() as i`,
    );
    return {
      lost: lost.length,
      doubled: doubled.reduce((sum, { surplus }) => sum + surplus, 0),
      violated: violated.length,
      different,
      examples: [
        ...lost.slice(0, 3).map(({ key }) => `lost: ${key}`),
        ...doubled.slice(0, 3).map(({ customer, surplus }) => `${surplus} events too many: ${customer}`),
        ...violated.map(({ said }) => said),
        ...examples.map(
          ({ customer, one, other }) => `${customer}: ${one ?? "nobody"} where undisturbed ${other ?? "nobody"}`,
        ),
      ],
    };
  }

  /** In the order in which they were accepted, which is each customer's. */
  async #mirror(operations: readonly Operation[]): Promise<void> {
    for (let at = 0; at < operations.length; at += MIRRORED_AT_ONCE)
      await postBatch(operations.slice(at, at + MIRRORED_AT_ONCE), this.options.client);
  }

  #events(fresh: readonly Operation[], customers: readonly string[]) {
    const { cluster, ledger, environments } = this.options;
    const keys = fresh.flatMap(({ key }) => key ?? []);
    const ids = keys.map((key) => ledger.ids.get(key) ?? "");
    const acknowledged = customers.map((customer) => ledger.events.get(customer) ?? 0);
    return cluster.query(async (sql) => ({
      lost: await sql<{ key: string }[]>`
        select a.key
        from unnest(${keys}::text[], ${ids}::text[]) as a (key, id)
        left join svc.idempotency_keys as k on k.environment_id = ${environments.struck} and k.idempotency_key = a.key
        left join svc.events as e on e.environment_id = k.environment_id and e.event_seq = k.event_seq
        where svc.event_id(e.event_seq) is distinct from a.id`,
      doubled: await sql<{ customer: string; surplus: number }[]>`
        select a.customer, (count(e.event_seq) - a.events)::integer as surplus
        from unnest(${customers as string[]}::text[], ${acknowledged}::integer[]) as a (customer, events)
        join svc.events as e on e.environment_id = ${environments.struck} and e.customer_id = a.customer
        group by a.customer, a.events
        having count(e.event_seq) > a.events`,
    }));
  }
}
