import { describe, expect, it } from "vitest";
import { stateBudget } from "../../../src/engine/index.js";
import { EMPTY_SNAPSHOT, type Snapshot } from "../../../src/model/snapshot/types.js";
import { refused, useApi } from "./support/api.js";

// What a model may remember for one customer, and the plan's limit of it.

const api = useApi();

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

const send = (what: "config-versions" | "previews", snapshot: unknown) => api.post(`/${what}?env=test`, { snapshot });

describe("a model that may remember more for one customer than the plan allows", () => {
  it.each(["config-versions", "previews"] as const)("is refused by %s, with what takes the most", async (what) => {
    const most = { message: "remembers up to 4 MiB, which 400 conditions share", path: "segments[1].when" };
    const least = { message: "remembers up to 149 bytes", path: "segments[0].when" };
    expect(await send(what, busy(400, 9_900))).toMatchObject(
      refused(422, "STATE_TOO_LARGE", {
        message: "The model may remember up to 4 MiB for one customer, and the plan allows 1 MiB.",
        diagnostics: [most, least].map((part) => ({ code: "STATE_TOO_LARGE", ...part })),
      }),
    );
  });

  it("is deployed by a plan that allows it, to the byte", async () => {
    const snapshot = busy(2, 3_000);
    const { bytes } = stateBudget(snapshot);
    const limit = (stateBytes: number) => api.sql`update iam.plans set state_bytes = ${stateBytes}`;
    await limit(bytes - 1);
    expect((await send("config-versions", snapshot)).status).toBe(422);
    await limit(bytes);
    expect((await send("config-versions", snapshot)).status).toBe(201);
    await limit(1_048_576);
  });
});
