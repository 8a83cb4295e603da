/** One customer whose history tells most, and that history as lines. */
import type { CustomerDocument, TimelineEntry } from "../api.js";
import { shorten, type ReportStyle } from "./style.js";

/** A story that fits a screen. */
const LINES_MAX = 18;

/**
 * Chooses by what the receiver has seen: first those who came back to a lifecycle state they had left, then those with the most
 * emissions that still fit a screen, then the smaller id. Null without any emission.
 *
 * @param customers for each customer, how often each kind of emission came
 */
export function chooseStory(customers: ReadonlyMap<string, ReadonlyMap<string, number>>): string | null {
  let best: { customerId: string; score: [number, number, number] } | null = null;
  for (const [customerId, kinds] of customers) {
    const emissions = [...kinds.values()].reduce((sum, count) => sum + count, 0);
    const cameBack = [...kinds].some(([kind, count]) => kind.startsWith("customer.") && count > 1);
    const fits = emissions <= LINES_MAX;
    const score: [number, number, number] = [fits ? 1 : 0, cameBack ? 1 : 0, fits ? emissions : -emissions];
    if (best === null || isBetter(score, customerId, best)) best = { customerId, score };
  }
  return best?.customerId ?? null;
}

function isBetter(
  score: readonly number[],
  customerId: string,
  best: { customerId: string; score: readonly number[] },
): boolean {
  for (const [index, value] of score.entries()) {
    const other = best.score[index] ?? 0;
    if (value !== other) return value > other;
  }
  return customerId < best.customerId;
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

/** Joins parts with commas into lines of at most `width` characters. */
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
