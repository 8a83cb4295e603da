/** Command lines whose mistakes are told in one line. */
import type { Arguments, Argv } from "yargs";
import { DemoFailure } from "./failure.js";

/**
 * Reads arguments with a parser of yargs. Throws a DemoFailure with exit code 2 where they are wrong. Returns null after `--help`,
 * whose text went to `print`.
 */
export async function parse<T>(
  parser: Argv<T>,
  args: readonly string[],
  print: (text: string) => void,
): Promise<Arguments<T> | null> {
  let text = "";
  const parsed = await parser
    .strict()
    .version(false)
    .exitProcess(false)
    .fail((message, error) => {
      throw new DemoFailure((message || error.message).split("\n").join(" "), 2);
    })
    .parseAsync([...args], {}, (_error, _argv, output) => {
      text = output;
    });
  if (text === "") return parsed as Arguments<T>;
  print(`${text}\n`);
  return null;
}

/** The value of an option that is a number. Throws a DemoFailure with exit code 2 where it is none of these whole numbers. */
export function whole(name: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new DemoFailure(`${name} must be a whole number from ${least} to ${most}`, 2);
}
