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
/** Those that concern an organization: all but the one that lists them. */
const ofOrganization = named.filter(([route]) => route !== "GET /organizations");
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

async function ask(route: string, { path, body }: Asked, by: Actor): Promise<Reply> {
  const [method = ""] = route.split(" ");
  return world.service.request(method, path, { by, ...(body === undefined ? {} : { body }) });
}

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
  const [row] = await world.service.db.sql<
    [{ entries: number }]
  >`select count(*)::integer as entries from iam.audit_log`;
  return row.entries;
}

/** The least role that may do it. */
function leastOf(row: Row, env: Environment): Role {
  return ROLES[row[env].split(" ").indexOf("y")]!;
}

/** The verdicts about the four roles. */
async function verdicts(row: Row, env: Environment, actors: Readonly<Record<Role, Actor>>): Promise<string> {
  const found: string[] = [];
  for (const role of ROLES) {
    const asked = await REQUESTS[row.route]!(world, env);
    const logged = await auditEntries();
    const answer = verdict(await ask(row.route, asked, actors[role]), role, leastOf(row, env));
    // What was refused was not done, so it is not written down.
    if (answer === "-") expect(await auditEntries()).toBe(logged);
    found.push(answer);
  }
  return found.join(" ");
}

/** What those are answered who may, while the plan has no cloud execution; the others are refused as ever. */
async function withoutCloud(row: Row): Promise<string> {
  const found = new Set<string>();
  for (const env of environmentsOf(row)) {
    const usual = row[env].split(" ");
    for (const [place, role] of ROLES.entries()) {
      const asked = await REQUESTS[row.route]!(world, env);
      await world.usePlan("local");
      const answer = verdict(await ask(row.route, asked, world.members[role]), role, leastOf(row, env));
      await world.usePlan("standard");
      if (usual[place] === "-") expect(answer, `${role} in ${env}`).toBe("-");
      else found.add(answer);
    }
  }
  return [...found].join(" ");
}

describe("the matrix", () => {
  const seen: Row[] = [];
  afterAll(() => process.stdout.write(`${tableOf(seen)}\n`));

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
    const found: Row = {
      route: row.route,
      test: await verdicts(row, "test", world.members),
      live: row.live === "" ? "" : await verdicts(row, "live", world.members),
      plan: await withoutCloud(row),
    };
    seen.push(found);
    expect(found).toEqual(row);
  });
});

describe("a token that is good for less than its user", () => {
  it.each(named)("has the lower role at %s", async (_route, row) => {
    for (const env of environmentsOf(row)) expect(await verdicts(row, env, capped)).toBe(row[env]);
  });

  it("is never good for more than its user", async () => {
    const by = await world.token({ of: world.members.viewer, role: "owner" });
    const reply = await world.service.request("GET", "/whoami", { by });
    expect(reply.body).toMatchObject({ organization: { role: "viewer" } });
    const asked = await REQUESTS["POST /projects"]!(world, "test");
    expect(verdict(await ask("POST /projects", asked, by), "viewer", "administrator")).toBe("-");
  });
});

describe("credentials", () => {
  const INVALID = "The access token is missing, unknown, expired or revoked.";
  const invalid = envelope("INVALID_SESSION", INVALID);
  const refusedAs: [string, () => Promise<Actor>][] = [
    ["unknown", async () => Promise.resolve({ ...world.owner, token: "svc_token_unknown" })],
    ["expired", () => world.token({ of: world.owner, change: "expires_at = now()" })],
    ["revoked", () => world.token({ of: world.owner, change: "revoked_at = now()" })],
  ];

  describe.each(refusedAs)("that are %s", (_what, make) => {
    let by: Actor;
    beforeAll(async () => {
      by = await make();
    });
    it.each(named)("are refused at %s", async (route) => {
      const reply = await ask(route, await REQUESTS[route]!(world, "test"), by);
      expect(reply).toMatchObject({ status: 401, body: invalid });
      expect(reply.headers.get("WWW-Authenticate")).toBe("Bearer");
    });
  });

  it.each(named)("are required at %s", async (route) => {
    const [method = ""] = route.split(" ");
    const { path, body } = await REQUESTS[route]!(world, "test");
    const sent = body === undefined ? {} : { body };
    const reply = await world.service.request(method, path, sent);
    expect(reply.status).toBe(401);
    expect(reply.headers.get("WWW-Authenticate")).toBe("Bearer");
    const fix = "Send the header Authorization: Bearer <token>.";
    expect(reply.body).toEqual(envelope("INVALID_SESSION", INVALID, { fix }));
  });

  it.each(ofOrganization)("need the organization in its header at %s", async (route) => {
    const [method = ""] = route.split(" ");
    const { path, body } = await REQUESTS[route]!(world, "test");
    const sent = body === undefined ? {} : { body };
    const headers = { Authorization: `Bearer ${world.owner.token}` };
    const nowhere = await world.service.request(method, path, { ...sent, headers });
    expect(nowhere).toMatchObject({
      status: 400,
      body: envelope("ORGANIZATION_REQUIRED", "The header X-Svc-Organization is required."),
    });
  });

  it.each(["Basic abc", "Bearer", "Bearer a b", "Bearer é", `Bearer ${"x".repeat(513)}`])(
    "of another form are refused: %s",
    async (authorization) => {
      const headers = { Authorization: authorization, "X-Svc-Organization": world.owner.organizationId };
      expect(await world.service.request("GET", "/whoami", { headers })).toMatchObject({ status: 401 });
    },
  );

  it.each([
    ["expire", "expires_at = now()"],
    ["are revoked", "revoked_at = now()"],
  ])("that %s stop at once", async (_what, change) => {
    const by = await world.token({ of: world.owner });
    expect(await world.service.request("GET", "/whoami", { by })).toMatchObject({ status: 200 });
    await world.changeToken(by, change);
    expect(await world.service.request("GET", "/whoami", { by })).toMatchObject({ status: 401, body: invalid });
  });

  it("stop with the membership of their user", async () => {
    const by = await world.service.member(world.foreigner, "developer");
    expect(await world.service.request("GET", "/whoami", { by })).toMatchObject({ status: 200 });
    await world.leave(by);
    expect(await world.service.request("GET", "/whoami", { by })).toMatchObject({
      status: 404,
      body: noSuchOrganization,
    });
  });

  it("come before the body: an unknown client's is not read", async () => {
    const by = { ...world.owner, token: "svc_token_unknown" };
    expect(await world.service.request("POST", "/projects", { by, body: "{" })).toMatchObject({ status: 401 });
  });
});

const noSuchOrganization = envelope(
  "ORGANIZATION_NOT_FOUND",
  "There is no such organization, or it is not one of yours.",
);

describe("an organization that the token is not good for", () => {
  it.each(ofOrganization)("does not exist at %s", async (route) => {
    const asked = await REQUESTS[route]!(world, "test");
    const session = await world.token({ of: world.foreigner, session: true });
    for (const token of [world.foreigner.token, session.token]) {
      const foreign = await ask(route, asked, { token, organizationId: world.owner.organizationId });
      expect(foreign).toMatchObject({ status: 404, body: noSuchOrganization });
      const unknown = await ask(route, asked, { token, organizationId: "org_000000000000000000000000" });
      expect(unknown).toMatchObject({ status: 404, body: noSuchOrganization });
    }
  });

  it("is another one than that of a session's user, who may act for each of its own", async () => {
    const { token } = await world.token({ of: world.foreigner, session: true });
    const by = { token, organizationId: world.foreigner.organizationId };
    expect(await world.service.request("GET", "/whoami", { by })).toMatchObject({ status: 200 });
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
    let id = "";
    const foreign = await ask(
      route,
      about(asked, route, parameter, (known) => (id = known)),
      world.foreigner,
    );
    let nothing = "";
    const unknown = await ask(
      route,
      about(asked, route, parameter, (known) => (nothing = unknownLike(known))),
      world.foreigner,
    );
    expect(foreign, JSON.stringify(foreign.body)).toMatchObject({ status: 404 });
    expect(unknown.status).toBe(404);
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

/** The rows as a table, with who stands for which letter. */
function tableOf(found: readonly Row[]): string {
  const width = Math.max(...found.map(({ route }) => route.length));
  const line = ({ route, test, live, plan }: Row) =>
    `${route.padEnd(width)}   ${test.padEnd(7)}   ${live.padEnd(7)}   ${plan}`;
  const head = { route: "", test: "v d a o", live: "v d a o", plan: "without cloud execution" };
  return ["", line({ route: "", test: "test", live: "live", plan: "" }), line(head), ...found.map(line)].join("\n");
}
