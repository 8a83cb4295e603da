/** Verifies what the receiver of webhooks got. */
import { setTimeout as delay } from "node:timers/promises";
import type { Sql } from "postgres";
import type { DemoApi } from "../src/demo/api.js";
import type { ReceiptTally } from "../src/demo/receiver.js";
import type { Claim, Figure } from "./verification.js";

const POLL_MS = 100;

export interface Webhook {
  project: string;
  id: string;
}

/**
 * Waits until everything is delivered. What failed twice because of our faults would be tried again only after five minutes: it is resent at
 * once, as an operator would.
 */
export async function allDelivered(sql: Sql, api: DemoApi, webhook: Webhook, signal: AbortSignal): Promise<void> {
  for (;;) {
    const [{ pending, later }] = await sql<[{ pending: number; later: number }]>`
      select
        count(*)::integer as pending,
        (count(*) filter (where d.next_attempt_at > now() + interval '10 seconds'))::integer as later
      from svc_inspect.deliveries as d
      where d.status = 'pending'`;
    if (pending === 0) return;
    if (later > 0) await resendPending(api, webhook);
    await delay(POLL_MS, undefined, { signal });
  }
}

/** Makes deliveries that wait for their next attempt due now. */
async function resendPending(api: DemoApi, { project, id }: Webhook): Promise<void> {
  const span = { since: "1970-01-01T00:00:00Z", statuses: ["pending"] };
  let cursor: string | null | undefined;
  do {
    const body = { ...span, cursor };
    const answer = await api.write<{ nextCursor: string | null }>(body, project, "webhooks", id, "resend");
    cursor = answer.nextCursor;
  } while (cursor !== null);
}

/** Verifies that exactly the emissions of an environment were received. */
export async function verifyDeliveries(
  sql: Sql,
  environmentId: number,
  tally: ReceiptTally,
): Promise<{ figures: Figure[]; claims: Claim[] }> {
  const emissions = await sql<{ id: string }[]>`
    select svc.emission_id(m.emission_seq) as id from svc.emissions as m where m.environment_id = ${environmentId}`;
  const written = new Set(emissions.map(({ id }) => id));
  const received = tally.ids;
  const missingIn = (ids: ReadonlySet<string>, others: ReadonlySet<string>) =>
    [...ids].filter((id) => !others.has(id)).slice(0, 3);
  return {
    figures: [{ what: "emissions, and those received", sent: String(written.size), stored: String(received.size) }],
    claims: [
      { claim: "every emission was received", counterexamples: missingIn(written, received) },
      { claim: "nothing was received that was not emitted", counterexamples: missingIn(received, written) },
      { claim: "every message was signed, with a current timestamp", counterexamples: [...tally.invalid.keys()] },
    ],
  };
}
