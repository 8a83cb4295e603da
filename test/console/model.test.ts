import { beforeAll, describe, expect, it } from "vitest";
import { useSpec } from "../spec/support/fixture.js";
import type { Browser } from "../support/browser.js";
import { capturedLog } from "../support/captured-log.js";
import { snapshot } from "../support/service.js";
import { browserOf } from "./support/session.js";

const { log, lines } = capturedLog();
const fixture = useSpec({ log });
const BASE = "/console/acme/app";
let owner: Browser;

const vip = { id: "vip", when: { kind: "trait", trait: "plan", operator: "eq", value: "pro" } } as const;

beforeAll(async () => {
  owner = await browserOf(fixture.service, "owner@acme.example");
});

it("of a project without a version says how the first is made", async () => {
  expect((await owner.get(`${BASE}/test/model`)).text).toContain("No version has been deployed yet. svc deploy");
});

describe("versions", () => {
  beforeAll(async () => {
    await fixture.deploy(snapshot());
    await fixture.deploy(snapshot({ segments: [vip] }));
  });

  it("are listed with who deployed them, where they are active, and what was active when", async () => {
    const { html, text } = await owner.get(`${BASE}/test/model`);
    expect(text).toMatch(/v2 test .* owner@acme\.example .*v1 .*Activations .*deployed v2 , after v1,/);
    expect(html).toContain('href="version?id=v2&amp;from=v1"');
  });

  it("show their changes in the author's terms, from the previous and from any other version", async () => {
    const changed = (await owner.get(`${BASE}/test/version?id=v2`)).text;
    expect(changed).toMatch(/What is different from v1 .*segments added segment vip/);
    const whole = (await owner.get(`${BASE}/test/version?id=v2&from=v2`)).text;
    expect(whole).toContain("Nothing is different.");
  });

  it("are promoted to live after a confirmation, by those who may", async () => {
    const page = await owner.get(`${BASE}/live/version?id=v2`);
    expect(page.html).toContain('href="activate?version=v2&amp;as=promote"');
    const asked = await owner.get(`${BASE}/live/activate?version=v2&as=promote`);
    expect(asked.text).toMatch(/Promote v2\? .*active version of live .*segment vip/);
    const form = { version: "v2", as: "promote", expected: "" };
    const token = await owner.formToken(`${BASE}/live/today`);

    const { organizationId } = await fixture.service.member(fixture.owner, "viewer");
    const other = await browserOf(fixture.service, `viewer@${organizationId}.example`);
    expect((await other.get(`${BASE}/live/version?id=v2`)).html).not.toContain("activate?");
    const shown = await other.get(`${BASE}/live/activate?version=v2&as=promote`);
    expect(shown.text).toContain("Your role does not allow you to do that in live; ask an administrator.");
    expect(shown.html).not.toContain('action="activate');
    const itsToken = await other.formToken(`${BASE}/live/today`);
    expect((await other.post(`${BASE}/live/activate`, { ...form, form_token: itsToken })).status).toBe(403);

    const elsewhere = await owner.get(`${BASE}/test/activate?version=v2&as=promote`);
    const posted = await owner.post(`${BASE}/test/activate`, { ...form, form_token: token });
    for (const { status, text } of [elsewhere, posted])
      expect([status, text]).toEqual([400, expect.stringContaining("promoted to live, but this is test")]);
    // They are no faults of ours.
    expect(lines).toEqual([]);
    expect(elsewhere.html).toContain('href="../live/activate?version=v2&amp;as=promote"');
    const already = await owner.get(`${BASE}/test/activate?version=v2&as=rollback`);
    expect(already.text).toContain("v2 is the active version of test already.");

    const done = await owner.post(`${BASE}/live/activate`, { ...form, form_token: token });
    expect([done.status, done.location]).toEqual([303, `${BASE}/live/version?id=v2`]);
    expect((await owner.get(`${BASE}/live/version?id=v2`)).text).toContain("It is active here.");
  });

  it("report a conflict to the second of two people who change the same thing", async () => {
    const token = await owner.formToken(`${BASE}/test/activate?version=v1&as=rollback`);
    const form = { version: "v1", as: "rollback", expected: "v2", form_token: token };
    expect((await owner.post(`${BASE}/test/activate`, form)).status).toBe(303);
    const second = await owner.post(`${BASE}/test/activate`, { ...form, version: "v2" });
    expect([second.status, second.text]).toEqual([409, expect.stringMatching(/v1/)]);
    // What the mark would allow by now may be another difference.
    const marked = { ...form, version: "v2", force: "true" };
    const { status, html } = await owner.post(`${BASE}/test/activate?version=v2&as=rollback`, marked);
    expect([status, html]).toEqual([
      409,
      expect.stringMatching(/<input type="checkbox" name="force" value="true" aria/),
    ]);
  });

  it("that would strand data are refused with what it is, and with the mark that allows it", async () => {
    const activate = async (version: string, expected: string) => {
      const token = await owner.formToken(`${BASE}/test/activate?version=${version}&as=rollback`);
      return owner.post(`${BASE}/test/activate`, { version, as: "rollback", expected, form_token: token });
    };
    expect((await activate("v2", "v1")).status).toBe(303);
    await fixture.batch([{ type: "identify", customerId: "globex", traits: { plan: "pro" } }]);
    await fixture.evaluate();
    const refused = await activate("v1", "v2");
    expect(refused.status).toBe(409);
    expect(refused.text).toMatch(
      /would strand data: 1 warning\. The segment "vip" is removed, and 1 customer is in it\. .* by "Even if it strands data"\./,
    );
    expect((await owner.get(`${BASE}/test/activate?version=v1&as=rollback`)).text).toContain("Even if it strands data");
  });
});
