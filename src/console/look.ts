import { createContext } from "preact";
import { useContext } from "preact/hooks";

/** What everything on a page is shown by. */
export interface Look {
  /** Milliseconds since 1970 UTC. */
  now: number;
  /** In which days begin and instants are shown. */
  timeZone: string;
  /** How a customer is called; undefined where nothing but the id is known. */
  nameOf: (customerId: string) => string | undefined;
}

const LookContext = createContext<Look>({ now: 0, timeZone: "UTC", nameOf: () => undefined });

/** Gives a look to everything inside. */
export const WithLook = LookContext.Provider;

export const useLook = (): Look => useContext(LookContext);
