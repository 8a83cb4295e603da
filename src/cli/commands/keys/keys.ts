import type { Context } from "../../core/command.js";
import type { Key } from "../../client/answers.js";
import { readAll } from "../../client/pages.js";
import { distance, printable } from "../../output/text.js";

/** A key as a question names it: by what somebody knows of it. Where there is none of that id, by the id; the service says so then. */
export async function describeKey({ api, out }: Context, keyId: string): Promise<string> {
  for await (const { data } of readAll<Key>(api, ["keys"])) {
    const key = data.data.find(({ id }) => id === keyId);
    if (key === undefined) continue;
    const used = key.lastUsedAt === null ? "never used" : `last used ${distance(key.lastUsedAt, out.now)}`;
    return `${printable(key.name)} (${printable(key.hint)}…, ${used})`;
  }
  return printable(keyId);
}
