import type { ComponentChildren } from "preact";
import type { ListPage } from "../http/admin/answers.js";
import { ApiError } from "../http/errors.js";
import type { View } from "./console-page.js";
import { Empty, FoundList, type Link, LinkLine, PageLinks, ProblemNote } from "./parts.js";
import { Table, type TableColumn } from "./tables.js";

interface ListOfCustomers<Row> {
  path: string;
  title: string;
  query: URLSearchParams;
  /** What stands above the list. */
  filters: ComponentChildren;
  /** The part that the query asks for, or what is wrong with the query. */
  found: ListPage<Row> | ApiError;
  /** How many rows were asked for. */
  limit: string;
  /** What is said where nothing is found. */
  none: ComponentChildren;
  columns: readonly TableColumn<Row>[];
  /** Whether the list is its first part, without links to others. */
  isOnePart?: boolean;
  /** What stands below a list that was found. */
  below?: ComponentChildren;
}

/** The page of a list whose rows are each of a customer: what filters it; below that the part that was found, or why it was refused. */
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
        <FoundList list={found} limit={Number(limit)} none={<Empty>{none}</Empty>}>
          <Table name={title} rows={data} columns={columns} />
        </FoundList>
        {isOnePart ? null : <PageLinks path={path} query={query} next={nextCursor} />}
        {below}
      </>
    ),
  };
}

/** What a page shows that was asked for something wrong: the form to ask for something else, and what is wrong. @param below what follows that */
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

/** A page of something that is not there: what it says, and a link back to the list. */
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
