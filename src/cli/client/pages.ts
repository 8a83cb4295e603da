import { setTimeout } from "node:timers/promises";

import { UserError } from "../core/errors.js";
import { elementTexts, memberTexts, objectFromTexts } from "../../words/json-text.js";
import { printable } from "../../words/text.js";
import type { ListPage, Organization } from "../../http/admin/answers.js";
import type { ApiAnswer, Api, ApiPath, Members, Query } from "./api.js";

/** The service's largest page. */
const PAGE = 200;

/** Failures that pass by themselves: the service is briefly unavailable or overloaded. */
const TRANSIENT = /^(SERVICE_UNREACHABLE|SERVICE_UNAVAILABLE|RATE_LIMIT_EXCEEDED|UNEXPECTED_ANSWER|INTERNAL_ERROR)$/;
/** How many tries such failures get: about a minute. */
export const TRIES = 30;
const PAUSE_MS_FIRST = 200;
const PAUSE_MS_MAX = 2_000;

/** Whether trying again may succeed. */
export function isRetryable(error: unknown): boolean {
  return error instanceof UserError && TRANSIENT.test(error.code);
}

/** Retries a read for about a minute while its failure is transient. */
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

/** How long to wait before the next poll: longer each time, two seconds at most. */
export function pauseAfter(polls: number): number {
  return Math.min(PAUSE_MS_FIRST * 1.3 ** polls, PAUSE_MS_MAX);
}

/** Which part of a list to read. */
export interface ListQuery extends Query {
  /** The whole list unless given. */
  limit?: number | undefined;
  /** Where the previous page ended. */
  cursor?: string | undefined;
}

interface Reading<More> {
  members?: Members<More>;
  signal?: AbortSignal | undefined;
  /** For which pages to retry transient failures; for none unless given. */
  patient?: "all" | "later";
}

/** Reads a list page by page, up to the limit or to its end. A short or even empty page can be followed by more. */
export async function* readAll<Row, More extends object = object>(
  api: Api,
  path: ApiPath,
  { limit = Infinity, cursor, ...query }: ListQuery = {},
  { members = [], signal, patient }: Reading<More> = {},
): AsyncGenerator<ApiAnswer<ListPage<Row> & More>> {
  let count = 0;
  let from = cursor;
  do {
    const parameters = { ...query, limit: Math.min(limit - count, PAGE), cursor: from };
    const read = () => api.get<ListPage<Row> & More>(path, ["data", "nextCursor", ...members], parameters, signal);
    const isPatient = patient === "all" || (patient === "later" && from !== cursor);
    const page = await (isPatient ? retryTransient(read) : read());
    yield page;
    count += page.data.data.length;
    from = page.data.nextCursor ?? undefined;
  } while (from !== undefined && count < limit);
}

/** All organizations that a token gives access to. */
export async function organizationsOf(api: Api, signal?: AbortSignal): Promise<Organization[]> {
  const all: Organization[] = [];
  for await (const { data } of readAll<Organization>(api, "/organizations", {}, { signal })) all.push(...data.data);
  return all;
}

/** Organizations as one line of text. */
export function organizationsText(organizations: readonly Organization[]): string {
  return organizations.map(({ id, slug }) => printable(`${slug} (${id})`)).join(", ");
}

/** Reads a list as one page, joining the pages' texts as well. @param members further members of the answer; the first page's are returned */
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
