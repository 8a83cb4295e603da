const DAY_MS = 86_400_000;

/** How instants of a span are told apart on its axis: hours within two days, days within a year, else months. */
export function tickFormat(spanMs: number, timeZone: string): Intl.DateTimeFormat {
  if (spanMs < 2 * DAY_MS) return new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZone });
  return dayFormat(spanMs, timeZone);
}

/** As `tickFormat`, of a span of whole days. */
export function dayFormat(spanMs: number, timeZone: string): Intl.DateTimeFormat {
  if (spanMs < 365 * DAY_MS) return new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone });
  return new Intl.DateTimeFormat("en-GB", { month: "short", year: "numeric", timeZone });
}

/** A name beside a picture, where it must not take more than so many characters. */
export function shortened(name: string, charactersMax: number): string {
  const characters = [...name];
  return characters.length > charactersMax ? `${characters.slice(0, charactersMax - 1).join("")}…` : name;
}
