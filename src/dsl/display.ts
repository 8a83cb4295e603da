import { quote } from "../model/snapshot/problem.js";
import type { Display as DisplayNode } from "../model/snapshot/types.js";
import type { DateField, StringField } from "./field.js";
import { definitionOf, ModelError, recordMistake, RECOVERY_DISPLAY, RECOVERY_TRAIT } from "./mistakes.js";
import { type Part, part, TRAIT } from "./part.js";
import type { Trait } from "./traits.js";

/** How customers are shown to people. */
export type DisplayModel = Part<"display", DisplayNode>;

/** The traits that are shown; at least one member is needed. */
interface DisplayDefinition {
  /** The customer's name. */
  name?: Trait<StringField>;
  /** The person who looks after the customer. */
  owner?: Trait<StringField>;
  /** When the customer's contract is renewed. */
  renewal?: Trait<DateField>;
  /** Other traits to show, in this order: at most 20, each once. */
  show?: readonly Trait[];
}

/** Declares which traits are shown to people along with a customer's id. Nothing is derived from it. */
export function display(definition: DisplayDefinition): DisplayModel {
  const given = definitionOf(definition, "display(…)", "at least one of name, owner, renewal and show");
  const members = Object.entries(given).map(([member, value]: [string, Trait | Trait[]]) => {
    const names = Array.isArray(value) ? value.map((trait) => nameOf(trait, member)) : nameOf(value, member);
    return [member, names] as const;
  });
  const isMistaken = members.some(([, names]) => [names].flat().includes(undefined));
  const node = isMistaken ? RECOVERY_DISPLAY : (Object.fromEntries(members) as DisplayNode);
  return part("display", () => node);
}

/** The name of a trait. For anything else, records a mistake and returns undefined. */
function nameOf(trait: Partial<Trait> | null | undefined, member: string): string | undefined {
  const node = trait?.[TRAIT];
  if (!node) recordMistake(new ModelError("NOT_A_TRAIT", `${quote(member)} of the display is not a trait`));
  return node === RECOVERY_TRAIT ? undefined : node?.name;
}
