/**
 * The seconds a `Retry-After` header asks for: a whole number or an HTTP date, which is compared with `now` (milliseconds).
 * Null where there is none that can be read. How long it may put off an attempt is decided where attempts are recorded.
 */
export function retryAfterSeconds(header: string | string[] | undefined, now: number): number | null {
  const value = (Array.isArray(header) ? header[0] : header)?.trim() ?? "";
  if (/^\d{1,15}$/.test(value)) return Number(value);
  // Date.parse takes much for a date; an HTTP date begins with the name of a day.
  const date = /^[A-Z][a-z]{2,8}, /.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(date) ? null : Math.max(0, Math.ceil((date - now) / 1000));
}
