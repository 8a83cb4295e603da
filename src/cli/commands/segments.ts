import type { Condition } from "../../model/snapshot/types.js";
import type {
  ExplainedCustomer,
  PastMembers,
  SegmentMember,
  SegmentMembers,
  SegmentStatistics,
} from "../../http/admin/answers.js";
import { readList } from "../client/pages.js";
import { UsageError } from "../core/errors.js";
import { type Context, csvPageOptions, defineCommand, pastOption, projectOptions } from "../core/command.js";
import { type Column, fields, page, printCsv } from "../output/table.js";
import { elementTexts, memberTexts, objectFromTexts } from "../../words/json-text.js";
import type { Out } from "../output/out.js";
import { formatNumber, plural, printable, shellWord } from "../../words/text.js";
import { noteOutdated, noteRecompute } from "./overview.js";
import { explanationOf, caveats, segmentInWords } from "./customers/explanation.js";

/** A segment and a page of its members, with the condition typed as in models. */
export type InspectedSegment = Omit<SegmentMembers, "definition"> & { definition?: { when?: Condition } | null };

export default defineCommand({
  args: { segmentId: "The segment's id" },
  options: {
    ...projectOptions,
    customer: { type: "text", describe: "Instead of the members, show whether this customer is one, and why" },
    at: pastOption,
    ...csvPageOptions,
  },
  examples: [
    ["svc segments inspect power_users", "Its condition, statistics of its members, who they are and since when"],
    ["svc segments inspect power_users --customer cus_42", "Why a customer is in it, or is not"],
    ["svc segments inspect power_users --at 30d", "Who was in it thirty days ago, and since when"],
  ],
  async handler(context, { segmentId, customer, at, limit, cursor, csv }) {
    const { api, out, settings } = context;
    const path = ["segments", segmentId];
    if (at !== undefined) {
      if (customer !== undefined)
        throw new UsageError(
          "--at lists past members, but --customer shows one customer at present",
          `give one of them, or use ${out.typed(`svc customers inspect ${shellWord(customer)} --at ${shellWord(at)}`)}`,
        );
      const query = { at, limit, cursor };
      const list = [...path, "members"];
      const shown = csv ? { ...query, limit: 1 } : query;
      const answer = await readList<SegmentMember, Partial<PastMembers>>(api, list, shown);
      const { recomputedAt } = answer.data;
      // A service of an earlier release does not send it.
      if (typeof recomputedAt === "string")
        noteRecompute(out, recomputedAt, "each customer's last membership of the segment");
      if (csv) return printCsv(context, query, list);
      const heading = `${out.style.bold(printable(segmentId))} in ${settings.environment}, at ${printable(at)}`;
      page(out, answer, { heading, none: "It had no members.", columns: memberColumns(out) });
      return;
    }
    if (customer !== undefined) {
      // Fails if the segment does not exist, even if the customer's explanation does not mention it.
      const { data } = await api.get<InspectedSegment>(path, ["segment", "members"], { limit: 1 });
      return explainMembership(context, data, customer);
    }
    if (csv) return printCsv(context, { limit, cursor }, path);
    const answer = await readList<SegmentMember, InspectedSegment>(api, path, { limit, cursor }, [
      "segment",
      "members",
    ]);
    await noteOutdated(context);
    const { segment, members, definition, statistics } = answer.data;
    const { bold } = out.style;
    const heading = `${bold(printable(segment))} in ${settings.environment}: ${plural(members, "member")}`;
    const words = definition?.when === undefined ? null : await conditionInWords(definition.when);
    const condition = words === null ? origin(definition ?? null) : `${bold("Condition")}\n${words}`;
    page(out, answer, {
      heading: [
        heading,
        ...(definition === undefined ? [] : [condition]),
        ...(statistics === undefined || members === 0 ? [] : [statisticsInWords(out, statistics)]),
      ].join("\n\n"),
      none: members === 0 ? "It has no members." : "There are no more members.",
      columns: [
        ...memberColumns(out),
        { title: "", value: ({ enteredAt }) => out.ago(enteredAt), style: out.style.dim },
      ],
    });
  },
});

function memberColumns(out: Out): Column<SegmentMember>[] {
  return [
    { title: "Customer", value: ({ customerId }) => customerId },
    { title: "Entered", value: ({ enteredAt }) => out.at(enteredAt), fixed: true },
  ];
}

/** A condition of the model in words: a line per part, parts of a group indented below it. */
async function conditionInWords(root: Condition): Promise<string> {
  // Imported here: help texts must not wait for the module that puts models into words.
  const { conditionText } = await import("../../model/snapshot/words.js");
  const inWords = (condition: Condition, indent: string): string => {
    const more = `${indent}  `;
    if (condition.kind === "not") return `${indent}not\n${inWords(condition.condition, more)}`;
    if (condition.kind !== "all" && condition.kind !== "any") return indent + printable(conditionText(condition));
    return [`${indent}${condition.kind} of`, ...condition.conditions.map((part) => inWords(part, more))].join("\n");
  };
  return inWords(root, "  ");
}

function statisticsInWords(out: Out, { lifecycle, health, lastEvent, enteredWithin7d }: SegmentStatistics): string {
  const { average, bands, scored } = health;
  const { within1d, within7d, within30d, older, never } = lastEvent;
  const last = { "within a day": within1d, "within 7 days": within7d, "within 30 days": within30d, older, never };
  return fields(out, {
    Lifecycle: Object.keys(lifecycle).length === 0 ? "none" : counts(lifecycle),
    Health:
      average === null
        ? "no member has a score"
        : `${formatNumber(average)} on average (${counts(bands)}; ${plural(scored, "scored member")})`,
    "Last event": counts(Object.fromEntries(Object.entries(last).filter(([, count]) => count > 0))),
    "Entered within 7 days": formatNumber(enteredWithin7d),
  });
}

function counts(by: Record<string, number>): string {
  const parts = Object.entries(by).map(([name, count]) => `${printable(name)} ${formatNumber(count)}`);
  return parts.join(", ");
}

async function explainMembership(
  context: Context,
  { segment, definition }: InspectedSegment,
  customerId: string,
): Promise<void> {
  const { api, out, settings } = context;
  const answer = await explanationOf(context, customerId);
  const members = memberTexts(answer.text);
  const index = answer.data.segments.findIndex((one) => one.segment === segment);
  const explained = answer.data.segments[index] ?? (await unexplained());
  const text = elementTexts(members.get("segments") ?? "[]")[index] ?? JSON.stringify(explained);
  const parts = new Set(["lifecycle", "journeys", "segments", "health", "signals"]);
  const about = [...members].filter(([name]) => !parts.has(name));
  out.result({ text: objectFromTexts([...about, ...memberTexts(text)]) }, () =>
    [
      `${out.style.bold(printable(customerId))} in ${settings.environment}`,
      ...caveats(answer.data),
      ...segmentInWords(out, explained),
      ...(explained.condition === null && answer.data.unavailable === null ? [`  ${unconditioned()}`] : []),
    ].join("\n"),
  );

  /** The membership of a segment without a condition, which only the state has. */
  async function unexplained(): Promise<ExplainedCustomer["segments"][number]> {
    const { data } = await api.get<{ segments: string[] }>(["customers", customerId], ["segments"]);
    return { segment, member: data.segments.includes(segment), condition: null };
  }

  function unconditioned(): string {
    if (definition?.when === undefined) return origin(definition ?? null);
    return "The version that the customer's state was computed under has no condition for it.";
  }
}

/** Why the active version has no condition for the segment. */
function origin(definition: { when?: Condition } | null): string {
  return definition === null ? "The active version does not define it." : "It has no condition: rules fill it.";
}
