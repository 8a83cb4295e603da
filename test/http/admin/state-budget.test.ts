import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stateBudget } from "../../../src/engine/index.js";
import { EMPTY_SNAPSHOT, type Snapshot } from "../../../src/model/snapshot/types.js";
import { startIngest, type IngestFixture } from "../ingest/fixture.js";

// What a model may remember for one customer, and the plan's limit of it.

let fixture: IngestFixture;
beforeAll(async () => {
  fixture = await startIngest();
});
afterAll(() => fixture.service.stop());

/** So many windows, all over the different users of one event. */
function busy(windows: number, users: number): Snapshot {
  const when = { kind: "distinct", of: { event: "login" }, property: "user", operator: "gte", value: users } as const;
  const segments = Array.from({ length: windows }, (_, i) => ({ id: `s${i}`, when: { ...when, within: `${i + 1}d` } }));
  const small = { kind: "count", of: { event: "login" }, operator: "gte", value: 3, within: "1d" } as const;
  return {
    ...EMPTY_SNAPSHOT,
    events: { login: { properties: { user: { type: "string" } } } },
    segments: [{ id: "small", when: small }, ...segments],
  };
}

const send = (what: "config-versions" | "previews", snapshot: unknown) =>
  fixture.service.request("POST", `/projects/app/${what}?env=test`, { by: fixture.owner, body: { snapshot } });

describe("a model that may remember more for one customer than the plan allows", () => {
  it.each(["config-versions", "previews"] as const)("is refused by %s, with what takes the most", async (what) => {
    const { status, body } = await send(what, busy(400, 9_900));
    expect(status).toBe(422);
    expect(body).toMatchObject({
      error: {
        code: "STATE_TOO_LARGE",
        message: "The model may remember up to 4 MiB for one customer, and the plan allows 1 MiB.",
        diagnostics: [
          {
            code: "STATE_TOO_LARGE",
            message: "remembers up to 4 MiB, which 400 conditions share",
            path: "segments[1].when",
          },
          { code: "STATE_TOO_LARGE", message: "remembers up to 149 bytes", path: "segments[0].when" },
        ],
      },
    });
  });

  it("is deployed by a plan that allows it, to the byte", async () => {
    const snapshot = busy(2, 3_000);
    const { bytes } = stateBudget(snapshot);
    const limit = (stateBytes: number) => fixture.service.db.sql`update iam.plans set state_bytes = ${stateBytes}`;
    await limit(bytes - 1);
    expect((await send("config-versions", snapshot)).status).toBe(422);
    await limit(bytes);
    expect((await send("config-versions", snapshot)).status).toBe(201);
    await limit(1_048_576);
  });

  it("is told to nobody who may not deploy", async () => {
    const stranger = { ...fixture.owner, token: "svc_at_unknown" };
    const { status } = await fixture.service.request("POST", "/projects/app/config-versions", {
      by: stranger,
      body: { snapshot: busy(1, 9_900) },
    });
    expect(status).toBe(401);
  });
});
