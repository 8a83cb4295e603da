import { messageParts } from "../../model/snapshot/message.js";
import { cut } from "../../model/snapshot/problem.js";
import type { Snapshot } from "../../model/snapshot/types.js";
import type { OpenCustomer } from "../open-customer.js";
import type { Json } from "../state/types.js";

const VALUE_CHARACTERS = 256;
const MESSAGE_CHARACTERS = 2_000;
/** Replaces a trait that the customer does not have. */
const ABSENT = "unknown";

type Render = (customer: OpenCustomer) => string;

/** Compiles the message of an emission, rendered with the customer's traits at that instant. @param template a valid one */
export function compileMessage(template: string, { display }: Snapshot): Render {
  const parts = (messageParts(template) ?? []).map((part): Render => {
    if ("text" in part) return () => part.text;
    const { placeholder } = part;
    if (placeholder === "customerId") return ({ customerId }) => customerId;
    const trait =
      (placeholder === "name" || placeholder === "owner" ? display?.[placeholder] : undefined) ?? placeholder;
    const absent: Render = placeholder === "name" ? ({ customerId }) => customerId : () => ABSENT;
    return (customer) => cut(textOf(customer.traits[trait]) ?? absent(customer), VALUE_CHARACTERS);
  });
  return (customer) => cut(parts.map((part) => part(customer)).join(""), MESSAGE_CHARACTERS);
}

/** Undefined if the value has no visible text. */
function textOf(value: Json | undefined): string | undefined {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const text = Array.isArray(value) ? value.map(textOf).join(", ") : typeof value === "string" ? value : "";
  return text.trim() || undefined;
}
