/** An organization with one resource of each kind, for requests of the administrative API. */
import { setTimeout as delay } from "node:timers/promises";
import type { Sql } from "postgres";
import { NEIGHBOUR_MODEL } from "../attacks/models.js";
import type { RunningService, Tenant } from "../faults/stage/one-service.js";
import { DemoFailure } from "../src/demo/failure.js";
import type { Snapshot } from "../src/model/snapshot/types.js";

const PROJECT = "app";
export const CUSTOMER = "globex";
const POLL_MS = 50;
const FOUND_MS_MAX = 60_000;
const seenAtLeast = (value: number) => ({ kind: "count", of: { event: "seen" }, operator: "gte", value }) as const;
const MODEL: Snapshot = {
  ...NEIGHBOUR_MODEL,
  strictSchema: false,
  segments: [{ id: "quiet", when: { kind: "inactiveFor", duration: "7d" } }],
  journeys: [{ id: "start", start: seenAtLeast(1), steps: [{ id: "second", when: seenAtLeast(2) }] }],
};

interface Made {
  id: string;
}

export class World {
  readonly #ids = new Map<string, Promise<string>>();
  #made = 0;
  /** Creates a resource for each parameter of a path. */
  readonly #makers: Readonly<Record<string, () => string | Promise<string>>> = {
    project: () => PROJECT,
    version: () => "v1",
    segment: () => "quiet",
    journeyId: () => "start",
    customerId: () =>
      this.#afterEvent(
        "customer",
        () => this.sql<Made[]>`
          select customer_id as id from svc.customers
          where environment_id = ${this.environmentId} and customer_id = ${CUSTOMER}`,
      ),
    webhook: () => this.#in("webhooks", { url: "http://127.0.0.1:9/hook", eventTypes: ["*"] }),
    emission: () => this.id("delivery"),
    delivery: async () => {
      // A new webhook, which no request has disabled.
      this.#ids.delete("webhook");
      const webhook = await this.id("webhook");
      return this.#afterEvent(
        "delivery",
        () => this.sql<Made[]>`
          select svc.emission_id(emission_seq) as id from svc.deliveries
          where environment_id = ${this.environmentId} and webhook_id = ${webhook}`,
      );
    },
    keyId: async () => {
      const { key } = await this.tenant.api.write<{ key: Made }>({ name: "another" }, PROJECT, "keys");
      return key.id;
    },
    recompute: () => this.#in("recomputes", { all: true, dryRun: true }),
    preview: () => this.#in("previews", { snapshot: MODEL, sample: 1 }),
    invitationId: () => this.#of("invitations", { email: `invited-${this.#made}@fuzz.example`, role: "viewer" }),
    tokenId: () => this.#of("tokens", { label: "CI" }),
    // Inserted directly, because an invited user would have to sign in first.
    userId: async () => {
      const [{ id }] = await this.sql<[Made]>`
        with u as (
          insert into iam.users (user_id, email) values (svc.random_id('usr_'), ${`member-${this.#made}@fuzz.example`})
          returning user_id
        )
        insert into iam.memberships (organization_id, user_id, role)
        select ${this.tenant.credentials.organizationId}, user_id, 'viewer' from u
        returning user_id as id`;
      return id;
    },
  };

  private constructor(
    private readonly sql: Sql,
    private readonly tenant: Tenant,
    private readonly environmentId: number,
    /** Sends an event of the customer. */
    private readonly send: () => Promise<Response>,
  ) {}

  /** @param slug of the organization to create */
  static async create({ tenant, service }: RunningService, sql: Sql, slug: string): Promise<World> {
    const owner = await tenant(slug);
    const key = await owner.api.createProject(PROJECT, PROJECT);
    await owner.api.deploy(PROJECT, MODEL);
    const [{ id }] = await sql<[{ id: number }]>`
      select e.environment_id as id
      from svc.environments as e
      join svc.projects as p on p.project_id = e.project_id
      where p.organization_id = ${owner.credentials.organizationId} and p.slug = ${PROJECT} and e.name = 'test'`;
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const body = JSON.stringify({ customerId: CUSTOMER, event: "seen" });
    return new World(sql, owner, id, () => fetch(`${service.url}/v1/events`, { method: "POST", headers, body }));
  }

  /** The owner's credentials. */
  get headers(): Record<string, string> {
    const { accessToken, organizationId } = this.tenant.credentials;
    return { authorization: `Bearer ${accessToken}`, "x-svc-organization": organizationId };
  }

  /** The id of an existing resource for a parameter of a path. */
  id(parameter: string): Promise<string> {
    const known = this.#ids.get(parameter) ?? this.#make(parameter);
    this.#ids.set(parameter, known);
    return known;
  }

  /** To be called when a request may have removed the resource of a parameter. */
  forget(parameter: string): void {
    this.#ids.delete(parameter);
    if (parameter === "webhook") for (const its of ["delivery", "emission"]) this.#ids.delete(its);
  }

  async #make(parameter: string): Promise<string> {
    const maker = this.#makers[parameter];
    if (maker === undefined)
      throw new DemoFailure(`fuzz/world.ts has no resource for the path parameter {${parameter}}`);
    this.#made += 1;
    return maker();
  }

  async #in(list: string, body: object): Promise<string> {
    return (await this.tenant.api.write<Made>(body, PROJECT, list)).id;
  }

  async #of(list: string, body: object): Promise<string> {
    return (await this.tenant.api.post<Made>(`/organization/${list}`, body)).id;
  }

  /** Sends an event, and waits until its evaluation has created a row. */
  async #afterEvent(what: string, find: () => Promise<Made[]>): Promise<string> {
    // A request may have activated another model, which would refuse the event.
    await this.tenant.api.write({ snapshot: MODEL, force: true }, PROJECT, "config-versions");
    const { status } = await this.send();
    if (status !== 202) throw new DemoFailure(`the event of the ${what} was answered ${status}`);
    for (const end = performance.now() + FOUND_MS_MAX; performance.now() < end;) {
      const [row] = await find();
      if (row !== undefined) return row.id;
      await delay(POLL_MS);
    }
    throw new DemoFailure(`no ${what} was created after an event within ${FOUND_MS_MAX / 1_000} s`);
  }
}
