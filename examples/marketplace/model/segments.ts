import { activeWithin, all, any, daysSinceFirst, not, segment, sequence } from "svc-success";
import {
  disputeOpened,
  identityVerified,
  listingPublished,
  messageReceived,
  ratingReceived,
  searchMade,
  tradeCompleted,
} from "./events.js";
import { dispute, liquidity, sellerOnboarding } from "./journeys.js";
import { stages } from "./lifecycle.js";
import { buyer, party, seller } from "./traits.js";

// Sellers.

/** Sells much, is rated well, and nobody complains: these are shown first. */
export const topSellers = segment("top_sellers", {
  when: all(
    seller,
    tradeCompleted.sum("amount").atLeast(2_000).within("90d"),
    ratingReceived.avg("stars").atLeast(4.5).within("180d"),
    disputeOpened.never().within("90d"),
  ),
});

/** Did what the bank asks and then stopped: wants help with the first listing. */
export const stuckBeforeListing = segment("stuck_before_listing", {
  when: all(sellerOnboarding.completed("add_payout"), stages.is("setting_up"), not(activeWithin("3d"))),
});

/** Listed three things or more in a month, and sold none of them. */
export const unsold = segment("unsold", {
  when: all(listingPublished.count().atLeast(3).within("30d"), tradeCompleted.never().within("30d")),
});

/** Answers the market within a day: a listing, and somebody asks. */
export const wantedGoods = segment("wanted_goods", { when: sequence(listingPublished, messageReceived).within("1d") });

/** Sells one kind of thing only. Specialists are recommended to each other's buyers. */
export const specialists = segment("specialists", {
  when: all(
    seller,
    tradeCompleted.count().atLeast(3),
    tradeCompleted
      .where((trade) => trade.role.is("sold"))
      .distinct("category")
      .equals(1),
  ),
});

/** Has sold an instrument for more than a thousand. */
export const highEnd = segment("high_end", { when: all(seller, tradeCompleted.max("amount").moreThan(1_000)) });

/** Shops whose contract ends within a month, or has ended. */
export const contractDue = segment("contract_due", {
  when: all(party.professional.is(true), any(party.contractEndsOn.within("30d"), party.contractEndsOn.passed())),
});

/** Filled by a rule, and never left: listed something within three days. The best sign of a seller to come. */
export const quickStarters = segment("quick_starters");

// Buyers.

/** Searched three times in a week and was shown next to nothing: tells us which sellers to look for. */
export const unmetDemand = segment("unmet_demand", {
  when: all(
    buyer,
    searchMade
      .where((search) => search.results.atMost(2))
      .count()
      .atLeast(3)
      .within("7d"),
  ),
});

/** Still buys after a year. */
export const faithfulBuyers = segment("faithful_buyers", {
  when: all(stages.is("buying"), daysSinceFirst(tradeCompleted).atLeast(365)),
});

// Either side.

/** The last rating was a bad one. */
export const badLastRating = segment("bad_last_rating", { when: ratingReceived.latest("stars").atMost(2) });

/** Trades money with us and was never verified: what the law asks above a sum in a year. */
export const verificationDue = segment("verification_due", {
  when: all(tradeCompleted.sum("amount").atLeast(1_500).within("365d"), identityVerified.never()),
});

/** Nothing is promised to and nothing is sent to these while a complaint is open. */
export const inDispute = segment("in_dispute", { when: dispute.is("active") });

/** Offered something, was asked, and never sold it: the way stopped at the second step. */
export const almostSold = segment("almost_sold", {
  when: all(liquidity.is("expired"), liquidity.completed("first_question"), tradeCompleted.never()),
});
