import { createContext } from "preact";
import { useContext } from "preact/hooks";

/** What of a customer is shown in lists, as the model's display says; what it does not say or the customer lacks is left out. */
export type Shown = Partial<Record<"name" | "owner" | "renewal", string>>;

/** What everything on a page is shown by. */
export interface Look {
  /** Milliseconds since 1970 UTC. */
  now: number;
  /** In which days begin and instants are shown. */
  timeZone: string;
  /** What the model's display says of a customer; empty where nothing but the id is known. */
  shownOf: (customerId: string) => Shown;
}

const LookContext = createContext<Look>({ now: 0, timeZone: "UTC", shownOf: () => ({}) });

/** Gives a look to everything inside. */
export const WithLook = LookContext.Provider;

export const useLook = (): Look => useContext(LookContext);
