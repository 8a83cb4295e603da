import type { Snapshot } from "../snapshot/types.js";
import { plural } from "./text.js";

/** What a model consists of, in one line. */
export function summary({ events, traits, lifecycle, segments }: Snapshot): string {
  return [
    plural(Object.keys(events).length, "event"),
    plural(Object.keys(traits).length, "trait"),
    plural(lifecycle?.states.length ?? 0, "lifecycle state"),
    plural(segments.length, "segment"),
  ].join(", ");
}
