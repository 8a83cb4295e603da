import { expect } from "vitest";
import { hashCredential, newAccessToken } from "../../../../src/http/request/credentials.js";
import type { Declaration } from "../../../../src/http/openapi/administrative.js";
import { startProvider } from "../../../support/language-model.js";
import { startSpec } from "../../../spec/support/fixture.js";
import { environmentId, snapshot, type Actor, type Reply, type Service } from "../../../support/service.js";
import { addDifferences, difference, giveUp } from "./recomputes.js";

export const ROLES = ["viewer", "developer", "administrator", "owner"] as const;
export type Role = (typeof ROLES)[number];
export type Environment = "test" | "live";
export const ENVIRONMENTS: readonly Environment[] = ["test", "live"];

/**
 * The organization acme with one of everything in both environments of its project `app`, and the organization foreign, which has a
 * project `other` with nothing in it.
 */
export interface World {
  service: Service;
  owner: Actor;
  /** Of acme, with headless tokens. */
  members: Readonly<Record<Role, Actor>>;
  /** Owner of the other organization. */
  foreigner: Actor;
  /** The versions that were deployed first. */
  versions: Record<Environment, string>;
  /** Ids of webhooks, whose address is refused when it is dialled. */
  webhooks: Record<Environment, string>;
  /** Ids of deliveries to them. */
  deliveries: Record<Environment, string>;
  /** Ids of recomputes that nobody has taken, with customers all the same. */
  recomputes: Record<Environment, string>;
  /** Ids of previews, likewise. */
  previews: Record<Environment, string>;
  /** A request of acme's owner that has to succeed. */
  make: (method: string, path: string, body?: unknown) => Promise<Reply>;
  /** A new token of a user. */
  token: (options: TokenOptions) => Promise<Actor>;
  /** Writes members of a token's row, as SQL. */
  changeToken: (actor: Actor, change: string) => Promise<void>;
  /** Makes a customer and returns its id. */
  newCustomer: (env: Environment) => Promise<string>;
  /** Makes an API key and returns its id. */
  newKey: (env: Environment) => Promise<string>;
  /** Makes a webhook and returns its id. */
  newWebhook: (env: Environment) => Promise<string>;
  /** Makes a recompute that was given up and returns its id. */
  newDeadRecompute: (env: Environment) => Promise<string>;
  /** Makes a viewer of acme and returns its user id. */
  newMember: () => Promise<string>;
  /** Ends the membership of an actor's user. */
  leave: (actor: Actor) => Promise<void>;
  /** Puts acme on a plan: `standard`, or `local`, which has no cloud execution. */
  usePlan: (plan: "standard" | "local") => Promise<void>;
  stop: () => Promise<void>;
}

export interface TokenOptions {
  of: Actor;
  /** What the token is good for at most. */
  role?: Role;
  /** Of a person who signed in, so good for all its organizations; else headless. */
  session?: boolean;
  /** As `changeToken`. */
  change?: string;
}

/** What the administrative routes declare of themselves. */
export function declarationsOf({ service }: World): Declaration[] {
  return service.routes.flatMap(({ declaration }) => declaration ?? []);
}

/** What a customer did, so that every list has something in it. */
const HISTORY = [
  { type: "identify", customerId: "globex", traits: { plan: "pro" } },
  { customerId: "globex", event: "login", properties: { seats: 3 } },
  { customerId: "initech", event: "login", properties: { seats: 1 } },
];

export async function startWorld(): Promise<World> {
  const provider = await startProvider();
  const fixture = await startSpec({}, { ai: { baseUrl: provider.baseUrl, apiKey: null, model: "small" } });
  const { service, owner, keys } = fixture;
  const foreigner = await service.owner("foreign");
  const make = async (method: string, path: string, body?: unknown, by = owner): Promise<Reply> => {
    const reply = await service.request(method, path, { by, ...(body === undefined ? {} : { body }) });
    expect(reply, `${method} ${path}`).toMatchObject({
      status: expect.toSatisfy((status: number) => status < 300) as unknown,
    });
    return reply;
  };
  await make("POST", "/projects", { name: "Other", slug: "other" }, foreigner);
  const webhooks: Partial<World["webhooks"]> = {};
  const deliveries: Partial<World["deliveries"]> = {};
  const versions: Partial<World["versions"]> = {};
  const recomputes: Partial<World["recomputes"]> = {};
  const previews: Partial<World["previews"]> = {};
  const newWebhook = async (env: Environment): Promise<string> => {
    const { body } = await make("POST", `/projects/app/webhooks?env=${env}`, WEBHOOK);
    const { id } = body as { id: string };
    // Tests of webhooks must not leave the machine.
    await service.db.sql`update svc.webhooks set url = 'http://127.0.0.1:9/hook' where webhook_id = ${id}`;
    return id;
  };
  const newJob = async (list: "recomputes" | "previews", env: Environment, job: object): Promise<string> => {
    const { body } = await make("POST", `/projects/app/${list}?env=${env}`, job);
    return (body as { id: string }).id;
  };
  for (const env of ENVIRONMENTS) {
    const deployed = await make("POST", `/projects/app/config-versions?env=${env}`, { snapshot: snapshot() });
    versions[env] = (deployed.body as { version: string }).version;
    webhooks[env] = await newWebhook(env);
    const sent = await service.request("POST", "/v1/events/batch", {
      headers: { Authorization: `Bearer ${keys[env]}` },
      body: { events: HISTORY },
    });
    expect(sent.status).toBe(202);
    await fixture.evaluate(env);
    const delivered = await make("GET", `/projects/app/webhooks/${webhooks[env]}/deliveries?env=${env}`);
    deliveries[env] = (delivered.body as { data: { id: string }[] }).data[0]!.id;
    await service.db.sql`
      insert into svc.journey_runs (environment_id, customer_id, journey_id, run, status, current_step, steps, started_at)
      values (${await environmentId(service.db.sql, "app", env)}, 'globex', 'onboarding', 1, 'active', 'invite', '{}', now())`;
    recomputes[env] = await newJob("recomputes", env, { all: true });
    previews[env] = await newJob("previews", env, { snapshot: snapshot() });
    for (const id of [recomputes[env], previews[env]]) {
      await addDifferences(service.db.sql, id, [difference("globex", {}, 2), difference("initech")]);
    }
  }
  const { sql } = service.db;
  await sql`insert into iam.plans (plan_id, cloud_execution, rate_per_second, rate_burst) values ('local', false, 1000, 1000)`;
  const members = {} as Record<Role, Actor>;
  for (const role of ROLES) members[role] = await service.member(owner, role);
  const changeToken = async ({ token }: Actor, change: string): Promise<void> => {
    await sql`update iam.access_tokens set ${sql.unsafe(change)} where token_hash = ${hashCredential(token)}`;
  };
  return {
    service,
    owner,
    members,
    foreigner,
    webhooks: webhooks as World["webhooks"],
    deliveries: deliveries as World["deliveries"],
    versions: versions as World["versions"],
    recomputes: recomputes as World["recomputes"],
    previews: previews as World["previews"],
    make,
    token: async ({ of: { token, organizationId }, role, session = false, change }) => {
      const { text, hash } = newAccessToken();
      const [kind, organization] = session ? ["session", null] : ["headless", organizationId];
      await sql`
        insert into iam.access_tokens (token_hash, token_id, kind, user_id, organization_id, role, label, expires_at)
        select ${hash}, svc.random_id('tok_'), ${kind}, user_id, ${organization}, ${role ?? null}, 'test', now() + interval '1 day'
        from iam.access_tokens where token_hash = ${hashCredential(token)}`;
      const actor = { token: text, organizationId };
      if (change !== undefined) await changeToken(actor, change);
      return actor;
    },
    changeToken,
    newCustomer: async (env) => {
      const [row] = await sql<[{ id: string }]>`
        insert into svc.customers (environment_id, customer_id, created_at)
        values (${await environmentId(sql, "app", env)}, ${`customer-${++made}`}, now()) returning customer_id as id`;
      return row.id;
    },
    newKey: async (env) => {
      const { body } = await make("POST", `/projects/app/keys?env=${env}`, { name: "another" });
      return (body as { key: { id: string } }).key.id;
    },
    newWebhook,
    newDeadRecompute: async (env) => {
      const id = await newJob("recomputes", env, { all: true });
      await giveUp(sql, id);
      return id;
    },
    newMember: async () => {
      const [row] = await sql<[{ id: string }]>`
        with u as (
          insert into iam.users (user_id, email) values (svc.random_id('usr_'), ${`member-${++made}@example.com`}) returning user_id
        )
        insert into iam.memberships (organization_id, user_id, role)
        select ${owner.organizationId}, user_id, 'viewer' from u returning user_id as id`;
      return row.id;
    },
    leave: async ({ token, organizationId }) => {
      await sql`delete from iam.memberships where organization_id = ${organizationId} and user_id =
        (select user_id from iam.access_tokens where token_hash = ${hashCredential(token)})`;
    },
    usePlan: async (plan) => {
      await sql`update iam.organizations set plan_id = ${plan} where organization_id = ${owner.organizationId}`;
    },
    stop: async () => {
      await service.stop();
      await provider.close();
    },
  };
}

const WEBHOOK = { url: "https://example.com/hook", eventTypes: ["*"] };

/** A request that does something: its address, with an environment where the route has one, and its body. */
export interface Asked {
  path: string;
  body?: unknown;
}

let made = 0;
const newInvitation = () => ({ email: `invited-${++made}@example.com`, role: "viewer" });

/**
 * Of every administrative route a request that succeeds for whoever may make it, as often as it is made: what it removes was made for
 * it alone.
 */
export const REQUESTS: Readonly<Record<string, (world: World, env: Environment) => Asked | Promise<Asked>>> = {
  "GET /whoami": () => ({ path: "/whoami" }),
  "GET /organizations": () => ({ path: "/organizations" }),
  "GET /organization/members": () => ({ path: "/organization/members" }),
  "PATCH /organization/members/:userId": async ({ newMember }) => ({
    path: `/organization/members/${await newMember()}`,
    body: { role: "developer" },
  }),
  "DELETE /organization/members/:userId": async ({ newMember }) => ({
    path: `/organization/members/${await newMember()}`,
  }),
  "POST /organization/members/:userId/password-reset": async ({ newMember }) => ({
    path: `/organization/members/${await newMember()}/password-reset`,
    body: {},
  }),
  "GET /organization/invitations": () => ({ path: "/organization/invitations" }),
  "POST /organization/invitations": () => ({ path: "/organization/invitations", body: newInvitation() }),
  "DELETE /organization/invitations/:invitationId": async ({ make }) => {
    const { body } = await make("POST", "/organization/invitations", newInvitation());
    return { path: `/organization/invitations/${(body as { id: string }).id}` };
  },
  "GET /organization/tokens": () => ({ path: "/organization/tokens" }),
  "POST /organization/tokens": () => ({ path: "/organization/tokens", body: { label: "CI", expiresInDays: 1 } }),
  "DELETE /organization/tokens/:tokenId": async ({ make }) => {
    const { body } = await make("POST", "/organization/tokens", { label: "CI" });
    return { path: `/organization/tokens/${(body as { id: string }).id}` };
  },
  "GET /organization/audit-log": () => ({ path: "/organization/audit-log" }),
  "POST /projects": () => ({ path: "/projects", body: { name: "New", slug: `new-${++made}` } }),
  "GET /projects": () => ({ path: "/projects" }),
  "GET /projects/:project": () => ({ path: "/projects/app" }),
  "GET /projects/:project/keys": (_, env) => ({ path: `/projects/app/keys?env=${env}` }),
  "POST /projects/:project/keys": (_, env) => ({ path: `/projects/app/keys?env=${env}`, body: { name: "CI" } }),
  "POST /projects/:project/keys/:keyId/rotate": async ({ newKey }, env) => ({
    path: `/projects/app/keys/${await newKey(env)}/rotate?env=${env}`,
    body: { grace: "1h" },
  }),
  "POST /projects/:project/keys/:keyId/revoke": async ({ newKey }, env) => ({
    path: `/projects/app/keys/${await newKey(env)}/revoke?env=${env}`,
    body: {},
  }),
  "GET /projects/:project/config-versions/:version": ({ versions }) => ({
    path: `/projects/app/config-versions/${versions.test}`,
  }),
  "POST /projects/:project/config-versions/:version/promote": ({ versions }) => ({
    path: `/projects/app/config-versions/${versions.test}/promote`,
    body: { force: true },
  }),
  "POST /projects/:project/config-versions/:version/rollback": ({ versions }, env) => ({
    path: `/projects/app/config-versions/${versions[env]}/rollback?env=${env}`,
    body: { force: true },
  }),
  "GET /projects/:project/config-diff": () => ({ path: "/projects/app/config-diff" }),
  "GET /projects/:project/activations": (_, env) => ({ path: `/projects/app/activations?env=${env}` }),
  "GET /projects/:project/diagnostics": (_, env) => ({ path: `/projects/app/diagnostics?env=${env}` }),
  "GET /projects/:project/customers/:customerId/health": (_, env) => ({
    path: `/projects/app/customers/globex/health?env=${env}`,
  }),
  "GET /projects/:project/customers/:customerId/explanation": (_, env) => ({
    path: `/projects/app/customers/globex/explanation?env=${env}`,
  }),
  "GET /projects/:project/customers/:customerId/export": (_, env) => ({
    path: `/projects/app/customers/globex/export?env=${env}`,
  }),
  "DELETE /projects/:project/customers/:customerId": async ({ newCustomer }, env) => ({
    path: `/projects/app/customers/${await newCustomer(env)}?env=${env}`,
  }),
  "GET /projects/:project/events": (_, env) => ({ path: `/projects/app/events?env=${env}` }),
  "GET /projects/:project/events/stream": (_, env) => ({ path: `/projects/app/events/stream?env=${env}` }),
  "POST /projects/:project/ai/answers": (_, env) => ({
    path: `/projects/app/ai/answers?env=${env}`,
    body: { task: "explain-config", facts: {} },
  }),
  "GET /projects/:project/rule-executions": (_, env) => ({ path: `/projects/app/rule-executions?env=${env}` }),
  "GET /projects/:project/customers/:customerId/journeys/:journeyId": (_, env) => ({
    path: `/projects/app/customers/globex/journeys/onboarding?env=${env}`,
  }),
  "GET /projects/:project/overview": (_, env) => ({ path: `/projects/app/overview?env=${env}` }),
  "POST /projects/:project/config-versions": (_, env) => ({
    path: `/projects/app/config-versions?env=${env}`,
    body: { snapshot: snapshot({ segments: [{ id: `segment_${++made}` }] }), force: true },
  }),
  "GET /projects/:project/config-versions": (_, env) => ({ path: `/projects/app/config-versions?env=${env}` }),
  "GET /projects/:project/customers": (_, env) => ({ path: `/projects/app/customers?env=${env}` }),
  "GET /projects/:project/customers/:customerId": (_, env) => ({ path: `/projects/app/customers/globex?env=${env}` }),
  "GET /projects/:project/customers/:customerId/timeline": (_, env) => ({
    path: `/projects/app/customers/globex/timeline?env=${env}`,
  }),
  "GET /projects/:project/customers/:customerId/backlog": (_, env) => ({
    path: `/projects/app/customers/globex/backlog?env=${env}`,
  }),
  "POST /projects/:project/customers/:customerId/release": (_, env) => ({
    path: `/projects/app/customers/globex/release?env=${env}`,
    body: {},
  }),
  "POST /projects/:project/customers/release": (_, env) => ({
    path: `/projects/app/customers/release?env=${env}`,
    body: {},
  }),
  "POST /projects/:project/recomputes": (_, env) => ({
    path: `/projects/app/recomputes?env=${env}`,
    body: { customerId: "globex", dryRun: true },
  }),
  "GET /projects/:project/recomputes": (_, env) => ({ path: `/projects/app/recomputes?env=${env}` }),
  "GET /projects/:project/recomputes/:recompute": ({ recomputes }, env) => ({
    path: `/projects/app/recomputes/${recomputes[env]}?env=${env}`,
  }),
  "GET /projects/:project/recomputes/:recompute/customers": ({ recomputes }, env) => ({
    path: `/projects/app/recomputes/${recomputes[env]}/customers?env=${env}`,
  }),
  "POST /projects/:project/recomputes/:recompute/retry": async ({ newDeadRecompute }, env) => ({
    path: `/projects/app/recomputes/${await newDeadRecompute(env)}/retry?env=${env}`,
    body: {},
  }),
  "POST /projects/:project/previews": (_, env) => ({
    path: `/projects/app/previews?env=${env}`,
    body: { snapshot: snapshot(), sample: 10 },
  }),
  "GET /projects/:project/previews/:preview": ({ previews }, env) => ({
    path: `/projects/app/previews/${previews[env]}?env=${env}`,
  }),
  "GET /projects/:project/previews/:preview/customers": ({ previews }, env) => ({
    path: `/projects/app/previews/${previews[env]}/customers?env=${env}`,
  }),
  "GET /projects/:project/segments/:segment": (_, env) => ({ path: `/projects/app/segments/paying?env=${env}` }),
  "GET /projects/:project/schema-violations": (_, env) => ({ path: `/projects/app/schema-violations?env=${env}` }),
  "POST /projects/:project/webhooks": (_, env) => ({ path: `/projects/app/webhooks?env=${env}`, body: WEBHOOK }),
  "GET /projects/:project/webhooks": (_, env) => ({ path: `/projects/app/webhooks?env=${env}` }),
  "GET /projects/:project/webhooks/:webhook": ({ webhooks }, env) => ({
    path: `/projects/app/webhooks/${webhooks[env]}?env=${env}`,
  }),
  "PATCH /projects/:project/webhooks/:webhook": ({ webhooks }, env) => ({
    path: `/projects/app/webhooks/${webhooks[env]}?env=${env}`,
    body: { eventTypes: ["*"], maxEventAge: "52w", maxConcurrency: 5, maxPerSecond: null, disabled: false },
  }),
  "DELETE /projects/:project/webhooks/:webhook": async ({ newWebhook }, env) => ({
    path: `/projects/app/webhooks/${await newWebhook(env)}?env=${env}`,
  }),
  "POST /projects/:project/webhooks/:webhook/rotate-secret": ({ webhooks }, env) => ({
    path: `/projects/app/webhooks/${webhooks[env]}/rotate-secret?env=${env}`,
    body: { grace: "1h" },
  }),
  "POST /projects/:project/webhooks/:webhook/test": ({ webhooks }, env) => ({
    path: `/projects/app/webhooks/${webhooks[env]}/test?env=${env}`,
    body: { type: "customer.activated" },
  }),
  "GET /projects/:project/webhooks/:webhook/deliveries": ({ webhooks }, env) => ({
    path: `/projects/app/webhooks/${webhooks[env]}/deliveries?env=${env}`,
  }),
  "GET /projects/:project/webhooks/:webhook/deliveries/:delivery": ({ webhooks, deliveries }, env) => ({
    path: `/projects/app/webhooks/${webhooks[env]}/deliveries/${deliveries[env]}?env=${env}`,
  }),
  "POST /projects/:project/webhooks/:webhook/deliveries/:delivery/resend": ({ webhooks, deliveries }, env) => ({
    path: `/projects/app/webhooks/${webhooks[env]}/deliveries/${deliveries[env]}/resend?env=${env}`,
    body: {},
  }),
  "POST /projects/:project/webhooks/:webhook/resend": ({ webhooks }, env) => ({
    path: `/projects/app/webhooks/${webhooks[env]}/resend?env=${env}`,
    body: { since: "1h", until: "2100-01-01", statuses: ["failed", "missing", "delivered"] },
  }),
  "GET /projects/:project/emissions/:emission": ({ deliveries }, env) => ({
    path: `/projects/app/emissions/${deliveries[env]}?env=${env}`,
  }),
};
