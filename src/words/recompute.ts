import { formatNumber, plural } from "./text.js";

/** The totals of a recompute, a dry run or a preview. */
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
  > & {
    // A service of an earlier release does not send them.
    readonly signalsRaised?: number;
    readonly signalsCleared?: number;
  };
}

/** The changes, line by line; in the conditional ("would change") if nothing was written. */
export function totalFields({ result, dry_run }: Totals): Record<string, string> {
  const would = (done: string, not: string) => (dry_run ? not : done);
  const changed = would("changed", "would change");
  const [entered, left] = [would("entered", "would enter"), would("left", "would leave")];
  const [raised, cleared] = [would("raised", "would be raised"), would("cleared", "would be cleared")];
  const { signalsRaised = 0, signalsCleared = 0 } = result;
  const added = would("added to the log", "would be added to the log");
  return {
    Customers: `${formatNumber(result.customersChanged)} ${changed}`,
    Lifecycle: `${plural(result.lifecycleChanged, "customer")} ${would("moved", "would move")}`,
    Health: `${plural(result.healthChanged, "customer")} ${changed}`,
    Segments: `${formatNumber(result.segmentsEntered)} ${entered}, ${formatNumber(result.segmentsExited)} ${left}`,
    Signals: `${formatNumber(signalsRaised)} ${raised}, ${formatNumber(signalsCleared)} ${cleared}`,
    Rules: `${plural(result.rules, "run")} ${added}, ${formatNumber(result.rulesRemoved)} ${would("went", "would go")}`,
    Emissions: `${formatNumber(result.emissions)} ${would("emitted", "would be emitted")}`,
  };
}

/** That retention has removed a part of the replayed history, if it has. @param at formats an instant */
export function historyFields(
  { exactFrom }: { exactFrom?: string | null },
  at: (iso: string) => string,
): { History?: string } {
  // A service of an earlier release does not send it.
  if (typeof exactFrom !== "string") return {};
  return {
    History: `retention has removed operations that were accepted before ${at(exactFrom)}, so their effects are missing`,
  };
}

/** Ids of a customer's segments or raised signals, before and after. */
interface Ids {
  before: readonly string[];
  after: readonly string[];
  /** Signals that stay raised, with another severity or message. */
  changed?: readonly string[];
}

/** The ids that are only in `after`. */
export function gained({ before, after }: Ids): string[] {
  return after.filter((id) => !before.includes(id));
}

/** The ids that are only in `before`. */
export function lost({ before, after }: Ids): string[] {
  return before.filter((id) => !after.includes(id));
}

/** `+vip -paying`, and `~low_usage` for what changes otherwise. @param minus the sign of lost ids */
export function movesText(ids: Ids, minus: "-" | "−"): string {
  const signed = (sign: string, some: readonly string[]) => some.map((id) => `${sign}${id}`);
  return [...signed("+", gained(ids)), ...signed(minus, lost(ids)), ...signed("~", ids.changed ?? [])].join(" ");
}
