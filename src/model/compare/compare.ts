import type { Placed } from "../snapshot/list.js";
import { at, list } from "../snapshot/problem.js";
import type { EventSchema, Field, Snapshot } from "../snapshot/types.js";
import { fieldText } from "../snapshot/words.js";
import { asFlag, asWhole, type Change, Changes, compareMembers, member, type ComparedPart, same } from "./change.js";
import { compareKeyed, keyedMembers } from "./lists.js";
import {
  compareHealth,
  compareJourneys,
  compareLifecycles,
  compareRules,
  compareSegments,
  compareSignals,
} from "./parts.js";

type Fields = Readonly<Record<string, Field>>;

function compareEvents(
  before: Placed<Record<string, EventSchema>>,
  after: Placed<Record<string, EventSchema>>,
  changes: Changes,
): void {
  compareKeyed(
    keyedMembers(before),
    keyedMembers(after),
    {
      part: (id) => ({ subject: "event", id }),
      text: ({ properties }) => {
        const names = Object.keys(properties);
        return names.length === 0 ? "without properties" : `with ${list(names)}`;
      },
      compare: ({ id }, older, newer) =>
        compareFields(propertiesOf(older), propertiesOf(newer), (name) => propertyPart(id, name), changes),
    },
    changes,
  );
}

function compareTraits(before: Placed<Fields>, after: Placed<Fields>, changes: Changes): void {
  compareFields(before, after, (id) => ({ subject: "trait", id }), changes);
}

function propertyPart(event: string, name: string): ComparedPart {
  return { subject: "property", id: `${event}.${name}` };
}

function propertiesOf({ item, path }: Placed<EventSchema>): Placed<Fields> {
  return { item: item.properties, path: at(path, "properties") };
}

function compareFields(
  before: Placed<Fields>,
  after: Placed<Fields>,
  part: (name: string) => ComparedPart,
  changes: Changes,
): void {
  const compare = (part: ComparedPart, older: Placed<Field>, newer: Placed<Field>): void =>
    compareField(part, older, newer, changes);
  compareKeyed(keyedMembers(before), keyedMembers(after), { part, text: fieldWithOption, compare }, changes);
}

function compareField(part: ComparedPart, before: Placed<Field>, after: Placed<Field>, changes: Changes): void {
  if (typeOf(before.item) !== typeOf(after.item)) asWhole(changes, part, "type", fieldText)(before, after);
  else compareChoices(part, choicesOf(before), choicesOf(after), changes);
  const [was, is] = [member(before, "optional"), member(after, "optional")];
  if (!same(was?.item, is?.item)) asFlag(changes, part, "optional")(was, is);
}

/** What the type is but for its choices: `string`, `oneOf`, `array(oneOf)`. */
function typeOf(field: Field): string {
  if (field.type === "array") return `array(${typeOf(field.items)})`;
  return field.type === "string" && field.enum !== undefined ? "oneOf" : field.type;
}

/** Of a text, or of the texts in an array. */
function choicesOf(field: Placed<Field>): Placed<string[]> | undefined {
  if (field.item.type === "string") return member({ ...field, item: field.item }, "enum");
  if (field.item.type !== "array") return undefined;
  return member({ item: field.item.items, path: at(field.path, "items") }, "enum");
}

function compareChoices(
  part: ComparedPart,
  before: Placed<string[]> | undefined,
  after: Placed<string[]> | undefined,
  changes: Changes,
): void {
  if (same(before?.item, after?.item)) return;
  const [was, is] = [new Set(before?.item), new Set(after?.item)];
  const added = [...is].filter((value) => !was.has(value));
  const removed = [...was].filter((value) => !is.has(value));
  const said = [
    ...(added.length > 0 ? [`with ${list(added)}`] : []),
    ...(removed.length > 0 ? [`without ${list(removed)}`] : []),
  ];
  const message = said.length === 0 ? "in another order (the meaning is the same)" : said.join(", ");
  changes.changed(part, before, after, `oneOf: ${message}`);
}

function fieldWithOption(field: Field): string {
  return fieldText(field) + (field.optional === true ? ".optional()" : "");
}

export type { Change, ChangeSubject as Subject } from "./change.js";

/**
 * What is different in `to`, in the author's terms and in the order of the snapshot: none exactly where the two have the same hash.
 * What has a name is followed by it, so a part that was renamed was removed and added. Both snapshots must be sound (`parseSnapshot`).
 */
export function compareSnapshots(from: Snapshot, to: Snapshot): Change[] {
  const changes = new Changes();
  const before: Placed<Snapshot> = { item: from, path: "" };
  const after: Placed<Snapshot> = { item: to, path: "" };
  compareMembers(before, after, {
    // There is one format; another would have been refused.
    formatVersion: null,
    strictSchema: (was, is) =>
      changes.changed({ subject: "setting", id: "strictSchema" }, was, is, `strictSchema: ${was!.item} → ${is!.item}`),
    events: (was, is) => compareEvents(was!, is!, changes),
    traits: (was, is) => compareTraits(was!, is!, changes),
    lifecycle: (was, is) => compareLifecycles(was, is, changes),
    journeys: (was, is) => compareJourneys(was!, is!, changes),
    segments: (was, is) => compareSegments(was!, is!, changes),
    health: (was, is) => compareHealth(was, is, changes),
    rules: (was, is) => compareRules(was!, is!, changes),
    signals: (was, is) => compareSignals(was!, is!, changes),
  });
  return changes.found;
}
