import type { Condition } from "../../../model/snapshot/types.js";
import { conditionText } from "../../../model/snapshot/words.js";
import { printable } from "../../output/text.js";

const INDENT = "  ";

/** A condition of the model in words: a line per part, those of a group indented below it. */
export function conditionInWords(condition: Condition, indent = INDENT): string {
  switch (condition.kind) {
    case "all":
    case "any": {
      const parts = condition.conditions.map((part) => conditionInWords(part, indent + INDENT));
      return [`${indent}${condition.kind} of`, ...parts].join("\n");
    }
    case "not":
      return `${indent}not\n${conditionInWords(condition.condition, indent + INDENT)}`;
    default:
      return `${indent}${printable(conditionText(condition))}`;
  }
}
