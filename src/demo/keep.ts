/** What somebody can do with a demo that was left running. */
import path from "node:path";
import type { ApiOptions } from "./api.js";
import { CLI_PROGRAM } from "./service/service.js";

export interface KeepOptions {
  api: ApiOptions;
  apiKey: string;
  /** The model's folder: it names the project, so the commands are run for it. */
  directory: string;
  /** A customer to look at. */
  customerId: string | null;
  databaseUrl: string;
}

/** Lines to copy into another terminal. */
export function lookAround({ api, apiKey, directory, customerId, databaseUrl }: KeepOptions): string {
  const svc = `node ${quote(relative(CLI_PROGRAM))}`;
  const target = `--directory ${quote(relative(directory))} --env test`;
  const customer = quote(customerId ?? "a-customer");
  return [
    "The service is still running. In another terminal:",
    "",
    `  export SVC_API_URL=${api.url} SVC_ORGANIZATION=${api.organizationId} SVC_ACCESS_TOKEN=${api.accessToken}`,
    `  export SVC_API_KEY_TEST=${apiKey}`,
    `  ${svc} customers inspect ${customer} ${target}`,
    `  ${svc} config versions ${target}`,
    "",
    `  psql '${databaseUrl}' -c 'select customer_id, lifecycle, last_event_at, next_due_at from svc_inspect.customers limit 10'`,
    `  psql '${databaseUrl}' -c 'select lifecycle, count(*) from svc_inspect.customers group by 1 order by 2 desc'`,
    "",
    "Ctrl+C stops it and removes its data.",
    "",
  ].join("\n");
}

/** Relative where that is shorter to read. */
function relative(file: string): string {
  const short = path.relative(process.cwd(), file);
  return short === "" ? "." : short.startsWith("..") ? file : short;
}

/** For a POSIX shell, and only where it is needed. */
function quote(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
