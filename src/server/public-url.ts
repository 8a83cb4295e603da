import { call } from "../db/api/call.js";
import { operate } from "./operator.js";

/** Has links in deliveries lead here from now on: workers know no address. @param publicUrl without a slash at the end */
export function notePublicUrl(databaseUrl: string, publicUrl: string): Promise<unknown> {
  return operate(databaseUrl, (sql) => call(sql, "note_public_url", publicUrl));
}
