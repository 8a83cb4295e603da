import { describe, expect, it } from "vitest";
import type { Actor } from "../../../support/service.js";
import { INSTANT, pages, useApi, type Page } from "../support/api.js";
import { userIdOf } from "./support.js";

const api = useApi("none");

interface Entry {
  action: string;
  target: string;
}

const read = async (query: string, by?: Actor) => {
  const { status, body } = await api.organization("GET", `/audit-log?${query}`, undefined, by);
  expect(status).toBe(200);
  return body as Page<Entry>;
};
const actions = async (query: string, by: Actor) => (await read(query, by)).data.map(({ action }) => action);
const invite = (name: string, by: Actor) =>
  api.organization("POST", "/invitations", { email: `${name}@example.com`, role: "viewer" }, by);
const NOWHERE = { project: null, environment: null };
/** The entries of every new organization, newest first. */
const MADE = ["token.created", "member.added", "organization.created"];

describe("GET /organization/audit-log", () => {
  it("shows actions with their actor, request and target", async () => {
    const { body } = await api.service.request("POST", "/organization/tokens", {
      by: api.owner,
      body: { label: "CI" },
      headers: { "X-Request-ID": "deploy-17" },
    });
    const { id: target, expiresAt } = body as { id: string; expiresAt: string };
    const [bootstrap] = await api.sql<[{ id: string }]>`
      select token_id as id from iam.access_tokens where organization_id = ${api.owner.organizationId} and label = 'bootstrap'`;
    const actorUserId = await userIdOf(api.service, "owner@acme.example");
    const who = { actor: "owner@acme.example", actorUserId, tokenId: bootstrap.id, requestId: "deploy-17" };
    const what = { action: "token.created", target, details: { label: "CI", role: null, expiresAt } };
    expect((await read("limit=1")).data).toEqual([{ at: INSTANT, ...NOWHERE, ...who, ...what }]);
  });

  it("names the operator as creator of the organization, and shows nothing of other organizations", async () => {
    const by = await api.service.owner("made");
    const operator = { at: INSTANT, ...NOWHERE, actor: "operator", actorUserId: null, tokenId: null, requestId: null };
    const target = expect.stringMatching(/^tok_/) as string;
    const token = { target, details: { label: "bootstrap", role: null, expiresAt: INSTANT } };
    const email = "owner@made.example";
    const member = { target: await userIdOf(api.service, email), details: { email, role: "owner" } };
    const organization = { target: by.organizationId, details: { slug: "made" } };
    const data = [token, member, organization].map((entry, n) => ({ ...operator, action: MADE[n], ...entry }));
    expect(await read("", by)).toEqual({ data, nextCursor: null });
  });

  it("continues after a page, newest first, whatever is added meanwhile, also among entries of one instant", async () => {
    const by = await api.service.owner("paged");
    for (const name of ["a", "b", "c", "d"]) await invite(name, by);
    const whole = (await read("", by)).data;
    const page = async (query: string) => {
      const answer = await read(query, by);
      await invite("later", by);
      return answer;
    };
    const found = await pages(page, "", 3);
    expect(found).toEqual({ items: whole, sizes: [3, 3, 1] });
    await api.sql`update iam.audit_log set at = '2026-03-01T10:00:00.000001Z' where organization_id = ${by.organizationId}`;
    const { items } = await pages((query) => read(query, by), "", 1);
    expect(items.slice(-whole.length)).toEqual(whole.map((entry) => ({ ...entry, at: "2026-03-01T10:00:00.000Z" })));
  });

  it("filters by action, actor in any case, and start, also page by page", async () => {
    const by = await api.service.owner("filtered");
    for (const name of ["a", "b"]) await invite(name, by);
    const invited = ["invitation.created", "invitation.created"];
    expect(await actions("action=member.added", by)).toEqual(["member.added"]);
    expect(await actions("actor=Owner@filtered.example", by)).toEqual(invited);
    expect(await actions("actor=operator&action=organization.created", by)).toEqual(["organization.created"]);
    expect(await actions("actor=operator&action=invitation.created", by)).toEqual([]);
    const all = "action=invitation.created&actor=owner@filtered.example&since=1d";
    expect((await pages((query) => read(query, by), all, 1)).sizes).toEqual([1, 1]);
    await api.sql`update iam.audit_log set at = now() - interval '8 days'
      where organization_id = ${by.organizationId} and actor = 'operator'`;
    expect(await actions("since=7d", by)).toEqual(invited);
    expect(await actions("since=9d&action=member.added", by)).toEqual(["member.added"]);
    expect(await actions("since=2000-01-01", by)).toHaveLength(5);
    expect(await actions("since=2100-01-01T00:00:00%2B02:00", by)).toEqual([]);
  });

  it("uses an index for all filters", async () => {
    const by = await api.service.owner("large");
    await api.sql`insert into iam.audit_log (organization_id, at, actor, action)
      select ${by.organizationId}, now() - n * interval '1 minute', 'ann' || n % 100 || '@example.com', 'thing.done' || n % 50
      from generate_series(1, 10000) as n`;
    await api.sql`analyze iam.audit_log`;
    const week = "a.at >= now() - interval '7 days'";
    for (const filter of ["a.action = 'thing.done7'", "a.actor = 'ann7@example.com'", week, "true"]) {
      const plan = await api.sql.unsafe(`explain select from iam.audit_log as a
        where a.organization_id = '${by.organizationId}' and ${filter} and (a.at, a.audit_seq) < (now(), 1000)
        order by a.at desc, a.audit_seq desc limit 51`);
      const text = JSON.stringify(plan);
      expect(text).toMatch(/Index (Only )?Scan Backward/);
      expect(text).not.toMatch(/Sort|Seq Scan/);
    }
  });
});
