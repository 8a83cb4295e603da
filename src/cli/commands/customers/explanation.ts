import stringWidth from "string-width";

import type { CustomerState, ExplainedCustomer, ExplainedState, Explanation } from "../../../http/admin/answers.js";
import type { ApiAnswer } from "../../client/api.js";
import { isRetryable } from "../../client/pages.js";
import type { Context, OptionValues, travelOptions } from "../../core/command.js";
import { fields } from "../../output/table.js";
import { memberTexts } from "../../../words/json-text.js";
import type { Out } from "../../output/out.js";
import { factsOf, groupInWords } from "../../../words/explanation.js";
import { printable, shellWord } from "../../../words/text.js";

const INDENT = "  ";

/** A customer's state for people: one fact a line, instants in local time and relative to now; traits as received, with all digits. */
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
    "Known since": when(state.createdAt, "unknown"),
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

/** The members of an answer about a past instant that describe its basis. */
interface Travelled {
  at?: string | undefined;
  exactFrom?: string | null | undefined;
  configVersion: string | null;
}

/** The heading above an answer about a past instant; empty for one about the present. */
export function travelInWords(out: Out, { at, exactFrom = null, configVersion }: Travelled): string {
  if (at === undefined) return "";
  const model = configVersion === null ? "without a model" : `under ${configVersion}`;
  const removed = `Events before ${out.at(exactFrom ?? at)} may have been removed: their effects are missing.`;
  return [
    `As of ${out.at(at)}, by a replay ${model} with today's traits.`,
    ...(exactFrom === null ? [] : [removed]),
  ].join("\n");
}

function list(entries: string[]): string {
  return entries.length === 0 ? "none" : entries.join(", ");
}

function healthInWords({ overall, band, components }: NonNullable<CustomerState["health"]>): string {
  const parts = Object.entries(components).map(([id, score]) => `${id} ${score}`);
  return printable(`${overall} ${band} (${parts.join(", ")})`);
}

/** The instant and the version to explain; by default now, and the version of the last evaluation. */
type Travel = Partial<OptionValues<typeof travelOptions>>;

/** Fetches the explanation of a customer's present or past state. */
export function explanationOf({ api }: Context, customerId: string, travel: Travel = {}) {
  const members = ["lifecycle", "journeys", "segments", "health", "signals", "unavailable"] as const;
  return api.get<ExplainedCustomer>(["customers", customerId, "explanation"], members, { ...travel });
}

/** The same, or null with a note if the service cannot explain at the moment. */
export async function explanationIfAny(
  context: Context,
  customerId: string,
  travel?: Travel,
): Promise<ExplainedCustomer | null> {
  try {
    return (await explanationOf(context, customerId, travel)).data;
  } catch (error) {
    if (!isRetryable(error)) throw error;
    context.out.note(`The explanation is not available at the moment: ${printable((error as Error).message)}`);
    return null;
  }
}

/** An explanation for people: a line per condition, its parts indented below it, and its facts beside it, or below if that is too wide. */
export function explanationInWords(out: Out, explanation: Explanation, indent = INDENT): string {
  const { kind, text, met, conditions = [] } = explanation;
  const isGroup = explanation.conditions !== undefined;
  const label = isGroup ? groupInWords(kind, conditions) : printable(text);
  const facts = factsOf(out, explanation);
  const mark = markOf(out, met);
  const line = `${indent}${mark.shown} ${label}`;
  const rest = facts.join("; ");
  const isBeside = indent.length + mark.width + 1 + stringWidth(`${label}  ${rest}`) <= out.columns;
  const beside = rest === "" ? "" : `  ${out.style.dim(rest)}`;
  const below = indent + " ".repeat(mark.width + 1);
  return [
    ...(isBeside ? [line + beside] : [line, ...facts.map((fact) => below + out.style.dim(fact))]),
    ...conditions.map((part) => explanationInWords(out, part, indent + INDENT)),
  ].join("\n");
}

/** A mark for met or unmet: a coloured sign, or a word without colours. */
function markOf({ style }: Out, met: boolean): { shown: string; width: number } {
  if (style.isColorSupported) return { shown: met ? style.green("✓") : style.red("✗"), width: 1 };
  return { shown: met ? "met  " : "unmet", width: 5 };
}

type ExplainedSegment = ExplainedCustomer["segments"][number];
type ExplainedJourney = ExplainedCustomer["journeys"][number];

/** Why a customer is in its state, part by part: the state, and the conditions that currently apply. */
export function whyInWords(out: Out, explanation: ExplainedCustomer): string {
  const { customerId, lifecycle, journeys, segments, health, signals, unavailable } = explanation;
  const { bold, cyan } = out.style;
  const parts = [
    ...(lifecycle === null ? [] : lifecycleInWords(out, lifecycle, explanation.configVersion)),
    ...journeys.flatMap((journey) => journeyInWords(out, journey)),
    ...segments.flatMap((segment) => segmentInWords(out, segment)),
    ...(health === null ? [] : [`health: see ${out.typed(`svc health explain ${shellWord(customerId)}`)}`]),
    ...signals.flatMap(({ signal, raised, condition }) => [
      `signal ${cyan(printable(signal))}: ${raised ? "raised" : "not raised"}`,
      ...tree(out, condition, INDENT),
    ]),
  ];
  if (unavailable === null && parts.length === 0) return "";
  return [bold("Why"), ...[...caveats(explanation), ...parts].map((text) => text.replace(/^/gm, INDENT))].join("\n");
}

/** Reasons why an explanation is incomplete or outdated. */
export function caveats({ unavailable, configVersion, activeVersion, flipsKnown }: ExplainedState): string[] {
  if (unavailable !== null) return [printable(unavailable.message)];
  const computed = `As of ${configVersion ?? "a time without a model"}, under which the state was computed`;
  return [
    ...(configVersion === activeVersion ? [] : [`${computed}; ${activeVersion ?? "no model"} is active now.`]),
    ...(flipsKnown
      ? []
      : ["When conditions will change by themselves is not known: too much history would have to be read."]),
  ];
}

/** Whether a customer is in a segment, and why; a segment without a condition is filled by rules. */
export function segmentInWords(out: Out, { segment, member, condition }: ExplainedSegment): string[] {
  const name = `segment ${out.style.cyan(printable(segment))}`;
  return [`${name}: ${member ? "a member" : "not a member"}`, ...tree(out, condition, INDENT)];
}

/** A journey's progress: the condition that begins it, or its steps. */
export function journeyInWords(out: Out, { journey, status, start, steps }: ExplainedJourney): string[] {
  const lines = [`journey ${out.style.cyan(printable(journey))}: ${printable(status.replaceAll("_", " "))}`];
  if (start !== null) lines.push(`${INDENT}begins when`, ...tree(out, start, INDENT.repeat(2)));
  if (status !== "active") return lines;
  for (const { step, completed, condition } of steps) {
    lines.push(`${INDENT}${markOf(out, completed).shown} step ${printable(step)}`);
    lines.push(...tree(out, condition, INDENT.repeat(2)));
  }
  return lines;
}

function lifecycleInWords(
  out: Out,
  { state, transitions }: NonNullable<ExplainedCustomer["lifecycle"]>,
  version: string | null,
): string[] {
  // A state that the version no longer has has none, either.
  const end = transitions.length === 0 ? `, which has no transitions in ${version ?? "the model"}` : "";
  return [
    `lifecycle: ${out.style.cyan(printable(state ?? "none"))}${end}`,
    ...transitions.flatMap(({ to, condition }) => [
      `${INDENT}to ${printable(to)} when`,
      ...tree(out, condition, INDENT.repeat(2)),
    ]),
  ];
}

function tree(out: Out, condition: Explanation | null, indent: string): string[] {
  return condition === null ? [] : [explanationInWords(out, condition, indent)];
}
