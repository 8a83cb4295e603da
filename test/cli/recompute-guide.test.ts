import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";

import { parse } from "../../src/cli/core/adapter.js";
import { difference } from "../http/admin/support/recomputes.js";
import { type Actor, type Service, snapshot, startService } from "../support/service.js";
import { standIn } from "./support/recompute-worker.js";
import { svc } from "./support/run-svc.js";

const guide = readFileSync(new URL("../../docs/recompute.md", import.meta.url), "utf8");
const block = (language: string) =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "gms"))].map(([, code]) => code!);

let service: Service;
let owner: Actor;
beforeAll(async () => {
  service = await startService();
  owner = await service.owner("acme");
  await service.request("POST", "/projects", { by: owner, body: { name: "App", slug: "app" } });
});
afterAll(() => service.stop());

const lines = block("bash")
  .flatMap((code) => [...code.matchAll(/\bsvc ((?:deploy|recompute)[^\n>]*)/g)])
  .map(([, line]) => line!.trim());

test.each(lines)("svc %s is a command line", async (line) => {
  const parsed = await parse(line.split(" "), { width: 100, version: "0" });
  expect(parsed.kind).toBe("run");
});

test("its dry run is what the command prints", async () => {
  for (const id of ["a", "b", "c", "d"]) {
    const body = { snapshot: snapshot({ segments: [{ id }] }), force: true };
    await service.request("POST", "/projects/app/config-versions?env=live", { by: owner, body });
  }
  const example = JSON.parse(block("json")[0]!) as { rules: object[]; emissions: object[] };
  const emission = example.emissions[0];
  const none = { health: { before: null, after: null }, segments: { before: [], after: [] } };
  const env = { SVC_ACCESS_TOKEN: owner.token, SVC_ORGANIZATION: owner.organizationId, SVC_API_URL: service.url };
  const [{ stdout }] = await Promise.all([
    svc("recompute --all --dry-run --env live --project app".split(" "), { env }),
    standIn(service, () => "app").complete(
      [
        difference("globex", { ...example, emissions: [emission, emission, emission, emission] }, 9),
        difference(
          "umbrella",
          { ...none, lifecycle: { before: "activated", after: "churned" }, emissions: [emission] },
          8,
        ),
        difference(
          "initech",
          {
            ...none,
            lifecycle: { before: "trial", after: "trial" },
            segments: { before: [], after: ["paying"] },
            emissions: [emission],
          },
          7,
        ),
      ],
      `pinned_at = '2026-03-14T09:00:00Z', lifecycle_changed = 2, health_changed = 1,
       segments_entered = 2, segments_exited = 1, rules_added = 1, rules_removed = 2, emissions_added = 6`,
      20_000,
    ),
  ]);
  expect(stdout.replaceAll(/rec_[0-9a-f]{20}/g, "rec_5f0c2a9e7b1d4c3a5f0c")).toBe(block("text")[0]);
});

test("its difference is what the service answers", async () => {
  const example = JSON.parse(block("json")[0]!) as { customerId: string };
  const by = owner;
  const queued = await service.request("POST", "/projects/app/recomputes", { by, body: { all: true, dryRun: true } });
  const { id } = queued.body as { id: string };
  await service.db.sql`
    insert into svc.recompute_customers (environment_id, recompute_id, customer_id, weight, difference)
    select environment_id, recompute_id, ${example.customerId}, 1, ${JSON.stringify(example)}::text::json
    from svc.recomputes where recompute_id = ${id}`;
  // Of exactly the declared shape: the request fails otherwise.
  const page = await service.request("GET", `/projects/app/recomputes/${id}/customers`, { by });
  expect(page.body).toEqual({ data: [example], nextCursor: null });
});
