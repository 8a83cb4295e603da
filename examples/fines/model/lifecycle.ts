// The stages of a case. Two things shape the model:
//
// - Paying does not always end a case. Who pays before the fine is sent still owes the postage, who pays the fine and not the penalty still
//   owes the penalty. So "paid" can be left again, by whatever the town does next.
// - Stages repeat, so each step is counted since the present stage began: an old payment must not pull a case out of a stage that began
//   after it. Events of one day are told apart by the order in which they were sent.
import { any, lifecycle } from "svc-success";
import {
  addPenalty,
  appealToJudge,
  fileAppeal,
  insertNotification,
  notifyResult,
  payment,
  receiveResult,
  sendAppeal,
  sendFine,
  sendForCollection,
} from "./events.js";

const paid = payment.happened().since("state");
const sent = sendFine.happened().since("state");
const notified = insertNotification.happened().since("state");
const penalized = addPenalty.happened().since("state");
const collected = sendForCollection.happened().since("state");

/** The town drops a case by "#", a judge by "G". */
const dropped = any(
  sendAppeal
    .where((appeal) => appeal.dismissal.is("#"))
    .happened()
    .since("state"),
  appealToJudge
    .where((appeal) => appeal.dismissal.is("G"))
    .happened()
    .since("state"),
);

const appealed = any(
  fileAppeal.happened().since("state"),
  sendAppeal.happened().since("state"),
  appealToJudge.happened().since("state"),
);

const decided = any(receiveResult.happened().since("state"), notifyResult.happened().since("state"));

export const stages = lifecycle({
  initial: "issued",
  states: {
    // Recorded, and nobody has been told by post. A third of the cases is paid here, at the roadside or at the counter.
    issued: { to: { paid, sent } },

    sent: { to: { dismissed: dropped, paid, notified, appealed, in_collection: collected } },

    notified: { to: { dismissed: dropped, paid, penalized, appealed, in_collection: collected } },

    // Sixty days after the notification the amount about doubles.
    penalized: { to: { dismissed: dropped, paid, appealed, in_collection: collected } },

    // An appeal is open. The penalty is often added meanwhile; it changes the amount and not the stage.
    appealed: { to: { dismissed: dropped, paid, decided, in_collection: collected } },

    // The prefecture has decided, mostly against the offender, who may still pay or go to court.
    decided: {
      to: {
        dismissed: dropped,
        paid,
        appealed: appealToJudge.happened().since("state"),
        in_collection: collected,
      },
    },

    // Something was paid. The town goes on where it was not enough.
    paid: { to: { dismissed: dropped, sent, notified, penalized, appealed, in_collection: collected } },

    // Out of the town's hands, or dropped: what is still recorded afterwards changes nothing.
    in_collection: { terminal: true },
    dismissed: { terminal: true },
  },
});
