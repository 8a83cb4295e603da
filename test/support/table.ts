/** Prints rows under a heading, in columns; the first row names them. */
export function printTable(heading: string, rows: readonly (readonly string[])[]): void {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join("  ")
      .trimEnd(),
  );
  process.stdout.write(`\n${heading}\n\n${lines.join("\n")}\n`);
}
