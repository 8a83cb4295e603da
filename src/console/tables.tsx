import type { ComponentChildren } from "preact";
import { formatNumber } from "../words/text.js";
import { MaybeLink } from "./parts.js";

/** A column of a table: its heading, its cell for a row, and how the cell is styled, unless it is a few words of text. */
export type TableColumn<Row> = readonly [
  heading: ComponentChildren,
  cell: (row: Row) => ComponentChildren,
  kind?: "number" | "name" | "words" | "faint" | undefined,
];

/** The most cells of a table: rendering blocks all requests, and a model may have ten thousand transitions. */
const CELLS_MAX = 8_000;

/** A table with a row for each of `rows`, up to CELLS_MAX cells; a wide table scrolls. @param children rows after these */
export function Table<Row>(props: {
  name: string;
  rows: readonly Row[];
  columns: readonly TableColumn<Row>[];
  children?: ComponentChildren;
}) {
  const { name, rows, columns, children } = props;
  const shown = rows.slice(0, Math.ceil(CELLS_MAX / columns.length));
  return (
    <div class="scroll" role="region" aria-label={name} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map(([heading, , kind], column) => (
              <th scope="col" class={kind === "number" ? kind : undefined} key={column}>
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row, index) => (
            <tr key={index}>
              {columns.map(([, cell, kind], column) => (
                <td class={kind} key={column}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
          {shown.length === rows.length ? null : (
            <tr>
              <td colSpan={columns.length}>
                {formatNumber(rows.length - shown.length)} more are not shown; the API has all of them.
              </td>
            </tr>
          )}
          {children}
        </tbody>
      </table>
    </div>
  );
}

/** A count that links to its list unless it is 0. */
export function Figure({ href, children }: { href: string | null; children: number }) {
  return <MaybeLink href={children === 0 ? null : href}>{formatNumber(children)}</MaybeLink>;
}

/** A list of facts, by name. */
export function FactList({ of }: { of: Readonly<Record<string, ComponentChildren>> }) {
  return (
    <dl>
      {Object.entries(of).map(([name, fact]) => (
        <>
          <dt key={name}>{name}</dt>
          <dd>{fact}</dd>
        </>
      ))}
    </dl>
  );
}
