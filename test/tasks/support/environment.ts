import type { AdminCredentials, EnvironmentRef } from "../../../src/db/api/access.js";
import { createHash, randomBytes, randomUUID } from "node:crypto";
import type { Sql } from "postgres";
import { call } from "../../../src/db/api/call.js";
import type { ChunkLimits } from "../../../src/db/api/evaluation.js";
import { ingestBatch } from "../../../src/db/api/ingestion.js";
import type { StateDocument } from "../../../src/engine/index.js";
import { canonicalJson, hashSnapshot } from "../../../src/model/snapshot/canonical.js";
import type { Field, Snapshot } from "../../../src/model/snapshot/types.js";
import { evaluateEnvironment } from "../../../src/tasks/evaluate/evaluate-environment.js";
import { Models } from "../../../src/evaluation/models.js";
import { runLog } from "../../support/run-log.js";

/** An operation of a test. Instants are ISO 8601. */
export interface TestOperation {
  customer?: string;
  /** When it is accepted. */
  at: string;
  /** An event; without a name it is an identify. */
  event?: string;
  /** When the event occurred, if not at its acceptance. */
  occurred?: string;
  properties?: object;
  traits?: object;
  /** The event's idempotency key. */
  key?: string;
}

export interface EvaluateOptions {
  at?: string;
  settleSeconds?: number;
  limits?: ChunkLimits;
  shouldContinue?: () => boolean;
}

/** The snapshot with a declaration of every event and trait that these tests use, unless it has its own. */
export function declared(snapshot: Snapshot): Snapshot {
  const number: Field = { type: "number", optional: true };
  const names = "a b c other login created paid signed_up invited used project_created".split(" ");
  const events = names.map((name) => [name, { properties: { x: number, seats: number } }] as const);
  return {
    ...snapshot,
    events: { ...Object.fromEntries(events), ...snapshot.events },
    traits: { plan: { type: "string" }, renewsOn: { type: "date" }, ...snapshot.traits },
  };
}

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();

/** The environment `test` of a separate project, driven without the service by calling ingestion and evaluation. */
export class TestEnvironment {
  private readonly models = new Models();

  private constructor(
    readonly sql: Sql,
    readonly environmentId: number,
    readonly keyHash: Buffer,
    readonly by: AdminCredentials,
    private readonly project: string,
  ) {}

  get place(): EnvironmentRef {
    return { project: this.project, environment: "test" };
  }

  static async create(sql: Sql, snapshot?: Snapshot): Promise<TestEnvironment> {
    const slug = `o${randomBytes(6).toString("hex")}`;
    const tokenHash = randomBytes(32);
    const bootstrapped = await call(sql, "bootstrap", slug, "owner@example.com", tokenHash);
    const { organizationId } = JSON.parse(bootstrapped) as { organizationId: string };
    const by: AdminCredentials = { tokenHash, organizationId, requestId: "test" };
    await sql`update iam.plans set rate_per_second = 1e9, rate_burst = 1000000000 where rate_burst <> 1000000000`;
    const keyHash = sha256(slug);
    const live = { hash: randomBytes(32), hint: "svc_live_" };
    await call(sql, "create_project", by, { name: "App", slug }, { test: { hash: keyHash, hint: "svc_test_" }, live });
    const [row] = await sql<[{ environment_id: number }]>`
      select environment_id from svc.api_keys where key_hash = ${keyHash}`;
    const environment = new TestEnvironment(sql, row.environment_id, keyHash, by, slug);
    if (snapshot !== undefined) await environment.deploy(snapshot);
    return environment;
  }

  /** The same environment in the database that it has moved to, with its ids there. */
  movedTo(sql: Sql, environmentId: number, by: AdminCredentials, project: string): TestEnvironment {
    return new TestEnvironment(sql, environmentId, this.keyHash, by, project);
  }

  /** Deploys `declared(given)`. */
  async deploy(given: Snapshot): Promise<void> {
    const snapshot = declared(given);
    const version = {
      snapshot: canonicalJson(snapshot),
      hash: hashSnapshot(snapshot),
      provenance: null,
      expected: null,
    };
    await call(this.sql, "deploy_config", this.by, this.place, { ...version, force: true });
  }

  /** Ingests one batch, which is accepted now. */
  async send(operations: TestOperation[]): Promise<void> {
    const body = JSON.stringify({ events: operations.map(bodyOf) });
    await ingestBatch(this.sql, { keyHash: this.keyHash, batchId: randomUUID(), repeated: false }, body);
  }

  /** Ingests one batch and backdates (or postdates) its acceptance; returns the sequence numbers of its operations. */
  async ingest(operations: TestOperation[]): Promise<number[]> {
    return this.ingestText(
      operations.map((operation) => JSON.stringify(bodyOf(operation))),
      operations,
    );
  }

  /** The same with the operations as JSON text, for numbers that do not fit JavaScript. */
  async ingestText(
    texts: string[],
    operations: { at: string; occurred?: string; event?: string }[],
  ): Promise<number[]> {
    const { sql, environmentId } = this;
    const batchId = randomUUID();
    await ingestBatch(sql, { keyHash: this.keyHash, batchId, repeated: false }, `{"events": [${texts.join(",")}]}`);
    const [batch] = await sql<[{ seq: number }]>`
      select batch_seq::float8 as seq from svc.ingest_batches
      where environment_id = ${environmentId} and batch_id = ${batchId}`;
    const seqs = operations.map((_, position) => batch.seq * 1024 + position);
    const accepted = operations.map(({ at }) => at);
    await sql`
      update svc.events as e set accepted_at = o.at
      from unnest(${seqs}::bigint[], ${accepted}::timestamptz[]) as o (seq, at)
      where e.environment_id = ${environmentId} and e.event_seq = o.seq`;
    await sql`
      update svc.trait_updates as t set accepted_at = o.at
      from unnest(${seqs}::bigint[], ${accepted}::timestamptz[]) as o (seq, at)
      where t.environment_id = ${environmentId} and t.operation_seq = o.seq`;
    await sql`
      update svc.ingest_batches as b
      set
        accepted_at = ${accepted[0] ?? null}::timestamptz,
        late = exists (
          select from svc.events as e
          where e.environment_id = b.environment_id and e.event_seq = any(${seqs}::bigint[])
            and e.accepted_at > e.occurred_at + svc.punctual()
        )
      where b.environment_id = ${environmentId} and b.batch_seq = ${batch.seq}`;
    // Operations accepted in another month do not count for this one.
    const [usage] = await sql<
      [{ month: string }]
    >`select month::text from svc.key_usage where key_hash = ${this.keyHash}`;
    const [used] = await sql<[{ events: string }]>`
      select coalesce(sum(b.tracked), 0)::text as events
      from svc.ingest_batches as b
      where b.environment_id = ${environmentId} and svc.month_of(b.accepted_at) = ${usage.month}::date`;
    await sql`update svc.key_usage set month_events = ${used.events} where key_hash = ${this.keyHash}`;
    return seqs;
  }

  async evaluate(options: EvaluateOptions = {}): Promise<void> {
    const { at, settleSeconds = 30, limits, shouldContinue } = options;
    const dependencies = {
      sql: this.sql,
      models: this.models,
      settleSeconds,
      logger: runLog(),
      ...(at === undefined ? {} : { at: Date.parse(at) }),
      ...(limits === undefined ? {} : { limits }),
    };
    await evaluateEnvironment(dependencies, this.environmentId, shouldContinue);
  }

  /** Ingests one batch and evaluates all waiting operations; returns the sequence numbers of the batch. */
  async take(options: EvaluateOptions, operations: TestOperation[]): Promise<number[]> {
    const seqs = await this.ingest(operations);
    await this.evaluate(options);
    return seqs;
  }

  /** Releases a customer that was set aside, or all of them; returns how many there were. */
  async release(customer: string | null): Promise<number> {
    const document = await call(this.sql, "release_customers", this.by, this.place, customer);
    return (JSON.parse(document) as { released: number }).released;
  }

  /** Erases a customer; returns the number of rows of each kind. */
  async erase(customer: string): Promise<Record<string, number>> {
    const document = await call(this.sql, "erase_customer", this.by, this.place, customer);
    return (JSON.parse(document) as { erased: Record<string, number> }).erased;
  }

  /** JSON text, as in the API's answer; null if the customer does not exist. */
  async documentText(customer = "c1"): Promise<string | null> {
    const [row] = await this.sql<[{ document: string | null }]>`
      select svc.state_document(${this.environmentId}, ${customer})::text as document`;
    return row.document;
  }

  async document(customer = "c1"): Promise<StateDocument> {
    return JSON.parse((await this.documentText(customer)) ?? "null") as StateDocument;
  }

  async emissions(customer = "c1"): Promise<EmissionRow[]> {
    return this.sql<EmissionRow[]>`
      select event_type as type, source, metadata, svc.iso(emitted_at) as at, cause_type as cause, cause_id as "causeId",
        config_version as version
      from svc.emissions
      where environment_id = ${this.environmentId} and customer_id = ${customer}
      order by emission_seq`;
  }

  /** The customer's health scores, then the runs of rules, each in order. */
  async log(customer = "c1"): Promise<LogRow[]> {
    const { sql, environmentId } = this;
    const rows = await sql<LogRow[]>`
      select svc.iso(scored_at) as at, cause_type as cause, cause_id as "causeId",
        json_build_object('overall', trim_scale(overall), 'components', components, 'band', band)::text as text
      from svc.health_scores
      where environment_id = ${environmentId} and customer_id = ${customer}
      order by score_seq`;
    const rules = await sql<LogRow[]>`
      select svc.iso(executed_at) as at, cause_type as cause, cause_id as "causeId",
        json_build_object('rule', rule_id, 'result', result, 'triggeredBy', triggered_by, 'conditions', conditions, 'action', action,
          'error', error)::text as text
      from svc.rule_executions
      where environment_id = ${environmentId} and customer_id = ${customer}
      order by execution_seq`;
    return [...rows, ...rules].map((row) => ({ ...row, text: JSON.stringify(JSON.parse(row.text)) }));
  }

  /** `type at cause`, in order. */
  async emitted(customer = "c1"): Promise<string[]> {
    return (await this.emissions(customer)).map(({ type, at, cause }) => `${type} ${at} ${cause}`);
  }

  /** The inbox: the customers with pending operations, and until when each one waits. */
  async pending(): Promise<{ customer: string; notBefore: string | null }[]> {
    return this.sql`
      select customer_id as customer, case when not_before = 'infinity' then 'infinity' else svc.iso(not_before) end as "notBefore"
      from svc.inbox where environment_id = ${this.environmentId} order by customer_id, seq`;
  }

  async setAside(): Promise<{ customer: string; error: string }[]> {
    return this.sql`
      select customer_id as customer, set_aside_error as error from svc.customers
      where environment_id = ${this.environmentId} and set_aside_at is not null order by customer_id`;
  }
}

export interface EmissionRow {
  type: string;
  source: string;
  metadata: object;
  at: string;
  cause: string;
  causeId: string | null;
  version: number | null;
}

/** A line of a log, its content as JSON text. */
export interface LogRow {
  at: string;
  cause: string;
  causeId: string | null;
  text: string;
}

function bodyOf(operation: TestOperation): object {
  const { customer = "c1", at, event, occurred = at, properties = {}, traits = {}, key } = operation;
  if (event === undefined) return { type: "identify", customerId: customer, traits };
  const track = { type: "track", customerId: customer, event, properties, timestamp: occurred };
  return key === undefined ? track : { ...track, idempotencyKey: key };
}
