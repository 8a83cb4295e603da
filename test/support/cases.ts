/**
 * Parses SQL test cases from a text, which is shorter than arrays: a line that names the case; below it, indented, its statements, and after
 * dashes the expected results.
 */
export function casesOf(text: string): [name: string, statements: string, expected: string[]][] {
  return text
    .trim()
    .split(/\n(?! )/)
    .map((one) => {
      const [name = "", ...lines] = one.split("\n").map((line) => line.trim());
      const isExpected = (line: string) => line.startsWith("- ");
      const expected = lines.filter(isExpected).map((line) => line.slice(2));
      return [name, lines.filter((line) => !isExpected(line)).join("\n"), expected];
    });
}
