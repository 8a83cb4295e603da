import { list, quote } from "../snapshot/problem.js";
import type * as Node from "../snapshot/types.js";
import {
  absentText,
  componentText,
  actionText,
  conditionText,
  fieldText,
  scoreText,
  stepsText,
  triggerText,
} from "../snapshot/words.js";
import type { Change, ChangeSubject, Compare, ComparedPart, MemberComparers, Side } from "./change.js";
import { change, compareFlag, lists, memberSide, members, records, same, compareAsText } from "./change.js";
import { compareConditions, filters, measures } from "./conditions.js";

export type { Change } from "./change.js";

const setting = (id: string): ComparedPart => ({ subject: "setting", id });

/** The type of a field without its choices: `string`, `oneOf`, `array(oneOf)`. */
function typeOf(field: Node.Field): string {
  if (field.type === "array") return `array(${typeOf(field.items)})`;
  return field.type === "string" && field.enum !== undefined ? "oneOf" : field.type;
}

/** The choices of a text, or of the texts in an array. */
function choicesOf(field: Side<Node.Field>): Side<string[]> {
  const texts = field?.item.type === "array" ? memberSide(field as Side<{ items: Node.Field }>, "items") : field;
  return memberSide(texts as Side<{ enum?: string[] }>, "enum");
}

const choices: Compare<string[]> = (part, before, after) => {
  if (same(before?.item, after?.item)) return [];
  const [was, is] = [new Set(before?.item), new Set(after?.item)];
  const added = [...is].filter((value) => !was.has(value));
  const removed = [...was].filter((value) => !is.has(value));
  const texts = [added.length > 0 && `with ${list(added)}`, removed.length > 0 && `without ${list(removed)}`];
  const message = texts.filter(Boolean).join(", ") || "in another order (the meaning is the same)";
  return [change("changed", part, before, after, `oneOf: ${message}`)];
};

const field: Compare<Node.Field> = (part, before, after) => {
  const [was, is] = [memberSide(before, "optional"), memberSide(after, "optional")];
  return [
    ...(typeOf(before!.item) === typeOf(after!.item)
      ? choices(part, choicesOf(before), choicesOf(after))
      : compareAsText("type", fieldText)(part, before, after)),
    ...(same(was?.item, is?.item) ? [] : compareFlag("optional")(part, was, is)),
  ];
};

const fieldWithOption = (of: Node.Field): string => fieldText(of) + (of.optional === true ? ".optional()" : "");

const events = records<Node.EventSchema>({
  part: (id) => ({ subject: "event", id }),
  text: ({ properties }) => {
    const names = Object.keys(properties);
    return names.length === 0 ? "without properties" : `with ${list(names)}`;
  },
  compare: members({
    properties: records<Node.Field>({
      part: (name, { id }) => ({ subject: "property", id: `${id}.${name}` }),
      text: fieldWithOption,
      compare: field,
    }),
  }),
});

const traits = records<Node.Field>({ part: (id) => ({ subject: "trait", id }), text: fieldWithOption, compare: field });

/** Lists of parts with ids, whose order is a setting. */
function parts<T extends { id: string }>(
  subject: ChangeSubject,
  text: (item: T) => string,
  comparisons: Omit<MemberComparers<T>, "id">,
): Compare<readonly T[]> {
  const what = `${subject}s`;
  return lists<T>({
    key: ({ id }) => id,
    part: (id) => ({ subject, id }),
    text,
    compare: members({ id: null, ...comparisons } as MemberComparers<T>),
    order: { what, part: setting(what.split(" ").at(-1)!) },
  });
}

const transitions = lists<Node.Transition>({
  key: ({ to }) => to,
  part: (to, { id }) => ({ subject: "transition", id: `${id} → ${to}` }),
  text: ({ when }) => conditionText(when),
  compare: members({ to: null, when: compareConditions("when") }),
  order: { what: "transitions are tried" },
});

const initial: Compare<string> = (_, before, after) => {
  const part = setting("initial");
  if (before === undefined) return [change("added", part, before, after, `initial state: ${after!.item}`)];
  if (after === undefined) return [change("removed", part, before, after, `initial state: ${before.item}`)];
  return compareAsText("initial state", String)(part, before, after);
};

const lifecycle = members<Node.Lifecycle>({
  initial,
  states: lists<Node.LifecycleState>({
    key: ({ name }) => name,
    part: (id) => ({ subject: "state", id }),
    text: ({ terminal, transitions: ways }) => {
      if (ways.length === 0) return terminal === true ? "terminal" : "without transitions";
      return `to ${ways.map(({ to }) => to).join(", ")}`;
    },
    compare: members<Node.LifecycleState>({ name: null, terminal: compareFlag("terminal"), transitions }),
    order: { what: "states", part: setting("states") },
  }),
});

const steps = lists<Node.JourneyStep>({
  key: ({ id }) => id,
  part: (step, { id }) => ({ subject: "step", id: `${id}.${step}` }),
  text: ({ when, since }) => (since === undefined ? conditionText(when) : `${conditionText(when)}, since: ${since}`),
  compare: members<Node.JourneyStep>({
    id: null,
    when: compareConditions("when"),
    since: compareAsText("since", String),
  }),
  order: { what: "steps" },
});

function journeyText({ start, steps, anyOrder, expiresAfter, repeat }: Node.Journey): string {
  return [
    `steps ${steps.map(({ id }) => id).join(", ")}${anyOrder === true ? " in any order" : ""}`,
    `begins when ${conditionText(start)}`,
    ...(expiresAfter === undefined ? [] : [`expires after ${expiresAfter}`]),
    ...(repeat === true ? ["repeats"] : []),
  ].join("; ");
}

const journeys = parts<Node.Journey>("journey", journeyText, {
  start: compareConditions("start"),
  steps,
  anyOrder: compareFlag("anyOrder"),
  expiresAfter: compareAsText("expiresAfter", String),
  repeat: compareFlag("repeat"),
});

const segments = parts<Node.Segment>(
  "segment",
  ({ when }) => (when === undefined ? "filled by rules" : conditionText(when)),
  { when: compareConditions("when") },
);

/** The scores of the values of a trait. */
const values: Compare<Record<string, number>> = (part, before, after) => {
  const names = new Set([after, before].flatMap((side) => Object.keys(side?.item ?? {})));
  return [...names].flatMap((name) => {
    const [older, newer] = [memberSide(before, name), memberSide(after, name)];
    const label = `score of ${JSON.stringify(name)}`;
    return older?.item === newer?.item ? [] : compareAsText(label, String)(part, older, newer);
  });
};

const SCORES: { [K in Node.Score["kind"]]: Compare<Extract<Node.Score, { kind: K }>> } = {
  scale: members({
    kind: null,
    of: measures,
    from: compareAsText("scale from", String),
    to: compareAsText("scale to", String),
  }),
  steps: members({
    kind: null,
    of: measures,
    steps: compareAsText("steps", stepsText),
    otherwise: compareAsText("otherwise", String),
  }),
  map: members({ kind: null, trait: compareAsText("trait", String), values }),
};

const score: Compare<Node.Score> = (part, before, after) => {
  const { kind } = after!.item;
  const compare =
    before!.item.kind === kind ? (SCORES[kind] as Compare<Node.Score>) : compareAsText("score", scoreText);
  return compare(part, before, after);
};

const health = members<Node.Health>({
  components: parts<Node.HealthComponent>(
    "health component",
    (component) => `weight ${component.weight}, ${componentText(component)}`,
    {
      weight: compareAsText("weight", String),
      score,
      absent: compareAsText("where it is absent", absentText, "0"),
    },
  ),
  bands: lists<Node.HealthBand>({
    key: ({ id }) => id,
    part: (id) => setting(`bands.${id}`),
    text: ({ from }) => `from ${from}`,
    compare: members({ id: null, from: compareAsText("from", String) }),
    order: { what: "bands", part: setting("bands") },
  }),
});

const triggers: Compare<Node.Trigger> = (part, before, after) => {
  const [was, is] = [before!.item, after!.item];
  if (was.kind !== "event" || is.kind !== "event" || was.of.event !== is.of.event)
    return compareAsText("on", triggerText)(part, before, after);
  const [older, newer] = [before, after] as Side<typeof was>[];
  return filters(part, memberSide(older, "of"), memberSide(newer, "of"));
};

function ruleText({ on, when, then, once, cooldown }: Node.Rule): string {
  const condition = when === undefined ? "" : ` if ${conditionText(when)}`;
  const limits = [...(once === true ? [", once"] : []), ...(cooldown === undefined ? [] : [`, cooldown ${cooldown}`])];
  return `on ${triggerText(on)}${condition}: ${actionText(then)}${limits.join("")}`;
}

const rules = parts<Node.Rule>("rule", ruleText, {
  on: triggers,
  when: compareConditions("when"),
  cooldown: compareAsText("cooldown", String),
  once: compareFlag("once"),
  then: compareAsText("then", actionText),
});

const signalText = ({ severity, when }: Node.Signal): string =>
  `${severity}, ${when === undefined ? "raised by rules" : conditionText(when)}`;

const signals = parts<Node.Signal>("signal", signalText, {
  severity: compareAsText("severity", String),
  message: compareAsText("message", quote),
  when: compareConditions("when"),
  for: compareAsText("for", String),
});

const shown = members<Node.Display>({
  name: compareAsText("name", String),
  owner: compareAsText("owner", String),
  renewal: compareAsText("renewal", String),
  show: compareAsText("show", (traits) => traits.join(", ")),
});

const display: Compare<Node.Display> = (_, before, after) => shown(setting("display"), before, after);

const mapped = members<Node.Tracking>({
  customer: compareAsText("customer", (ids) => ids.join(", else ")),
  events: compareAsText("events", (events) => list(Object.entries(events).map(([name, event]) => `${name}: ${event}`))),
});

const tracking: Compare<Node.Tracking> = (_, before, after) => mapped(setting("tracking"), before, after);

const snapshots = members<Node.Snapshot>({
  // There is only one format; any other is refused earlier.
  formatVersion: null,
  strictSchema: compareAsText("strictSchema", String),
  onViolation: (_, before, after) =>
    compareAsText("onViolation", String, "refuse")(setting("onViolation"), before, after),
  events,
  traits,
  lifecycle,
  journeys,
  segments,
  health,
  rules,
  signals,
  display,
  tracking,
});

/**
 * The changes from one snapshot to another, in the author's terms and in the order of the snapshot; none if and only if both have the same
 * hash. Parts are matched by name, so a renamed part counts as removed and added. Both snapshots must be valid (see `parseSnapshot`).
 */
export function compareSnapshots(from: Node.Snapshot, to: Node.Snapshot): Change[] {
  // The default part is for plain members at the top level, which are settings.
  return snapshots(setting("strictSchema"), { item: from, path: "" }, { item: to, path: "" });
}
