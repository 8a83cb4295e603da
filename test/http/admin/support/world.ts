import { expect } from "vitest";
import { hashCredential, newCredential } from "../../../../src/http/request/credentials.js";
import { adminRoutes } from "../../../../src/http/admin/routes.js";
import type { AdminDeps } from "../../../../src/http/admin/route.js";
import type { Declaration } from "../../../../src/http/openapi/administrative-endpoint.js";
import { startProvider } from "../../../support/language-model.js";
import { startSpec } from "../../../spec/support/fixture.js";
import { environmentId, snapshot, type Actor, type Reply } from "../../../support/service.js";
import { addDifferences, addSamples, difference, giveUp } from "./recomputes.js";

export const ROLES = ["viewer", "developer", "administrator", "owner"] as const;
export type Role = (typeof ROLES)[number];
export type Environment = "test" | "live";
export const ENVIRONMENTS: readonly Environment[] = ["test", "live"];

export type World = Awaited<ReturnType<typeof startWorld>>;

interface TokenOptions {
  of: Actor;
  /** The token's highest role. */
  role?: Role;
  /** Whether it is a session's token, valid for all organizations of the user; else headless. */
  session?: boolean;
  /** Like `change` of `changeToken`. */
  change?: string;
}

/** The declarations of the administrative routes. */
export function declarationsOf({ service }: World): Declaration[] {
  return service.routes.flatMap(({ declaration }) => declaration ?? []);
}

/** Operations of customers, so that no list is empty. */
const HISTORY = [
  { type: "identify", customerId: "globex", traits: { plan: "pro" } },
  { customerId: "globex", event: "login", properties: { seats: 3 } },
  { customerId: "initech", event: "login", properties: { seats: 1 } },
];

/**
 * Starts a service with the organization acme, which has one of everything in both environments of its project `app`, and foreign, which
 * has an empty project `other`.
 */
export async function startWorld() {
  const provider = await startProvider();
  const fixture = await startSpec({}, { ai: { baseUrl: provider.baseUrl, apiKey: null, model: "small" } });
  const { service, owner, keys } = fixture;
  const { sql } = service.db;
  const foreigner = await service.owner("foreign");
  /** Makes a request that has to succeed, by default of acme's owner. */
  const make = async (method: string, path: string, body?: unknown, by = owner): Promise<Reply> => {
    const reply = await service.request(method, path, { by, ...(body === undefined ? {} : { body }) });
    expect(reply.status, `${method} ${path}: ${JSON.stringify(reply.body)}`).toBeLessThan(300);
    return reply;
  };
  await make("POST", "/projects", { name: "Other", slug: "other" }, foreigner);
  const newWebhook = async (env: Environment): Promise<string> => {
    const id = idOf(await make("POST", `/projects/app/webhooks?env=${env}`, WEBHOOK));
    // Webhook tests must not leave the machine.
    await sql`update svc.webhooks set url = 'http://127.0.0.1:9/hook' where webhook_id = ${id}`;
    return id;
  };
  const newJob = async (
    list: "recomputes" | "previews" | "backtests",
    env: Environment,
    job: object,
  ): Promise<string> => idOf(await make("POST", `/projects/app/${list}?env=${env}`, job));
  const ids = () => ({}) as Record<Environment, string>;
  /** Ids of the first versions, of webhooks whose address refuses connections, and of deliveries to them. */
  const [versions, webhooks, deliveries] = [ids(), ids(), ids()];
  const events = ids();
  /** Ids of jobs that no worker has claimed, but that have results. */
  const [recomputes, previews, backtests] = [ids(), ids(), ids()];
  for (const env of ENVIRONMENTS) {
    const deployed = await make("POST", `/projects/app/config-versions?env=${env}`, { snapshot: snapshot() });
    versions[env] = (deployed.body as { version: string }).version;
    webhooks[env] = await newWebhook(env);
    const headers = { Authorization: `Bearer ${keys[env]}` };
    const sent = await service.request("POST", "/v1/events/batch", { headers, body: { events: HISTORY } });
    expect(sent.status).toBe(202);
    events[env] = (sent.body as { eventIds: string[] }).eventIds[1]!;
    await fixture.evaluate(env);
    const delivered = await make("GET", `/projects/app/webhooks/${webhooks[env]}/deliveries?env=${env}`);
    deliveries[env] = (delivered.body as { data: { id: string }[] }).data[0]!.id;
    await sql`
      insert into svc.journey_runs (environment_id, customer_id, journey_id, run, status, current_step, steps, started_at)
      values (${await environmentId(sql, "app", env)}, 'globex', 'onboarding', 1, 'active', 'invite', '{}', now())`;
    recomputes[env] = await newJob("recomputes", env, { all: true });
    previews[env] = await newJob("previews", env, { snapshot: snapshot() });
    backtests[env] = await newJob("backtests", env, { outcome: "state:active", within: "30d" });
    for (const id of [recomputes[env], previews[env]])
      await addDifferences(sql, id, [difference("globex", {}, 2), difference("initech")]);
    await addSamples(sql, backtests[env], ["globex", "initech"]);
  }
  await sql`insert into iam.plans (plan_id, cloud_execution, rate_per_second, rate_burst) values ('local', false, 1000, 1000)`;
  /** Members of acme, with headless tokens. */
  const members = {} as Record<Role, Actor>;
  for (const role of ROLES) members[role] = await service.member(owner, role);
  /** Sets columns of a token's row, as SQL. */
  const changeToken = async ({ token }: Actor, change: string): Promise<void> => {
    await sql`update iam.access_tokens set ${sql.unsafe(change)} where token_hash = ${hashCredential(token)}`;
  };
  return {
    ...{ service, owner, members, foreigner, make },
    ...{ versions, webhooks, events, deliveries, recomputes, previews, backtests },
    /** Creates a token of a user. */
    token: async ({ of: { token, organizationId }, role, session = false, change }: TokenOptions): Promise<Actor> => {
      const { text, hash } = newCredential("token");
      const [kind, organization] = session ? ["session", null] : ["headless", organizationId];
      await sql`
        insert into iam.access_tokens (token_hash, token_id, kind, user_id, organization_id, role, label, expires_at)
        select ${hash}, svc.random_id('tok_'), ${kind}, user_id, ${organization}, ${role ?? null}, 'test', now() + interval '1 day'
        from iam.access_tokens where token_hash = ${hashCredential(token)}`;
      const actor = { token: text, organizationId };
      if (change !== undefined) await changeToken(actor, change);
      return actor;
    },
    // Each of the following creates something and returns its id.
    newWebhook,
    newCustomer: async (env: Environment): Promise<string> => {
      const [row] = await sql<[{ id: string }]>`
        insert into svc.customers (environment_id, customer_id, created_at)
        values (${await environmentId(sql, "app", env)}, ${`customer-${++made}`}, now()) returning customer_id as id`;
      return row.id;
    },
    newKey: async (env: Environment): Promise<string> => {
      const { body } = await make("POST", `/projects/app/keys?env=${env}`, { name: "another" });
      return (body as { key: { id: string } }).key.id;
    },
    /** A recompute that was given up. */
    newRecompute: (env: Environment): Promise<string> => newJob("recomputes", env, { all: true }),
    newDeadRecompute: async (env: Environment): Promise<string> => {
      const id = await newJob("recomputes", env, { all: true });
      await giveUp(sql, id);
      return id;
    },
    /** A viewer of acme. */
    newMember: async (): Promise<string> => {
      const [row] = await sql<[{ id: string }]>`
        with u as (
          insert into iam.users (user_id, email) values (svc.random_id('usr_'), ${`member-${++made}@example.com`}) returning user_id
        )
        insert into iam.memberships (organization_id, user_id, role)
        select ${owner.organizationId}, user_id, 'viewer' from u returning user_id as id`;
      return row.id;
    },
    /** Puts acme on a plan: `standard`, or `local`, which has no cloud execution. */
    usePlan: async (plan: "standard" | "local"): Promise<void> => {
      await sql`update iam.organizations set plan_id = ${plan} where organization_id = ${owner.organizationId}`;
    },
    stop: async (): Promise<void> => {
      await service.stop();
      await provider.close();
    },
  };
}

const WEBHOOK = { url: "https://example.com/hook", eventTypes: ["*"] };

let made = 0;
const newInvitation = () => ({ email: `invited-${++made}@example.com`, role: "viewer" });
const newModel = () => snapshot({ segments: [{ id: `segment_${++made}` }] });
const idOf = ({ body }: Reply) => (body as { id: string }).id;

/** A request that succeeds: its address, with an environment if the route has one, and its body. */
export interface Asked {
  path: string;
  body?: unknown;
}

type Value = (world: World, env: Environment) => string | Promise<string>;

/** Values of path parameters; what a request uses up is created for that request. */
const PARAMETERS: Readonly<Record<string, Value>> = {
  project: () => "app",
  customerId: () => "globex",
  journeyId: () => "onboarding",
  segment: () => "paying",
  version: ({ versions }, env) => versions[env],
  recompute: ({ recomputes }, env) => recomputes[env],
  preview: ({ previews }, env) => previews[env],
  backtest: ({ backtests }, env) => backtests[env],
  webhook: ({ webhooks }, env) => webhooks[env],
  delivery: ({ deliveries }, env) => deliveries[env],
  event: ({ events }, env) => events[env],
  emission: ({ deliveries }, env) => deliveries[env],
  keyId: ({ newKey }, env) => newKey(env),
  userId: ({ newMember }) => newMember(),
  invitationId: async ({ make }) => idOf(await make("POST", "/organization/invitations", newInvitation())),
  tokenId: async ({ make }) => idOf(await make("POST", "/organization/tokens", { label: "CI" })),
};

/** The same for the last parameter of particular routes. */
const PARAMETERS_OF: Readonly<Record<string, Value>> = {
  "DELETE /projects/:project/customers/:customerId": ({ newCustomer }, env) => newCustomer(env),
  "DELETE /projects/:project/webhooks/:webhook": ({ newWebhook }, env) => newWebhook(env),
  // A promotion is always into live, of a version that was active in test.
  "POST /projects/:project/config-versions/:version/promote": ({ versions }) => versions.test,
  "POST /projects/:project/recomputes/:recompute/cancel": ({ newRecompute }, env) => newRecompute(env),
  "POST /projects/:project/recomputes/:recompute/retry": ({ newDeadRecompute }, env) => newDeadRecompute(env),
};

/** Bodies of routes that need members. */
const BODIES: Readonly<Record<string, () => object>> = {
  "PATCH /organization": () => ({ timeZone: "Europe/Berlin" }),
  "PATCH /organization/members/:userId": () => ({ role: "developer" }),
  "POST /organization/invitations": newInvitation,
  "POST /organization/tokens": () => ({ label: "CI", expiresInDays: 1 }),
  "POST /projects": () => ({ name: "New", slug: `new-${++made}` }),
  "POST /projects/:project/keys": () => ({ name: "CI" }),
  "POST /projects/:project/keys/:keyId/rotate": () => ({ grace: "1h" }),
  "POST /projects/:project/config-checks": () => ({ snapshot: newModel() }),
  "POST /projects/:project/config-versions": () => ({ snapshot: newModel(), force: true }),
  "POST /projects/:project/config-versions/:version/promote": () => ({ force: true }),
  "POST /projects/:project/config-versions/:version/rollback": () => ({ force: true }),
  "POST /projects/:project/recomputes": () => ({ customerId: "globex", dryRun: true }),
  "POST /projects/:project/previews": () => ({ snapshot: snapshot(), sample: 10 }),
  "POST /projects/:project/backtests": () => ({ outcome: "state:active", within: "30d", snapshot: snapshot() }),
  "POST /projects/:project/ai/answers": () => ({ task: "explain-config", facts: {} }),
  "POST /projects/:project/webhooks": () => WEBHOOK,
  "PATCH /projects/:project/webhooks/:webhook": () => ({
    ...{ eventTypes: ["*"], maxEventAge: "52w", maxConcurrency: 5, maxPerSecond: null },
    disabled: false,
  }),
  "POST /projects/:project/webhooks/:webhook/rotate-secret": () => ({ grace: "1h" }),
  "POST /projects/:project/webhooks/:webhook/test": () => ({ type: "customer.activated" }),
  "POST /projects/:project/webhooks/:webhook/resend": () => ({
    since: "1h",
    until: "2100-01-01",
    statuses: ["failed", "missing", "delivered"],
  }),
};

async function requestOf({ method, path, query, body }: Declaration, world: World, env: Environment): Promise<Asked> {
  const route = `${method} ${path}`;
  const parts = path.split("/");
  const last = parts.findLastIndex((part) => part.startsWith(":"));
  const filled = await Promise.all(
    parts.map(async (part, index) => {
      if (!part.startsWith(":")) return part;
      const ofRoute = index === last ? PARAMETERS_OF[route] : undefined;
      return (ofRoute ?? PARAMETERS[part.slice(1)]!)(world, env);
    }),
  );
  const address = filled.join("/") + (Object.hasOwn(query?.properties ?? {}, "env") ? `?env=${env}` : "");
  return body === undefined ? { path: address } : { path: address, body: BODIES[route]?.() ?? {} };
}

/**
 * For every administrative route a request that succeeds for every permitted caller, repeatedly: what it removes was created for that
 * request.
 */
export const REQUESTS = Object.fromEntries(
  adminRoutes({} as AdminDeps)
    .flatMap(({ declaration }) => declaration ?? [])
    .map((declaration) => {
      const request = (world: World, env: Environment) => requestOf(declaration, world, env);
      return [`${declaration.method} ${declaration.path}`, request] as const;
    }),
);
