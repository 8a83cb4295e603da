import { setTimeout as delay } from "node:timers/promises";
import type { Sql } from "postgres";
import { connect } from "../../src/db/connect.js";
import type { KeyedEvent } from "../lib/events.js";
import { nextEvent } from "./customers.js";

/** Rows of the batches that come in, and of the chunks that are read back. */
const BATCH = 100;
const CHUNK = 500;
const SENDERS = 4;
/** Maximum of waiting rows. */
const BACKLOG_MAX = 2_000;

/**
 * What any pipeline must do, and nothing else: insert rows by `unnest` with an inbox row each, read them back in chunks with each customer's
 * state, write the states, delete the inbox rows. It checks no schema, derives nothing, and delivers nothing.
 */
export class BarePipeline {
  private constructor(
    private readonly sql: Sql,
    private readonly stateBytes: number,
  ) {}

  /** @param stateBytes average size of a customer's state in the service */
  static async open(url: string, stateBytes: number): Promise<BarePipeline> {
    const sql = connect(url, { max: SENDERS + 1, applicationName: "svc bench bare", statementTimeoutMs: 0 });
    await sql.unsafe(`
      drop schema if exists bare cascade;
      create schema bare;
      create table bare.events (
        seq bigint generated always as identity primary key, customer text not null, event text not null,
        properties jsonb not null, occurred_at timestamptz not null, key text not null unique
      );
      create table bare.inbox (seq bigint primary key);
      create table bare.states (customer text primary key, state text not null) with (fillfactor = 80);
    `);
    return new BarePipeline(sql, stateBytes);
  }

  /** @returns processed events per second, over `seconds` after a warm-up */
  async rate(warmUpSeconds: number, seconds: number): Promise<number> {
    const until = performance.now() + (warmUpSeconds + seconds) * 1_000;
    let waiting = 0;
    let done = 0;
    const isOver = () => performance.now() > until;
    const send = async () => {
      while (!isOver()) {
        if (waiting > BACKLOG_MAX) await delay(1);
        else {
          waiting += BATCH;
          await this.#insert(Array.from({ length: BATCH }, nextEvent));
        }
      }
    };
    const evaluate = async () => {
      while (!isOver()) {
        const count = await this.#chunk();
        waiting -= count;
        done += count;
        if (count === 0) await delay(1);
      }
    };
    const warmUp = delay(warmUpSeconds * 1_000).then(() => done);
    await Promise.all([...Array.from({ length: SENDERS }, send), evaluate()]);
    return (done - (await warmUp)) / seconds;
  }

  async close(): Promise<void> {
    await this.sql`drop schema bare cascade`;
    await this.sql.end({ timeout: 5 });
  }

  async #insert(events: KeyedEvent[]): Promise<void> {
    await this.sql`
      with accepted as (
        insert into bare.events (customer, event, properties, occurred_at, key)
        select * from unnest(
          ${events.map(({ customerId }) => customerId)}::text[], ${events.map(({ event }) => event)}::text[],
          ${events.map(({ properties }) => JSON.stringify(properties))}::text[]::jsonb[],
          ${events.map(({ timestamp }) => timestamp)}::text[]::timestamptz[],
          ${events.map(({ idempotencyKey }) => idempotencyKey)}::text[]
        )
        returning seq
      )
      insert into bare.inbox select seq from accepted`;
  }

  async #chunk(): Promise<number> {
    return this.sql.begin(async (tx) => {
      const rows = await tx<{ seq: string; customer: string; properties: object; state: string | null }[]>`
        select i.seq, e.customer, e.event, e.properties, e.occurred_at, s.state
        from (select seq from bare.inbox order by seq limit ${CHUNK}) as i
        join bare.events as e using (seq)
        left join bare.states as s on s.customer = e.customer`;
      if (rows.length === 0) return 0;
      const states = new Map(rows.map(({ customer, seq }) => [customer, seq.padEnd(this.stateBytes, "x")]));
      await tx`
        with written as (
          insert into bare.states select * from unnest(${[...states.keys()]}::text[], ${[...states.values()]}::text[])
          on conflict (customer) do update set state = excluded.state
        )
        delete from bare.inbox where seq = any(${rows.map(({ seq }) => seq)}::bigint[])`;
      return rows.length;
    });
  }
}
