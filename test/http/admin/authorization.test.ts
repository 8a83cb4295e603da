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
  /** The least role that may do it. */
  least: Record<Environment, Role>;
  /** Whether an organization's plan has to include cloud execution. */
  paid: boolean;
}

const guide = readFileSync(new URL("../../../docs/administration.md", import.meta.url), "utf8");
/** What the documentation promises: administration-guide.test.ts holds that it names every route and its operation as iam.operations() does. */
const rows = [...guide.matchAll(/^\| `(\w+ \/[^`]*)` +\| (\w+)(?:, (\w+))?( \\\*)? +\|/gm)].map(
  ([, route = "", test, live = test, star]): Row => ({
    route,
    least: { test: test as Role, live: live as Role },
    // That of `/ai/` is AI.
    paid: star !== undefined && !route.includes("/ai/"),
  }),
);

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

const ask = (route: string, { path, body }: Asked, by: Actor): Promise<Reply> =>
  world.service.request(route.split(" ")[0]!, path, { by, ...(body !== undefined && { body }) });
const whoami = (by: Actor) => ask("GET /whoami", { path: "/whoami" }, by);

/** Whoever may is answered something, which is tested where the route is. */
const TAKEN = expect.objectContaining({
  status: expect.toSatisfy((status: number) => status < 300) as number,
}) as object;
const UNPAID = {
  status: 402,
  body: envelope("PLAN_REQUIRED", "The organization's plan does not include this service."),
};

/** Asks with the token of a role: expects that it is answered so where it may, and refused where it is less than the least. */
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

/** The last role that may not, where there is one, and the least that may. */
const border = (least: Role) => ROLES.slice(Math.max(0, ROLES.indexOf(least) - 1), ROLES.indexOf(least) + 1);

describe("who may do what, as documented,", () => {
  it.each(rows)("$route", async ({ route, least: leasts, paid }) => {
    for (const env of ENVIRONMENTS) {
      const least = leasts[env];
      const [refused, taken] = [ROLES.slice(0, ROLES.indexOf(least)), ROLES.slice(ROLES.indexOf(least))];
      // A refusal uses nothing up, so one request does for all of them; what is done is done to something of its own.
      const asked = await REQUESTS[route]!(world, env);
      const logged = await auditEntries();
      await Promise.all(refused.map((role) => tryRole(route, asked, world.members[role], role, least)));
      // What was refused was not done, so it is not written down.
      expect(await auditEntries()).toBe(logged);
      for (const role of taken)
        await tryRole(route, await REQUESTS[route]!(world, env), world.members[role], role, least);
      // A token that is good for less than its user has the lower role.
      for (const role of border(least))
        await tryRole(route, await REQUESTS[route]!(world, env), capped[role], role, least);
    }

    // Where the plan has no cloud execution, those who may not are refused as ever.
    const asked = await REQUESTS[route]!(world, "test");
    await world.usePlan("local");
    try {
      for (const role of border(leasts.test))
        await tryRole(route, asked, world.members[role], role, leasts.test, paid ? UNPAID : TAKEN);
    } finally {
      await world.usePlan("standard");
    }
  });

  it("a token is never good for more than its user", async () => {
    const by = await world.token({ of: world.members.viewer, role: "owner" });
    expect((await whoami(by)).body).toMatchObject({ organization: { role: "viewer" } });
    const asked = await REQUESTS["POST /projects"]!(world, "test");
    await tryRole("POST /projects", asked, by, "viewer", "administrator");
  });
});

// test/security/doors.test.ts tries every route with credentials that are not good for it, those that ended too.

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
    const theirs = about(asked, route, parameter, (known) => (id = known));
    const nobodys = about(asked, route, parameter, (known) => (nothing = unknownLike(known)));
    const [foreign, unknown] = await Promise.all([theirs, nobodys].map((one) => ask(route, one, world.foreigner)));
    expect([foreign!.status, unknown!.status], JSON.stringify(foreign!.body)).toEqual([404, 404]);
    expect(said(foreign!, id)).toEqual(said(unknown!, nothing));
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
