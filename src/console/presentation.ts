import { createContext } from "preact";
import { useContext } from "preact/hooks";

/** The traits of a customer that lists show, by the model's display. Traits that the display or the customer lacks are left out. */
export type DisplayedTraits = Partial<Record<"name" | "owner" | "renewal", string>>;

/** How everything on a page is shown: relative to which instant, in which time zone, with which names. */
export interface Presentation {
  /** Milliseconds since 1970 UTC. */
  now: number;
  /** The time zone in which days begin and instants are shown. */
  timeZone: string;
  /** The displayed traits of a customer; empty if only its id is known. */
  displayedTraitsOf: (customerId: string) => DisplayedTraits;
}

const PresentationContext = createContext<Presentation>({ now: 0, timeZone: "UTC", displayedTraitsOf: () => ({}) });

/** Sets how its children are shown. */
export const WithPresentation = PresentationContext.Provider;

export const usePresentation = (): Presentation => useContext(PresentationContext);
