// What happens to either side. A trade is sent twice, once for each party: an event belongs to one customer, and nothing is looked up in another's.
import { boolean, event, number, oneOf, string } from "svc-success";

const category = oneOf("guitars", "keys", "strings", "winds", "drums");

export const registered = event("registered", { country: string() });

// What sellers do before the first listing.
export const identityVerified = event("identity_verified", { method: oneOf("document", "bank") });
export const payoutAdded = event("payout_added");

export const listingPublished = event("listing_published", { listingId: string(), category, price: number() });

/** `results` is how many listings the buyer was shown. */
export const searchMade = event("search_made", { category, results: number() });

/** A message between the parties about a listing; either side may be asked or answer. */
export const messageReceived = event("message_received", { listingId: string() });

/** Money and instrument have changed hands. The one event that counts for both sides. */
export const tradeCompleted = event("trade_completed", {
  role: oneOf("bought", "sold"),
  listingId: string(),
  category,
  amount: number(),
});

/** Both sides rate each other. */
export const ratingReceived = event("rating_received", { stars: number() });

/** The other side complains about this customer. */
export const disputeOpened = event("dispute_opened", {
  reason: oneOf("not_as_described", "not_sent", "not_paid", "abuse"),
  amount: number(),
});
export const disputeResolved = event("dispute_resolved", { inFavour: boolean() });

/** Trust and safety acted. The model never suspends anybody: it says whom to look at. */
export const suspended = event("suspended", { by: oneOf("team", "law") });
export const reinstated = event("reinstated");

export const accountClosed = event("account_closed");
