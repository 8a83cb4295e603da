import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { envelope, type Actor, type Reply } from "../../support/service.js";
import {
  ENVIRONMENTS,
  REQUESTS,
  ROLES,
  startWorld,
  type Asked,
  type Environment,
  type Role,
  type World,
} from "./support/world.js";

interface Row {
  route: string;
  /** The least role that is permitted. */
  least: Record<Environment, Role>;
  /** Whether an organization's plan has to include cloud execution. */
  paid: boolean;
}

const guide = readFileSync(new URL("../../../docs/administration.md", import.meta.url), "utf8");
/** The documented permissions: administration-guide.test.ts checks that the page lists every route like iam.operations(). */
const rows = [...guide.matchAll(/^\| `(\w+ \/[^`]*)` +\| (\w+)(?:, (\w+))?( \\\*)? +\|/gm)].map(
  ([, route = "", test, live = test, star]): Row => ({
    route,
    least: { test: test as Role, live: live as Role },
    // The entitlement of `/ai/` is AI.
    paid: star !== undefined && !route.includes("/ai/"),
  }),
);

let world: World;
/** Tokens of acme's owner, limited to a role. */
const capped = {} as Record<Role, Actor>;
beforeAll(async () => {
  world = await startWorld();
  // Permissions are checked before quotas; permitted requests must not exhaust the quotas.
  await world.service.db.sql`update iam.plans set previews = 1000, recomputes = 1000`;
  for (const role of ROLES) capped[role] = await world.token({ of: world.owner, role });
});
afterAll(() => world.stop());

const ask = (route: string, { path, body }: Asked, by: Actor): Promise<Reply> =>
  world.service.request(route.split(" ")[0]!, path, { by, ...(body !== undefined && { body }) });
const whoami = (by: Actor) => ask("GET /whoami", { path: "/whoami" }, by);

/** The answer to a permitted request, whose content the route's own test checks. */
const TAKEN = expect.objectContaining({
  status: expect.toSatisfy((status: number) => status < 300) as number,
}) as object;
const UNPAID = {
  status: 402,
  body: envelope("PLAN_REQUIRED", "The organization's plan does not include this service."),
};

/** Asks with the token of a role, and expects this answer if the role is permitted, else a refusal. */
async function tryRole(route: string, asked: Asked, by: Actor, role: Role, least: Role, expected = TAKEN) {
  const { status, body } = await ask(route, asked, by);
  const forbidden = envelope("FORBIDDEN", `Your role "${role}" may not do this.`, {
    reason: `It needs the role "${least}"${least === "owner" ? "" : " or a higher one"}.`,
    fix: "Ask an owner of the organization for that role, or ask someone who has it to do this.",
  });
  const may = ROLES.indexOf(role) >= ROLES.indexOf(least);
  expect({ status, body }, `${role} at ${asked.path}`).toEqual(may ? expected : { status: 403, body: forbidden });
}

async function auditEntries(): Promise<number> {
  const [row] = await world.service.db.sql<[{ count: number }]>`select count(*)::integer from iam.audit_log`;
  return row.count;
}

describe("permissions are as documented:", () => {
  it.each(rows)("$route", async ({ route, least: leasts, paid }) => {
    for (const env of ENVIRONMENTS) {
      const least = leasts[env];
      const asked = await REQUESTS[route]!(world, env);
      const logged = await auditEntries();
      const refused = ROLES.slice(0, ROLES.indexOf(least));
      await Promise.all(refused.map((role) => tryRole(route, asked, world.members[role], role, least)));
      // A refused request is neither recorded nor does it use anything up.
      expect(await auditEntries()).toBe(logged);
      await tryRole(route, asked, world.members[least], least, least);
    }
    const asked = await REQUESTS[route]!(world, "test");
    const { test: least } = leasts;
    await world.usePlan("local");
    try {
      await tryRole(route, asked, world.members[least], least, least, paid ? UNPAID : TAKEN);
    } finally {
      await world.usePlan("standard");
    }
  });

  it.each([
    ["GET /projects/:project/overview", "viewer"],
    ["POST /projects/:project/keys", "administrator"],
  ] as const)("%s permits higher roles, and a limited token what its role permits", async (route, least) => {
    expect(rows).toContainEqual(expect.objectContaining({ route, least: { test: least, live: least } }));
    for (const by of [world.members, capped])
      for (const role of ROLES) await tryRole(route, await REQUESTS[route]!(world, "test"), by[role], role, least);
  });

  it("roles that are not permitted are refused as before without cloud execution in the plan", async () => {
    const { route, least } = rows.find(({ paid, least }) => paid && least.test === "administrator")!;
    const asked = await REQUESTS[route]!(world, "test");
    await world.usePlan("local");
    await tryRole(route, asked, world.members.developer, "developer", least.test);
    await world.usePlan("standard");
  });

  it("a token never has more rights than its user", async () => {
    const by = await world.token({ of: world.members.viewer, role: "owner" });
    expect((await whoami(by)).body).toMatchObject({ organization: { role: "viewer" } });
    const asked = await REQUESTS["POST /projects"]!(world, "test");
    await tryRole("POST /projects", asked, by, "viewer", "administrator");
  });
});

it("a refused request has the code of the first failure, of which the form of the request is the last", async () => {
  const { owner, members } = world;
  const unknown = { ...owner, token: `svc_token_${"0".repeat(40)}` };
  const elsewhere = { ...owner, organizationId: "org_elsewhere" };
  const nowhere = (by: Actor) => ({ ...by, organizationId: "" });
  const refusals: [Actor, method: string, path: string, status: number, code: string][] = [
    [nowhere(unknown), "GET", "/projects", 401, "INVALID_SESSION"],
    [nowhere(owner), "GET", "/projects?=", 400, "ORGANIZATION_REQUIRED"],
    [unknown, "GET", "/projects/app/customers?limit=0", 401, "INVALID_SESSION"],
    [elsewhere, "GET", "/projects/app/customers?limit=0", 404, "ORGANIZATION_NOT_FOUND"],
    [owner, "GET", "/projects/app/customers?limit=0", 400, "VALIDATION_ERROR"],
    [members.developer, "PATCH", "/organization?env=test", 403, "FORBIDDEN"],
    [members.developer, "POST", "/projects/app/keys?foo=1", 403, "FORBIDDEN"],
    [members.developer, "POST", "/projects/app/config-versions?env=live&foo=1", 403, "FORBIDDEN"],
    [members.developer, "POST", "/projects/app/config-versions?env=test&foo=1", 400, "VALIDATION_ERROR"],
    [unknown, "GET", "/whoami?foo=1", 401, "INVALID_SESSION"],
    [owner, "GET", "/organizations?foo=1", 400, "VALIDATION_ERROR"],
  ];
  for (const [by, method, path, status, code] of refusals) {
    const reply = await world.service.request(method, path, { by });
    expect(reply, `${method} ${path}`).toMatchObject({ status, body: { error: { code } } });
  }
});

// test/security/doors.test.ts tries every route with invalid credentials, expired ones included.

const withIds = rows.flatMap(({ route }) =>
  [...route.matchAll(/:(\w+)/g)].map(([, parameter]) => [parameter!, route] as const),
);

describe("what belongs to another organization", () => {
  /** The request of a route with another id for one parameter, and the foreigner's own values before it. */
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

  it.each(withIds)("does not exist as :%s of %s, like an unknown id", async (parameter, route) => {
    const asked = await REQUESTS[route]!(world, "test");
    let [id, unusedId] = ["", ""];
    const theirs = about(asked, route, parameter, (known) => (id = known));
    const unused = about(asked, route, parameter, (known) => (unusedId = unknownLike(known)));
    const [foreign, unknown] = await Promise.all([theirs, unused].map((one) => ask(route, one, world.foreigner)));
    expect([foreign!.status, unknown!.status], JSON.stringify(foreign!.body)).toEqual([404, 404]);
    expect(errorOf(foreign!, id)).toEqual(errorOf(unknown!, unusedId));
  });

  /** An unused id of the same form. */
  function unknownLike(id: string): string {
    if (/_[0-9a-f]+$/.test(id)) return id.replace(/[0-9a-f]+$/, (digits) => "0".repeat(digits.length));
    return /^v\d+$/.test(id) ? "v999999" : "nothing";
  }

  /** An answer's error without the requested id. */
  function errorOf({ body }: Reply, id: string): unknown {
    const { error } = body as { error: { message: string } };
    return { ...error, message: error.message.replaceAll(`"${id}"`, '"<id>"') };
  }
});
