import { event, number } from "svc-success";

/** One order: the number of discs and what they cost together, in dollars. An order of free discs costs 0. */
export const purchase = event("purchase", { quantity: number(), amount: number() });
