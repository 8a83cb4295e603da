import type { Action, Condition, Rule, Snapshot } from "../model/snapshot/types.js";
import { actionText, conditionText, triggerText } from "../model/snapshot/words.js";
import { FirstConditions, useShown } from "./first-conditions.js";
import { address, Text, TextLink } from "./parts.js";

/** The most values in the definitions that a page with a list shows. */
const LISTED_MAX = 10_000;

/** The ids of the parts whose definitions a list shows: the first ones, up to LISTED_MAX values. The others are shown on their own pages. */
export function idsDefinedInList(parts: readonly { id: string }[]): ReadonlySet<string> {
  let room = LISTED_MAX;
  const firstOmitted = parts.findIndex((part) => (room -= sizeOf(part)) < 0);
  return new Set(parts.slice(0, firstOmitted < 0 ? parts.length : firstOmitted).map(({ id }) => id));
}

/** The number of primitive values in a value. */
function sizeOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce<number>((sum, member) => sum + sizeOf(member), 1);
}

/** In a list, links to the page that shows a part's definition. */
export function DefinitionLink({ href }: { href: string }) {
  return <a href={href}>Shown on its own page</a>;
}

/** A condition in words; a group as a list of its parts. */
export function Definition({ of: condition }: { of: Condition }) {
  const shown = useShown("conditions" in condition ? condition.conditions : []);
  if (!("conditions" in condition)) return <Text>{conditionText(condition)}</Text>;
  return (
    <>
      {condition.kind === "all" ? "all of these:" : "any of these:"}
      <ul>
        {shown.map((part, index) => (
          <li key={index}>
            <Definition of={part} />
          </li>
        ))}
      </ul>
    </>
  );
}

/** When a rule runs, what it does, and how often at most. */
export function RuleInWords({ rule }: { rule: Rule }) {
  const { on, when } = rule;
  return (
    <>
      <Text>{`On ${triggerText(on)}${when === undefined ? "" : `, if ${conditionText(when)}`}`}</Text>:{" "}
      <RuleAction rule={rule} />
    </>
  );
}

/** As `RuleInWords`, for the rule's own page: a group of conditions is a list of the first ones. */
export function RuleDefinition({ rule }: { rule: Rule }) {
  const { on, when } = rule;
  if (when === undefined || !("conditions" in when)) {
    return (
      <p>
        <RuleInWords rule={rule} />
      </p>
    );
  }
  return (
    <div>
      <FirstConditions of={[when]} rest="svc config pull">
        <Text>{`On ${triggerText(on)}, if`}</Text> <Definition of={when} />
      </FirstConditions>
      <p>
        Then: <RuleAction rule={rule} />
      </p>
    </div>
  );
}

function RuleAction({ rule: { then, cooldown, once } }: { rule: Rule }) {
  return (
    <>
      <strong>
        {then.kind === "emit" ? (
          <Text>{actionText(then)}</Text>
        ) : (
          <a
            href={
              "segment" in then ? address("segment", { id: then.segment }) : address("signals", { signal: then.signal })
            }
          >
            <Text>{actionText(then)}</Text>
          </a>
        )}
      </strong>
      {once === true ? ", once for each customer" : null}
      {cooldown === undefined ? null : `, then not again for ${cooldown}`}
    </>
  );
}

const EFFECTS: Readonly<Record<Exclude<Action["kind"], "emit">, string>> = {
  addToSegment: "adds customers",
  removeFromSegment: "removes customers",
  raiseSignal: "raises it",
  clearSignal: "clears it",
};

/** The rules that change a segment or signal without a condition. */
export function DecidingRules(props: { model: Snapshot | null; segment?: string; signal?: string }) {
  const { model, segment, signal } = props;
  const deciding = (model?.rules ?? []).flatMap(({ id, then }) => {
    if (then.kind === "emit") return [];
    return ("segment" in then ? then.segment === segment : then.signal === signal)
      ? [{ id, effect: EFFECTS[then.kind] }]
      : [];
  });
  if (deciding.length === 0) return <span class="faint">Rules decide, but the model has no rule for it.</span>;
  return (
    <>
      Rules decide:{" "}
      {deciding.map(({ id, effect }, index) => (
        <>
          {index === 0 ? "" : ", "}
          <TextLink href={address("rule", { id })} text={id} /> {effect}
        </>
      ))}
    </>
  );
}
