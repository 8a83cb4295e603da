import type { Context } from "koa";
import { callsOf, type CallType, JSON_OF_ANY_TYPE } from "../http/request/tracking-calls.js";
import { readText } from "../http/request/body.js";
import { parseJson } from "../http/request/parse-json.js";
import { SINGLE_BYTES_MAX } from "../ingestion/request.js";
import { mapCall, type TrackingModel } from "../ingestion/tracking.js";
import type { Snapshot } from "../model/snapshot/types.js";
import type { LocalEngine, RequestOperation } from "./engine.js";
import { note } from "./report.js";

/** Takes calls of Segment's tracking API as the service does. What it would keep in quarantine is told, and kept nowhere. */
export async function acceptLocalCalls(ctx: Context, engine: LocalEngine, type: CallType): Promise<void> {
  const calls = callsOf(parseJson(await readText(ctx, JSON_OF_ANY_TYPE, SINGLE_BYTES_MAX)), type);
  const model = trackingModelOf(engine.snapshot);
  const mapped = calls.map((call) => mapCall(model, call, engine.clock.now()));
  const operations = mapped.flatMap((each): RequestOperation[] => {
    if (each.kind !== "operation") return [];
    // Keys of identifies are the database's.
    if (each.operation.type === "track") return [each.operation];
    const { idempotencyKey: _, ...identify } = each.operation;
    return [identify];
  });
  const problems = mapped.flatMap((each, index) =>
    each.kind === "problem" || each.kind === "refused" ? [{ index, ...each.problem }] : [],
  );
  note(ctx, { operations });
  const accepted = operations.length === 0 ? null : engine.accept(operations, "batch", { holds: true });
  const kept = [...problems, ...(accepted?.quarantined ?? [])];
  note(ctx, { changes: accepted?.changes ?? [], diagnostics: [...(accepted?.diagnostics ?? []), ...kept] });
  ctx.status = 200;
  ctx.body = { success: true, quarantined: kept.length === 0 ? undefined : kept };
}

function trackingModelOf({ tracking, events, traits }: Snapshot): TrackingModel {
  const declared = Object.entries(events).map(([name, { properties }]) => [name, Object.keys(properties)] as const);
  return {
    customer: tracking?.customer ?? ["userId"],
    events: tracking?.events ?? {},
    declared: Object.fromEntries(declared),
    traits: Object.keys(traits),
  };
}
