import { compareSnapshots } from "../../snapshot/compare.js";
import { EMPTY_SNAPSHOT, type Snapshot } from "../../snapshot/types.js";

/** A stored version was checked when it was deployed. */
interface Stored {
  version: string;
  snapshot: Snapshot;
}

/** What is different between two versions, as JSON; `document` has them as the database gives them. */
export function compareVersions(document: string): string {
  const { from, to } = JSON.parse(document) as { from: Stored | null; to: Stored };
  const changes = compareSnapshots(from?.snapshot ?? EMPTY_SNAPSHOT, to.snapshot);
  return JSON.stringify({ from: from?.version ?? null, to: to.version, changes });
}
