import type { Condition } from "../model/snapshot/types.js";
import { conditionText } from "../model/snapshot/words.js";
import { Text } from "./parts.js";

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
