import type { Of } from "../../console/source.js";
import type { ListPage, ListedSignal } from "../../http/admin/answers.js";
import { compareKeys, earliestOf, pageOf, requireKnown, statesOf, type Stand } from "./stand.js";

/** The signals that are raised, the last raised first; by signal, severity and since when. */
export function raisedSignals(stand: Stand, of: Of): ListPage<ListedSignal> {
  const { signal, severity } = of;
  const since = earliestOf(stand, of);
  const raised = statesOf(stand).flatMap(({ customerId, signals }) => signals.map((each) => ({ customerId, ...each })));
  const wanted = raised.filter(
    (each) =>
      (signal === undefined || each.signalId === signal) &&
      (severity === undefined || each.severity === severity) &&
      Date.parse(each.raisedAt) >= since,
  );
  if (wanted.length === 0) requireKnown(stand.engine, of, { signal: "signal" });
  // By instant, signal and customer, all backwards.
  const keyOf = ({ raisedAt, signalId, customerId }: ListedSignal) => [raisedAt, signalId, customerId];
  return pageOf(
    wanted.toSorted((a, b) => compareKeys(keyOf(b), keyOf(a))),
    of,
  );
}
