import * as calls from "../../db/calls-customer-data.js";
import { envelopeOf } from "../handle-errors.js";
import { environmentQuery, placeIn } from "./parameters.js";
import { adminRoute } from "./route.js";
import { customerExport, erasure } from "./schemas-customer-data.js";
import { streamExport } from "./stream-export.js";

/** Everything that is held about one customer, as one document to keep. */
export const exportCustomer = adminRoute({
  operation: "export_customer",
  method: "GET",
  path: "/projects/:project/customers/:customerId/export",
  summary: "Everything that is held about one customer, as one document",
  query: environmentQuery,
  answers: { 200: customerExport },
  refusals: { 404: ["CUSTOMER_NOT_FOUND"] },
  scarce: true,
  answer: async ({ deps, credentials, params, query, ctx }) => {
    const at = placeIn(params, query.env);
    const customerId = params["customerId"]!;
    await calls.recordExport(deps.sql, credentials, at, customerId);
    const document = await streamExport(deps.work, credentials, at, customerId);
    // Where it fails the answer has begun, so that nothing is left but to log it; the connection is broken off.
    document.on("error", (error) => envelopeOf(ctx, error));
    ctx.set("Content-Disposition", `attachment; filename="${fileNameOf(customerId)}"`);
    return { status: 200, document, type: "application/json" };
  },
});

/** Erases one customer: everything that is held about it, in one transaction. Later events of the id begin a new customer. */
export const eraseCustomer = adminRoute({
  operation: "erase_customer",
  method: "DELETE",
  path: "/projects/:project/customers/:customerId",
  summary: "Erase everything that is held about one customer",
  query: environmentQuery,
  answers: { 200: erasure },
  refusals: { 404: ["CUSTOMER_NOT_FOUND"] },
  scarce: true,
  answer: async ({ deps, credentials, params, query }) => {
    const at = placeIn(params, query.env);
    const { erasures, sql } = deps.work;
    const document = await erasures.run(
      () => calls.eraseCustomer(sql, credentials, at, params["customerId"]!),
      credentials.organizationId,
    );
    return { status: 200, document };
  },
});

/** Of an id of any characters, a name that every file system takes and no shell or header reads anything into. */
function fileNameOf(customerId: string): string {
  return `customer-${customerId.replaceAll(/[^A-Za-z0-9._-]/g, "_").slice(0, 64)}.json`;
}
