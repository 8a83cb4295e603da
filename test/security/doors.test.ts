import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startSpec, type SpecFixture } from "../spec/support/fixture.js";
import { REQUESTS, ROLES, startWorld, type World } from "../http/admin/support/world.js";
import { createUser, PASSWORD, signedIn } from "../http/pages/people.js";
import { Browser, formOf } from "../support/browser.js";
import type { Actor } from "../support/service.js";
import { printTable } from "../support/table.js";

// Every door of the service is tried as everyone who must not pass, and what was answered is printed: `npm run doors`. What those who may
// are answered is tested where the door is; here a role is asked for the sake of the roles below it.

describe("the administrative API", () => {
  /** Who comes, in the order of the table's columns. */
  const ROLE_COLUMNS = ROLES.map((role) => role as string);
  const STRANGERS = ["nobody", "unknown", "ended", "API key", "foreigner"] as const;
  const FOREIGNER = STRANGERS.length - 1;
  /** What a program of another organization is answered where there is nothing of an organization to ask for. */
  const OWN_ONLY = ["GET /organizations"];

  let world: World;
  let strangers: (Actor | null)[];
  const seen: string[][] = [];
  beforeAll(async () => {
    world = await startWorld();
    const of = (token: string) => ({ token, organizationId: world.owner.organizationId });
    const { body } = await world.make("POST", "/projects/app/keys?env=live", { name: "doors" });
    strangers = [
      null,
      of(`svc_token_${"0".repeat(48)}`),
      await world.token({ of: world.owner, change: "expires_at = now()" }),
      of((body as { secret: string }).secret),
      of(world.foreigner.token),
    ];
  });
  afterAll(async () => {
    await world.stop();
    printTable("Administrative API: what is answered, in live where there is a choice", [
      ["door", ...STRANGERS, ...ROLE_COLUMNS],
      ...seen,
    ]);
  });

  async function knock(route: string, by: Actor | null): Promise<number> {
    const { path, body } = await REQUESTS[route]!(world, "live");
    const reply = await world.service.request(route.split(" ")[0]!, path, {
      ...(by === null ? {} : { by }),
      ...(body === undefined ? {} : { body }),
    });
    return reply.status;
  }

  it.each(Object.keys(REQUESTS))("%s", async (route) => {
    const refused: number[] = [];
    for (const by of strangers) refused.push(await knock(route, by));
    const roles: number[] = [];
    for (const role of ROLES) roles.push(await knock(route, world.members[role]));
    seen.push([route, ...[...refused, ...roles].map(String)]);
    expect(refused).toEqual([401, 401, 401, 401, OWN_ONLY.includes(route) ? 200 : 404]);
    // A role may what the ones below it may, and one that only looks changes nothing.
    const may = roles.map((status) => status !== 403);
    expect(may).toEqual([...may].sort((a, b) => Number(a) - Number(b)));
    if (!route.startsWith("GET ")) expect(may[0]).toBe(false);
  });

  it("shows a foreigner no organization but its own", async () => {
    const reply = await world.service.request("GET", "/organizations", { by: strangers[FOREIGNER]! });
    expect((reply.body as { data: { slug: string }[] }).data.map(({ slug }) => slug)).toEqual(["foreign"]);
  });
});

describe("every other door", () => {
  let fixture: SpecFixture;
  const seen: string[][] = [];
  beforeAll(async () => {
    fixture = await startSpec();
    await createUser(fixture.service.db.sql, ADA);
  });
  afterAll(async () => {
    await fixture.service.stop();
    printTable("Everything else: what is answered", [["door", "as whom", "answer"], ...seen]);
  });

  const EVENT = { customerId: `customer-${MARK}`, event: "login", properties: {} };
  const NO_LINK = `svc_link_${"0".repeat(48)}`;

  interface Try {
    door: string;
    as: string;
    headers?: Record<string, string>;
    body?: object | string;
    status: number;
  }

  const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

  /** Ingestion takes API keys and nothing else, and only those that still count. */
  async function ingestion(): Promise<Try[]> {
    const { owner } = fixture;
    const made = (await fixture.admin("POST", "/projects/app/keys?env=test", { body: { name: "doors" } })).body;
    const { key, secret: revoked } = made as { key: { id: string }; secret: string };
    await fixture.admin("POST", `/projects/app/keys/${key.id}/revoke?env=test`, { body: {} });
    expect(revoked).toMatch(/^svc_test_/);
    const callers: [string, Record<string, string>][] = [
      ["nobody", {}],
      ["an unknown key", bearer(`svc_test_${"0".repeat(48)}`)],
      ["a revoked key", bearer(revoked)],
      ["an owner's token", { ...bearer(owner.token), "X-Svc-Organization": owner.organizationId }],
      ["a key by another scheme", { Authorization: `Basic ${btoa(`${fixture.keys.test}:`)}` }],
    ];
    return ["POST /v1/events", "POST /v1/events/batch"].flatMap((door) =>
      callers.map(([as, headers]) => ({
        door,
        as,
        headers,
        body: door.endsWith("batch") ? { events: [EVENT] } : EVENT,
        status: 401,
      })),
    );
  }

  function figures(): Try[] {
    const { owner, keys } = fixture;
    return [
      { door: "GET /metrics", as: "nobody", status: 401 },
      { door: "GET /metrics", as: "an unknown token", headers: bearer("guessed"), status: 401 },
      { door: "GET /metrics", as: "an API key", headers: bearer(keys.test), status: 401 },
      { door: "GET /metrics", as: "an owner's token", headers: bearer(owner.token), status: 401 },
    ];
  }

  function oauth(): Try[] {
    const device = "urn:ietf:params:oauth:grant-type:device_code";
    return [
      {
        door: "POST /oauth/token",
        as: "who guesses a device's code",
        body: `grant_type=${device}&client_id=svc-cli&device_code=svc_device_${"0".repeat(48)}`,
        status: 400,
      },
      {
        door: "POST /oauth/token",
        as: "who asks with a password",
        body: `grant_type=password&client_id=svc-cli&username=${ADA}&password=x`,
        status: 400,
      },
      { door: "POST /oauth/device_authorization", as: "an unknown client", body: "client_id=other", status: 400 },
      { door: "POST /oauth/revoke", as: "an unknown client", body: "client_id=other&token=x", status: 400 },
    ];
  }

  /** Forms are taken from pages of ours only, and links that were never made are no links. */
  async function pages(): Promise<Try[]> {
    const { service } = fixture;
    const browser = await signedIn(service, ADA);
    const { hidden } = formOf((await browser.get("/device")).html, "device");
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const session = { Cookie: cookie, Origin: service.url };
    const elsewhere = { Cookie: cookie, Origin: "https://evil.example" };
    const forms: [door: string, fields: Record<string, string>][] = [
      ["POST /login", { email: ADA, password: PASSWORD, next: "/login" }],
      ["POST /logout", { next: "/login" }],
      ["POST /invitation", { token: NO_LINK, password: PASSWORD, repeated: PASSWORD }],
      ["POST /password", { token: NO_LINK, password: PASSWORD, repeated: PASSWORD }],
      ["POST /device", { user_code: "BCDF-GHJK", decision: "approve" }],
    ];
    const text = (fields: Record<string, string>) => new URLSearchParams(fields).toString();
    return [
      ...forms.flatMap(([door, fields]) => {
        const whole = text({ ...fields, ...hidden });
        return [
          { door, as: "a form of another site", headers: elsewhere, body: whole, status: 403 },
          {
            door,
            as: "a form with another token",
            headers: session,
            body: text({ ...fields, form_token: "guessed" }),
            status: 403,
          },
          { door, as: "who never saw the page", headers: { Origin: service.url }, body: whole, status: 403 },
        ];
      }),
      {
        door: "GET /invitation",
        as: "a link that was never made",
        headers: { Cookie: `svc_invitation=${NO_LINK}` },
        status: 404,
      },
      {
        door: "GET /password",
        as: "a link that was never made",
        headers: { Cookie: `svc_password_link=${NO_LINK}` },
        status: 404,
      },
    ];
  }

  it("refuses who must not pass", async () => {
    const tries = [...(await ingestion()), ...figures(), ...oauth(), ...(await pages())];
    const wrong: string[] = [];
    for (const { door, as, headers = {}, body, status } of tries) {
      const [method = "", path = ""] = door.split(" ");
      const type = typeof body === "string" ? "application/x-www-form-urlencoded" : "application/json";
      const response = await fetch(fixture.service.url + path, {
        method,
        redirect: "manual",
        headers: { ...headers, ...(method === "POST" ? { "Content-Type": type } : {}) },
        ...(method === "POST" ? { body: typeof body === "string" ? body : JSON.stringify(body) } : {}),
      });
      await response.arrayBuffer();
      seen.push([door, as, String(response.status)]);
      if (response.status !== status) wrong.push(`${door} as ${as}: ${response.status}, not ${status}`);
    }
    expect(wrong).toEqual([]);
    expect(await fixture.stored()).toMatchObject({ events: 0 });
  });

  it("is open to everybody only where nothing of anybody is told", async () => {
    const { service } = fixture;
    const sent = await service.request("POST", "/v1/events", { headers: bearer(fixture.keys.test), body: EVENT });
    expect(sent.status).toBe(202);
    for (const path of OPEN) {
      const response = await fetch(service.url + path, { redirect: "manual" });
      const text = await response.text();
      seen.push([`GET ${path}`, "everybody", String(response.status)]);
      expect([path, response.status]).toEqual([path, path === "/device" ? 303 : 200]);
      expect(text).not.toContain(MARK);
      expect(text).not.toContain(fixture.owner.organizationId);
    }
  });

  it("stands in one of these tables", () => {
    const tried = new Set([...seen.map(([door]) => door!), ...Object.keys(REQUESTS)]);
    const doors = fixture.service.routes.map(({ method, path }) => `${method} ${path}`);
    expect(doors.filter((door) => !tried.has(door) && !/^GET \/(docs\/|\.well-known\/.*\*)/.test(door))).toEqual([]);
  });

  it("has answers that are neither sniffed, framed nor run, and tells no site of another origin anything", async () => {
    for (const path of [...OPEN, "/metrics", "/projects", "/nowhere"]) {
      const { headers } = await fetch(fixture.service.url + path, {
        redirect: "manual",
        headers: { Origin: "https://evil.example" },
      });
      expect([path, headers.get("X-Content-Type-Options")]).toEqual([path, "nosniff"]);
      expect([path, headers.get("Content-Security-Policy")]).toEqual([
        path,
        expect.stringMatching(/^default-src 'none'.*frame-ancestors 'none'/),
      ]);
      for (const name of ["Access-Control-Allow-Origin", "Server", "X-Powered-By"]) {
        expect([path, name, headers.get(name)]).toEqual([path, name, null]);
      }
    }
  });

  it("has a password that cannot be guessed at any speed", async () => {
    const { service } = fixture;
    const statuses = new Set<number>();
    for (let attempt = 0; attempt < GUESSES; attempt += 1) {
      const browser = new Browser(service.url);
      const guess = { email: ADA, password: `${PASSWORD}${attempt}` };
      statuses.add((await browser.submit(await browser.get("/login"), guess)).status);
    }
    seen.push(["POST /login", "who guesses passwords", [...statuses].join(", then ")]);
    expect([...statuses].at(-1)).toBe(429);
  });
});

/** In the names of all that is somebody's. */
const MARK = "7f3a91";
const ADA = `ada-${MARK}@example.com`;

/** More than an address may take in a row. */
const GUESSES = 12;

/** Read by everybody, with or without credentials. */
const OPEN = [
  ...["/livez", "/startupz", "/readyz", "/health", "/openapi.json", "/docs", "/login", "/device"],
  "/.well-known/oauth-authorization-server",
];
