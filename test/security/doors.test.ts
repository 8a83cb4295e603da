import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TRACKING_PATHS } from "../../src/http/request/tracking-calls.js";
import { startSpec, type SpecFixture } from "../spec/support/fixture.js";
import { REQUESTS, startWorld, type World } from "../http/admin/support/world.js";
import { createUser, PASSWORD, signedIn } from "../http/pages/people.js";
import { formOf } from "../support/browser.js";
import { envelope } from "../support/service.js";
import { printTable } from "../support/table.js";

// Every endpoint ("door") of the service is tried as every caller who is not permitted, and the answers are printed: `npm run doors`. The
// endpoints' own tests cover permitted callers, and test/http/admin/authorization.test.ts the roles.

describe("the administrative API", () => {
  const MESSAGE = "The access token is missing, unknown, expired or revoked.";
  const INVALID = [401, envelope("INVALID_SESSION", MESSAGE)] as const;
  const NO_TOKEN = envelope("INVALID_SESSION", MESSAGE, { fix: "Send the header Authorization: Bearer <token>." });
  const NO_HEADER = envelope("ORGANIZATION_REQUIRED", "The header X-Svc-Organization is required.");
  const NO_MEMBER = envelope("ORGANIZATION_NOT_FOUND", "There is no such organization, or it is not one of yours.");
  /** The route without an organization, where every authenticated caller gets its own. */
  const OWN_ONLY = "GET /organizations";

  let world: World;
  let strangers: [name: string, headers: Record<string, string>, status: number, body: unknown][];
  const seen: string[][] = [];
  beforeAll(async () => {
    world = await startWorld();
    const { owner, foreigner, token } = world;
    const headersOf = (given: { token: string; organizationId?: string }) => ({
      Authorization: `Bearer ${given.token}`,
      "X-Svc-Organization": given.organizationId ?? owner.organizationId,
    });
    const { body } = await world.make("POST", "/projects/app/keys?env=live", { name: "doors" });
    const { token: session } = await token({ of: foreigner, session: true });
    const nowhere = "org_000000000000000000000000";
    strangers = [
      ["nobody", {}, 401, NO_TOKEN],
      ["unknown", headersOf({ token: `svc_token_${"0".repeat(48)}` }), ...INVALID],
      ["expired", headersOf(await token({ of: owner, change: "expires_at = now()" })), ...INVALID],
      ["revoked", headersOf(await token({ of: owner, change: "revoked_at = now()" })), ...INVALID],
      ["API key", headersOf({ token: (body as { secret: string }).secret }), ...INVALID],
      ["of none", { Authorization: `Bearer ${owner.token}` }, 400, NO_HEADER],
      ["foreigner", headersOf({ token: foreigner.token }), 404, NO_MEMBER],
      ["session", headersOf({ token: session }), 404, NO_MEMBER],
      ["nowhere", headersOf({ token: foreigner.token, organizationId: nowhere }), 404, NO_MEMBER],
      ["session nowhere", headersOf({ token: session, organizationId: nowhere }), 404, NO_MEMBER],
    ];
  });
  afterAll(async () => {
    await world.stop();
    const heading = "Administrative API: what is answered, in live where there is a choice";
    printTable(heading, [["door", ...strangers.map(([name]) => name)], ...seen]);
  });

  it.each(Object.keys(REQUESTS))("%s", async (route) => {
    const [method = ""] = route.split(" ");
    const { path, body: sent } = await REQUESTS[route]!(world, "live");
    const statuses: number[] = [];
    for (const [name, headers, status, body] of strangers) {
      // The body of an unauthenticated request is not read.
      const unread = status === 401 ? "{" : sent;
      const reply = await world.service.request(method, path, { headers, ...(sent !== undefined && { body: unread }) });
      const known = status !== 401 && route === OWN_ONLY;
      expect(reply, name).toMatchObject(known ? { status: 200 } : { status });
      if (!known) expect(reply.body, name).toEqual(body);
      expect(reply.headers.get("WWW-Authenticate"), name).toBe(status === 401 ? "Bearer" : null);
      statuses.push(reply.status);
    }
    seen.push([route, ...statuses.map(String)]);
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

  type Try = [door: string, as: string, status: number, headers?: Record<string, string>, body?: object | string];

  const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
  const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString();

  /** Ingestion accepts only API keys, and only valid ones. */
  async function ingestion(): Promise<Try[]> {
    const { owner } = fixture;
    const made = (await fixture.admin("POST", "/projects/app/keys?env=test", { body: { name: "doors" } })).body;
    const { key, secret: revoked } = made as { key: { id: string }; secret: string };
    await fixture.admin("POST", `/projects/app/keys/${key.id}/revoke?env=test`, { body: {} });
    expect(revoked).toMatch(/^svc_test_/);
    const basic = (user: string) => ({ Authorization: `Basic ${btoa(`${user}:`)}` });
    const organization = { "X-Svc-Organization": owner.organizationId };
    const strangers = (
      scheme: typeof bearer,
      other: typeof bearer,
    ): [as: string, headers: Record<string, string>][] => [
      ["nobody", {}],
      ["an unknown key", scheme(`svc_test_${"0".repeat(48)}`)],
      ["a revoked key", scheme(revoked)],
      ["an owner's token", { ...scheme(owner.token), ...organization }],
      ["a key by another scheme", other(fixture.keys.test)],
    ];
    return [
      ...strangers(bearer, basic).flatMap(([as, headers]): Try[] => [
        ["POST /v1/events", as, 401, headers, EVENT],
        ["POST /v1/events/batch", as, 401, headers, { events: [EVENT] }],
      ]),
      ...strangers(basic, bearer).flatMap(([as, headers]) =>
        TRACKING_PATHS.map(([path]): Try => [`POST ${path}`, as, 401, headers, { batch: [] }]),
      ),
    ];
  }

  const figures = (): Try[] => [
    ["GET /metrics", "nobody", 401],
    ["GET /metrics", "an unknown token", 401, bearer("guessed")],
    ["GET /metrics", "an API key", 401, bearer(fixture.keys.test)],
    ["GET /metrics", "an owner's token", 401, bearer(fixture.owner.token)],
  ];

  function oauth(): Try[] {
    const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
    const client = { client_id: "svc-cli" };
    const guessed = form({ grant_type, ...client, device_code: `svc_device_${"0".repeat(48)}` });
    const password = form({ grant_type: "password", ...client, username: ADA, password: "x" });
    return [
      ["POST /oauth/token", "who guesses a device's code", 400, {}, guessed],
      ["POST /oauth/token", "who asks with a password", 400, {}, password],
      ["POST /oauth/device_authorization", "an unknown client", 400, {}, "client_id=other"],
      ["POST /oauth/revoke", "an unknown client", 400, {}, "client_id=other&token=x"],
      ["POST /oauth/browser_link", "an unknown client", 400, {}, "client_id=other&token=x"],
      ["POST /oauth/browser_link", "a token for programs", 400, {}, form({ ...client, token: fixture.owner.token })],
    ];
  }

  /** Forms are accepted from the service's own pages only, and unknown links are refused. */
  async function pages(): Promise<Try[]> {
    const { service } = fixture;
    const browser = await signedIn(service, ADA);
    const { hidden } = formOf((await browser.get("/device")).html, "device");
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const Origin = service.url;
    const forms: [door: string, fields: Record<string, string>][] = [
      ["POST /login", { email: ADA, password: PASSWORD, next: "/login" }],
      ["POST /logout", { next: "/login" }],
      ["POST /invitation", { token: NO_LINK, password: PASSWORD, repeated: PASSWORD }],
      ["POST /password", { token: NO_LINK, password: PASSWORD, repeated: PASSWORD }],
      ["POST /sign-in", { token: NO_LINK }],
      ["POST /change-password", { password: PASSWORD }],
      ["POST /forgotten-password", { email: ADA }],
      ["POST /device", { user_code: "BCDF-GHJK", decision: "approve" }],
    ];
    const gone = { Cookie: `svc_session=svc_session_${"0".repeat(48)}` };
    // Who signs out without being signed in is led to signing in.
    const unseenStatus = (door: string) => (door === "POST /logout" ? 303 : 403);
    const forgeries = (door: string, fields: Record<string, string>, unseen: Record<string, string>): Try[] => {
      const whole = form({ ...fields, ...hidden });
      const forged = form({ ...fields, form_token: "guessed" });
      return [
        [door, "a form of another site", 403, { Cookie: cookie, Origin: "https://evil.example" }, whole],
        [door, "a form with another token", 403, { Cookie: cookie, Origin }, forged],
        [door, "who never saw the page", unseenStatus(door), { ...unseen, Origin }, whole],
      ];
    };
    const neverMade = "a link that was never made";
    return [
      ...forms.flatMap(([door, fields]) => forgeries(door, fields, {})),
      ["GET /invitation", neverMade, 404, { Cookie: `svc_invitation=${NO_LINK}` }],
      ["GET /password", neverMade, 404, { Cookie: `svc_password_link=${NO_LINK}` }],
      ["GET /sign-in", neverMade, 410, { Cookie: `svc_sign_in_link=${NO_LINK}` }],
      ...service.routes.flatMap(({ method, path }): Try[] => {
        const door = `${method} ${path}`;
        if (!path.startsWith("/console") || path === "/console/style.css") return [];
        if (method === "POST") return forgeries(door, {}, gone);
        return [
          [door, "nobody", 303],
          [door, "a session that is none", 303, gone],
          [door, "an owner's token", 303, bearer(fixture.owner.token)],
        ];
      }),
    ];
  }

  it("refuses callers without permission", async () => {
    const tries = [...(await ingestion()), ...figures(), ...oauth(), ...(await pages())];
    const wrong: string[] = [];
    for (const [door, as, status, headers = {}, body] of tries) {
      const [method = "", path = ""] = door.split(" ");
      const type = typeof body === "string" ? "application/x-www-form-urlencoded" : "application/json";
      const sent = typeof body === "object" ? JSON.stringify(body) : body;
      const response = await fetch(fixture.service.url + path, {
        method,
        redirect: "manual",
        headers: { ...headers, ...(sent !== undefined && { "Content-Type": type }) },
        ...(sent !== undefined && { body: sent }),
      });
      await response.arrayBuffer();
      seen.push([door, as, String(response.status)]);
      if (response.status !== status) wrong.push(`${door} as ${as}: ${response.status}, not ${status}`);
    }
    expect(wrong).toEqual([]);
    expect(await fixture.stored()).toMatchObject({ events: 0 });
  });

  it("is open to everyone only where nothing of a tenant is shown", async () => {
    const { service } = fixture;
    const sent = await service.request("POST", "/v1/events", { headers: bearer(fixture.keys.test), body: EVENT });
    expect(sent.status).toBe(202);
    for (const path of OPEN) {
      const response = await fetch(service.url + path, { redirect: "manual" });
      const text = await response.text();
      seen.push([`GET ${path}`, "everybody", String(response.status)]);
      expect([path, response.status]).toEqual([path, OTHERWISE[path] ?? 200]);
      expect(text).not.toContain(MARK);
      expect(text).not.toContain(fixture.owner.organizationId);
    }
  });

  it("is in one of these tables", () => {
    const tried = new Set([...seen.map(([door]) => door!), ...Object.keys(REQUESTS)]);
    const doors = fixture.service.routes.map(({ method, path }) => `${method} ${path}`);
    expect(doors.filter((door) => !tried.has(door) && !/^GET \/(docs\/|\.well-known\/.*\*)/.test(door))).toEqual([]);
  });

  it("has answers that cannot be sniffed, framed or run, nor read by other origins", async () => {
    for (const path of [...OPEN, "/metrics", "/projects", "/nowhere"]) {
      const { headers } = await fetch(fixture.service.url + path, {
        redirect: "manual",
        headers: { Origin: "https://evil.example" },
      });
      const received = Object.fromEntries(headers);
      expect(received, path).toMatchObject({
        "x-content-type-options": "nosniff",
        "content-security-policy": expect.stringMatching(/^default-src 'none'.*frame-ancestors 'none'/) as string,
      });
      for (const name of ["access-control-allow-origin", "server", "x-powered-by"])
        expect(received, path).not.toHaveProperty(name);
    }
  });
});

/** A mark in the names of everything that belongs to a tenant. */
const MARK = "7f3a91";
const ADA = `ada-${MARK}@example.com`;

/** Statuses of open pages other than 200: redirects to the sign-in page, and pages that are not set up. */
const OTHERWISE: Record<string, number> = {
  "/": 404,
  "/device": 303,
  "/change-password": 303,
  "/forgotten-password": 404,
};

/** Open to everyone, with or without credentials. */
const OPEN = [
  ...["/", "/console/style.css"],
  ...["/livez", "/startupz", "/readyz", "/health", "/openapi.json", "/docs", "/login", "/device"],
  ...["/change-password", "/forgotten-password"],
  "/.well-known/oauth-authorization-server",
];
