import type { Context } from "../../core/context.js";
import { readAll } from "../../client/pages.js";
import { distance, printable } from "../../output/text.js";

/** An ingestion key, without the key itself. */
export interface Key {
  id: string;
  name: string;
  /** Its first characters. */
  hint: string;
  status: "active" | "expiring" | "revoked";
  createdAt: string;
  createdBy: string;
  lastUsedAt: string | null;
  revokedAt: string | null;
}

/** A key as a question names it: by what somebody knows of it. Where there is none of that id, by the id; the service says so then. */
export async function describeKey({ api, out, settings }: Context, keyId: string): Promise<string> {
  for await (const { data } of readAll<Key>(api, api.projectPath("keys"), { env: settings.environment })) {
    const key = data.data.find(({ id }) => id === keyId);
    if (key === undefined) continue;
    const used = key.lastUsedAt === null ? "never used" : `last used ${distance(key.lastUsedAt, out.now)}`;
    return `${printable(key.name)} (${printable(key.hint)}…, ${used})`;
  }
  return printable(keyId);
}
