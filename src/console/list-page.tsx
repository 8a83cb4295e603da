import type { ComponentChildren } from "preact";
import type { ListPage } from "../http/admin/answers.js";
import { ApiError } from "../http/errors.js";
import { EXACT, type View } from "./console-page.js";
import { Empty, FoundList, type Link, LinkLine, PageLinks, ProblemNote } from "./parts.js";
import { Table, type TableColumn } from "./tables.js";

interface ListOfCustomers<Row> {
  path: string;
  title: string;
  query: URLSearchParams;
  /** Shown above the list. */
  filters: ComponentChildren;
  /** The part of the list that the query asks for, or the error for an invalid query. */
  found: ListPage<Row> | ApiError;
  /** Number of rows requested. */
  limit: string;
  /** Shown if nothing is found. */
  none: ComponentChildren;
  columns: readonly TableColumn<Row>[];
  /** Whether to show only this part, without links to others. */
  isOnePart?: boolean;
  /** Shown below the list. */
  below?: ComponentChildren;
}

/** The page of a list with a customer in each row: the filters, and below them the part that was found, or the error. */
export function listView<Row extends { customerId: string }>(list: ListOfCustomers<Row>): View {
  const { path, title, query, filters, found, limit, none, columns, isOnePart = false, below } = list;
  if (found instanceof ApiError) return refused(title, filters, found);
  const { data, nextCursor } = found;
  return {
    title,
    customerIds: data.map(({ customerId }) => customerId),
    body: (
      <>
        {filters}
        <FoundList
          list={found}
          limit={Number(limit)}
          none={
            <Empty>
              {query.has("cursor") ? "There is nothing more in this list." : none}
              <OuterSpace of={query} />
            </Empty>
          }
        >
          <Table name={title} rows={data} columns={columns} />
        </FoundList>
        {isOnePart ? null : <PageLinks path={path} query={query} next={nextCursor} />}
        {below}
      </>
    ),
  };
}

/** Says that spaces count, if a filter begins or ends with one, as after pasting: then nothing may be found although it looks right. */
export function OuterSpace({ of: query, names = EXACT }: { of: URLSearchParams; names?: readonly string[] }) {
  const isOuter = names.some((name) => /^\s|\s$/.test(query.get(name) ?? ""));
  return isOuter ? <> A filter begins or ends with a space, which counts.</> : null;
}

/** The page for an invalid query: the filters to correct it, and the error. @param below shown after the error */
export function refused(title: string, filters: ComponentChildren, error: ApiError, below?: ComponentChildren): View {
  return {
    title,
    status: error.status,
    body: (
      <>
        {filters}
        <ProblemNote error={error} />
        {below}
      </>
    ),
  };
}

/** The page for something that does not exist: a message, and a link back to the list. */
export function missing(title: string, says: ComponentChildren, back: Link): View {
  return {
    title,
    status: 404,
    body: (
      <>
        {says}
        <LinkLine {...back} />
      </>
    ),
  };
}
