import type { Out } from "./out.js";
import { fields } from "./fields.js";
import { distance, localTime, printable } from "./text.js";

/** A customer's state document, as far as it is shown. */
export interface CustomerState {
  customerId: string;
  environment: string;
  createdAt: string;
  lastEventAt: string | null;
  evaluatedThrough: string | null;
  configVersion: string | null;
  traits: Record<string, unknown>;
  lifecycle: string | null;
  lifecycleEnteredAt: string | null;
  segments: string[];
  nextDueAt: string | null;
}

/** A customer's state for people: one fact a line, instants in the local zone and as a distance from now. */
export function stateInWords(out: Out, state: CustomerState): string {
  const { bold, dim, cyan } = out.style;
  const when = (iso: string | null, otherwise: string) =>
    iso === null ? otherwise : `${localTime(iso, out.timeZone)} ${dim(`(${distance(iso, out.now)})`)}`;

  const lifecycle =
    state.lifecycle === null
      ? "none"
      : `${cyan(printable(state.lifecycle))} since ${when(state.lifecycleEnteredAt, "its first evaluation")}`;
  const facts = fields(out, [
    ["Lifecycle", lifecycle],
    ["Segments", state.segments.length === 0 ? "none" : state.segments.map((id) => cyan(printable(id))).join(", ")],
    ["Last event", when(state.lastEventAt, "none")],
    ["First seen", when(state.createdAt, "unknown")],
    ["Evaluated through", when(state.evaluatedThrough, "not evaluated yet")],
    ["Next due", when(state.nextDueAt, "nothing is due")],
    ["Model", state.configVersion ?? "none"],
  ]);
  const traits = Object.entries(state.traits);
  return [
    `${bold(printable(state.customerId))} in ${state.environment}`,
    "",
    facts,
    ...(traits.length === 0 ? [] : ["", "Traits", indent(fields(out, traits.map(trait)))]),
  ].join("\n");
}

function trait([name, value]: [string, unknown]): [string, string] {
  return [printable(name), printable(JSON.stringify(value))];
}

function indent(lines: string): string {
  return lines.replace(/^/gm, "  ");
}
