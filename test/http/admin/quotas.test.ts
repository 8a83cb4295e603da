import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { envelope, snapshot, startService, type Actor, type Reply, type Service } from "../../support/service.js";
import { giveUp } from "./support/recomputes.js";

let service: Service;
let owner: Actor;
beforeAll(async () => {
  service = await startService();
  owner = await service.owner("acme");
});
afterAll(() => service.stop());

let made = 0;
let project = "";
beforeEach(async () => {
  await service.db
    .sql`update iam.plans set projects = default, members = default, tokens = default, keys = default, version_bytes = default, changes = default`;
  project = `p${made++}`;
  await service.request("POST", "/projects", { by: owner, body: { name: "App", slug: project } });
});

const LARGER = "ask the operator of this service for a larger plan.";
const refused = (what: string, fix: string) => ({
  status: 429,
  body: envelope("QUOTA_EXCEEDED", `The plan allows ${what}.`, { reason: "There are as many already.", fix }),
});
const post = (path: string, body: unknown = {}) => service.request("POST", path, { by: owner, body });
const inProject = (path: string, body: unknown = {}) => post(`/projects/${project}/${path}`, body);
const setPlan = (quota: string, limit: number) =>
  service.db.sql`update iam.plans set ${service.db.sql({ [quota]: limit })}`;
const idOf = ({ body }: Reply) => (body as { id: string }).id;

/** Does the same many times at once; the answers that were no refusals, and the others. */
async function atOnce(
  times: number,
  work: (n: number) => Promise<Reply>,
): Promise<{ taken: Reply[]; others: unknown[] }> {
  const replies = await Promise.all(Array.from({ length: times }, (_, n) => work(n)));
  const isTaken = ({ status }: Reply) => status >= 200 && status < 300;
  return {
    taken: replies.filter(isTaken),
    others: replies.filter((reply) => !isTaken(reply)).map(({ status, body }) => ({ status, body })),
  };
}

const webhook = { url: "https://example.com/hook", eventTypes: ["*"] };

describe("with the limits that a plan has from the beginning", () => {
  it("of 60 webhooks that are made at once 50 are, and the others are refused", async () => {
    const { taken, others } = await atOnce(60, () => inProject("webhooks", webhook));
    expect(taken).toHaveLength(50);
    const fix = `Delete a webhook that is not used, or ${LARGER}`;
    expect(others).toEqual(Array(10).fill(refused("50 webhooks in an environment", fix)));
  });

  it("of 30 recomputes and 30 dry runs 20 are queued", async () => {
    const { taken, others } = await atOnce(60, (n) => inProject("recomputes", { all: true, dryRun: n % 2 === 0 }));
    expect(taken).toHaveLength(20);
    const fix = `Wait until one has finished, or ${LARGER}`;
    expect(others[0]).toEqual(refused("20 unfinished recomputes and dry runs in an environment", fix));
  });

  it("of 20 previews 5 are queued", async () => {
    const { taken, others } = await atOnce(20, () => inProject("previews", { snapshot: snapshot({}) }));
    expect(taken).toHaveLength(5);
    const fix = `Wait until one has finished, or ${LARGER}`;
    expect(others[0]).toEqual(refused("5 unfinished previews in an environment", fix));
  });
});

describe("a limit of one is said in the singular", () => {
  const key = "1 working API key in an environment";
  const wait = "Wait until one has finished";
  it.each<[quota: string, path: string, body: object, what: string, room: string]>([
    ["keys", "keys", { name: "another" }, key, "Revoke a key that is not used"],
    ["webhooks", "webhooks", webhook, "1 webhook in an environment", "Delete a webhook that is not used"],
    ["previews", "previews", { snapshot: snapshot({}) }, "1 unfinished preview in an environment", wait],
  ])("%s", async (quota, path, body, what, room) => {
    await setPlan(quota, 1);
    await inProject(path, body);
    expect(await inProject(path, body)).toMatchObject(refused(what, `${room}, or ${LARGER}`));
    await service.db.sql.unsafe(`update iam.plans set ${quota} = default`);
  });
});

describe("what was refused is taken once there is room", () => {
  it("for webhooks when one is deleted, and in the other environment at any time", async () => {
    const { taken } = await atOnce(60, () => inProject("webhooks", webhook));
    expect((await inProject("webhooks?env=live", webhook)).status).toBe(201);
    await service.request("DELETE", `/projects/${project}/webhooks/${idOf(taken[0]!)}`, { by: owner });
    expect((await inProject("webhooks", webhook)).status).toBe(201);
    expect((await inProject("webhooks", webhook)).status).toBe(429);
  });

  it("for recomputes when one has ended, and one that was given up counts again when it is retried", async () => {
    const { taken } = await atOnce(25, () => inProject("recomputes", { all: true }));
    await giveUp(service.db.sql, idOf(taken[0]!));
    expect((await inProject("previews", { snapshot: snapshot({}) })).status).toBe(202);
    expect((await inProject("recomputes", { all: true })).status).toBe(202);
    expect((await inProject(`recomputes/${idOf(taken[0]!)}/retry`)).status).toBe(429);
    await giveUp(service.db.sql, idOf(taken[1]!));
    expect((await inProject(`recomputes/${idOf(taken[0]!)}/retry`)).status).toBe(202);
    expect((await inProject("recomputes", { all: true })).status).toBe(429);
  });

  it("for keys when one is revoked; one in its grace works and counts, and a key can always be replaced at once", async () => {
    await setPlan("keys", 3);
    const { taken, others } = await atOnce(4, (n) => inProject("keys", { name: `k${n}` }));
    const fix = `Revoke a key that is not used, or ${LARGER}`;
    expect(others).toEqual(Array(2).fill(refused("3 working API keys in an environment", fix)));
    const [first, second] = taken.map(({ body }) => (body as { key: { id: string } }).key.id);
    expect((await inProject(`keys/${first}/rotate`, { grace: "1h" })).status).toBe(429);
    expect((await inProject(`keys/${first}/rotate`, { grace: "0m" })).status).toBeLessThan(300);
    expect((await inProject(`keys/${second}/revoke`)).status).toBe(200);
    const { data } = (await service.request("GET", `/projects/${project}/keys`, { by: owner })).body as {
      data: { id: string; status: string }[];
    };
    const working = data.filter(({ status }) => status === "active").map(({ id }) => id);
    expect((await inProject(`keys/${working[0]}/rotate`, { grace: "1h" })).status).toBeLessThan(300);
    expect((await inProject("keys", { name: "one more" })).status).toBe(429);
  });

  it("for tokens when one is revoked", async () => {
    const [row] = await service.db.sql<[{ count: number }]>`select count(*)::integer from iam.access_tokens`;
    await setPlan("tokens", row.count + 1);
    const { taken, others } = await atOnce(5, () => post("/organization/tokens", { label: "CI" }));
    expect(taken).toHaveLength(1);
    const fix = `Revoke a token that is not used, or ${LARGER}`;
    expect(others[0]).toEqual(refused(`${row.count + 1} access tokens in an organization`, fix));
    await service.request("DELETE", `/organization/tokens/${idOf(taken[0]!)}`, { by: owner });
    expect((await post("/organization/tokens", { label: "CI" })).status).toBe(201);
  });

  it("for members when an invitation is revoked; another one for the same address takes no room", async () => {
    await setPlan("members", 3);
    const invite = (n: number) => post("/organization/invitations", { email: `m${n}@example.com`, role: "viewer" });
    const { taken, others } = await atOnce(5, invite);
    expect(taken).toHaveLength(2);
    const fix = `Remove a member or revoke an invitation, or ${LARGER}`;
    expect(others[0]).toEqual(refused("3 members and open invitations in an organization", fix));
    const { email, id } = taken[0]!.body as { email: string; id: string };
    expect((await post("/organization/invitations", { email, role: "developer" })).status).toBe(201);
    const again = await service.request("GET", "/organization/invitations", { by: owner });
    const open = (again.body as { data: { id: string; email: string }[] }).data;
    expect(open.map((each) => each.id)).not.toContain(id);
    await service.request("DELETE", `/organization/invitations/${open[0]!.id}`, { by: owner });
    expect((await invite(9)).status).toBe(201);
  });
});

describe("what stays for ever ends at the limit of the plan", () => {
  it("for projects", async () => {
    const [row] = await service.db.sql<[{ count: number }]>`select count(*)::integer from svc.projects`;
    await setPlan("projects", row.count + 1);
    const { taken, others } = await atOnce(5, (n) => post("/projects", { name: "One", slug: `one-more-${n}` }));
    expect(taken).toHaveLength(1);
    expect(others[0]).toEqual(
      refused(`${row.count + 1} projects in an organization`, "Ask the operator of this service for a larger plan."),
    );
  });

  it("for configuration versions; what is active already may be deployed again", async () => {
    await setPlan("versions", 2);
    const deploy = (n: number) => inProject("config-versions", { snapshot: snapshot({ segments: [{ id: `s${n}` }] }) });
    const { taken, others } = await atOnce(4, deploy);
    expect(taken).toHaveLength(2);
    expect(others[0]).toEqual(
      refused("2 configuration versions in a project", "Ask the operator of this service for a larger plan."),
    );
    const active = await service.db.sql<{ segment: string }[]>`
      select v.snapshot #>> '{segments,0,id}' as segment
      from svc.projects as p join svc.environments as e using (project_id)
      join svc.config_versions as v on v.project_id = p.project_id and v.version = e.active_version
      where p.slug = ${project}`;
    expect((await deploy(Number(active[0]!.segment.slice(1)))).status).toBe(200);
    await setPlan("versions", 10_000);
  });
});

it("a preview that has ended keeps no model", async () => {
  const id = idOf(await inProject("previews", { snapshot: snapshot({}) }));
  const { sql } = service.db;
  const [job] = await sql<[{ environment_id: number; attempt: number }]>`
    update svc.recomputes set status = 'running', attempt = 1 where recompute_id = ${id} returning environment_id, attempt`;
  await sql`select svc_api.finish_recompute(${job.environment_id}, ${id}, 1)`;
  const [row] = await sql`select status, snapshot::text from svc.recomputes where recompute_id = ${id}`;
  expect(row).toEqual({ status: "completed", snapshot: "{}" });
});

describe("what nothing ever removes is bounded too", () => {
  it("changes by a member: beyond those of a minute nothing is done, and other members go on", async () => {
    const aMinuteLater = () => service.db.sql`update iam.audit_log set at = at - interval '1 minute'`;
    await aMinuteLater();
    await setPlan("changes", 2);
    const addKey = (n: number) => inProject("keys", { name: `k${n}` });
    expect([await addKey(1), await addKey(2)]).toMatchObject([{ status: 201 }, { status: 201 }]);
    expect(await addKey(3)).toMatchObject(refused("2 changes by a member in a minute", `Wait a minute, or ${LARGER}`));
    const { body } = await service.request("GET", `/projects/${project}/keys`, { by: owner });
    expect((body as { data: { name: string }[] }).data.map(({ name }) => name)).not.toContain("k3");
    // What takes away is done all the same.
    const { body: made } = await service.request("GET", `/projects/${project}/keys`, { by: owner });
    const [key] = (made as { data: { id: string }[] }).data;
    expect((await inProject(`keys/${key!.id}/revoke`)).status).toBe(200);
    const other = await service.member(owner, "administrator");
    const theirs = await service.request("POST", `/projects/${project}/keys`, { by: other, body: { name: "k" } });
    expect(theirs.status).toBe(201);
    await aMinuteLater();
    expect((await addKey(3)).status).toBe(201);
  });

  it("bytes of a project's versions, as they are stored", async () => {
    await setPlan("version_bytes", 1);
    const deploy = (segment: string) =>
      inProject("config-versions", { snapshot: snapshot({ segments: [{ id: segment }] }) });
    expect((await deploy("a")).status).toBe(201);
    expect(await deploy("b")).toMatchObject(
      refused("1 byte of configuration versions in a project", "Ask the operator of this service for a larger plan."),
    );
    await setPlan("version_bytes", 1_000_000);
    expect((await deploy("b")).status).toBe(201);
  });
});
