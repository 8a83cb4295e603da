import { afterEach, describe, expect, it } from "vitest";
import { snapshot, type Reply } from "../../support/service.js";
import { refused, useApi, type Page } from "./support/api.js";
import { giveUp } from "./support/recomputes.js";

const api = useApi("each");
const { ask, post, readAll, organization } = api;
const QUOTAS = "projects members tokens keys webhooks previews versions version_bytes changes".split(" ");
afterEach(() => api.sql.unsafe(`update iam.plans set ${QUOTAS.map((quota) => `${quota} = default`).join(", ")}`));

/** The refusal when the plan allows no more, with what makes room. */
const full = (what: string, room?: string) =>
  refused(429, "QUOTA_EXCEEDED", {
    message: `The plan allows ${what}.`,
    reason: "That many already exist.",
    fix: `${room === undefined ? "Ask" : `${room}, or ask`} the operator of this service for a larger plan.`,
  });
const TAKEN = { status: expect.toSatisfy((status: number) => status >= 200 && status < 300) as number };
const FULL = { status: 429 };

const setPlan = (quota: string, limit: number) => api.sql`update iam.plans set ${api.sql({ [quota]: limit })}`;
const countOf = async (table: string) => {
  const [row] = await api.sql<[{ count: number }]>`select count(*)::integer from ${api.sql(table)}`;
  return row.count;
};
const idOf = ({ body }: Reply) => (body as { id: string }).id;

/** Does the same many times at once, expects that `count` succeed and the others are refused like this, and returns the successes. */
async function takes(count: number, times: number, work: (n: number) => Promise<Reply>, expected: object) {
  const replies = await Promise.all(Array.from({ length: times }, (_, n) => work(n)));
  const sorted = replies.toSorted((a, b) => a.status - b.status);
  expect(sorted).toMatchObject([...Array<object>(count).fill(TAKEN), ...Array<object>(times - count).fill(expected)]);
  return sorted.slice(0, count);
}

const addWebhook = (query = "") => post(`/webhooks${query}`, { url: "https://example.com/hook", eventTypes: ["*"] });
const addKey = (name: string | number) => post("/keys", { name: `k${name}` });
const recompute = (dryRun = false) => post("/recomputes", { all: true, dryRun });
const preview = () => post("/previews", { snapshot: snapshot() });
const backtest = (n: number) =>
  post("/backtests", { snapshot: snapshot(), outcome: "state:active", within: `${n + 1}d` });
const deploy = (segment: string | number) =>
  post("/config-versions", { snapshot: snapshot({ segments: [{ id: `s${segment}` }] }) });

const WEBHOOK_ROOM = "Delete a webhook that is not used";
const KEY_ROOM = "Revoke a key that is not used";
const WAIT = "Wait until one has finished";

it("a limit of one is worded in the singular", async () => {
  for (const [quota, request, what, room] of [
    ["keys", () => addKey("another"), "1 working API key in an environment", KEY_ROOM],
    ["webhooks", addWebhook, "1 webhook in an environment", WEBHOOK_ROOM],
    ["previews", preview, "1 unfinished preview or backtest in an environment", WAIT],
  ] as const) {
    await setPlan(quota, 1);
    await request();
    expect(await request(), quota).toMatchObject(full(what, room));
  }
});

describe("what a limit of the plan refuses is accepted once there is room", () => {
  it("for webhooks when one is deleted, and at any time in the other environment", async () => {
    const [first] = await takes(50, 60, () => addWebhook(), full("50 webhooks in an environment", WEBHOOK_ROOM));
    expect(await addWebhook("?env=live")).toMatchObject(TAKEN);
    await ask("DELETE", `/webhooks/${idOf(first!)}`);
    expect([await addWebhook(), await addWebhook()]).toMatchObject([TAKEN, FULL]);
  });

  it("for recomputes when one has ended, and one that was given up counts again when it is retried", async () => {
    const what = "20 unfinished recomputes and dry runs in an environment";
    const [first, second] = await takes(20, 60, (n) => recompute(n % 2 === 0), full(what, WAIT));
    const retry = () => post(`/recomputes/${idOf(first!)}/retry`);
    await giveUp(api.sql, idOf(first!));
    expect([await preview(), await recompute(), await retry()]).toMatchObject([TAKEN, TAKEN, FULL]);
    await giveUp(api.sql, idOf(second!));
    expect([await retry(), await recompute()]).toMatchObject([TAKEN, FULL]);
  });

  it("for previews and backtests when one has ended, whose models are not kept", async () => {
    const either = (n: number) => (n % 2 === 0 ? preview() : backtest(n));
    const id = idOf(await preview());
    await takes(4, 20, either, full("5 unfinished previews and backtests in an environment", WAIT));
    const [job] = await api.sql<[{ environment: number }]>`
      update svc.recomputes set status = 'running', attempt = 1 where recompute_id = ${id} returning environment_id as environment`;
    await api.sql`select svc_api.finish_recompute(${job.environment}, ${id}, 1)`;
    const [row] = await api.sql`select status, snapshot::text from svc.recomputes where recompute_id = ${id}`;
    expect(row).toEqual({ status: "completed", snapshot: "{}" });
    expect([await preview(), await preview()]).toMatchObject([TAKEN, FULL]);
  });

  it("for keys when one is revoked; one in its grace period works and counts, and a key can always be replaced at once", async () => {
    await setPlan("keys", 3);
    const taken = await takes(2, 4, addKey, full("3 working API keys in an environment", KEY_ROOM));
    const [first, second] = taken.map(({ body }) => (body as { key: { id: string } }).key.id);
    const rotate = (id: string | undefined, grace: string) => post(`/keys/${id}/rotate`, { grace });
    expect([await rotate(first, "1h"), await rotate(first, "0m")]).toMatchObject([FULL, TAKEN]);
    expect(await post(`/keys/${second}/revoke`)).toMatchObject(TAKEN);
    const { items } = await readAll<{ id: string; status: string }>("/keys");
    const working = items.find(({ status }) => status === "active")!;
    expect([await rotate(working.id, "1h"), await addKey("one more")]).toMatchObject([TAKEN, FULL]);
  });

  it("for tokens when one is revoked", async () => {
    const limit = (await countOf("iam.access_tokens")) + 1;
    await setPlan("tokens", limit);
    const add = () => organization("POST", "/tokens", { label: "CI" });
    const expected = full(`${limit} access tokens in an organization`, "Revoke a token that is not used");
    const [token] = await takes(1, 5, add, expected);
    await organization("DELETE", `/tokens/${idOf(token!)}`);
    expect(await add()).toMatchObject(TAKEN);
  });

  it("for members when an invitation is revoked; another for the same address takes no room", async () => {
    await setPlan("members", 3);
    const path = "/invitations";
    const invite = (n: number | string, role = "viewer") =>
      organization("POST", path, { email: `m${n}@example.com`, role });
    const room = "Remove a member or revoke an invitation";
    const [first] = await takes(2, 5, invite, full("3 members and open invitations in an organization", room));
    const { email, id } = first!.body as { email: string; id: string };
    expect(await invite(email[1]!, "developer")).toMatchObject(TAKEN);
    const { data } = (await organization("GET", path)).body as Page<{ id: string }>;
    expect(data.map((open) => open.id)).not.toContain(id);
    await organization("DELETE", `${path}/${data[0]!.id}`);
    expect(await invite(9)).toMatchObject(TAKEN);
  });
});

describe("what cannot be deleted is limited by the plan", () => {
  it("for projects", async () => {
    const limit = (await countOf("svc.projects")) + 1;
    await setPlan("projects", limit);
    const by = api.owner;
    const add = (n: number) =>
      api.service.request("POST", "/projects", { by, body: { name: "One", slug: `one-more-${n}` } });
    await takes(1, 5, add, full(`${limit} projects in an organization`));
  });

  it("for configuration versions, also by their stored bytes; the active version can be deployed again", async () => {
    await setPlan("versions", 2);
    await takes(2, 4, deploy, full("2 configuration versions in a project"));
    const [active] = await api.sql<[{ segment: string }]>`
      select substr(v.snapshot #>> '{segments,0,id}', 2) as segment
      from svc.projects as p join svc.environments as e using (project_id)
      join svc.config_versions as v on v.project_id = p.project_id and v.version = e.active_version
      where p.slug = ${api.slug}`;
    expect(await deploy(active.segment)).toMatchObject({ status: 200 });
    await setPlan("versions", 3);
    await setPlan("version_bytes", 1);
    expect(await deploy("b")).toMatchObject(full("1 byte of configuration versions in a project"));
    await setPlan("version_bytes", 1_000_000);
    expect(await deploy("b")).toMatchObject(TAKEN);
  });
});

it("a member's changes beyond the limit per minute are refused, and other members are unaffected", async () => {
  const aMinuteLater = () => api.sql`update iam.audit_log set at = at - interval '1 minute'`;
  await aMinuteLater();
  await setPlan("changes", 2);
  expect([await addKey(1), await addKey(2)]).toMatchObject([TAKEN, TAKEN]);
  expect(await addKey(3)).toMatchObject(full("2 changes by a member in a minute", "Wait a minute"));
  const { items } = await readAll<{ id: string; name: string }>("/keys");
  expect(items.map(({ name }) => name)).toEqual(["k2", "k1", "default"]);
  // Removals are not limited.
  expect(await post(`/keys/${items[0]!.id}/revoke`)).toMatchObject(TAKEN);
  const other = await api.service.member(api.owner, "administrator");
  expect(await post("/keys", { name: "k" }, other)).toMatchObject(TAKEN);
  await aMinuteLater();
  expect(await addKey(3)).toMatchObject(TAKEN);
  // As when the database's clock was ahead meanwhile, and is set right.
  await api.sql`update iam.audit_log set at = at + interval '1 day'`;
  expect(await addKey(4)).toMatchObject(TAKEN);
});
