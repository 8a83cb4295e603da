import type { AboutState, ExplainedCustomer, ExplainedJourney, ExplainedSegment } from "./explained.js";
import { type ExplanationDocument, explanationInWords, markOf } from "./explanation.js";
import type { Out } from "../../output/out.js";
import { printable, shellWord } from "../../output/text.js";

const INDENT = "  ";

/** Why a customer stands where it does, part by part: what it is, and the conditions that are consulted now. */
export function whyInWords(out: Out, explanation: ExplainedCustomer): string {
  const { customerId, lifecycle, journeys, segments, health, signals, unavailable } = explanation;
  const { bold, cyan } = out.style;
  const parts = [
    ...(lifecycle === null ? [] : lifecycleInWords(out, lifecycle)),
    ...journeys.flatMap((journey) => journeyInWords(out, journey)),
    ...segments.flatMap((segment) => segmentInWords(out, segment)),
    ...(health === null ? [] : [`health: what it is made of is told by svc health explain ${shellWord(customerId)}`]),
    ...signals.flatMap(({ signal, raised, condition }) => [
      `signal ${cyan(printable(signal))}: ${raised ? "raised" : "not raised"}`,
      ...tree(out, condition, INDENT),
    ]),
  ];
  if (unavailable === null && parts.length === 0) return "";
  return [bold("Why"), ...remarks(explanation), ...parts]
    .map((line, index) => (index === 0 ? line : indented(line)))
    .join("\n");
}

/** What keeps an explanation from being the whole or the present truth. */
export function remarks({ unavailable, configVersion, activeVersion, flipsKnown }: AboutState): string[] {
  if (unavailable !== null) return [printable(unavailable.message)];
  return [
    ...(configVersion === activeVersion
      ? []
      : [
          `As of ${configVersion ?? "a time without a model"}, under which the state was computed; ${activeVersion ?? "no model"} is active now.`,
        ]),
    ...(flipsKnown
      ? []
      : ["When conditions change by themselves is not known: too much history would have to be read."]),
  ];
}

/** Whether a customer is in a segment, and why; a segment without a condition is filled by rules. */
export function segmentInWords(out: Out, { segment, member, condition }: ExplainedSegment): string[] {
  const name = `segment ${out.style.cyan(printable(segment))}`;
  return [`${name}: ${member ? "a member" : "not a member"}`, ...tree(out, condition, INDENT)];
}

/** How far a journey is: what it waits for to begin, or its steps. */
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

function lifecycleInWords(out: Out, { state, transitions }: NonNullable<ExplainedCustomer["lifecycle"]>): string[] {
  return [
    `lifecycle: ${out.style.cyan(printable(state ?? "none"))}${transitions.length === 0 ? ", which nothing leads on from" : ""}`,
    ...transitions.flatMap(({ to, condition }) => [
      `${INDENT}to ${printable(to)} when`,
      ...tree(out, condition, INDENT.repeat(2)),
    ]),
  ];
}

function tree(out: Out, condition: ExplanationDocument | null, indent: string): string[] {
  return condition === null ? [] : [explanationInWords(out, condition, indent)];
}

function indented(text: string): string {
  return text.replace(/^/gm, INDENT);
}
