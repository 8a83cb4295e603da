/** A model like another one, under which much of the same history comes to something else. */
import type { Snapshot } from "../../src/model/snapshot/types.js";

const DURATIONS = new Set(["expiresAfter", "duration", "within"]);

/** Halves every duration, asks for one occurrence more wherever two or more are asked for, and closes the last way of the lifecycle. */
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

/** `"30d"` as `"15d"`; what cannot be halved stays. */
function half(duration: string): string {
  const { amount, unit } = /^(?<amount>\d+)(?<unit>\D+)$/.exec(duration)?.groups ?? {};
  const halved = Math.floor(Number(amount) / 2);
  return halved >= 1 ? `${halved}${unit}` : duration;
}
