import type { CustomerState } from "../../client/answers.js";
import type { ApiAnswer } from "../../client/api.js";
import { fields } from "../../output/fields.js";
import { memberTexts } from "../../output/json-text.js";
import type { Out } from "../../output/out.js";
import { printable } from "../../output/text.js";

/** A customer's state for people: one fact a line, instants in the local zone and as a distance from now; traits as they were written, with all digits. */
export function stateInWords(out: Out, { data: state, text }: ApiAnswer<CustomerState>): string {
  const { bold, cyan } = out.style;
  const when = (iso: string | null, otherwise: string) => (iso === null ? otherwise : out.atAndAgo(iso));
  const since = when(state.lifecycleEnteredAt, "its first evaluation");
  const journey = ({ journeyId, status, currentStep }: CustomerState["journeys"][number]) =>
    printable(`${journeyId} ${status === "complete" ? status : `${status} at ${currentStep}`}`);
  const facts = fields(out, {
    Lifecycle: state.lifecycle === null ? "none" : `${cyan(printable(state.lifecycle))} since ${since}`,
    Segments: list(state.segments.map((id) => cyan(printable(id)))),
    Journeys: list(state.journeys.map(journey)),
    Health: state.health === null ? "no score" : healthInWords(state.health),
    Signals: list(state.signals.map(({ signalId, severity }) => printable(`${signalId} (${severity})`))),
    "Last event": when(state.lastEventAt, "none"),
    "First seen": when(state.createdAt, "unknown"),
    "Evaluated through": when(state.evaluatedThrough, "not evaluated yet"),
    "Next due": when(state.nextDueAt, "nothing is due"),
    Model: state.configVersion ?? "none",
  });
  const traits = [...memberTexts(memberTexts(text).get("traits") ?? "{}")];
  const shown = traits.map(([name, value]) => [printable(name), printable(value)] as const);
  return [
    `${bold(printable(state.customerId))} in ${state.environment}`,
    "",
    facts,
    ...(traits.length === 0 ? [] : ["", "Traits", fields(out, shown).replace(/^/gm, "  ")]),
  ].join("\n");
}

function list(entries: string[]): string {
  return entries.length === 0 ? "none" : entries.join(", ");
}

function healthInWords({ overall, band, components }: NonNullable<CustomerState["health"]>): string {
  const parts = Object.entries(components).map(([id, score]) => `${id} ${score}`);
  return printable(`${overall} ${band} (${parts.join(", ")})`);
}
