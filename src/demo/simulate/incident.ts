/** The bad days: for two days in a row the integrations and the API fail for many hours. */
import type { Calendar } from "./calendar.js";
import type { Profile } from "./profile.js";

export interface Incident {
  /** Whether the incident touches the customer on this day. */
  hits(profile: Profile, day: number): boolean;
  severity(day: number): "major" | "critical";
  /** The minute of the day at which monitoring sees it. */
  minute(day: number): number;
}

/** The first day is a Tuesday some three and a half weeks before the end, so that its effects can still be seen in the segments. */
export function planIncident(calendar: Calendar): Incident {
  const first = calendar.tuesdayBefore(Math.min(24, Math.ceil(calendar.days / 3)));
  return {
    hits: (profile, day) =>
      (day === first || day === first + 1) && (profile.features.integration > 0.1 || profile.features.api > 0.1),
    severity: (day) => (day === first ? "critical" : "major"),
    minute: (day) => (day === first ? 10 * 60 + 20 : 14 * 60 + 5),
  };
}
