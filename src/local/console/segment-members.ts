import type { QuestionParams } from "../../console/source.js";
import type { StateDocument } from "../../engine/index.js";
import type { SegmentMembers, SegmentStatistics } from "../../http/admin/answers.js";
import { ApiError } from "../../http/errors.js";
import { pageOf } from "./lists.js";
import { isoTime, meanScore, statesOf, type PopulationView } from "./population-view.js";

const DAY_MS = 86_400_000;

/** A segment and a page of its members. */
export function localSegmentMembers(view: PopulationView, of: QuestionParams): SegmentMembers {
  const { engine, population } = view;
  const segment = of["segment"] ?? "";
  const members = statesOf(view).filter(({ segments }) => segments.includes(segment));
  const definition = engine.snapshot.segments.find(({ id }) => id === segment) ?? null;
  if (members.length === 0 && definition === null) throw new ApiError(404, "SEGMENT_NOT_FOUND");
  const enteredAt = (id: string) => isoTime(population.customer(id)!.state.segments[segment]!.enteredAt);
  const items = members.map(({ customerId }) => ({ customerId, enteredAt: enteredAt(customerId) }));
  const page = { ...pageOf(items, of), segment, members: members.length };
  // Like the service, only the first page has statistics.
  if (of["cursor"] !== undefined) return page;
  const weekAgo = isoTime(view.now - 7 * DAY_MS);
  const enteredWithin7d = items.filter(({ enteredAt }) => enteredAt > weekAgo).length;
  const statistics = { ...statisticsOf(members, view.now), enteredWithin7d };
  return { ...page, definition: definition && { ...definition }, statistics };
}

function statisticsOf(members: readonly StateDocument[], now: number): Omit<SegmentStatistics, "enteredWithin7d"> {
  const within = (days: number) =>
    members.filter(({ lastEventAt: at }) => at !== null && Date.parse(at) > now - days * DAY_MS).length;
  const scores = members.flatMap(({ health }) => health?.overall ?? []);
  const never = members.filter(({ lastEventAt }) => lastEventAt === null).length;
  return {
    lifecycle: countsOf(members.map(({ lifecycle }) => lifecycle)),
    health: {
      scored: scores.length,
      average: meanScore(scores),
      bands: countsOf(members.map(({ health }) => health?.band ?? null)),
    },
    lastEvent: {
      within1d: within(1),
      within7d: within(7),
      within30d: within(30),
      older: members.length - within(30) - never,
      never,
    },
  };
}

function countsOf(names: readonly (string | null)[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) if (name !== null) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries([...counts].toSorted());
}
