import type { JsonValue, SimulatedOperation } from "../../../src/demo/simulate/operations.js";
import type { Field, Snapshot } from "../../../src/model/snapshot/types.js";

/** What a strict schema would refuse about an operation, in words; empty for one that conforms. */
export function violations(snapshot: Snapshot, operation: SimulatedOperation): string[] {
  if (operation.type === "identify") {
    return Object.entries(operation.traits).flatMap(([name, value]) => {
      const field = snapshot.traits[name];
      if (field === undefined) return [`unknown trait ${name}`];
      return value === null || fits(field, value) ? [] : [`trait ${name}: ${JSON.stringify(value)}`];
    });
  }
  const { event, properties } = operation;
  const fields = snapshot.events[event]?.properties;
  if (fields === undefined) return [`unknown event ${event}`];
  const unknown = Object.keys(properties).filter((name) => !(name in fields));
  const wrong = Object.entries(fields).filter(([name, field]) => {
    const value = properties[name];
    return value === undefined ? field.optional !== true : !fits(field, value);
  });
  return [
    ...unknown.map((name) => `${event}: unknown property ${name}`),
    ...wrong.map(([name]) => `${event}.${name}: ${JSON.stringify(properties[name])}`),
  ];
}

function fits(field: Field, value: JsonValue): boolean {
  if (field.type === "array") return Array.isArray(value) && value.every((item) => fits(field.items as Field, item));
  if (field.type === "date") return typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value);
  if (typeof value !== field.type) return false;
  return field.type !== "string" || field.enum === undefined || field.enum.includes(value as string);
}
