/** Calls of the tracking API by unmodified SDKs while the service is killed, and what must be stored afterwards. */
import { createHash, randomBytes } from "node:crypto";
import type { Sql } from "postgres";
import { call } from "../../src/db/api/call.js";
import { canonicalJson, hashSnapshot } from "../../src/model/snapshot/canonical.js";
import { EMPTY_SNAPSHOT, type Snapshot } from "../../src/model/snapshot/types.js";
import { SDKS, senderOf } from "./senders.js";

/** How many calls are stored where. */
export interface Stored {
  events: number;
  /** Different numbers; each call has a unique one. */
  numbers: number;
  updates: number;
  quarantined: number;
}

/** Declares `done` and the traits; `odd` is quarantined until `wide` is active. */
const narrow: Snapshot = {
  ...EMPTY_SNAPSHOT,
  strictSchema: true,
  events: { done: { properties: { n: { type: "number" } } } },
  traits: { plan: { type: "string" } },
};
const wide: Snapshot = { ...narrow, events: { ...narrow.events, odd: { properties: { n: { type: "number" } } } } };

const AT = { project: "app", environment: "test" } as const;

/** Creates a project with the model `narrow` on a migrated database. */
export async function openProject(sql: Sql) {
  const [tokenHash, key] = [randomBytes(32), `svc_test_${randomBytes(24).toString("hex")}`];
  const { organizationId } = JSON.parse(await call(sql, "bootstrap", "tracking", "owner@example.com", tokenHash)) as {
    organizationId: string;
  };
  const by = { tokenHash, organizationId, requestId: "tracking" };
  const test = { hash: createHash("sha256").update(key).digest(), hint: "svc_test_" };
  await call(
    sql,
    "create_project",
    by,
    { name: "App", slug: "app" },
    { test, live: { hash: randomBytes(32), hint: "x" } },
  );
  const deploy = async (snapshot: Snapshot) => {
    const version = {
      snapshot: canonicalJson(snapshot),
      hash: hashSnapshot(snapshot),
      provenance: null,
      expected: null,
    };
    await call(sql, "deploy_config", by, AT, { ...version, force: true });
  };
  await deploy(narrow);
  return {
    key,
    stored: async (): Promise<Stored> => {
      const [row] = await sql<[Stored]>`
        select
          (select count(*)::integer from svc.events) as events,
          (select count(distinct properties -> 'n')::integer from svc.events) as numbers,
          (select count(*)::integer from svc.trait_updates) as updates,
          (select count(*)::integer from svc.quarantined_operations) as quarantined`;
      return { ...row };
    },
    /** Releases everything under the model that accepts it; returns how many there were. */
    release: async (): Promise<number> => {
      await deploy(wide);
      let released = 0;
      for (let cursor: string | null | undefined; cursor !== null;) {
        const step = JSON.parse(await call(sql, "release_quarantined", by, AT, {}, cursor, null)) as {
          released: number;
          nextCursor: string | null;
        };
        released += step.released;
        cursor = step.nextCursor;
      }
      return released;
    },
  };
}

/** Sends calls by each SDK in turn, and calls `kill` after every `each` of them, while earlier ones are still being answered. */
export async function sendCalls(
  { url, key }: { url: string; key: string },
  calls: number,
  { each, kill }: { each: number; kill: () => Promise<void> },
): Promise<Stored> {
  const senders = SDKS.map((sdk) => senderOf(sdk, url, key));
  const sent: Stored = { events: 0, numbers: 0, updates: 0, quarantined: 0 };
  for (let n = 0; n < calls; n++) {
    const sender = senders[n % senders.length]!;
    const userId = `u${n % 37}`;
    if (n % 5 === 4) {
      sender.identify({ userId, traits: { plan: `p${n}` } });
      sent.updates++;
    } else {
      const isOdd = n % 7 === 3;
      sender.track({ userId, event: isOdd ? "odd" : "Done", properties: { n } });
      if (isOdd) sent.quarantined++;
      else sent.events++;
    }
    if (n % each === each - 1) await kill();
  }
  await Promise.all(senders.map((sender) => sender.close()));
  return { ...sent, numbers: sent.events };
}
