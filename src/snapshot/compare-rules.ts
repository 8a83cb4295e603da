import type { Changes, Part } from "./change.js";
import { asFlag, asWhole, compareMembers } from "./change.js";
import { compareConditions, compareFilters } from "./compare-conditions.js";
import { compareParts } from "./compare-lists.js";
import type { Placed } from "./list.js";
import { at, quote } from "./problem.js";
import type { Rule, Segment, Signal, Trigger } from "./types.js";
import { actionText, conditionText, triggerText } from "./words.js";

export function compareSegments(before: Placed<Segment[]>, after: Placed<Segment[]>, changes: Changes): void {
  const compare = (part: Part, older: Placed<Segment>, newer: Placed<Segment>): void =>
    compareMembers(older, newer, {
      id: null,
      when: (former, present) => compareConditions(part, "when", former, present, changes),
    });
  const text = ({ when }: Segment): string => (when === undefined ? "filled by rules" : conditionText(when));
  compareParts(before, after, { subject: "segment", what: "segments", text, compare }, changes);
}

export function compareRules(before: Placed<Rule[]>, after: Placed<Rule[]>, changes: Changes): void {
  const compare = (part: Part, older: Placed<Rule>, newer: Placed<Rule>): void =>
    compareMembers(older, newer, {
      id: null,
      on: (former, present) => compareTriggers(part, former!, present!, changes),
      when: (former, present) => compareConditions(part, "when", former, present, changes),
      cooldown: asWhole(changes, part, "cooldown", String),
      once: asFlag(changes, part, "once"),
      then: asWhole(changes, part, "then", actionText),
    });
  const text = ({ on, then }: Rule): string => `on ${triggerText(on)}: ${actionText(then)}`;
  compareParts(before, after, { subject: "rule", what: "rules", text, compare }, changes);
}

function compareTriggers(part: Part, before: Placed<Trigger>, after: Placed<Trigger>, changes: Changes): void {
  const [was, is] = [before.item, after.item];
  if (was.kind === "event" && is.kind === "event" && was.of.event === is.of.event) {
    const [older, newer] = [was.of, is.of];
    const of = (side: Placed<Trigger>): string => at(side.path, "of");
    compareFilters(part, { item: older, path: of(before) }, { item: newer, path: of(after) }, changes);
  } else {
    asWhole(changes, part, "on", triggerText)(before, after);
  }
}

export function compareSignals(before: Placed<Signal[]>, after: Placed<Signal[]>, changes: Changes): void {
  const compare = (part: Part, older: Placed<Signal>, newer: Placed<Signal>): void =>
    compareMembers(older, newer, {
      id: null,
      severity: asWhole(changes, part, "severity", String),
      message: asWhole(changes, part, "message", quote),
      when: (former, present) => compareConditions(part, "when", former, present, changes),
      for: asWhole(changes, part, "for", String),
    });
  const text = ({ severity, when }: Signal): string =>
    when === undefined ? `${severity}, raised by rules` : `${severity}, ${conditionText(when)}`;
  compareParts(before, after, { subject: "signal", what: "signals", text, compare }, changes);
}
