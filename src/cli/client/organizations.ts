import type { Organization } from "../client/answers.js";
import type { Api } from "./api.js";
import { readAll } from "./pages.js";
import { printable } from "../output/text.js";

/** The organizations that a token is good for, all of them. */
export async function organizationsOf(api: Api, signal?: AbortSignal): Promise<Organization[]> {
  const all: Organization[] = [];
  for await (const { data } of readAll<Organization>(api, "/organizations", {}, { signal })) all.push(...data.data);
  return all;
}

/** Organizations in one line. */
export function listed(organizations: readonly Organization[]): string {
  return organizations.map(({ id, slug }) => printable(`${slug} (${id})`)).join(", ");
}
