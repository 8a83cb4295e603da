import { setTimeout } from "node:timers/promises";

import { UserError } from "../core/errors.js";
import { elementTexts, memberTexts, objectFromTexts } from "../../words/json-text.js";
import { printable } from "../../words/text.js";
import type { ListPage, Organization } from "../../http/admin/answers.js";
import type { ApiAnswer, Api, ApiPath, Query } from "./api.js";

/** What the service gives at most in one page. */
const PAGE = 200;

/** What passes by itself: the service is not there for a moment, or has too much to do. */
const TRANSIENT = /^(SERVICE_UNREACHABLE|SERVICE_UNAVAILABLE|RATE_LIMIT_EXCEEDED|UNEXPECTED_ANSWER|INTERNAL_ERROR)$/;
/** How often something is tried that fails so: about a minute. */
export const TRIES = 30;
const PAUSE_MS_FIRST = 200;
const PAUSE_MS_MAX = 2_000;

/** Whether a failure may be over when the same is tried again. */
export function isRetryable(error: unknown): boolean {
  return error instanceof UserError && TRANSIENT.test(error.code);
}

/** Reads again, for about a minute, while what fails may pass. */
async function retryTransient<T>(read: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await read();
    } catch (error) {
      if (!isRetryable(error) || tries >= TRIES) throw error;
      await setTimeout(pauseAfter(tries));
    }
  }
}

/** How long to wait before the next look: longer and longer, two seconds at most. */
export function pauseAfter(looks: number): number {
  return Math.min(PAUSE_MS_FIRST * 1.3 ** looks, PAUSE_MS_MAX);
}

/** What of a list to read, and how much. */
export interface ListQuery extends Query {
  /** All of it unless given. */
  limit?: number | undefined;
  /** Where a part read before ended. */
  cursor?: string | undefined;
}

type Members<More> = readonly (keyof More & string)[];

interface Reading<More> {
  members?: Members<More>;
  signal?: AbortSignal | undefined;
  /** Of which pages to try again for a while what fails and may pass; of none unless given. */
  patient?: "all" | "later";
}

/** Reads a list page by page, until there is as much as asked for, or it ends. Pages may be short, even empty, and go on all the same. */
export async function* readAll<Row, More extends object = object>(
  api: Api,
  path: ApiPath,
  { limit = Infinity, cursor, ...query }: ListQuery = {},
  { members = [], signal, patient }: Reading<More> = {},
): AsyncGenerator<ApiAnswer<ListPage<Row> & More>> {
  let count = 0;
  let from = cursor;
  do {
    const asked = { ...query, limit: Math.min(limit - count, PAGE), cursor: from };
    const read = () => api.get<ListPage<Row> & More>(path, ["data", "nextCursor", ...members], asked, signal);
    const isPatient = patient === "all" || (patient === "later" && from !== cursor);
    const page = await (isPatient ? retryTransient(read) : read());
    yield page;
    count += page.data.data.length;
    from = page.data.nextCursor ?? undefined;
  } while (from !== undefined && count < limit);
}

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

/** Reads a list as one page, in its text too. @param members that the answer has beside a page's; they are those of the first page */
export async function readList<Row, More extends object = object>(
  api: Api,
  path: ApiPath,
  query: ListQuery,
  members: Members<More> = [],
): Promise<ApiAnswer<ListPage<Row> & More>> {
  const pages: ApiAnswer<ListPage<Row> & More>[] = [];
  for await (const page of readAll<Row, More>(api, path, query, { members, patient: "later" })) pages.push(page);
  const first = pages[0]!;
  if (pages.length === 1) return first;
  const { nextCursor } = pages.at(-1)!.data;
  const items = pages.flatMap(({ text }) => elementTexts(memberTexts(text).get("data") ?? "[]"));
  const joined = new Map(memberTexts(first.text));
  joined.set("data", `[${items.join(",")}]`).set("nextCursor", JSON.stringify(nextCursor));
  const data = pages.flatMap((page) => page.data.data);
  return { ...first, data: { ...first.data, data, nextCursor }, text: objectFromTexts(joined) };
}
