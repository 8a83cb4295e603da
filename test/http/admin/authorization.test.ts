import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { envelope, type Actor, type Reply } from "../../support/service.js";
import {
  declarationsOf,
  ENVIRONMENTS,
  REQUESTS,
  ROLES,
  startWorld,
  type Asked,
  type Environment,
  type Role,
  type World,
} from "./support/world.js";

/**
 * Who may do what, in full: `y` for those who may and `-` for those who are refused, in the order viewer, developer, administrator and
 * owner. A route that takes no environment has one column only; a promotion is always into live. In the last column stands what those who may are answered in an
 * organization whose plan has no cloud execution: `y`, or 402. This is the promise; what the service decides by is iam.operations().
 */
const MATRIX = `
| route                                                                 | test    | live    | plan |
| --------------------------------------------------------------------- | ------- | ------- | ---- |
| GET /whoami                                                           | y y y y |         | y    |
| GET /organizations                                                    | y y y y |         | y    |
| GET /organization/members                                             | y y y y |         | y    |
| PATCH /organization/members/:userId                                   | - - - y |         | y    |
| DELETE /organization/members/:userId                                  | - - - y |         | y    |
| POST /organization/members/:userId/password-reset                     | - - - y |         | y    |
| GET /organization/invitations                                         | - - - y |         | y    |
| POST /organization/invitations                                        | - - - y |         | y    |
| DELETE /organization/invitations/:invitationId                        | - - - y |         | y    |
| GET /organization/tokens                                              | - - - y |         | y    |
| POST /organization/tokens                                             | - - - y |         | y    |
| DELETE /organization/tokens/:tokenId                                  | - - - y |         | y    |
| GET /organization/audit-log                                           | - - y y |         | y    |
| POST /projects                                                        | - - y y |         | y    |
| GET /projects                                                         | y y y y |         | y    |
| GET /projects/:project                                                | y y y y |         | y    |
| GET /projects/:project/overview                                       | y y y y | y y y y | y    |
| GET /projects/:project/keys                                           | y y y y | y y y y | y    |
| POST /projects/:project/keys                                          | - - y y | - - y y | y    |
| POST /projects/:project/keys/:keyId/rotate                            | - - y y | - - y y | y    |
| POST /projects/:project/keys/:keyId/revoke                            | - - y y | - - y y | y    |
| GET /projects/:project/config-versions                                | y y y y | y y y y | y    |
| GET /projects/:project/config-versions/:version                       | y y y y |         | y    |
| GET /projects/:project/config-diff                                    | y y y y |         | y    |
| GET /projects/:project/activations                                    | y y y y | y y y y | y    |
| POST /projects/:project/config-versions                               | - y y y | - - y y | 402  |
| POST /projects/:project/config-versions/:version/promote              | - - y y |         | 402  |
| POST /projects/:project/config-versions/:version/rollback             | - - y y | - - y y | 402  |
| POST /projects/:project/recomputes                                    | - y y y | - - y y | 402  |
| GET /projects/:project/recomputes                                     | y y y y | y y y y | y    |
| GET /projects/:project/recomputes/:recompute                          | y y y y | y y y y | y    |
| GET /projects/:project/recomputes/:recompute/customers                | y y y y | y y y y | y    |
| POST /projects/:project/recomputes/:recompute/retry                   | - y y y | - - y y | 402  |
| POST /projects/:project/previews                                      | - y y y | - - y y | 402  |
| GET /projects/:project/previews/:preview                              | y y y y | y y y y | y    |
| GET /projects/:project/previews/:preview/customers                    | y y y y | y y y y | y    |
| GET /projects/:project/events                                         | y y y y | y y y y | y    |
| GET /projects/:project/events/stream                                  | y y y y | y y y y | y    |
| GET /projects/:project/customers                                      | y y y y | y y y y | y    |
| GET /projects/:project/customers/:customerId                          | y y y y | y y y y | y    |
| GET /projects/:project/customers/:customerId/timeline                 | y y y y | y y y y | y    |
| GET /projects/:project/customers/:customerId/backlog                  | y y y y | y y y y | y    |
| GET /projects/:project/customers/:customerId/health                   | y y y y | y y y y | y    |
| GET /projects/:project/customers/:customerId/explanation              | y y y y | y y y y | y    |
| GET /projects/:project/customers/:customerId/export                   | y y y y | y y y y | y    |
| DELETE /projects/:project/customers/:customerId                       | - - - y | - - - y | y    |
| POST /projects/:project/customers/:customerId/release                 | - y y y | - - y y | 402  |
| POST /projects/:project/customers/release                             | - y y y | - - y y | 402  |
| GET /projects/:project/customers/:customerId/journeys/:journeyId      | y y y y | y y y y | y    |
| GET /projects/:project/segments/:segment                              | y y y y | y y y y | y    |
| GET /projects/:project/rule-executions                                | y y y y | y y y y | y    |
| POST /projects/:project/ai/answers                                    | - y y y | - y y y | y    |
| GET /projects/:project/diagnostics                                    | y y y y | y y y y | y    |
| GET /projects/:project/schema-violations                              | y y y y | y y y y | y    |
| POST /projects/:project/webhooks                                      | - - y y | - - y y | 402  |
| GET /projects/:project/webhooks                                       | y y y y | y y y y | y    |
| GET /projects/:project/webhooks/:webhook                              | y y y y | y y y y | y    |
| PATCH /projects/:project/webhooks/:webhook                            | - - y y | - - y y | 402  |
| DELETE /projects/:project/webhooks/:webhook                           | - - y y | - - y y | y    |
| POST /projects/:project/webhooks/:webhook/rotate-secret               | - - y y | - - y y | 402  |
| POST /projects/:project/webhooks/:webhook/test                        | - y y y | - - y y | 402  |
| GET /projects/:project/webhooks/:webhook/deliveries                   | y y y y | y y y y | y    |
| GET /projects/:project/webhooks/:webhook/deliveries/:delivery         | y y y y | y y y y | y    |
| POST /projects/:project/webhooks/:webhook/deliveries/:delivery/resend | - y y y | - - y y | 402  |
| POST /projects/:project/webhooks/:webhook/resend                      | - y y y | - - y y | 402  |
| GET /projects/:project/emissions/:emission                            | y y y y | y y y y | y    |
`;

interface Row {
  route: string;
  test: string;
  /** Empty for a route that concerns no environment. */
  live: string;
  plan: string;
}

const rows: readonly Row[] = MATRIX.trim()
  .split("\n")
  .slice(2)
  .map((line) => {
    const [, route = "", test = "", live = "", plan = ""] = line.split("|").map((cell) => cell.trim());
    return { route, test, live, plan };
  });
const named = rows.map((row) => [row.route, row] as const);
const environmentsOf = ({ live }: Row): readonly Environment[] => (live === "" ? ["test"] : ENVIRONMENTS);

let world: World;
/** Tokens of acme's owner that are good for a role. */
const capped = {} as Record<Role, Actor>;
beforeAll(async () => {
  world = await startWorld();
  // Whoever may not is told so whatever there is; of the others none is refused because of the ones before.
  await world.service.db.sql`update iam.plans set previews = 1000, recomputes = 1000`;
  for (const role of ROLES) capped[role] = await world.token({ of: world.owner, role });
});
afterAll(() => world.stop());

/** Asks as somebody, or with other headers, and another body where the route takes one. */
async function ask(
  route: string,
  { path, body }: Asked,
  by: Actor | Record<string, string>,
  other = body,
): Promise<Reply> {
  const who = "token" in by ? { by: by as Actor } : { headers: by };
  const sent = body === undefined ? {} : { body: other };
  return world.service.request(route.split(" ")[0]!, path, { ...who, ...sent });
}
const whoami = (by: Actor | Record<string, string>) => ask("GET /whoami", { path: "/whoami" }, by);

/** What an answer says about whether the actor may. */
function verdict({ status, body }: Reply, role: Role, least: Role): string {
  if (status < 300) return "y";
  if (status === 402) {
    expect(body).toEqual(envelope("PLAN_REQUIRED", "The organization's plan does not include this service."));
    return "402";
  }
  expect(status, JSON.stringify(body)).toBe(403);
  expect(body).toEqual(
    envelope("FORBIDDEN", `Your role "${role}" may not do this.`, {
      reason: `It needs the role "${least}" or a higher one.`,
      fix: "Ask an owner of the organization for that role, or use the token of somebody who has it.",
    }),
  );
  return "-";
}

async function auditEntries(): Promise<number> {
  const [row] = await world.service.db.sql<[{ count: number }]>`select count(*)::integer from iam.audit_log`;
  return row.count;
}

/** The verdicts about roles, while the organization has a plan. */
async function verdicts(
  { route, ...row }: Row,
  env: Environment,
  actors: Readonly<Record<Role, Actor>>,
  roles: readonly Role[] = ROLES,
): Promise<string> {
  const usual = row[env].split(" ");
  const least = ROLES[usual.indexOf("y")]!;
  const may = (role: Role) => usual[ROLES.indexOf(role)] === "y";
  // A refusal uses nothing up, so one request does for all of them; what is done is done to something of its own.
  const refused = roles.every(may) ? null : await REQUESTS[route]!(world, env);
  const found = new Map<Role, string>();
  const judge = async (role: Role, asked: Asked) =>
    found.set(role, verdict(await ask(route, asked, actors[role]), role, least));
  const logged = await auditEntries();
  await Promise.all(roles.filter((role) => !may(role)).map((role) => judge(role, refused!)));
  // What was refused was not done, so it is not written down.
  expect(await auditEntries()).toBe(logged);
  for (const role of roles.filter(may)) await judge(role, await REQUESTS[route]!(world, env));
  return roles.map((role) => found.get(role)).join(" ");
}

/** The last role that may not, where there is one, and the least that may. */
function border(row: Row, env: Environment): Role[] {
  const least = row[env].split(" ").indexOf("y");
  return ROLES.slice(Math.max(0, least - 1), least + 1);
}

describe("the matrix", () => {
  it("names every route of the administrative API, and no other", () => {
    const routes = declarationsOf(world).map(({ method, path }) => `${method} ${path}`);
    expect(rows.map(({ route }) => route).sort()).toEqual(routes.sort());
  });

  it("has a column for live wherever a route has an environment", () => {
    const wrong = declarationsOf(world).filter(({ method, path, query }) => {
      const row = rows.find(({ route }) => route === `${method} ${path}`)!;
      return (row.live !== "") !== Object.hasOwn(query?.properties ?? {}, "env");
    });
    expect(wrong.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
  });

  it.each(named)("%s", async (_route, row) => {
    for (const env of environmentsOf(row)) {
      expect(await verdicts(row, env, world.members), env).toBe(row[env]);
      // A token that is good for less than its user has the lower role.
      const roles = border(row, env);
      const expected = roles.length === 1 ? "y" : "- y";
      expect(await verdicts(row, env, capped, roles), `${env}, capped`).toBe(expected);
    }
  });

  it.each(named)("%s, where the plan has no cloud execution: the others are refused as ever", async (_route, row) => {
    const roles = border(row, "test");
    const least = roles.at(-1)!;
    const asked = await REQUESTS[row.route]!(world, "test");
    await world.usePlan("local");
    try {
      for (const role of roles) {
        const found = verdict(await ask(row.route, asked, world.members[role]), role, least);
        expect(found, role).toBe(role === least ? row.plan : "-");
      }
    } finally {
      await world.usePlan("standard");
    }
  });

  it("a token is never good for more than its user", async () => {
    const by = await world.token({ of: world.members.viewer, role: "owner" });
    expect((await whoami(by)).body).toMatchObject({ organization: { role: "viewer" } });
    const asked = await REQUESTS["POST /projects"]!(world, "test");
    expect(verdict(await ask("POST /projects", asked, by), "viewer", "administrator")).toBe("-");
  });
});

const INVALID = "The access token is missing, unknown, expired or revoked.";
const invalid = { status: 401, body: envelope("INVALID_SESSION", INVALID) };
const noSuchOrganization = {
  status: 404,
  body: envelope("ORGANIZATION_NOT_FOUND", "There is no such organization, or it is not one of yours."),
};

describe("credentials", () => {
  let expired: Actor;
  let revoked: Actor;
  /** Good tokens in an organization that they are not good for, or that there is none of. */
  let elsewhere: Actor[];
  beforeAll(async () => {
    expired = await world.token({ of: world.owner, change: "expires_at = now()" });
    revoked = await world.token({ of: world.owner, change: "revoked_at = now()" });
    const session = await world.token({ of: world.foreigner, session: true });
    elsewhere = [world.owner.organizationId, "org_000000000000000000000000"].flatMap((organizationId) =>
      [world.foreigner, session].map(({ token }) => ({ token, organizationId })),
    );
  });

  it.each(named)("have to be good, and of the organization that is named, at %s", async (route) => {
    const asked = await REQUESTS[route]!(world, "test");
    const unknown = { ...world.owner, token: "svc_token_unknown" };
    // Of whoever is unknown the body is not read.
    const replies = await Promise.all([
      ask(route, asked, unknown, "{"),
      ...[expired, revoked].map((by) => ask(route, asked, by)),
    ]);
    for (const reply of replies) {
      expect(reply).toMatchObject(invalid);
      expect(reply.headers.get("WWW-Authenticate")).toBe("Bearer");
    }
    const missing = await ask(route, asked, {});
    const fix = "Send the header Authorization: Bearer <token>.";
    expect(missing).toMatchObject({ status: 401, body: envelope("INVALID_SESSION", INVALID, { fix }) });
    expect(missing.headers.get("WWW-Authenticate")).toBe("Bearer");
    if (route === "GET /organizations") return; // it concerns none
    expect(await ask(route, asked, { Authorization: `Bearer ${world.owner.token}` })).toMatchObject({
      status: 400,
      body: envelope("ORGANIZATION_REQUIRED", "The header X-Svc-Organization is required."),
    });
    for (const reply of await Promise.all(elsewhere.map((by) => ask(route, asked, by))))
      expect(reply).toMatchObject(noSuchOrganization);
  });

  it.each(["Basic abc", "Bearer", "Bearer a b", "Bearer é", `Bearer ${"x".repeat(513)}`])(
    "of another form are refused: %s",
    async (authorization) => {
      const headers = { Authorization: authorization, "X-Svc-Organization": world.owner.organizationId };
      expect(await whoami(headers)).toMatchObject({ status: 401 });
    },
  );

  it.each([
    ["expire", "expires_at = now()"],
    ["are revoked", "revoked_at = now()"],
  ])("that %s stop at once", async (_what, change) => {
    const by = await world.token({ of: world.owner });
    expect(await whoami(by)).toMatchObject({ status: 200 });
    await world.changeToken(by, change);
    expect(await whoami(by)).toMatchObject(invalid);
  });

  it("stop with the membership of their user", async () => {
    const by = await world.service.member(world.foreigner, "developer");
    expect(await whoami(by)).toMatchObject({ status: 200 });
    await world.leave(by);
    expect(await whoami(by)).toMatchObject(noSuchOrganization);
  });

  it("of a session are good for each organization of its user", async () => {
    const { token } = await world.token({ of: world.foreigner, session: true });
    expect(await whoami({ ...world.foreigner, token })).toMatchObject({ status: 200 });
  });
});

const withIds = rows.flatMap(({ route }) =>
  [...route.matchAll(/:(\w+)/g)].map(([, parameter]) => [parameter!, route] as const),
);

describe("what is another organization's", () => {
  /** The request of a route with another thing in one place of its path, and all things before it the foreigner's own. */
  function about({ path, body }: Asked, route: string, parameter: string, id: (known: string) => string): Asked {
    const [address = "", query] = path.split("?");
    const pattern = route.split(" ")[1]!.split("/");
    const place = pattern.indexOf(`:${parameter}`);
    const parts = address.split("/").map((part, index) => {
      if (index === place) return encodeURIComponent(id(decodeURIComponent(part)));
      return index < place && pattern[index] === ":project" ? "other" : part;
    });
    return { path: `${parts.join("/")}${query === undefined ? "" : `?${query}`}`, body };
  }

  it.each(withIds)("does not exist as :%s of %s, like what exists nowhere", async (parameter, route) => {
    const asked = await REQUESTS[route]!(world, "test");
    let [id, nothing] = ["", ""];
    const [foreign, unknown] = await Promise.all([
      ask(
        route,
        about(asked, route, parameter, (known) => (id = known)),
        world.foreigner,
      ),
      ask(
        route,
        about(asked, route, parameter, (known) => (nothing = unknownLike(known))),
        world.foreigner,
      ),
    ]);
    expect([foreign.status, unknown.status], JSON.stringify(foreign.body)).toEqual([404, 404]);
    expect(said(foreign, id)).toEqual(said(unknown, nothing));
  });

  /** An id of the same form that nothing has. */
  function unknownLike(id: string): string {
    if (/_[0-9a-f]+$/.test(id)) return id.replace(/[0-9a-f]+$/, (digits) => "0".repeat(digits.length));
    return /^v\d+$/.test(id) ? "v999999" : "nothing";
  }

  /** An answer's error without the id that was asked for. */
  function said({ body }: Reply, id: string): unknown {
    const { error } = body as { error: { message: string } };
    return { ...error, message: error.message.replaceAll(`"${id}"`, '"<id>"') };
  }
});
