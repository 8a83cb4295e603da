/** Changes a model so that the same history has many different results. */
import type { Snapshot } from "../../src/model/snapshot/types.js";

const DURATIONS = new Set(["expiresAfter", "duration", "within"]);

/** Halves every duration, requires one more occurrence wherever two or more are required, and removes the last transition of a state with several. */
export function changedModel(snapshot: Snapshot): Snapshot {
  const changed = change(snapshot) as Snapshot;
  const leaving = changed.lifecycle?.states.filter(({ transitions }) => transitions.length > 1) ?? [];
  leaving.at(-1)?.transitions.pop();
  return changed;
}

function change(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(change);
  if (typeof value !== "object" || value === null) return value;
  const isCount = (value as { kind?: unknown }).kind === "count";
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      if (DURATIONS.has(name) && typeof member === "string") return [name, half(member)];
      if (isCount && name === "value" && typeof member === "number" && member > 1) return [name, member + 1];
      return [name, change(member)];
    }),
  );
}

/** `"15d"` for `"30d"`; a duration that cannot be halved stays. */
function half(duration: string): string {
  const { amount, unit } = /^(?<amount>\d+)(?<unit>\D+)$/.exec(duration)?.groups ?? {};
  const halved = Math.floor(Number(amount) / 2);
  return halved >= 1 ? `${halved}${unit}` : duration;
}
