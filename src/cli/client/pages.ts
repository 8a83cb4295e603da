import { setTimeout } from "node:timers/promises";

import { UserError } from "../core/errors.js";
import { elementTexts, memberTexts, objectText } from "../output/json-text.js";
import { printable } from "../output/text.js";
import type { Organization } from "./answers.js";
import type { ApiAnswer, Api, ApiPath, ListPage, Query } from "./api.js";

/** What the service gives at most in one page. */
const PAGE = 200;

/** What passes by itself: the service is not there for a moment, or has too much to do. */
const TRANSIENT = /^(SERVICE_UNREACHABLE|SERVICE_UNAVAILABLE|RATE_LIMIT_EXCEEDED|UNEXPECTED_ANSWER|INTERNAL_ERROR)$/;
/** How often something is tried that fails so: about a minute. */
export const TRIES = 30;
const PAUSE_MS_FIRST = 200;
const PAUSE_MS_MAX = 2_000;

/** Whether a failure may be over when the same is tried again. */
export function isTransient(error: unknown): boolean {
  return error instanceof UserError && TRANSIENT.test(error.code);
}

/** Reads again, for about a minute, while what fails may pass. */
async function retryTransient<T>(read: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await read();
    } catch (error) {
      if (!isTransient(error) || tries >= TRIES) throw error;
      await setTimeout(pauseAfter(tries));
    }
  }
}

/** How long to wait before the next look: longer and longer, two seconds at most. */
export function pauseAfter(looks: number): number {
  return Math.min(PAUSE_MS_FIRST * 1.3 ** looks, PAUSE_MS_MAX);
}

/**
 * Reads a list page by page, to its end or as far as whoever reads it wants.
 *
 * @param options how many items a page has at most, and whether to try again for a while what fails and may pass
 */
export async function* readAll<Row>(
  api: Api,
  path: ApiPath,
  { pageLength = PAGE, signal, patient = false }: { pageLength?: number; signal?: AbortSignal; patient?: boolean } = {},
): AsyncGenerator<ApiAnswer<ListPage<Row>>> {
  let cursor: string | undefined;
  do {
    const asked = { limit: pageLength, cursor };
    const read = () => api.get<ListPage<Row>>(path, ["data", "nextCursor"], asked, signal);
    const page = await (patient ? retryTransient(read) : read());
    yield page;
    cursor = page.data.nextCursor ?? undefined;
  } while (cursor !== undefined);
}

/** The organizations that a token is good for, all of them. */
export async function organizationsOf(api: Api, signal?: AbortSignal): Promise<Organization[]> {
  const all: Organization[] = [];
  for await (const { data } of readAll<Organization>(api, "/organizations", { ...(signal && { signal }) }))
    all.push(...data.data);
  return all;
}

/** Organizations in one line. */
export function listed(organizations: readonly Organization[]): string {
  return organizations.map(({ id, slug }) => printable(`${slug} (${id})`)).join(", ");
}

/** What of a list to read, and how much. */
export interface ListQuery extends Query {
  limit: number;
  /** Where a part read before ended. */
  cursor?: string | undefined;
}

/**
 * Reads a list page by page until there is as much as asked for, or it ends: pages may be short, even empty, and go on all the same.
 *
 * @param members that the answer has beside the page's; they are those of the first page
 * @returns the pages as one, in its text too
 */
export async function readList<Row, More extends object = object>(
  api: Api,
  path: ApiPath,
  { limit, cursor, ...query }: ListQuery,
  members: readonly (keyof More & string)[] = [],
): Promise<ApiAnswer<ListPage<Row> & More>> {
  const read = (most: number, from: string | undefined) => {
    const asked = { ...query, limit: Math.min(most, PAGE), cursor: from };
    return api.get<ListPage<Row> & More>(path, ["data", "nextCursor", ...members], asked);
  };
  const first = await read(limit, cursor);
  const pages = [first];
  let count = first.data.data.length;
  let next = first.data.nextCursor;
  while (next !== null && count < limit) {
    const from = next;
    const page = await retryTransient(() => read(limit - count, from));
    pages.push(page);
    count += page.data.data.length;
    next = page.data.nextCursor;
  }
  return pages.length === 1 ? first : joined(first, pages, next);
}

function joined<T extends ListPage<unknown>>(
  first: ApiAnswer<T>,
  pages: readonly ApiAnswer<T>[],
  nextCursor: string | null,
) {
  const items = pages.flatMap(({ text }) => elementTexts(memberTexts(text).get("data") ?? "[]"));
  const members = new Map(memberTexts(first.text));
  members.set("data", `[${items.join(",")}]`).set("nextCursor", JSON.stringify(nextCursor));
  const data = pages.flatMap((page) => page.data.data);
  return { ...first, data: { ...first.data, data, nextCursor }, text: objectText(members) };
}
