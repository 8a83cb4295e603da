import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { envelope, startService, type Actor, type Service } from "../../../support/service.js";
import { timestamp, userIdOf } from "./support.js";

let service: Service;
let owner: Actor;
beforeAll(async () => {
  service = await startService();
  owner = await service.owner("acme");
});
afterAll(() => service.stop());

interface Entry {
  at: string;
  action: string;
  target: string;
}

interface Page {
  data: Entry[];
  nextCursor: string | null;
}

const read = async (query = "", by = owner) => {
  const reply = await service.request("GET", `/organization/audit-log${query}`, { by });
  expect(reply.status).toBe(200);
  return reply.body as Page;
};
const invite = (email: string, by = owner) =>
  service.request("POST", "/organization/invitations", { by, body: { email, role: "viewer" } });

describe("GET /organization/audit-log", () => {
  it("says what was done, by whom, in which request and to what", async () => {
    const { body } = await service.request("POST", "/organization/tokens", {
      by: owner,
      body: { label: "CI" },
      headers: { "X-Request-ID": "deploy-17" },
    });
    const [entry] = (await read("?limit=1")).data;
    const [bootstrap] = await service.db.sql<[{ id: string }]>`
      select token_id as id from iam.access_tokens where organization_id = ${owner.organizationId} and label = 'bootstrap'`;
    expect(entry).toEqual({
      at: timestamp,
      action: "token.created",
      actor: "owner@acme.example",
      actorUserId: await userIdOf(service, "owner@acme.example"),
      tokenId: bootstrap.id,
      requestId: "deploy-17",
      project: null,
      environment: null,
      target: (body as { id: string }).id,
      details: { label: "CI", role: null, expiresAt: (body as { expiresAt: string }).expiresAt },
    });
  });

  it("names the operator, who made the organization", async () => {
    const by = await service.owner("made");
    const userId = await userIdOf(service, "owner@made.example");
    const operator = {
      at: timestamp,
      actor: "operator",
      actorUserId: null,
      tokenId: null,
      requestId: null,
      project: null,
      environment: null,
    };
    expect(await read("", by)).toEqual({
      data: [
        {
          ...operator,
          action: "token.created",
          target: expect.stringMatching(/^tok_/) as unknown,
          details: { label: "bootstrap", role: null, expiresAt: timestamp },
        },
        {
          ...operator,
          action: "member.added",
          target: userId,
          details: { email: "owner@made.example", role: "owner" },
        },
        {
          ...operator,
          action: "organization.created",
          target: by.organizationId,
          details: { slug: "made" },
        },
      ],
      nextCursor: null,
    });
  });

  it("goes on newest first from where a page ended, whatever is written meanwhile", async () => {
    const by = await service.owner("paged");
    for (const name of ["a", "b", "c", "d"]) await invite(`${name}@example.com`, by);
    const whole = (await read("", by)).data.map(({ target }) => target);
    const first = await read("?limit=3", by);
    await invite("later@example.com", by);
    const second = await read(`?limit=3&cursor=${first.nextCursor}`, by);
    const third = await read(`?limit=3&cursor=${second.nextCursor}`, by);
    expect([first, second, third].flatMap(({ data }) => data.map(({ target }) => target))).toEqual(whole);
    expect(third.nextCursor).toBeNull();
  });

  it("keeps entries of one instant apart", async () => {
    const by = await service.owner("instant");
    await service.db.sql`update iam.audit_log set at = '2026-03-01T10:00:00.000001Z'
      where organization_id = ${by.organizationId}`;
    const first = await read("?limit=1", by);
    const second = await read(`?limit=2&cursor=${first.nextCursor}`, by);
    expect([...first.data, ...second.data].map(({ action }) => action)).toEqual([
      "token.created",
      "member.added",
      "organization.created",
    ]);
    expect(second.nextCursor).toBeNull();
  });

  it("filters by action, by who did it in whatever case, and by since when", async () => {
    const by = await service.owner("filtered");
    await invite("a@example.com", by);
    await invite("b@example.com", by);
    const actions = async (query: string) => (await read(query, by)).data.map(({ action }) => action);
    expect(await actions("?action=member.added")).toEqual(["member.added"]);
    expect(await actions("?actor=Owner@filtered.example")).toEqual(["invitation.created", "invitation.created"]);
    expect(await actions("?actor=operator&action=organization.created")).toEqual(["organization.created"]);
    expect(await actions("?actor=operator&action=invitation.created")).toEqual([]);
    await service.db.sql`update iam.audit_log set at = now() - interval '8 days'
      where organization_id = ${by.organizationId} and actor = 'operator'`;
    expect(await actions("?since=7d")).toEqual(["invitation.created", "invitation.created"]);
    expect(await actions("?since=9d&action=member.added")).toEqual(["member.added"]);
    expect(await actions("?since=2000-01-01")).toHaveLength(5);
    expect(await actions("?since=2100-01-01T00:00:00%2B02:00")).toEqual([]);
  });

  it("pages through what is left of the filters", async () => {
    const by = await service.owner("filtered-pages");
    for (const name of ["a", "b", "c"]) await invite(`${name}@example.com`, by);
    const query = "?limit=2&action=invitation.created&actor=owner@filtered-pages.example&since=1d";
    const first = await read(query, by);
    const second = await read(`${query}&cursor=${first.nextCursor}`, by);
    expect([first.data.length, second.data.length, second.nextCursor]).toEqual([2, 1, null]);
  });

  it("shows nothing of another organization", async () => {
    const by = await service.owner("alone");
    const { data } = await read("?limit=200", by);
    expect(data.map(({ action }) => action)).toEqual(["token.created", "member.added", "organization.created"]);
  });

  it.each(["yesterday", "7", "2026-02-30", "2026-03-01T09:00:00", "0d", "99999999w", "-1d", "%00"])(
    "refuses since=%s",
    async (since) => {
      const reply = await service.request("GET", `/organization/audit-log?since=${since}`, { by: owner });
      expect(reply).toMatchObject({ status: 400, body: { error: { code: "VALIDATION_ERROR", field: "since" } } });
    },
  );

  it.each(["1", "x y", "1 ", "1 99999999999999999999", "99999999999999999 1", "-1 1"])(
    "refuses a forged cursor: %s",
    async (position) => {
      const cursor = Buffer.from(JSON.stringify(["audit-log", position])).toString("base64url");
      const reply = await service.request("GET", `/organization/audit-log?cursor=${cursor}`, { by: owner });
      expect(reply.status).toBe(400);
      expect(reply.body).toEqual(
        envelope("VALIDATION_ERROR", "The cursor is not one of this list.", {
          field: "cursor",
          fix: "Pass nextCursor of the page before, unchanged, with the same filters.",
        }),
      );
    },
  );

  it("answers by index, whatever the filters", async () => {
    const by = await service.owner("large");
    const { sql } = service.db;
    await sql`insert into iam.audit_log (organization_id, at, actor, action)
      select ${by.organizationId}, now() - n * interval '1 minute', 'ann' || n % 100 || '@example.com', 'thing.done' || n % 50
      from generate_series(1, 20000) as n`;
    await sql`analyze iam.audit_log`;
    const filters = [
      "a.action = 'thing.done7'",
      "a.actor = 'ann7@example.com'",
      "a.at >= now() - interval '7 days'",
      "true",
    ];
    for (const filter of filters) {
      const plan = await sql.unsafe(`explain select from iam.audit_log as a
        where a.organization_id = '${by.organizationId}' and ${filter} and (a.at, a.audit_seq) < (now(), 1000)
        order by a.at desc, a.audit_seq desc limit 51`);
      const text = JSON.stringify(plan);
      expect(text).toMatch(/Index (Only )?Scan Backward/);
      expect(text).not.toMatch(/Sort|Seq Scan/);
    }
  });
});
