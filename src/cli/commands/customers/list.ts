import type { ListedCustomer } from "../../../http/admin/answers.js";
import { csvPageOptions, defineCommand, projectOptions, reverseOption } from "../../core/command.js";
import { UsageError } from "../../core/errors.js";
import { durationOf } from "../../core/values.js";
import { objectFromTexts } from "../../../words/json-text.js";
import { printList } from "../../output/table.js";
import { jsonOf } from "../../../words/text.js";

export default defineCommand({
  options: {
    ...projectOptions,
    lifecycle: { type: "text", describe: "Only those in this lifecycle state" },
    segment: { type: "text", describe: "Only members of this segment" },
    health: { type: "text", describe: "Only those whose health is in this band" },
    signal: { type: "text", describe: "Only those for whom this signal is raised" },
    trait: {
      type: "list",
      describe:
        "Only those with this trait, such as plan=pro, or with this in a list, or beyond a bound, such as 'mrr>=1000'; may be given several times",
    },
    search: { type: "text", describe: "Only those whose id or traits contain this text" },
    inactive: { type: "text", describe: "Only those without an event for this long, such as 14d" },
    setAside: { type: "flag", describe: "Only those that were set aside, and why" },
    sort: {
      type: "text",
      choices: ["customerId", "lastEvent", "health"],
      describe: "The order, lowest first; unless given, by the last event with --inactive, else by id",
    },
    ...reverseOption,
    ...csvPageOptions,
  },
  examples: [
    ["svc customers list --lifecycle trial --inactive 7d", "Trials that went quiet a week ago"],
    ["svc customers list --trait plan=pro --sort health", "Those on the plan pro, the worst health first"],
    ["svc customers list --trait 'renewsOn<=2026-12-31'", "Those whose renewal is due by the end of the year"],
  ],
  async handler(context, values) {
    const { lifecycle, segment, signal, search, sort, setAside, reverse, limit, cursor, csv } = values;
    const filters = { lifecycle, segment, health: values.health, signal, search, traits: traitsFilter(values.trait) };
    const inactive = durationOf("--inactive", values.inactive);
    const query = { ...filters, inactive, sort, setAside, reverse, limit, cursor };
    const ago = (iso: string | null) => (iso === null ? "" : context.out.ago(iso));
    const health = ({ health: its }: ListedCustomer) => (its === null ? "" : `${its.overall} ${its.band}`);
    await printList<ListedCustomer>(context, query, ["customers"], {
      csv,
      none: "There is no such customer.",
      columns: [
        { title: "Customer", value: ({ customerId }) => customerId, kept: true },
        { title: "Lifecycle", value: (row) => row.lifecycle ?? "", kept: true },
        { title: "Since", value: (row) => ago(row.lifecycleEnteredAt) },
        { title: "Health", value: health, optional: true, fixed: true },
        { title: "Segments", value: ({ segments }) => segments.join(", ") },
        { title: "Last event", value: (row) => ago(row.lastEventAt), kept: true },
        ...(setAside ? [{ title: "Set aside", value: (row: ListedCustomer) => row.setAside?.error ?? "" }] : []),
      ],
    });
  },
});

/** What the sign of a filter asks for: the value itself, or a bound. */
const SIGNS: Readonly<Record<string, string>> = { "=": "value", ">=": "atLeast", "<=": "atMost" };

/**
 * Filters of traits as a JSON object. A value that is valid JSON is used literally, so that long numbers keep their digits; any other is a
 * text. A trait has one value, or one bound of each kind.
 */
function traitsFilter(given: readonly string[]): string | undefined {
  const filters = new Map<string, Map<string, string>>();
  for (const trait of given) {
    const [, name, sign = "", value] = /^([^=]*[^=<>])([<>]?=)(.*)$/s.exec(trait) ?? [];
    if (name === undefined || value === undefined || (sign !== "=" && value === ""))
      throw new UsageError(`--trait ${trait} is not a name and a value`, "write for example --trait plan=pro");
    if (/^[<>=]/.test(value))
      throw new UsageError(
        `--trait ${trait} has two signs`,
        "write for example --trait 'seats>=3', and a text in quotes",
      );
    const filter = filters.get(name) ?? new Map<string, string>();
    const kind = SIGNS[sign]!;
    if (filter.has(kind) || filter.has("value") || (kind === "value" && filter.size > 0))
      throw new UsageError(`--trait ${name} is given twice`, "give one value, or one bound of each kind");
    filters.set(name, filter.set(kind, jsonOf(value) === undefined ? JSON.stringify(value) : value));
  }
  if (filters.size === 0) return undefined;
  return objectFromTexts(
    Array.from(filters, ([name, filter]) => [name, filter.get("value") ?? objectFromTexts(filter)]),
  );
}
