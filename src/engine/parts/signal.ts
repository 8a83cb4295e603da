import { parseDuration } from "../../model/snapshot/duration.js";
import type { Signal } from "../../model/snapshot/types.js";
import { signalItem } from "../compile-context.js";
import type { ConditionCompiler } from "../conditions/conditions.js";
import type { DerivedPart, OpenCustomer } from "../open-customer.js";

/** A signal with a condition is raised while it holds; one without a condition but with `for` clears itself after that time. */
export function compileSignalItem(signal: Signal, index: number, compiler: ConditionCompiler): DerivedPart {
  const when = signal.when && compiler.compile(signal.when);
  const lasts = signal.for === undefined ? Infinity : parseDuration(signal.for);
  const clearsAt = (customer: OpenCustomer): number => (customer.signals[index]?.renewedAt ?? Infinity) + lasts;
  return {
    name: signalItem(signal.id),
    reads: compiler.reads,
    run(customer) {
      if (when === undefined) return clearsAt(customer) <= customer.clock && clearSignal(customer, index);
      const raised = customer.signals[index] !== undefined;
      if (when.test(customer) === raised) return false;
      return raised ? clearSignal(customer, index) : raiseSignal(customer, index);
    },
    nextChange: when?.nextChange ?? clearsAt,
    explain: (customer) => ({
      signal: signal.id,
      raised: customer.signals[index] !== undefined,
      severity: signal.severity,
      condition: when === undefined ? null : when.explain(customer),
    }),
  };
}

/** Raises a signal, or renews one that is raised already. Always returns true: either way it changed. */
export function raiseSignal(customer: OpenCustomer, index: number): boolean {
  const { clock } = customer;
  const raised = customer.signals[index];
  if (raised !== undefined) {
    customer.setSignal(index, { ...raised, renewedAt: clock });
    return true;
  }
  const { id: signal, severity, message = null } = customer.model.signals[index]!;
  customer.setSignal(index, { raisedAt: clock, renewedAt: clock, severity, message });
  customer.noteOccasion("signal.raised", signal);
  customer.push({ kind: "signalRaised", signal, severity, message });
  customer.emit("signal.raised", "signal", { signal, severity, message });
  return true;
}

/** Clears a signal, and returns whether it was raised. */
export function clearSignal(customer: OpenCustomer, index: number): boolean {
  const raised = customer.signals[index];
  if (raised === undefined) return false;
  const signal = customer.model.signals[index]!.id;
  const { severity, message, raisedAt } = raised;
  customer.setSignal(index, undefined);
  customer.noteOccasion("signal.cleared", signal);
  customer.push({ kind: "signalCleared", signal, severity, message, raisedAt });
  customer.emit("signal.cleared", "signal", { signal, severity, message });
  return true;
}
