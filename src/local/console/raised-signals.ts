import type { Of } from "../../console/source.js";
import type { ListPage, ListedSignal } from "../../http/admin/answers.js";
import { instantOf } from "../../http/request/instants.js";
import { compareKeys, pageOf, requireKnown, type Stand } from "./stand.js";

/** The signals that are raised, the last raised first; by signal, severity and since when. */
export function raisedSignals({ engine, population, now }: Stand, of: Of): ListPage<ListedSignal> {
  const { signal, severity } = of;
  const since = of["since"] === undefined ? -Infinity : instantOf(of["since"], "since", now).getTime();
  const raised = population.customerIds.flatMap((customerId) =>
    engine.document(customerId, population)!.signals.map((each) => ({ customerId, ...each })),
  );
  const wanted = raised.filter(
    (each) =>
      (signal === undefined || each.signalId === signal) &&
      (severity === undefined || each.severity === severity) &&
      Date.parse(each.raisedAt) >= since,
  );
  if (wanted.length === 0) requireKnown(engine, of, { signal: "signal" });
  // By instant, signal and customer, all backwards.
  const keyOf = ({ raisedAt, signalId, customerId }: ListedSignal) => [raisedAt, signalId, customerId];
  return pageOf(
    wanted.toSorted((a, b) => compareKeys(keyOf(b), keyOf(a))),
    of,
  );
}
