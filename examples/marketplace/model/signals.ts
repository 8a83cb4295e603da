import { all, any, inState, signal } from "svc-success";
import { disputeOpened, disputeResolved, ratingReceived, tradeCompleted } from "./events.js";
import { score } from "./health.js";
import { dispute } from "./journeys.js";
import { stages } from "./lifecycle.js";
import { seller } from "./traits.js";

/** Quality: two complaints in a month, or complaints and bad ratings together. For people to look at; nobody is suspended by a condition. */
export const qualityAlarm = signal("quality_alarm", {
  severity: "critical",
  message: "Complaints pile up: look at this account",
  when: any(
    disputeOpened.count().atLeast(2).within("30d"),
    all(disputeOpened.happened().within("30d"), ratingReceived.avg("stars").lessThan(3).within("30d")),
  ),
});

/** Listed for two weeks and nobody bought: the time to help, before the seller stalls. */
export const coldStart = signal("cold_start", {
  severity: "info",
  message: "Two weeks on the market without a sale: look at price and photographs",
  when: all(stages.is("listed"), inState().atLeast("14d")),
});

/** Sells much, and trust is going. */
export const valuableAndDoubtful = signal("valuable_and_doubtful", {
  severity: "warning",
  message: "Sells a lot with a bad name",
  when: all(seller, tradeCompleted.sum("amount").atLeast(1_000).within("90d"), score.component("disputes").atMost(50)),
});

/** We did not answer a complaint within a week, and still have not. No rule is needed: the journey's end is a condition like any other. */
export const answerOverdue = signal("answer_overdue", {
  severity: "critical",
  message: "A complaint is open for more than a week",
  when: all(dispute.is("expired"), disputeResolved.never().since(dispute)),
});

/** Raised by a rule when somebody is let in again; a month later the account is one like any other. */
export const watched = signal("watched", { severity: "info", message: "Back after a suspension", for: "30d" });
