import { newCustomer, type CustomerState } from "../engine/index.js";

/** A customer as the database keeps it. Instants are milliseconds. */
export interface StoredCustomer {
  customerId: string;
  createdAt: number;
  traits: CustomerState["traits"];
  /** The engine's state without traits, which are kept exactly in their own column; null at the first evaluation. */
  state: Omit<CustomerState, "traits"> | null;
}

/** The engine's state of a customer as loaded; a new one where it was never evaluated. */
export function stateOf({ customerId, createdAt, traits, state }: StoredCustomer): CustomerState {
  return state === null ? newCustomer(customerId, createdAt) : { ...state, traits };
}
