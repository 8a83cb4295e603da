import type { Customer } from "./reference/customer.js";
import { Reference } from "./reference/reference.js";
import { corrected, replayed } from "./reference/replay.js";
import type { NewSubject, View } from "./subject.js";

export const underReference: NewSubject = (snapshot, customerId, createdAt) => {
  let present = snapshot;
  const reference = new Reference(customerId, snapshot);
  const { customer } = reference;
  return {
    effects: customer.effects,
    take(operations, now, timers) {
      for (const operation of operations) reference.take(operation);
      if (timers === "fire") reference.catchUp(now);
    },
    changeVersion(next) {
      present = next;
      reference.changeVersion(next);
    },
    view: () => viewOfReference(reference),
    replay(through, jobId) {
      const after = replayed(present, reference, createdAt, through);
      return {
        view: viewOfReference(after),
        effects: after.customer.effects,
        corrections: corrected(customer, after.customer, through, jobId),
      };
    },
  };
};

export function viewOfReference(reference: Reference): View {
  const { customer } = reference;
  return { ...viewOfCustomer(customer), nextDueAt: reference.nextDueAt() };
}

function viewOfCustomer(customer: Customer): Omit<View, "nextDueAt"> {
  const { clock, lastEventAt, traits, lifecycle, journeys, segments, health, signals } = customer;
  return {
    evaluatedThrough: clock,
    lastEventAt,
    traits,
    lifecycle,
    journeys: Object.fromEntries(journeys),
    segments: Object.fromEntries(segments),
    health,
    signals: Object.fromEntries(signals),
  };
}
