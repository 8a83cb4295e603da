import type { Of } from "../../console/source.js";
import type { ListPage, ListedSignal } from "../../http/admin/answers.js";
import { pageOf, queryInstant, requireKnown, type Stand } from "./stand.js";

/** The signals that are raised, the last raised first; by signal, severity and since when. */
export function raisedSignals({ engine, population, now }: Stand, of: Of): ListPage<ListedSignal> {
  const { signal, severity } = of;
  const since = of["since"] === undefined ? -Infinity : queryInstant(of["since"], "since", now);
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
  return pageOf(
    wanted.toSorted((a, b) => (a.raisedAt < b.raisedAt ? 1 : -1)),
    of,
  );
}
