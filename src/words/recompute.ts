import { formatNumber, plural } from "./text.js";

/** What came of a recompute, a dry run or a preview. */
interface Totals {
  dry_run: boolean;
  result: Readonly<
    Record<
      | "lifecycleChanged"
      | "healthChanged"
      | "segmentsEntered"
      | "segmentsExited"
      | "customersChanged"
      | "rules"
      | "rulesRemoved"
      | "emissions",
      number
    >
  >;
}

/** What changes, line by line; the words are in the future where nothing was written. */
export function totalsOf({ result, dry_run }: Totals): Record<string, string> {
  const would = (done: string, not: string) => (dry_run ? not : done);
  const changed = would("changed", "would change");
  const [entered, left] = [would("entered", "would enter"), would("left", "would leave")];
  const added = would("added to the log", "would be added to the log");
  return {
    Customers: `${formatNumber(result.customersChanged)} ${changed}`,
    Lifecycle: `${plural(result.lifecycleChanged, "customer")} ${would("moved", "would move")}`,
    Health: `${plural(result.healthChanged, "customer")} ${changed}`,
    Segments: `${formatNumber(result.segmentsEntered)} ${entered}, ${formatNumber(result.segmentsExited)} ${left}`,
    Rules: `${plural(result.rules, "run")} ${added}, ${formatNumber(result.rulesRemoved)} ${would("went", "would go")}`,
    Emissions: `${formatNumber(result.emissions)} ${would("emitted", "would be emitted")}`,
  };
}

/** What a customer is in, or what is raised, before and after. */
interface Ids {
  before: readonly string[];
  after: readonly string[];
}

/** What is there afterwards, and was not before. */
export function gained({ before, after }: Ids): string[] {
  return after.filter((id) => !before.includes(id));
}

/** What was there before, and is not any more. */
export function lost({ before, after }: Ids): string[] {
  return before.filter((id) => !after.includes(id));
}

/** `+vip -paying`. @param minus the sign of what is lost */
export function movesText(ids: Ids, minus: "-" | "−"): string {
  return [...gained(ids).map((id) => `+${id}`), ...lost(ids).map((id) => `${minus}${id}`)].join(" ");
}
