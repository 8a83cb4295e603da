import { asks, askUntil } from "../../output/change.js";
import type { Context } from "../../core/command.js";
import { UsageError } from "../../core/errors.js";
import { type Stack, STACKS } from "./files.js";
import { nameMistake, nameOf, slugMistake, slugOf } from "./names.js";

/** What is to be made, as far as it was said. */
export interface Wanted {
  name?: string | undefined;
  slug?: string | undefined;
  stack?: Stack | undefined;
}

/** @throws {UsageError} for what was said and cannot be. */
export function checkWanted({ name, slug }: Wanted): void {
  refuse("--name", name, nameMistake);
  refuse("--slug", slug, slugMistake);
}

function refuse(option: string, value: string | undefined, mistakeIn: (value: string) => string | undefined): void {
  const mistake = value === undefined ? undefined : mistakeIn(value);
  if (mistake !== undefined) throw new UsageError(`${option} is ${JSON.stringify(value)}`, mistake);
}

/** Asks for what was not said, or takes what it is by default where nobody is to be asked. */
export async function settle(
  context: Context,
  wanted: Wanted,
  { directory, yes }: { directory: string; yes: boolean },
): Promise<Required<{ [Member in keyof Wanted]: NonNullable<Wanted[Member]> }>> {
  const isAsked = asks(context, yes);
  const settled = async (
    label: string,
    given: string | undefined,
    otherwise: string | undefined,
    mistakeIn: (value: string) => string | undefined,
  ) => {
    if (given !== undefined) return given;
    if (isAsked) return askUntil(context, label, { otherwise, ending: ":", mistakeIn });
    if (otherwise !== undefined) return otherwise;
    throw new UsageError(`no ${label.toLowerCase()} can be made for this project`, `add --${label.toLowerCase()}`);
  };
  const name = await settled("Name", wanted.name, wanted.slug ?? nameOf(directory), nameMistake);
  const slug = await settled("Slug", wanted.slug, slugOf(name), slugMistake);
  const stack = await settled("Stack", wanted.stack, STACKS[0], (value) =>
    STACKS.includes(value as Stack) ? undefined : `give one of: ${STACKS.join(", ")}`,
  );
  return { name, slug, stack: stack as Stack };
}
