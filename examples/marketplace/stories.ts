// Seventeen buyers and sellers, named for what they do, from June 2025 to July 2026. `data.jsonl` is written from this file.
import { Story } from "../tools/story.js";

/** Where the look at them is taken: `expected.json` says how they stand then. */
export const end = "2026-08-01T00:00:00Z";

function party(
  side: "buyer" | "seller",
  customerId: string,
  begins: string,
  traits: Record<string, unknown> = {},
): Story {
  return new Story(customerId, begins).becomes(0, { side, ...traits }).does(0, "registered", { country: "SE" });
}
const seller = (id: string, begins: string) => party("seller", id, begins, { commission: 8 });
const buyer = (id: string, begins: string) => party("buyer", id, begins);

const listing = (listingId: string, category: string, price: number) => ({ listingId, category, price });
const sold = (listingId: string, category: string, amount: number) => ({ role: "sold", listingId, category, amount });
const bought = (listingId: string, category: string, amount: number) => ({
  ...sold(listingId, category, amount),
  role: "bought",
});
const stars = (count: number) => ({ stars: count });

export const stories = [
  // The form was left before its second page: on which side this one is nobody knows.
  new Story("side-unknown", "2026-06-01T10:00:00Z").does(0, "registered", { country: "NO" }),

  // Stopped where the bank asked for a document.
  seller("stuck-at-the-papers", "2026-05-04T09:00:00Z").does(1, "payout_added"),

  // All papers are there, and nothing is for sale.
  seller("nothing-to-sell", "2026-07-06T09:00:00Z")
    .does(0.5, "identity_verified", { method: "bank" })
    .does(1, "payout_added"),

  // As it should be: listed on the second day, asked the same evening, sold within a week.
  seller("sold-in-a-week", "2026-05-11T08:00:00Z")
    .does(0.2, "identity_verified", { method: "document" })
    .does(0.3, "payout_added")
    .does(1.5, "listing_published", listing("w1", "keys", 320))
    .does(1.9, "message_received", { listingId: "w1" })
    .does(6, "trade_completed", sold("w1", "keys", 300))
    .does(9, "rating_received", stars(5))
    .every(25, 20, 75, "listing_published", listing("w2", "strings", 150))
    .every(25, 26, 75, "trade_completed", sold("w2", "strings", 150))
    .every(25, 28, 75, "rating_received", stars(4)),

  // Three listings at prices that nobody pays: a cold start, help with the price, stalled, idle after three months; and in July a price that is paid.
  seller("too-expensive", "2026-02-02T12:00:00Z")
    .does(1, "identity_verified", { method: "document" })
    .does(2, "payout_added")
    .every(4, 5, 15, "listing_published", listing("x1", "drums", 2_900))
    .does(160, "trade_completed", sold("x1", "drums", 900)),

  // Listed what was stolen, and was suspended before anybody bought it.
  seller("stolen-goods", "2026-07-13T12:00:00Z")
    .does(0.2, "identity_verified", { method: "document" })
    .does(0.3, "payout_added")
    .does(0.5, "listing_published", listing("z1", "strings", 4_000))
    .does(2, "suspended", { by: "law" }),

  // Somebody asked, nobody bought. In the end the account is closed.
  seller("asked-but-never-sold", "2026-03-02T12:00:00Z")
    .does(1, "identity_verified", { method: "document" })
    .does(1.5, "payout_added")
    .does(4, "listing_published", listing("a1", "winds", 480))
    .does(9, "message_received", { listingId: "a1" })
    .does(12, "message_received", { listingId: "a1" })
    .does(100, "account_closed"),

  // Stalls after the first sale, and lists again in June: back.
  seller("comes-back-to-sell", "2026-02-09T12:00:00Z")
    .does(1, "identity_verified", { method: "bank" })
    .does(1.1, "payout_added")
    .does(10, "listing_published", listing("c1", "winds", 200))
    .does(14, "trade_completed", sold("c1", "winds", 190))
    .does(130, "listing_published", listing("c2", "winds", 350))
    .does(136, "message_received", { listingId: "c2" })
    .does(140, "trade_completed", sold("c2", "winds", 340)),

  // Guitars only, dear ones, all of them well rated; in the spring the person becomes a shop, whose contract is to be renewed soon.
  seller("star-seller", "2026-01-12T10:00:00Z")
    .does(0.5, "identity_verified", { method: "document" })
    .does(0.6, "payout_added")
    .every(20, 1, 190, "listing_published", listing("s1", "guitars", 1_150))
    .every(20, 1.4, 190, "message_received", { listingId: "s1" })
    .every(20, 8, 195, "trade_completed", sold("s1", "guitars", 1_100))
    .every(20, 10, 197, "rating_received", stars(5))
    .becomes(90, { professional: true, contractEndsOn: "2026-08-20", commission: 5 })
    .does(90, "message_received", { listingId: "s1" }),

  // Was as good, until May: complaints, bad ratings, suspended by the team, let in again.
  seller("star-that-falls", "2026-02-02T10:00:00Z")
    .does(0.5, "identity_verified", { method: "document" })
    .does(0.6, "payout_added")
    .every(12, 3, 110, "listing_published", listing("f1", "keys", 700))
    .every(12, 9, 112, "trade_completed", sold("f1", "keys", 650))
    .every(24, 11, 90, "rating_received", stars(5))
    .does(100, "dispute_opened", { reason: "not_as_described", amount: 650 })
    .does(104, "dispute_resolved", { inFavour: false })
    .does(106, "rating_received", stars(1))
    .does(112, "dispute_opened", { reason: "not_sent", amount: 650 })
    .does(113, "suspended", { by: "team" })
    .does(116, "dispute_resolved", { inFavour: false })
    .does(155, "reinstated")
    .does(160, "trade_completed", sold("f2", "keys", 300)),

  // We forgot a complaint for ten days: the alarm is ours.
  seller("complaint-forgotten", "2026-05-18T13:00:00Z")
    .does(1, "identity_verified", { method: "bank" })
    .does(2, "payout_added")
    .does(5, "listing_published", listing("g1", "strings", 90))
    .does(20, "trade_completed", sold("g1", "strings", 90))
    .does(25, "dispute_opened", { reason: "abuse", amount: 90 })
    .does(35, "dispute_resolved", { inFavour: true })
    .does(60, "dispute_opened", { reason: "not_as_described", amount: 60 }),

  // Sells a lot without ever having shown a document.
  seller("sells-without-papers", "2026-06-01T09:00:00Z")
    .every(10, 2, 45, "listing_published", listing("p1", "guitars", 420))
    .every(10, 6, 50, "trade_completed", sold("p1", "guitars", 400))
    .does(40, "rating_received", stars(2)),

  // Wants a harp, and there is none. Asks again in spring, and leaves.
  buyer("finds-nothing", "2026-03-16T20:00:00Z")
    .every(1, 0.1, 3, "search_made", { category: "strings", results: 0 })
    .every(1, 10, 12, "search_made", { category: "strings", results: 1 })
    .does(60, "search_made", { category: "strings", results: 2 })
    .does(61, "account_closed"),

  // For more than a year now, every second month.
  buyer("faithful-buyer", "2025-06-09T18:00:00Z")
    .every(60, 3, 400, "search_made", { category: "winds", results: 14 })
    .every(60, 5, 400, "trade_completed", bought("b1", "winds", 120))
    .every(120, 9, 400, "rating_received", stars(5)),

  // One trumpet was enough.
  buyer("buys-once", "2026-02-23T18:00:00Z")
    .does(1, "search_made", { category: "winds", results: 9 })
    .does(2, "trade_completed", bought("t1", "winds", 240)),

  // Idle in spring, and back in summer.
  buyer("back-in-summer", "2026-01-19T18:00:00Z")
    .does(4, "trade_completed", bought("m1", "drums", 180))
    .does(170, "search_made", { category: "drums", results: 22 })
    .does(171, "trade_completed", bought("m2", "drums", 260)),

  // Traded on a fair whose wireless was down: the two purchases of May were sent in July.
  buyer("offline-at-the-fair", "2026-05-04T10:00:00Z")
    .does(1, "search_made", { category: "guitars", results: 40 })
    .arrives(70)
    .does(20, "trade_completed", bought("o1", "guitars", 700))
    .does(20.1, "trade_completed", bought("o2", "guitars", 90)),
];
