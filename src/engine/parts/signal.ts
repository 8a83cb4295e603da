import { parseDuration } from "../../model/snapshot/duration.js";
import type { Signal } from "../../model/snapshot/types.js";
import type { ConditionCompiler } from "../conditions/conditions.js";
import { earliest } from "../conditions/leaf.js";
import { signalItem } from "../compile-context.js";
import type { DerivedPart, EvaluationContext, NextChange } from "../evaluation-context.js";
import type { Json } from "../state/types.js";

/** A signal with a condition is raised while it holds; one without, where it lasts for a while, clears itself. */
export function compileSignalItem(signal: Signal, index: number, compiler: ConditionCompiler): DerivedPart {
  const name = signalItem(signal.id);
  const { reads } = compiler;
  const explained = (customer: EvaluationContext): { [key: string]: Json } => ({
    signal: signal.id,
    raised: customer.signals[index] !== undefined,
    severity: signal.severity,
  });
  if (signal.when !== undefined) {
    const changes: NextChange[] = [];
    const when = compiler.compile(signal.when, changes);
    return {
      name,
      reads,
      run: (customer) => {
        const raised = customer.signals[index] !== undefined;
        if (when.test(customer) === raised) return false;
        return raised ? clearSignal(customer, index) : raiseSignal(customer, index);
      },
      nextChange: earliest(changes),
      explain: (customer) => ({ ...explained(customer), condition: when.explain(customer) }),
    };
  }
  const lasts = signal.for === undefined ? Infinity : parseDuration(signal.for);
  const clearsAt = (customer: EvaluationContext): number => (customer.signals[index]?.renewedAt ?? Infinity) + lasts;
  return {
    name,
    reads,
    run: (customer) => clearsAt(customer) <= customer.clock && clearSignal(customer, index),
    nextChange: clearsAt,
    explain: (customer) => ({ ...explained(customer), condition: null }),
  };
}

/** Raises a signal, or renews one that is raised already: either way it changed. */
export function raiseSignal(customer: EvaluationContext, index: number): boolean {
  const raised = customer.signals[index];
  if (raised !== undefined) {
    customer.setSignal(index, { ...raised, renewedAt: customer.clock });
    return true;
  }
  const { id: signal, severity, message = null } = customer.model.signals[index]!;
  customer.setSignal(index, { raisedAt: customer.clock, renewedAt: customer.clock, severity, message });
  customer.signalRaisedIn[index] = customer.evaluation;
  customer.push({ kind: "signalRaised", signal, severity, message });
  customer.emit("signal.raised", "signal", { signal, severity, message });
  return true;
}

/** Clears a signal, and tells whether it was raised. */
export function clearSignal(customer: EvaluationContext, index: number): boolean {
  const raised = customer.signals[index];
  if (raised === undefined) return false;
  const signal = customer.model.signals[index]!.id;
  const { severity, message, raisedAt } = raised;
  customer.setSignal(index, undefined);
  customer.signalClearedIn[index] = customer.evaluation;
  customer.push({ kind: "signalCleared", signal, severity, message, raisedAt });
  customer.emit("signal.cleared", "signal", { signal, severity, message });
  return true;
}
