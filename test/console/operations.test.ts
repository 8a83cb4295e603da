import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { useSpec } from "../spec/support/fixture.js";
import { type Browser } from "../support/browser.js";
import { snapshot } from "../support/service.js";
import { JobRunner } from "../tasks/support/recompute.js";
import { browserOf } from "./support/session.js";

const fixture = useSpec();
const BASE = "/console/acme/app";
const HOSTILE = `<script>alert(1)</script>\u202e${"x".repeat(200)}`;
const vip = { id: "vip", when: { kind: "trait", trait: "plan", operator: "eq", value: "pro" } } as const;

let owner: Browser;
let viewer: Browser;
let worker: JobRunner;
beforeAll(async () => {
  const { service } = fixture;
  worker = new JobRunner(service.db);
  owner = await browserOf(service, "owner@acme.example");
  await service.member(fixture.owner, "viewer");
  viewer = await browserOf(service, `viewer@${fixture.owner.organizationId}.example`);
});
afterAll(() => worker.end());

const textAt = async (browser: Browser, page: string) => (await browser.get(`${BASE}/test/${page}`)).text;

/** Sends the form of a page that changes something, and opens the resulting page. */
async function change(page: string, fields: Readonly<Record<string, string>> = {}, form = page.split("?")[0]!) {
  const answer = await owner.submit(await owner.get(`${BASE}/test/${page}`), fields, form);
  expect(answer.status).toBe(303);
  return answer.location!;
}

describe("before anything is deployed", () => {
  it("operations show what is missing, and what to do where", async () => {
    const { html, text } = await owner.get(`${BASE}/test/operations`);
    expect(text).toMatch(/problem No configuration is deployed in test/);
    expect(html).toContain('<a href="model">');
    expect(text).toMatch(/Nothing was accepted in this period.*There are no recomputes yet.*The plan is standard/);
  });
});

describe("with customers of an earlier version", () => {
  beforeAll(async () => {
    await fixture.deploy(snapshot());
    await fixture.batch([
      { type: "identify", customerId: "globex", traits: { plan: "pro" } },
      { type: "identify", customerId: HOSTILE, traits: { plan: "pro" } },
      { customerId: "acme", event: "login", properties: { seats: 1 } },
    ]);
    await fixture.evaluate();
    await fixture.deploy(snapshot({ segments: [vip] }));
  });

  it("operations count what arrived, and link problems to the pages that show them", async () => {
    const { html, text } = await owner.get(`${BASE}/test/operations`);
    expect(text).toMatch(/warning The state of 3 customers was computed under another version than the active v2/);
    expect(html).toContain('<a href="recomputes"><bdi>The state of 3 customers');
    expect(text).toMatch(/Events this month 1 .*Members and open invitations 2/);
  });

  it("a dry run shows what would change and for whom, and a recompute can follow from it", async () => {
    const dryRun = await change("recomputes");
    expect((await owner.get(dryRun)).headers.get("refresh")).toBe("5");
    expect((await owner.get(dryRun)).text).toMatch(/Dry run .*all customers .*waiting for its turn .*None yet/);
    await worker.runNext();
    const { html, headers, text } = await owner.get(dryRun);
    expect(headers.get("refresh")).toBeNull();
    expect(text).toMatch(/completed in .*Customers 2 would change .*Segments 2 would enter, 2 would leave/);
    expect(text).toMatch(/globex .*\+vip/);
    expect(html).not.toContain("<script>");

    expect(text).toMatch(/globex .*\+vip −paying .*segment\.exited, segment\.entered/);
    const from = new URLSearchParams(dryRun.split("?")[1]).get("id")!;
    expect(html).toContain(`<a href="begin-recompute?from=${from}">Start this recompute</a>`);
    const asked = await textAt(owner, `begin-recompute?from=${from}`);
    expect(asked).toMatch(
      /Recompute\? In test , the history of all customers is replayed under v2 .*2 customers change/,
    );
    expect(asked).toContain("a single health score, the present one");
    const recompute = await change(`begin-recompute?from=${from}`);
    await worker.runNext();
    expect(await textAt(owner, recompute.slice(`${BASE}/test/`.length))).toMatch(/Recompute .*Customers 2 changed/);
    expect(await textAt(owner, "customers?segment=vip")).toMatch(/globex/);
    expect(await textAt(owner, "recomputes")).toMatch(/Recompute v2 completed .*Dry run v2 completed/);
    expect(await textAt(owner, "recomputes?status=dead_letter")).toContain("No recomputes have this status.");

    for (const page of [`recompute?id=${from}`, `begin-recompute?from=${from}`]) {
      const again = await owner.get(`${BASE}/test/${page}`);
      expect(again.text).toMatch(/A recompute , requested .* by .*, does what this dry run showed\./);
      expect(again.html).not.toMatch(/Start this recompute|action="begin-recompute/);
    }
  });

  it("a dead letter says why it failed, and continues on request", async () => {
    const { sql } = fixture.service.db;
    const { body } = await fixture.admin("POST", "/projects/app/recomputes?env=test", { body: { all: true } });
    const page = `recompute?id=${(body as { id: string }).id}`;
    const job = await worker.claim();
    await worker.fail(job!, "out of memory", 1);
    await worker.leave(job!);
    expect(await textAt(owner, page)).toMatch(/ended early .*out of memory/);
    expect((await viewer.get(`${BASE}/test/${page}`)).html).not.toContain('action="recompute?');
    expect(await textAt(owner, "operations")).toMatch(/problem 1 recompute was given up/);
    await change(page);
    expect(await textAt(owner, page)).toMatch(/waiting for its turn/);
    await change(page);
    expect(await textAt(owner, page)).toMatch(
      /ended early .*Cancelled by owner@acme\.example\. 0 of 3 customers are done/,
    );
    expect(await textAt(owner, "operations")).not.toContain("given up");
    await sql`delete from svc.recomputes where status <> 'completed'`;
  });

  it("a viewer sees recomputes but cannot start one, not even by sending the form", async () => {
    const { text } = await viewer.get(`${BASE}/test/recomputes`);
    expect(text).toMatch(/Your role does not allow you to start one here.*Recompute v2 completed/);
    const token = await viewer.formToken(`${BASE}/test/recomputes`);
    const refused = await viewer.post(`${BASE}/test/recomputes`, { form_token: token });
    expect([refused.status, refused.text]).toEqual([
      403,
      expect.stringContaining("Ask an owner of the organization for that role"),
    ]);
  });

  it("a dry run of a version that is no longer active offers no recompute", async () => {
    const page = await change("recomputes");
    await worker.runNext();
    const from = new URLSearchParams(page.split("?")[1]).get("id")!;
    await fixture.admin("POST", "/projects/app/config-versions/v1/rollback?env=test", { body: { force: true } });
    const { html, text } = await owner.get(`${BASE}/test/begin-recompute?from=${from}`);
    expect(text).toContain("The dry run is of v2, but v1 is active here: start another one.");
    expect(html).not.toContain('action="begin-recompute');
    await fixture.admin("POST", "/projects/app/config-versions/v2/rollback?env=test", { body: { force: true } });
  });

  it("an inactive version can be previewed, for some customers or for all", async () => {
    const { html } = await owner.get(`${BASE}/test/version?id=v2`);
    expect(html).not.toContain("Preview it");
    const preview = await change("version?id=v1", { sample: "all" }, "preview");
    await worker.runNext();
    const page = (await owner.get(preview)).text;
    expect(page).toMatch(
      /What v1 would change .*all customers .*Segments 2 would enter, 2 would leave .*globex .*\+paying −vip/,
    );
    expect(page).toMatch(/Compared with v2 ; customers are replayed under both/);
    // The address does not decide which version is previewed.
    expect((await owner.get(preview.replace("version=v1", "version=v2"))).text).toContain("What another model");
    expect((await viewer.get(`${BASE}/test/version?id=v1`)).html).not.toContain("Preview it");
  });

  it("a dry run shows bands and signals that change while the score stays", async () => {
    const health = (good: number) => ({
      components: [
        { id: "plan", weight: 1, score: { kind: "map" as const, trait: "plan", values: { free: 0, pro: 50 } } },
      ],
      bands: [
        { id: "good", from: good },
        { id: "poor", from: 0 },
      ],
    });
    await fixture.deploy(snapshot({ health: health(60) }));
    await fixture.batch([{ type: "identify", customerId: "umbrella", traits: { plan: "pro" } }]);
    await fixture.evaluate();
    const rich = { id: "rich", severity: "info" as const, when: vip.when };
    await fixture.deploy(snapshot({ health: health(40), signals: [rich] }));
    const page = (await change("recomputes")).slice(`${BASE}/test/`.length);
    await worker.runNext();
    expect(await textAt(owner, page)).toMatch(/umbrella 50 poor → 50 good \+rich/);
  });

  it("a dry run after which only runs of rules go does not say that nothing changes", async () => {
    const page = (await change("recomputes")).slice(`${BASE}/test/`.length);
    await worker.runNext();
    const id = new URLSearchParams(page.split("?")[1]).get("id")!;
    const { sql } = fixture.service.db;
    await sql`delete from svc.recompute_customers where recompute_id = ${id}`;
    expect(await textAt(owner, page)).toContain("Nothing changes for any customer.");
    await sql`update svc.recomputes set rules_removed = 2 where recompute_id = ${id}`;
    expect(await textAt(owner, page)).toMatch(/2 would go.*only runs of rules go from the log\./);
  });
});

describe("the audit log", () => {
  it("shows who changed what, and can be filtered by each column", async () => {
    expect(await textAt(owner, "audit-log")).toMatch(/config\.deployed .*owner@acme\.example app test/);
    expect(await textAt(owner, "audit-log?action=config.deployed")).not.toContain("project.created");
    expect(await textAt(owner, "audit-log?actor=nobody")).toContain("No entries match these filters.");
  });

  it("is for administrators and owners", async () => {
    const { status, text } = await viewer.get(`${BASE}/test/audit-log`);
    expect([status, text]).toEqual([403, expect.stringContaining("Only administrators and owners can see who")]);
    expect((await viewer.get(`${BASE}/test/operations`)).html).not.toContain("audit-log");
  });
});
