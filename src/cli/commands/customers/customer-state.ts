import type { CustomerState } from "../../client/answers.js";
import type { ApiAnswer } from "../../client/api.js";
import { memberTexts } from "../../output/json-text.js";
import type { Out } from "../../output/out.js";
import { fields } from "../../output/fields.js";
import { distance, localTime, printable } from "../../output/text.js";

/** A customer's state for people: one fact a line, instants in the local zone and as a distance from now; traits as they were written, with all digits. */
export function stateInWords(out: Out, { data: state, text }: ApiAnswer<CustomerState>): string {
  const { bold, dim, cyan } = out.style;
  const when = (iso: string | null, otherwise: string) =>
    iso === null ? otherwise : `${localTime(iso, out.timeZone)} ${dim(`(${distance(iso, out.now)})`)}`;

  const lifecycle =
    state.lifecycle === null
      ? "none"
      : `${cyan(printable(state.lifecycle))} since ${when(state.lifecycleEnteredAt, "its first evaluation")}`;
  const facts = fields(out, [
    ["Lifecycle", lifecycle],
    ["Segments", list(state.segments.map((id) => cyan(printable(id))))],
    ["Journeys", list(state.journeys.map(journey))],
    ["Health", state.health === null ? "no score" : healthInWords(state.health)],
    ["Signals", list(state.signals.map(signal))],
    ["Last event", when(state.lastEventAt, "none")],
    ["First seen", when(state.createdAt, "unknown")],
    ["Evaluated through", when(state.evaluatedThrough, "not evaluated yet")],
    ["Next due", when(state.nextDueAt, "nothing is due")],
    ["Model", state.configVersion ?? "none"],
  ]);
  const traits = [...memberTexts(memberTexts(text).get("traits") ?? "{}")];
  return [
    `${bold(printable(state.customerId))} in ${state.environment}`,
    "",
    facts,
    ...(traits.length === 0 ? [] : ["", "Traits", indent(fields(out, traits.map(trait)))]),
  ].join("\n");
}

function list(entries: string[]): string {
  return entries.length === 0 ? "none" : entries.join(", ");
}

function journey({ journeyId, status, currentStep }: CustomerState["journeys"][number]): string {
  return status === "complete"
    ? `${printable(journeyId)} complete`
    : `${printable(journeyId)} ${printable(status)} at ${printable(currentStep)}`;
}

function healthInWords({ overall, band, components }: NonNullable<CustomerState["health"]>): string {
  const parts = Object.entries(components).map(([id, score]) => `${printable(id)} ${score}`);
  return `${overall} ${printable(band)} (${parts.join(", ")})`;
}

function signal({ signalId, severity }: CustomerState["signals"][number]): string {
  return `${printable(signalId)} (${printable(severity)})`;
}

function trait([name, value]: [string, string]): [string, string] {
  return [printable(name), printable(value)];
}

function indent(lines: string): string {
  return lines.replace(/^/gm, "  ");
}
