/** One customer whose history tells most, and that history as lines. */
import type { CustomerDocument, TimelineEntry } from "../api.js";
import { shorten, type ReportStyle } from "./style.js";

/** A story that fits a screen. */
const LINES_MAX = 18;

/**
 * Chooses by how often each kind of emission came for each customer: first those who came back to a lifecycle state they had left, then those with
 * the most emissions that still fit a screen, then the smaller id. Null without any emission.
 */
export function chooseStory(customers: ReadonlyMap<string, ReadonlyMap<string, number>>): string | null {
  const known = [...customers].map(([customerId, kinds]) => {
    const emissions = [...kinds.values()].reduce((sum, count) => sum + count, 0);
    const cameBack = [...kinds].some(([kind, count]) => kind.startsWith("customer.") && count > 1);
    return { customerId, emissions, cameBack, fits: emissions <= LINES_MAX };
  });
  const [first] = known.sort(
    (one, other) =>
      Number(other.fits) - Number(one.fits) ||
      Number(other.cameBack) - Number(one.cameBack) ||
      (one.fits ? other.emissions - one.emissions : one.emissions - other.emissions) ||
      (one.customerId < other.customerId ? -1 : 1),
  );
  return first?.customerId ?? null;
}

/** The story with its heading, ending with an empty line. */
export function tellStory(style: ReportStyle, customer: CustomerDocument, timeline: readonly TimelineEntry[]): string {
  const known = Object.entries(customer.traits).map(
    ([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  const lines = [
    style.heading(shorten(`One customer's story: ${customer.customerId}`, 100)),
    ...(known.length === 0 ? [] : wrap(known, 98).map(style.dim)),
    ...timeline.slice(0, LINES_MAX).map(storyLine),
    ...(timeline.length > LINES_MAX ? [`and ${timeline.length - LINES_MAX} more`] : []),
    `today       ${customer.lifecycle ?? "no lifecycle"}${customer.segments.length === 0 ? "" : `; in ${customer.segments.join(", ")}`}`,
  ];
  return `${lines.map((line) => shorten(line, 110)).join("\n")}\n\n`;
}

function wrap(parts: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const longer = lines.length === 0 ? part : `${lines.at(-1)}, ${part}`;
    if (lines.length > 0 && longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(shorten(part, width));
  }
  return lines;
}

function storyLine({ at, type, metadata, cause }: TimelineEntry): string {
  return `${at.slice(0, 10)}  ${what(type, metadata)}${cause.type === "timer" ? " (by time alone)" : ""}`;
}

function what(type: string, metadata: Record<string, unknown>): string {
  const { previous_lifecycle: previous, new_lifecycle: next, segment } = metadata;
  if (type === "customer.created" && typeof next === "string") return `first seen: ${next}`;
  if (typeof previous === "string" && typeof next === "string") return `${previous} → ${next}`;
  if (type === "segment.entered" && typeof segment === "string") return `  joins ${segment}`;
  if (type === "segment.exited" && typeof segment === "string") return `  leaves ${segment}`;
  return `${type} ${JSON.stringify(metadata)}`;
}
