import { PassThrough, type Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { TransactionSql } from "postgres";
import type { AdminCredentials, Place } from "../../db/calls-admin.js";
import { EXPORT_LISTS, fetchExport, openExport } from "../../db/calls-customer-data.js";
import { onSnapshot } from "../../db/transaction.js";
import { ApiError } from "../errors.js";
import type { CustomerWork } from "./customer-work.js";

/** A payload has 64 KiB at most, so a part stays below 4 MiB, which holds up nobody. */
const ITEMS_OF_PART = 64;

/** What a recompute changes of a customer may be a thousand runs of rules and as many emissions. */
const RECOMPUTES_OF_PART = 10;

/** A snapshot that is held for long keeps the database from clearing up; whoever reads more slowly has to come again. */
const EXPORT_MS_MAX = 10 * 60_000;

/**
 * Everything that is held about a customer as one JSON document, read from one snapshot as fast as the reader takes it: neither side
 * holds more than a part of it. Where it cannot be read to its end the stream fails, so that nobody takes a part for the whole.
 *
 * Resolves once the snapshot is open. Throws what `open_export` raises, and QueueFullError where too many exports are under way.
 */
export async function streamExport(
  { sql, exports }: Pick<CustomerWork, "sql" | "exports">,
  by: AdminCredentials,
  at: Place,
  customerId: string,
  msMax = EXPORT_MS_MAX,
): Promise<Readable> {
  const leave = await exports.take(by.organizationId);
  const document = new PassThrough();
  // Its failure is told to its reader, who may not be there yet, or any more.
  document.on("error", () => undefined);
  return new Promise((resolve, reject) => {
    const overdue = setTimeout(() => document.destroy(notRead()), msMax);
    void onSnapshot(sql, async (tx) => {
      const head = await openExport(tx, by, at, customerId);
      resolve(document);
      await pipeline(partsOf(tx, head), document);
    })
      // Of no effect where it was resolved; the reader learns of it by the stream.
      .catch((thrown: unknown) => {
        const error = thrown instanceof Error ? thrown : new Error(String(thrown));
        reject(error);
        document.destroy(error);
      })
      .finally(() => {
        clearTimeout(overdue);
        leave();
      });
  });
}

function notRead(): ApiError {
  return new ApiError(503, "SERVICE_UNAVAILABLE", { reason: "The export was not read in time." });
}

/** The document's text: the members that are no lists, then list by list. */
async function* partsOf(tx: TransactionSql, head: string): AsyncGenerator<string> {
  yield head.slice(0, head.lastIndexOf("}"));
  for (const list of EXPORT_LISTS) {
    yield `,\n"${list}":[`;
    const itemsMax = list === "recomputes" ? RECOMPUTES_OF_PART : ITEMS_OF_PART;
    for (let isFirst = true; ; isFirst = false) {
      const items = await fetchExport(tx, list, itemsMax);
      if (items.length > 0) yield `${isFirst ? "\n" : ",\n"}${items.join(",\n")}`;
      if (items.length < itemsMax) break;
    }
    yield "]";
  }
  yield "}\n";
}
