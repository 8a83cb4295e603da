import { afterAll, beforeAll, expect, test } from "vitest";

import { project } from "../dsl-compiler/project.js";
import { EMPTY_SNAPSHOT } from "../../src/model/snapshot/types.js";
import { type Actor, environmentId, type Service, startService } from "../support/service.js";
import { svc } from "./support/run-svc.js";

/** Without the segment "payers", which is there. */
const MODEL = `
  import { defineModel, event, segment } from "svc";
  const paid = event("paid");
  export default defineModel({ events: [paid], segments: [segment("buyers", { when: paid.happened() })] });`;

let service: Service;
let owner: Actor;

beforeAll(async () => {
  service = await startService();
  owner = await service.owner("acme");
  await service.request("POST", "/projects", { by: owner, body: { name: "Shop", slug: "shop" } });
  const snapshot = { ...EMPTY_SNAPSHOT, segments: [{ id: "buyers" }, { id: "payers" }] };
  const deployed = await service.request("POST", "/projects/shop/config-versions", { by: owner, body: { snapshot } });
  expect(deployed.status).toBe(201);
  await service.db.sql`
    insert into svc.segment_memberships (environment_id, segment_id, customer_id, entered_at)
    values (${await environmentId(service.db.sql, "shop", "test")}, 'payers', 'globex', now())`;
});
afterAll(() => service.stop());

async function deploy(...argv: string[]) {
  const cwd = await project({ "svc.config.ts": MODEL, ".kite/config.json": '{"project":"shop"}' });
  const { code, stdout, stderr } = await svc(["deploy", "--yes", ...argv], { cwd, at: service.url, by: owner });
  return { code, stdout: stdout.replace(/\([0-9a-f]{12}\)/, "(<hash>)"), stderr };
}

test("a deploy that would strand data is refused, and says what and how to go on", async () => {
  expect(await deploy()).toMatchInlineSnapshot(`
    exit 1
    ! warning SEGMENT_REMOVED The segment "payers" is removed, and 1 customer is in it.
    !   segments[1]
    ! error [CONFIG_WARNINGS]: This version would strand data: 1 warning. Keep in the model what they name, or go on despite them with --force.
  `);
});

test("with --json the refusal is the one document, in which warnings are warnings", async () => {
  const { code, stdout, stderr } = await deploy("--json");
  expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject({
    error: {
      code: "CONFIG_WARNINGS",
      diagnostics: [{ severity: "warning", code: "SEGMENT_REMOVED", path: "segments[1]" }],
    },
  });
});

test("with --force it goes on and shows them all the same", async () => {
  expect(await deploy("--force")).toMatchInlineSnapshot(`
    ! warning SEGMENT_REMOVED The segment "payers" is removed, and 1 customer is in it.
    !   segments[1]
    Deployed v2 to test of shop: 1 event, 1 segment (<hash>).
  `);
});
