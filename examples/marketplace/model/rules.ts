// What is done by itself. The shop window listens for badges, the sourcing team for `supply.wanted`, trust and safety for cases.
import { addTo, daysSinceFirst, emit, not, raise, rule, traitsChanged } from "svc-success";
import { listingPublished, registered, reinstated } from "./events.js";
import { inDispute, quickStarters, topSellers, unmetDemand, unsold } from "./segments.js";
import { qualityAlarm, watched } from "./signals.js";
import { party } from "./traits.js";

export const grantBadge = rule("grant_badge", { on: topSellers.entered(), then: emit("badge.grant") });

/** A badge is taken away by the same event that takes the seller out of the segment: a complaint is enough. */
export const withdrawBadge = rule("withdraw_badge", { on: topSellers.exited(), then: emit("badge.withdraw") });

/** The other side's problem: a buyer finds nothing, so sellers are looked for. Every two weeks at most, as sourcing takes time. */
export const wantSupply = rule("want_supply", {
  on: unmetDemand.entered(),
  cooldown: "14d",
  then: emit("supply.wanted"),
});

export const helpWithPrice = rule("help_with_price", {
  on: unsold.entered(),
  when: not(inDispute.has()),
  cooldown: "30d",
  then: emit("mail.price_help"),
});

export const noteQuickStart = rule("note_quick_start", {
  on: listingPublished,
  when: daysSinceFirst(registered).atMost(2),
  then: addTo(quickStarters),
});

export const openCase = rule("open_case", { on: qualityAlarm.raised(), then: emit("case.open") });

export const closeCase = rule("close_case", { on: qualityAlarm.cleared(), then: emit("case.close") });

export const watch = rule("watch", { on: reinstated, then: raise(watched) });

/** A person became a shop. The trait says how things are, so the rule says when it was first seen. */
export const welcomeShop = rule("welcome_shop", {
  on: traitsChanged,
  when: party.professional.is(true),
  once: true,
  then: emit("contract.welcome"),
});
