import type { Action, Condition, Rule, Snapshot } from "../model/snapshot/types.js";
import { actionText, conditionText, triggerText } from "../model/snapshot/words.js";
import { address, Text, TextLink } from "./parts.js";

/** A condition in words; a group as a list of its parts. */
export function Definition({ of: condition }: { of: Condition }) {
  if (!("conditions" in condition)) return <Text>{conditionText(condition)}</Text>;
  return (
    <>
      {condition.kind === "all" ? "all of these:" : "any of these:"}
      <ul>
        {condition.conditions.map((part, index) => (
          <li key={index}>
            <Definition of={part} />
          </li>
        ))}
      </ul>
    </>
  );
}

/** What a rule does, when, and how often at most. */
export function RuleInWords({ rule: { on, when, then, cooldown, once } }: { rule: Rule }) {
  return (
    <>
      <Text>{`On ${triggerText(on)}${when === undefined ? "" : `, if ${conditionText(when)}`}`}</Text>:{" "}
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
