import { describe, expect, it } from "vitest";
import { auditOf } from "../http/admin/organization/support.js";
import { useIngest } from "../http/ingest/fixture.js";
import { refused, runServer } from "./support/run-server.js";

// `svc-server plans` while a service runs on the same database. test/spec/limits.test.ts checks that a plan applies from the next request on.

const fixture = await useIngest();
const plans = (...args: string[]) => runServer(fixture.service.db.url, ["plans", ...args]);
const prints = (...lines: string[]) => ({ code: 0, stdout: lines.map((line) => `${line}\n`).join(""), stderr: "" });

const STANDARD = {
  ...{ plan: "standard", ratePerSecond: 50_000, rateBurst: 100_000, monthlyEvents: null, retentionDays: null },
  ...{ supersededDays: 90, cloudExecution: true, ai: true, stateBytes: 1_048_576, projects: 100, members: 1_000 },
  ...{ tokens: 200, versions: 10_000, versionBytes: 268_435_456, keys: 100, webhooks: 50, recomputes: 20, previews: 5 },
  ...{ changes: 1_200, organizationCount: 1 },
};

describe("a plan", () => {
  it("is created, shown, given to an organization, withdrawn, and removed", async () => {
    const rest =
      "states of 1 MiB\tat most 100 projects of 10000 versions in 256 MiB\t1000 members and 200 tokens\t" +
      "in an environment 100 keys and 50 webhooks\t20 recomputes and 5 previews at once\t1200 changes a minute";
    const small = `100 operations/s, burst 1000\tany number of events\tkept for 90 days\treplaced histories kept for 90 days\tcloud execution\tno AI\t${rest}`;
    const made = ["set", "small", "--rate-per-second", "100", "--rate-burst", "1000", "--retention-days", "90"];
    expect(await plans(...made, "--no-ai")).toEqual(prints(`small: ${small.replaceAll("\t", ", ")}; 0 organizations`));
    expect(await plans("list")).toEqual(
      prints(
        `small\t${small}\t0 organizations`,
        `standard\t50000 operations/s, burst 100000\tany number of events\tkept for ever\treplaced histories kept for 90 days\tcloud execution\tAI\t${rest}\t1 organization`,
      ),
    );
    expect(await plans("assign", "acme", "small")).toEqual(
      prints("acme: standard -> small", "What was accepted more than 90 days ago is now removed, for good."),
    );
    expect(await plans("show", "small")).toEqual(prints(...small.split("\t"), "1 organization: acme"));
    expect(JSON.parse((await plans("assign", "acme", "standard", "--json")).stdout)).toEqual({
      ...{ organizationId: fixture.owner.organizationId, slug: "acme", plan: "standard", previousPlan: "small" },
      ...{ retentionDays: { from: 90, to: null }, supersededDays: { from: 90, to: 90 } },
    });
    expect(await plans("assign", "acme", "standard")).toEqual(prints("acme has the plan standard already."));
    expect(await plans("remove", "small")).toEqual(prints("The plan small was removed."));
    expect(JSON.parse((await plans("list", "--json")).stdout)).toEqual([STANDARD]);
    const shown = await plans("show", "standard", "--json");
    expect(JSON.parse(shown.stdout)).toEqual({ ...STANDARD, organizations: ["acme"] });
  });

  it("records each change in the audit log of every affected organization", async () => {
    const other = await fixture.service.owner("other");
    const limits = ["--rate-per-second", "10", "--rate-burst", "2000", "--webhooks", "0", "--previews", "1"];
    const made = await plans("set", "large", ...limits, "--json");
    const limited = { webhooks: { from: null, to: 0 }, previews: { from: null, to: 1 } };
    expect(JSON.parse(made.stdout)).toMatchObject({
      plan: { plan: "large", organizationCount: 0, webhooks: 0, previews: 1 },
      changes: { ratePerSecond: { from: null, to: 10 }, ai: { from: null, to: true }, ...limited },
    });
    await plans("assign", "other", "large");
    const changed = await plans("set", "large", "--rate-per-second", "10", "--monthly-events", "500", "--json");
    expect(JSON.parse(changed.stdout)).toMatchObject({ changes: { monthlyEvents: { from: null, to: 500 } } });
    expect((await plans("set", "large", "--monthly-events", "500")).stdout).toMatch(/^large \(nothing has changed\): /);
    const audit = await auditOf(fixture.service, other.organizationId);
    const entry = { actor: "operator", requestId: null, target: "large" };
    expect(audit.filter(({ action }) => /^plan\./.test(String(action)))).toEqual([
      { ...entry, action: "plan.assigned", details: { previous: "standard" } },
      { ...entry, action: "plan.changed", details: { monthlyEvents: { from: null, to: 500 } } },
    ]);
    expect(JSON.stringify(await auditOf(fixture.service, fixture.owner.organizationId))).not.toContain('"large"');
  });

  it("accepts switches with and without a value", async () => {
    const limits = async (...args: string[]) => {
      const { stdout } = await plans("set", "flags", ...args);
      return stdout.split(", ").filter((limit) => /cloud execution|AI/.test(limit));
    };
    const rates = ["--rate-per-second", "10", "--rate-burst", "2000"];
    expect(await limits("--no-ai", ...rates, "--no-cloud-execution")).toEqual(["no cloud execution", "no AI"]);
    expect(await limits("--cloud-execution", "--ai")).toEqual(["cloud execution", "AI"]);
    expect(await limits("--ai=false", "--cloud-execution", "false")).toEqual(["no cloud execution", "no AI"]);
    expect(await limits("--ai=true", "--cloud-execution", "true")).toEqual(["cloud execution", "AI"]);
  });

  it("warns that a shorter retention removes older events", async () => {
    await plans("set", "short", "--rate-per-second", "10", "--rate-burst", "2000");
    expect((await plans("set", "short", "--retention-days", "30")).stdout).not.toContain("removed");
    await fixture.service.owner("brief");
    await plans("assign", "brief", "short");
    expect((await plans("set", "short", "--retention-days", "7")).stdout).toMatch(
      /\nWhat was accepted more than 7 days ago is now removed, for good\.\n$/,
    );
    expect((await plans("set", "short", "--retention-days", "8")).stdout, "a longer one").not.toContain("removed");
    expect((await plans("set", "short", "--retention-days", "none")).stdout).toMatch(/kept for ever.*\n$/);
    expect((await plans("set", "short", "--superseded-days", "7")).stdout).toMatch(
      /\nWhat was replaced by a recompute more than 7 days ago is now removed, for good\.\n$/,
    );
  });
});

const NO_GOLD = 'There is no plan "gold". `svc-server plans list` shows the plans.';

describe("svc-server plans says what is wrong:", () => {
  it.each([
    ["a plan that is not there", ["show", "gold"], NO_GOLD],
    [
      "a new plan without a rate",
      ["set", "gold", "--no-ai"],
      'There is no plan "gold". To make a plan of that name, give --rate-per-second and --rate-burst. `svc-server plans list` shows the plans.',
    ],
    [
      "an organization that is not there",
      ["assign", "nowhere", "standard"],
      'There is no organization "nowhere". `svc-server users list` shows the organizations of every user.',
    ],
    ["a plan to assign that is not there", ["assign", "acme", "gold"], NO_GOLD],
    [
      "a plan that new organizations begin with",
      ["remove", "standard"],
      'New organizations begin with the plan "standard", so it stays. Change its limits with `svc-server plans set standard`.',
    ],
    ["nothing to set", ["set", "standard"], "name at least one limit to set; `svc-server plans set --help` lists them"],
    [
      "values that are none",
      (
        "set No --rate-per-second 0 --rate-burst 999 --monthly-events -1 --retention-days 1.5 " +
        "--cloud-execution=yes --ai=maybe --webhooks none"
      ).split(" "),
      [
        "a plan's name must be 1 to 63 lower-case letters, digits and hyphens, not `No`",
        "--rate-per-second must be a whole number from 1 to 2147483647, not `0`",
        "--rate-burst must be a whole number from 1000 to 2147483647, not `999`",
        "--monthly-events must be a whole number from 0 to 9007199254740991, or `none`, not `-1`",
        "--retention-days must be a whole number from 1 to 36500, or `none`, not `1.5`",
        "--webhooks must be a whole number from 0 to 2147483647, not `none`",
        "--cloud-execution must be true or false, not `yes`; --no-cloud-execution is false, too",
        "--ai must be true or false, not `maybe`; --no-ai is false, too",
      ].join("\n"),
    ],
  ])("%s", async (_, args, line) => {
    expect(await plans(...args)).toEqual(refused(line));
  });

  it("a plan in use by organizations", async () => {
    await plans("set", "taken", "--rate-per-second", "10", "--rate-burst", "2000");
    await fixture.service.owner("taker");
    await plans("assign", "taker", "taken");
    expect(await plans("remove", "taken")).toEqual(
      refused(
        'The plan "taken" is used by 1 organization(s). Give each another plan first: `svc-server plans assign taker <plan>`.',
      ),
    );
  });

  it("no command", async () => {
    const stderr = expect.stringMatching(/^Name a command of plans: list, show, set, assign or remove\.\n/) as string;
    expect(await plans()).toMatchObject({ code: 2, stderr });
  });
});
