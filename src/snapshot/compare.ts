import type { Change } from "./change.js";
import { Changes, compareMembers } from "./change.js";
import { compareEvents, compareTraits } from "./compare-fields.js";
import { compareHealth } from "./compare-health.js";
import { compareJourneys } from "./compare-journeys.js";
import { compareLifecycles } from "./compare-lifecycle.js";
import { compareRules, compareSegments, compareSignals } from "./compare-rules.js";
import type { Placed } from "./list.js";
import type { Snapshot } from "./types.js";

export type { Change, Subject } from "./change.js";

/**
 * What is different in `to`, in the author's terms and in the order of the snapshot: none exactly where the two have the same hash.
 * What has a name is followed by it, so a part that was renamed was removed and added. Both snapshots must be sound (`parseSnapshot`).
 */
export function compareSnapshots(from: Snapshot, to: Snapshot): Change[] {
  const changes = new Changes();
  const before: Placed<Snapshot> = { item: from, path: "" };
  const after: Placed<Snapshot> = { item: to, path: "" };
  compareMembers(before, after, {
    // There is one format; another would have been refused.
    formatVersion: null,
    strictSchema: (was, is) =>
      changes.changed({ subject: "setting", id: "strictSchema" }, was, is, `strictSchema: ${was!.item} → ${is!.item}`),
    events: (was, is) => compareEvents(was!, is!, changes),
    traits: (was, is) => compareTraits(was!, is!, changes),
    lifecycle: (was, is) => compareLifecycles(was, is, changes),
    journeys: (was, is) => compareJourneys(was!, is!, changes),
    segments: (was, is) => compareSegments(was!, is!, changes),
    health: (was, is) => compareHealth(was, is, changes),
    rules: (was, is) => compareRules(was!, is!, changes),
    signals: (was, is) => compareSignals(was!, is!, changes),
  });
  return changes.found;
}
