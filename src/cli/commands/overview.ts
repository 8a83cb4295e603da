import type { Finding, Overview, PopulationAt } from "../../http/admin/answers.js";
import { type Context, defineCommand, pastOption, projectOptions } from "../core/command.js";
import type { Out } from "../output/out.js";
import { type Column, fields, table } from "../output/table.js";
import { isRetryable } from "../client/pages.js";
import { formatNumber, paragraphs, plural, printable } from "../../words/text.js";

export default defineCommand({
  options: { ...projectOptions, at: pastOption },
  examples: [
    ["svc overview --env live", "How the customers of live are distributed"],
    ["svc overview --env live --at 2026-03-01", "How they were distributed then"],
  ],
  async handler(context, { at }) {
    if (at !== undefined) return printPopulation(context, at);
    const { api, out, settings } = context;
    const answer = await api.get<Overview>(["overview"], ["customers", "events", "lifecycle", "segments", "webhooks"]);
    const { data } = answer;
    const { customers, customersSetAside: aside, webhooks } = data;
    const { accepted, pending, ahead } = data.events;
    const totals = fields(out, {
      Project: `${settings.project}, ${data.environment}`,
      Model: data.configVersion ?? "none deployed yet",
      Customers:
        formatNumber(customers) +
        (aside === 0 ? "" : `, ${formatNumber(aside)} set aside (${out.typed("svc customers list --set-aside")})`),
      Events: `${formatNumber(accepted)} accepted, ${formatNumber(pending)} pending${ahead === 0 ? "" : `, ${formatNumber(ahead)} of them dated in the future`}`,
      Emissions: formatNumber(Object.values(data.emissions).reduce((total, one) => total + one, 0)),
      Webhooks: `${formatNumber(webhooks.delivered)} delivered, ${formatNumber(webhooks.pending)} pending, ${formatNumber(webhooks.failed)} failed`,
    });
    const funnel = section(out, data.lifecycle, [
      { title: "Lifecycle", value: ({ state }) => state },
      { title: "Now", value: ({ customers }) => formatNumber(customers), align: "right" },
      { title: "Share", value: ({ customers: part }) => share(part, customers), align: "right" },
      { title: "Ever", value: ({ everEntered }) => formatNumber(everEntered), align: "right" },
    ]);
    await noteOutdated(context);
    out.result(answer, () => paragraphs([totals, funnel, segmentSizes(out, data)]));
  },
});

/** Prints how customers were distributed at an instant. */
async function printPopulation({ api, out, settings }: Context, at: string): Promise<void> {
  const answer = await api.get<PopulationAt>(["population"], ["customers", "lifecycle", "segments", "health"], { at });
  const { data } = answer;
  const { scored, average, quartiles, bands } = data.health;
  const inBands = Object.entries(bands).map(([band, count]) => `${printable(band)} ${formatNumber(count)}`);
  const totals = fields(out, {
    Project: `${settings.project}, ${data.environment}`,
    At: `${out.at(data.at)}, according to the present records`,
    Customers: formatNumber(data.customers),
    Health:
      average === null || quartiles === null
        ? "no customer had a score"
        : `${formatNumber(average)} on average, quartiles ${[quartiles.lower, quartiles.median, quartiles.upper].map(formatNumber).join(", ")} (${inBands.join(", ")}; ${plural(scored, "scored customer")})`,
  });
  if (data.recomputedAt !== null) {
    noteRecompute(
      out,
      data.recomputedAt,
      "one record of each customer's health, and the last membership of each segment",
    );
  }
  const states = section(out, data.lifecycle, [
    { title: "Lifecycle", value: ({ state }) => state },
    { title: "Customers", value: ({ customers }) => formatNumber(customers), align: "right" },
    { title: "Share", value: ({ customers }) => share(customers, data.customers), align: "right" },
  ]);
  out.result(answer, () => paragraphs([totals, states, segmentSizes(out, data)]));
}

/** Notes, for people, that the state of some customers is of another version than the active one. */
export async function noteOutdated({ api, out }: Context): Promise<void> {
  if (out.json) return;
  try {
    const { data } = await api.get<{ data: Finding[] }>(["diagnostics"], ["data"]);
    const outdated = data.data.find(({ code }) => code === "STATE_OUTDATED");
    if (outdated !== undefined) out.note(`${printable(outdated.message)} ${out.typed("svc diagnose")} shows which.`);
  } catch (error) {
    if (!isRetryable(error)) throw error;
    out.note(
      `It is not known now whether these figures are of the active version: ${printable((error as Error).message)}`,
    );
  }
}

/** Notes what a recompute of all customers left of the record, as figures of before it are too low. */
export function noteRecompute(out: Out, recomputedAt: string, kept: string): void {
  out.note(
    `A recompute that ran until ${out.at(recomputedAt)} kept ${kept}: ` +
      "earlier ones are missing here. For one customer's state, svc customers inspect <customerId> --at replays its history.",
  );
}

function segmentSizes(out: Out, { segments, customers }: Pick<PopulationAt, "segments" | "customers">): string {
  return section(out, segments, [
    { title: "Segment", value: ({ segment }) => segment },
    { title: "Members", value: ({ members }) => formatNumber(members), align: "right" },
    { title: "Share", value: ({ members }) => share(members, customers), align: "right" },
  ]);
}

function section<Row>(out: Out, rows: readonly Row[], columns: readonly Column<Row>[]): string {
  return rows.length === 0 ? "" : table(out, columns, rows);
}

function share(part: number, all: number): string {
  return all === 0 ? "" : `${((100 * part) / all).toFixed(1)} %`;
}
