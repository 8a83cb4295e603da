import type { Context } from "koa";
import { answerCalls, type CallType, readCalls } from "../http/request/tracking-calls.js";
import { mapCall } from "../ingestion/tracking.js";
import { trackingModelOf } from "../model/tracking.js";
import type { LocalEngine, RequestOperation } from "./engine.js";
import { note } from "./report.js";

/** Takes calls of Segment's tracking API, and answers as the service does. What that would keep in quarantine is told, and kept nowhere. */
export async function acceptLocalCalls(ctx: Context, engine: LocalEngine, type: CallType): Promise<void> {
  const calls = await readCalls(ctx, type);
  const model = trackingModelOf(engine.snapshot);
  const mapped = calls.map((call, index) => ({ index, ...mapCall(model, call, engine.clock.now()) }));
  const taken = mapped.flatMap((each) => (each.kind === "operation" ? [each] : []));
  const operations = taken.map(({ operation }): RequestOperation => {
    if (operation.type === "track") return operation;
    // Keys of identifies are the database's.
    const { idempotencyKey: _, ...identify } = operation;
    return identify;
  });
  const problems = mapped.flatMap((each) => (each.kind === "problem" ? [{ index: each.index, ...each.problem }] : []));
  const refused = mapped.flatMap((each) => (each.kind === "refused" ? [{ index: each.index, ...each.problem }] : []));
  note(ctx, { operations });
  const accepted = operations.length === 0 ? null : engine.accept(operations, "batch", { ofCalls: true });
  const violations = accepted?.quarantined.map((each) => ({ ...each, index: taken[each.index]!.index })) ?? [];
  note(ctx, {
    changes: accepted?.changes ?? [],
    diagnostics: [...(accepted?.diagnostics ?? []), ...problems, ...refused, ...violations],
    duplicates: accepted?.outcomes.filter(({ duplicate }) => duplicate).length ?? 0,
  });
  const told = refused.map(({ index, code, message }) => ({ index, code, message }));
  answerCalls(ctx, type, problems.length + violations.length, told);
}
