import path from "node:path";

/** What the example of sending events is for. */
export const STACKS = ["node", "python"] as const;
export type Stack = (typeof STACKS)[number];

/** The API's rules, so that what it would refuse is told before anything is asked or made. */
const SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/;
const SLUG_LENGTH_MAX = 63;
const NAME_LENGTH_MAX = 256;
// oxlint-disable-next-line no-control-regex
const NAME = /^(?=.*\S)[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*$/;

/** What is wrong with a project's name; undefined where nothing is. */
export function nameMistake(name: string): string | undefined {
  if (NAME.test(name) && [...name].length <= NAME_LENGTH_MAX) return undefined;
  return `give 1 to ${NAME_LENGTH_MAX} characters, without line breaks and control characters`;
}

/** What is wrong with a project's slug; undefined where nothing is. */
export function slugMistake(slug: string): string | undefined {
  if (SLUG.test(slug)) return undefined;
  return `give 1 to ${SLUG_LENGTH_MAX} lower-case letters, digits and hyphens, not a hyphen first`;
}

/** A name for a project in that directory; undefined where it gives none. */
export function nameOf(directory: string): string | undefined {
  const name = path.basename(directory);
  return nameMistake(name) === undefined ? name : undefined;
}

/** A slug for a project of that name: `Größe & Co` gives `grosse-co`. Undefined where the name has nothing for one. */
export function slugOf(name: string): string | undefined {
  const slug = name
    .replaceAll("ß", "ss")
    .normalize("NFKD")
    .replace(/\p{Mark}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, SLUG_LENGTH_MAX)
    .replace(/^-|-$/g, "");
  return slugMistake(slug) === undefined ? slug : undefined;
}
