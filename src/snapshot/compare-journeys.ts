import type { Changes, Part } from "./change.js";
import { asFlag, asWhole, compareMembers } from "./change.js";
import { compareConditions } from "./compare-conditions.js";
import { compareKeyed, compareOrder, compareParts, keyedItems } from "./compare-lists.js";
import type { Placed } from "./list.js";
import type { Journey, JourneyStep } from "./types.js";
import { conditionText } from "./words.js";

export function compareJourneys(before: Placed<Journey[]>, after: Placed<Journey[]>, changes: Changes): void {
  const compare = (part: Part, older: Placed<Journey>, newer: Placed<Journey>): void =>
    compareJourney(part, older, newer, changes);
  const text = ({ steps }: Journey): string => `steps ${steps.map(({ id }) => id).join(", ")}`;
  compareParts(before, after, { subject: "journey", what: "journeys", text, compare }, changes);
}

function compareJourney(part: Part, before: Placed<Journey>, after: Placed<Journey>, changes: Changes): void {
  compareMembers(before, after, {
    id: null,
    start: (was, is) => compareConditions(part, "start", was, is, changes),
    steps: (was, is) => compareSteps(part, was!, is!, changes),
    anyOrder: asFlag(changes, part, "anyOrder"),
    expiresAfter: asWhole(changes, part, "expiresAfter", String),
    repeat: asFlag(changes, part, "repeat"),
  });
}

function compareSteps(
  journey: Part,
  before: Placed<JourneyStep[]>,
  after: Placed<JourneyStep[]>,
  changes: Changes,
): void {
  const [was, is] = [keyedItems(before, ({ id }) => id), keyedItems(after, ({ id }) => id)];
  const compare = (part: Part, older: Placed<JourneyStep>, newer: Placed<JourneyStep>): void =>
    compareMembers(older, newer, {
      id: null,
      when: (former, present) => compareConditions(part, "when", former, present, changes),
      since: asWhole(changes, part, "since", String),
    });
  const part = (id: string): Part => ({ subject: "step", id: `${journey.id}.${id}` });
  compareKeyed(was, is, { part, text: ({ when }) => conditionText(when), compare }, changes);
  compareOrder(was, is, { part: journey, path: after.path, what: "steps" }, changes);
}
