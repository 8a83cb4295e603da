import type { Change } from "../model/compare/change.js";
import { plural } from "./text.js";

/** Parts of a model in the order in which authors read them; whatever else there is comes last. */
const PARTS = ["events", "traits", "lifecycle", "journeys", "segments", "health", "rules", "signals", "display"];
const SETTINGS = "settings";

/** A difference as it is shown: the part that it concerns, and what is different. */
export interface ChangeLine {
  kind: Change["kind"];
  about: string;
  message: string;
}

/** The number of differences: `4 differences: 2 added, 1 changed, 1 removed`. */
export function countChanges(changes: readonly Change[]): string {
  const counts = (["added", "changed", "removed"] as const)
    .map((kind) => [changes.filter((change) => change.kind === kind).length, kind] as const)
    .filter(([count]) => count > 0)
    .map(([count, kind]) => `${count} ${kind}`);
  return `${plural(changes.length, "difference")}: ${counts.join(", ")}`;
}

/** The part that a difference concerns. Empty for a setting, which the message names, except for those of a band. */
function aboutOf(subject: Change["subject"], id: string): string {
  if (subject !== "setting") return `${subject} ${id}`;
  return id.startsWith("bands.") ? `band ${id.slice("bands.".length)}` : "";
}

/** Differences by the parts of a model, in the order in which authors read them. */
export function groupByPart(changes: readonly Change[]): Map<string, ChangeLine[]> {
  const parts = new Map<string, ChangeLine[]>([...PARTS, SETTINGS].map((part) => [part, []]));
  for (const { kind, subject, id, path, message } of changes) {
    const member = /^\w*/.exec(path)![0];
    const part = PARTS.includes(member) ? member : SETTINGS;
    parts.get(part)!.push({ kind, about: aboutOf(subject, id), message });
  }
  return new Map([...parts].filter(([, lines]) => lines.length > 0));
}
