import type { Condition } from "../../../model/snapshot/types.js";
import type { SegmentMember, SegmentStatistics } from "../../client/answers.js";
import type { ListPage } from "../../client/api.js";
import { type Context, defineCommand, pageOptions, projectOptions } from "../../core/command.js";
import { type ExplainedSegment, explanationOf } from "../customers/explained.js";
import { fields } from "../../output/fields.js";
import { elementTexts, memberTexts, objectText } from "../../output/json-text.js";
import { page, readList } from "../../output/list.js";
import type { Out } from "../../output/out.js";
import { distance, localTime, number, plural, printable } from "../../output/text.js";

interface Segment {
  segment: string;
  members: number;
  /** On the first page; null where the active version does not define it. */
  definition?: { when?: Condition } | null;
  /** On the first page. */
  statistics?: SegmentStatistics;
}

export default defineCommand({
  args: { segmentId: "The segment's id" },
  options: {
    ...projectOptions,
    customer: { type: "text", describe: "Instead of the members: whether this customer is one, and why" },
    ...pageOptions,
  },
  examples: [
    ["svc segments inspect power_users", "What it asks for, what its members are like, who they are and since when"],
    ["svc segments inspect power_users --customer cus_42", "Why a customer is in it, or is not"],
  ],
  async handler(context, { segmentId, customer, limit, cursor }) {
    const { api, out, settings } = context;
    const path = ["segments", segmentId];
    if (customer !== undefined) {
      // It has to be there, also where the customer's explanation says nothing of it.
      const { data } = await api.get<Segment & ListPage<SegmentMember>>(path, ["segment", "members"], { limit: 1 });
      await explainMembership(context, data, customer);
      return;
    }
    const answer = await readList<SegmentMember, Segment>(api, path, { limit, cursor }, ["segment", "members"]);
    const { segment, members, definition, statistics } = answer.data;
    const { conditionInWords } = await import("./condition-text.js");
    const { bold, dim } = out.style;
    const heading = `${bold(printable(segment))} in ${settings.environment}: ${plural(members, "member")}`;
    page(out, answer, {
      heading: [
        heading,
        ...(definition === undefined ? [] : [definedAs(definition)]),
        ...(statistics === undefined || members === 0 ? [] : [statisticsInWords(out, statistics)]),
      ].join("\n\n"),
      none: members === 0 ? "Nobody is in it." : "There are no more members.",
      columns: [
        { title: "Customer", value: ({ customerId }) => customerId },
        { title: "Entered", value: ({ enteredAt }) => localTime(enteredAt, out.timeZone), fixed: true },
        { title: "", value: ({ enteredAt }) => distance(enteredAt, out.now), style: dim },
      ],
    });

    function definedAs(it: { when?: Condition } | null): string {
      return it?.when === undefined ? origin(it) : `${bold("Condition")}\n${conditionInWords(it.when)}`;
    }
  },
});

function statisticsInWords(out: Out, { lifecycle, health, lastEvent, enteredWithin7d }: SegmentStatistics): string {
  const scored =
    health.average === null
      ? "nobody has a score"
      : `${number(health.average)} on average (${counts(health.bands)}; ${plural(health.scored, "scored member")})`;
  const { within1d, within7d, within30d, older, never } = lastEvent;
  const last = { "within a day": within1d, "within 7 days": within7d, "within 30 days": within30d, older, never };
  return fields(out, [
    ["Lifecycle", Object.keys(lifecycle).length === 0 ? "none" : counts(lifecycle)],
    ["Health", scored],
    ["Last event", counts(Object.fromEntries(Object.entries(last).filter(([, count]) => count > 0)))],
    ["Entered within 7 days", number(enteredWithin7d)],
  ]);
}

function counts(by: Record<string, number>): string {
  return Object.entries(by)
    .map(([name, count]) => `${printable(name)} ${number(count)}`)
    .join(", ");
}

/** Whether a customer is in a segment, and why. */
async function explainMembership(
  context: Context,
  { segment, definition }: Segment,
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
  const { remarks, segmentInWords } = await import("../customers/why.js");
  out.result({ text: objectText([...about, ...memberTexts(text)]) }, () =>
    [
      `${out.style.bold(printable(customerId))} in ${settings.environment}`,
      ...remarks(answer.data),
      ...segmentInWords(out, explained),
      ...(explained.condition === null && answer.data.unavailable === null ? [`  ${unconditioned()}`] : []),
    ].join("\n"),
  );

  /** Of what no condition decides, only the state knows. */
  async function unexplained(): Promise<ExplainedSegment> {
    const { data } = await api.get<{ segments: string[] }>(["customers", customerId], ["segments"]);
    return { segment, member: data.segments.includes(segment), condition: null };
  }

  function unconditioned(): string {
    if (definition?.when === undefined) return origin(definition ?? null);
    return "The version that the customer's state was computed under has no condition for it.";
  }
}

/** Where members come from that no condition of the active version decides on. */
function origin(definition: { when?: Condition } | null): string {
  return definition === null ? "The active version does not define it." : "It has no condition: rules fill it.";
}
