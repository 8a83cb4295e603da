/** How a file of operations becomes requests, each at its instant. */

/** A request and the instant at which it is accepted, in milliseconds since 1970. */
export interface Request {
  at: number;
  /** As `POST /v1/events/batch` takes them. */
  operations: Operation[];
}

export interface Operation {
  type?: "identify";
  customerId: string;
  event?: string;
  timestamp?: string;
  properties?: Record<string, unknown>;
  traits?: Record<string, unknown>;
}

/**
 * Each event is a request of its own, together with the traits on the lines before it, and is accepted when it occurs. Time never goes back: an
 * event that occurred before the line above it is late, and is accepted at once.
 *
 * @param text JSON Lines; the last is an event, and every event has a timestamp
 * @throws {Error} that names the line where that is not so
 */
export function requestsOf(text: string): Request[] {
  const requests: Request[] = [];
  let now = -Infinity;
  let operations: Operation[] = [];
  for (const [index, line] of text.trimEnd().split("\n").entries()) {
    const operation = JSON.parse(line) as Operation;
    operations.push(operation);
    if (operation.type === "identify") continue;
    const occurred = Date.parse(operation.timestamp ?? "");
    if (Number.isNaN(occurred)) throw new Error(`line ${index + 1}: the event has no timestamp`);
    now = Math.max(now, occurred);
    requests.push({ at: now, operations });
    operations = [];
  }
  if (operations.length > 0) throw new Error("the last line is an identify: put it before an event");
  return requests;
}
