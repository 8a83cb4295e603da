import type { Field, ScalarType, Snapshot } from "../snapshot/types.js";

/** An event that the model accepts, to try it with: its first one, with a value of the right type for each required property. */
export function sampleEvent(snapshot: Snapshot, now: number): { event: string; properties: Record<string, unknown> } {
  const [first] = Object.entries(snapshot.events);
  if (first === undefined) return { event: "signed_up", properties: {} };
  const [event, { properties }] = first;
  const required = Object.entries(properties).filter(([, field]) => field.optional !== true);
  return { event, properties: Object.fromEntries(required.map(([name, field]) => [name, sampleValue(field, now)])) };
}

function sampleValue(field: Field | { type: ScalarType; enum?: string[] }, now: number): unknown {
  switch (field.type) {
    case "string":
      return field.enum?.[0] ?? "text";
    case "number":
      return 1;
    case "boolean":
      return true;
    case "date":
      return new Date(now).toISOString().slice(0, 10);
    case "array":
      return [sampleValue(field.items, now)];
  }
}
