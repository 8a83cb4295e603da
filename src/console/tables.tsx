import type { ComponentChildren } from "preact";
import { formatNumber } from "../words/text.js";
import { MaybeLink } from "./parts.js";

/** A column of a table: what stands above it; what it shows of a row; where that is not text of a few words, what it is. */
export type TableColumn<Row> = readonly [
  heading: ComponentChildren,
  cell: (row: Row, index: number) => ComponentChildren,
  kind?: "number" | "words" | "faint" | undefined,
];

/** Of a table on a page: everybody waits while a page is made, and a model alone may have ten thousand transitions. */
const CELLS_MAX = 8_000;

/** A table with a row for each of `rows`, as far as they are shown, which scrolls by itself where it is wide. @param children rows below these */
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
                  {cell(row, index)}
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

/** How many there are in a list, which it leads to where there are any. */
export function Figure({ href, children }: { href: string | null; children: number }) {
  return <MaybeLink href={children === 0 ? null : href}>{formatNumber(children)}</MaybeLink>;
}

/** What there is to say of something, each under its name. */
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
