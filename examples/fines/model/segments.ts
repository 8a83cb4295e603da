import { all, inactiveFor, segment, sequence } from "svc-success";
import { addPenalty, createFine, payment, receiveResult, sendAppeal } from "./events.js";
import { appeal } from "./journeys.js";
import { stages } from "./lifecycle.js";

/** Paid in more than one part. */
export const instalments = segment("instalments", { when: payment.count().atLeast(2) });

/** Given to the debt collector although something had been paid: mostly the fine without the penalty. */
export const collectedDespitePayment = segment("collected_despite_payment", {
  when: all(stages.is("in_collection"), payment.happened()),
});

/** Sent or delivered, and then nothing for a year: the case is about to be forgotten. */
export const forgotten = segment("forgotten", {
  when: all(stages.in("sent", "notified", "penalized"), inactiveFor("365d")),
});

/** Waits for the prefecture. */
export const atPrefecture = segment("at_prefecture", {
  when: all(stages.is("appealed"), sendAppeal.happened(), receiveResult.never()),
});

/** Fines of seventy euros and more, twice the usual one. */
export const highFines = segment("high_fines", {
  when: createFine.where((fine) => fine.amount.atLeast(70)).happened(),
});

/** Paid soon after the penalty: the reminder worked. */
export const paidAfterPenalty = segment("paid_after_penalty", { when: sequence(addPenalty, payment).within("30d") });

/** The appeal was passed on and has not been decided. */
export const undecided = segment("undecided", { when: appeal.atStep("decide") });
