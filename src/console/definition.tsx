import type { Action, Condition, Rule, Snapshot } from "../model/snapshot/types.js";
import { actionText, conditionText, triggerText } from "../model/snapshot/words.js";
import { FirstConditions, useShown } from "./first-conditions.js";
import { address, Text, TextLink } from "./parts.js";

/** On a page that lists parts of a model, what these are told by takes so many values at most. */
const LISTED_MAX = 10_000;

/** The ids of those parts that a list of them tells in words: the first, as far as there is room. The others are told on pages of their own. */
export function toldInList(parts: readonly { id: string }[]): ReadonlySet<string> {
  let room = LISTED_MAX;
  const beyond = parts.findIndex((part) => (room -= sizeOf(part)) < 0);
  return new Set(parts.slice(0, beyond < 0 ? parts.length : beyond).map(({ id }) => id));
}

/** How many values there are in one. */
function sizeOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce<number>((sum, member) => sum + sizeOf(member), 1);
}

/** In a list, leads to where a part is told. */
export function ToldThere({ href }: { href: string }) {
  return <a href={href}>Told on a page of its own</a>;
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

/** What a rule does, when, and how often at most. */
export function RuleInWords({ rule }: { rule: Rule }) {
  const { on, when } = rule;
  return (
    <>
      <Text>{`On ${triggerText(on)}${when === undefined ? "" : `, if ${conditionText(when)}`}`}</Text>:{" "}
      <RuleAction rule={rule} />
    </>
  );
}

/** The same on a page of its own, where a group of conditions is a list of the first. */
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

const DEEDS: Readonly<Record<Exclude<Action["kind"], "emit">, string>> = {
  addToSegment: "adds to it",
  removeFromSegment: "removes from it",
  raiseSignal: "raises it",
  clearSignal: "clears it",
};

/** Which rules decide on a segment or signal that has no condition. */
export function DecidingRules(props: { model: Snapshot | null; segment?: string; signal?: string }) {
  const { model, segment, signal } = props;
  const deciding = (model?.rules ?? []).flatMap(({ id, then }) => {
    if (then.kind === "emit") return [];
    return ("segment" in then ? then.segment === segment : then.signal === signal)
      ? [{ id, deed: DEEDS[then.kind] }]
      : [];
  });
  if (deciding.length === 0) return <span class="faint">Rules decide, but the model has none that does.</span>;
  return (
    <>
      Rules decide:{" "}
      {deciding.map(({ id, deed }, index) => (
        <>
          {index === 0 ? "" : ", "}
          <TextLink href={address("rule", { id })} text={id} /> {deed}
        </>
      ))}
    </>
  );
}
